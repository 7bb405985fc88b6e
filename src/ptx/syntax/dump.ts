/** The tree as JSON, for tools without a PTX parser of their own. */
import type { Module } from './ast.ts';

/** The JSON of a module, without spans; 64-bit integers are strings. */
export function printAst({ file: _, ...module }: Module): string {
  const plain = (key: string, value: unknown): unknown => {
    if (key === 'span' || key === 'nameSpan' || key === 'opcodeSpan' || key === 'headers') return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  };
  return `${JSON.stringify(module, plain, 2)}\n`;
}
