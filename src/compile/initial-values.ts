/** What the variables of a module hold before anything writes them, for those that no kernel names, which no metallib describes. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { memoryOf } from '../lower/index.ts';
import { parseAndCheck } from './check-source.ts';

/** The initial bytes of variables that a host reaches, by name; without those that hold addresses of others. */
export function initialValues(source: SourceFile): ReadonlyMap<string, Uint8Array> {
  const { checked } = parseAndCheck(source, {}, new Diagnostics(source));
  const plain = memoryOf(checked).symbols.filter(({ addresses = [] }) => addresses.length === 0);
  return new Map(plain.map(({ name, size, init }) => [name, init ?? new Uint8Array(size)]));
}
