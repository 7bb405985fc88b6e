/** The product of two matrices whose elements are found while a tile is loaded. */
import { blockIndex, constant, f32, local, loop, shared, syncThreads, threadIndex, u32, type Value, when } from '../build/index.ts';
import { productSum } from './product-sum.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

/** Rows and columns of the tile of a block. */
export const tile = 64;
/** Indices of k of a tile. */
export const depth = 16;
/** Threads of a block. */
export const threads = 256;
const per = 4;

/** A product of two matrices whose elements functions find: `row` and `column` are places in the result, and `k` is what is summed over. */
export interface Product {
  readonly m: Word;
  readonly n: Word;
  readonly k: Word;
  /** The first index of k; 0 by default. */
  readonly from?: Word;
  /** Whether elements at neighboring indices of k are neighbors in memory, and not those of neighboring rows and columns. */
  readonly isAlong?: boolean;
  /** An element of the left factor; what is beyond it is not asked for. */
  left(row: Word, k: Word): Real;
  right(k: Word, column: Word): Real;
  store(row: Word, column: Word, sum: Real): void;
}

/** Computes a tile of 64 by 64: each of 256 threads has 4 by 4 of it. */
export function multiply({ m, n, k, from = constant(u32, 0), isAlong = false, left, right, store }: Product): void {
  const [a, b] = [shared(f32, [depth, tile + 1]), shared(f32, [depth, tile + 1])];
  const [row, column] = [blockIndex('y').mul(tile), blockIndex('x').mul(tile)];
  const own = threadIndex();
  const [x, y] = [own.and(15), own.shr(4)];
  const sums = Array.from({ length: per * per }, () => local(f32, 0));
  loop(from, k, depth, (first) => {
    for (let i = 0; i < (tile * depth) / threads; i++) {
      const [line, at] = isAlong
        ? [own.shr(4).add(i * (threads / depth)), own.and(depth - 1)]
        : [own.and(tile - 1), own.shr(6).add(i * (threads / tile))];
      const [r, c, q] = [row.add(line), column.add(line), first.add(at)];
      const [ours, theirs] = [local(f32, 0), local(f32, 0)];
      when(r.lt(m).and(q.lt(k)), () => ours.set(left(r, q)));
      when(c.lt(n).and(q.lt(k)), () => theirs.set(right(q, c)));
      a.in(at, line).set(ours);
      b.in(at, line).set(theirs);
    }
    syncThreads();
    loop(0, depth, 1, (q) => {
      const us = Array.from({ length: per }, (_, i) => a.in(q, y.add(i * 16)).get());
      const vs = Array.from({ length: per }, (_, j) => b.in(q, x.add(j * 16)).get());
      for (const [i, u] of us.entries()) for (const [j, v] of vs.entries()) sums[i * per + j]!.set(productSum(u, v, sums[i * per + j]!));
    });
    syncThreads();
  });
  for (let i = 0; i < per; i++)
    for (let j = 0; j < per; j++) {
      const [r, c] = [row.add(y).add(i * 16), column.add(x).add(j * 16)];
      when(r.lt(m).and(c.lt(n)), () => store(r, c, sums[i * per + j]!.get()));
    }
}

/** A number as digits: the quotient and the remainder. */
export const split = (value: Word, by: Word): [Word, Word] => {
  const quotient = value.div(by);
  return [quotient, value.sub(quotient.mul(by))];
};
