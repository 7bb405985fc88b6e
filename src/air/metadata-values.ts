/** What stands in metadata, as values of this language. */
import type { Metadata } from '../bitcode/model.ts';

/** A string of metadata. */
export const textAt = (m: Metadata | undefined): string | undefined => (m?.kind === 'string' ? m.value : undefined);

/** The value of an integer in metadata. */
export function numberAt(m: Metadata | undefined): number | undefined {
  return m?.kind === 'value' && m.value.kind === 'constant' && m.value.form === 'int' ? Number(m.value.value) : undefined;
}
