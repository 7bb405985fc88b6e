/**
 * The three codes of Zstandard's sequences: values and default distributions of their symbols.
 * Source: RFC 8878, sections 3.1.1.3.2.1.1 (codes) and 3.1.1.3.2.2 (default distributions).
 */
import { type FseTable, fseTable } from './entropy.ts';

/** A code of sequences: the largest accuracy of its tables, the extra bits of its symbols, and the default table. */
export interface Code {
  readonly maxLog: number;
  readonly extra: readonly number[];
  readonly bases: readonly number[];
  readonly defaultTable: () => FseTable;
}

/** Expands `[value, count]` pairs. */
const runs = (...pairs: readonly (readonly [value: number, count: number])[]): number[] =>
  pairs.flatMap(([value, count]) => new Array<number>(count).fill(value));

/** The symbols of a code cover the lengths from `first` on without gaps. */
function code(most: number, first: number, extra: readonly number[], log: number, counts: readonly number[]): Code {
  let next = first;
  const bases = extra.map((bits) => {
    const base = next;
    next += 2 ** bits;
    return base;
  });
  let table: FseTable | undefined;
  const usual = (): FseTable => {
    table ??= fseTable(log, counts);
    return table;
  };
  return { maxLog: most, extra, bases, defaultTable: usual };
}

const literalLengths = (): Code =>
  code(9, 0, [...runs([0, 16], [1, 4], [2, 2], [3, 2]), 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 6, [
    4,
    3,
    ...runs([2, 11], [1, 3], [2, 9]),
    3,
    2,
    ...runs([1, 5], [-1, 4]),
  ]);
const distances = (): Code =>
  code(
    8,
    1,
    Array.from({ length: 32 }, (_, i) => i),
    5,
    runs([1, 6], [2, 3], [1, 15], [-1, 5]),
  );
const matchLengths = (): Code =>
  code(9, 3, [...runs([0, 32], [1, 4], [2, 2], [3, 2], [4, 2]), 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 6, [
    1,
    4,
    3,
    ...runs([2, 6], [1, 37], [-1, 7]),
  ]);

let cachedCodes: readonly [Code, Code, Code] | undefined;

/** In file order. Created on first use, because most runs never need them. */
export function codes(): readonly [Code, Code, Code] {
  cachedCodes ??= [literalLengths(), distances(), matchLengths()];
  return cachedCodes;
}
