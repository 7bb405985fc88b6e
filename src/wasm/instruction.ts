/** The rows of the instruction tables, and the types of the names in them. */

/** What follows the opcode: nothing, one index, alignment and offset of an access, the number of a vector's lane, or both of these. */
export type Immediate = 'none' | 'index' | 'memory' | 'lane' | 'memoryLane';

export interface Instruction {
  /** One byte, or the prefix 0xfc, 0xfd or 0xfe and a number. */
  readonly code: readonly number[];
  readonly immediate: Immediate;
}

/** Consecutive opcodes in their order; `-` is a number that no instruction here has. Names after a shape start with it and a period. */
export type Row = readonly [first: number, names: string] | readonly [first: number, shape: string, names: string];

/** Rows by their immediate. */
export type Table = Readonly<Partial<Record<Immediate, readonly Row[]>>>;

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
type RowNames<R> = R extends readonly [number, infer Names extends string]
  ? Exclude<Words<Names>, '-'>
  : R extends readonly [number, infer Shape extends string, infer Names extends string]
    ? `${Shape}.${Exclude<Words<Names>, '-'>}`
    : never;

/** The names in a table of the instructions with an immediate. */
export type NamesIn<T extends Table, I extends Immediate> = T extends { readonly [each in I]: readonly (infer R)[] } ? RowNames<R> : never;

/** The instructions of a table by name; `encode` is the encoding of an opcode. */
export const instructionsOf = (table: Table, encode: (opcode: number) => number[]): [string, Instruction][] =>
  (Object.entries(table) as [Immediate, readonly Row[]][]).flatMap(([immediate, rows]) =>
    rows.flatMap((row) => {
      const shape = row.length === 3 ? `${row[1]}.` : '';
      return row[row.length - 1]!.toString()
        .split(' ')
        .flatMap((name, i): [string, Instruction][] => (name === '-' ? [] : [[shape + name, { code: encode(row[0] + i), immediate }]]));
    }),
  );
