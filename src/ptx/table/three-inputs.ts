/**
 * Functions of three bits by the fewest operations. `lop3` names one by the table of its eight results, in which a, b and c are 0xF0, 0xCC and 0xAA: an
 * operation on values is the same operation on their tables. Source: PTX ISA 9.0, 9.7.8.6.
 */
import type { Value } from '../../ir/index.ts';
import type { RowBuilder } from '../model/row.ts';

const operations = { and: (x: number, y: number) => x & y, or: (x: number, y: number) => x | y, xor: (x: number, y: number) => x ^ y };
const inputs = { a: 0xf0, b: 0xcc, c: 0xaa } as const;
const ones = 0xff;

/** What a table is an operation of. */
interface Formula {
  readonly op: keyof typeof operations;
  readonly left: number;
  readonly right: number;
}

/** By table: a formula with the fewest operations; none for the inputs and constants. A complement is an `xor` with ones. */
function shortestFormulas(): ReadonlyMap<number, Formula> {
  const formulas = new Map<number, Formula>();
  /** The tables by the number of operations that they take. */
  const byCost: number[][] = [[0, ones, ...Object.values(inputs)]];
  const known = new Set(byCost[0]);
  for (let cost = 1; known.size < 256; cost++) {
    const found: number[] = [];
    byCost.push(found);
    for (let less = 0; less < cost; less++)
      for (const left of byCost[less]!)
        for (const right of byCost[cost - 1 - less]!)
          for (const op of Object.keys(operations) as (keyof typeof operations)[]) {
            const table = operations[op](left, right);
            if (known.has(table)) continue;
            known.add(table);
            formulas.set(table, { op, left, right });
            found.push(table);
          }
  }
  return formulas;
}

let shortest: ReadonlyMap<number, Formula> | undefined;

/** The function of three words of which a table has the results, bit by bit. */
export function functionOfThree(ir: RowBuilder, { a, b, c }: Readonly<Record<keyof typeof inputs, Value>>, table: number): Value {
  shortest ??= shortestFormulas();
  const made = new Map<number, Value>([
    [0, ir.const('i32', 0)],
    [ones, ir.const('i32', -1)],
    [inputs.a, a],
    [inputs.b, b],
    [inputs.c, c],
  ]);
  const computed = (of: number): Value => {
    const known = made.get(of);
    if (known !== undefined) return known;
    const { op, left, right } = shortest!.get(of)!;
    const value = ir[op](computed(left), computed(right));
    made.set(of, value);
    return value;
  };
  return computed(table & ones);
}
