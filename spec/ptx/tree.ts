/** Helpers of the syntax specs: parsing, and trees without spans. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Module, type ParseOptions, parse } from '../../src/ptx/index.ts';

/** A module and its diagnostics, each as `CODE line:column message`. */
export interface Parsed {
  readonly module: Module;
  readonly said: readonly string[];
  readonly diagnostics: Diagnostics;
}

export function parsed(text: string, options?: ParseOptions): Parsed {
  const file = new SourceFile('test.ptx', text);
  const diagnostics = new Diagnostics(file);
  const module = parse(file, diagnostics, options);
  const said = diagnostics.sorted().map((d) => {
    const span = d.labels[0]?.span;
    if (!span) return `${d.code} nowhere ${d.message}`;
    const { line, column } = file.position(span.start);
    return `${d.code} ${line}:${column} ${d.message}`;
  });
  return { module, said, diagnostics };
}

/** The module of a text that must have no fault. */
export function clean(text: string, options?: ParseOptions): Module {
  const { module, said } = parsed(text, options);
  if (said.length > 0) throw new Error(`${said.join('\n')}\nin\n${text}`);
  return module;
}

const places = new Set(['span', 'nameSpan', 'opcodeSpan', 'file', 'headers', 'lost']);

/** A tree as plain data without places; absent fields are left out. */
export function bare(node: unknown): unknown {
  if (Array.isArray(node)) return node.map((element) => (element === undefined ? null : bare(element)));
  if (typeof node === 'bigint') return `${node}n`;
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !places.has(key) && value !== undefined)
      .map(([key, value]) => [key, bare(value)]),
  );
}

const folder = join(import.meta.dirname, '../../examples');

/** The modules of `examples/`, by name. */
export const examples: readonly (readonly [name: string, text: string])[] = readdirSync(folder)
  .filter((name) => name.endsWith('.ptx'))
  .sort()
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
