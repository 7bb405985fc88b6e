/** Sums of tensor cores two by two: each thread has elements that are neighbors in a row of the result, which are stored at once. */
import type { Value, Variable } from '../build/index.ts';

type Word = Value<'u32'>;
/** A sum as the body sees it: f32 or f64. */
type Sum = Variable<'f32'>;

/** Takes two sums next to each other, at a row and an even column. */
export type TakePair = (values: readonly [Sum, Sum], row: Word, column: Word) => void;

/** Gives the elements of an accumulator in their order, by twos; `visitAll` is `eachElement` or `eachGroupElement` of it. */
export function eachPair(visitAll: (visit: (value: Sum, row: Word, column: Word) => void) => void, take: TakePair): void {
  const found: { value: Sum; row: Word; column: Word }[] = [];
  visitAll((value, row, column) => found.push({ value, row, column }));
  for (let e = 0; e < found.length; e += 2) take([found[e]!.value, found[e + 1]!.value], found[e]!.row, found[e]!.column);
}
