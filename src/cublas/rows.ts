/**
 * General products for processors: a thread has two rows of C and some columns of them, so that neighboring threads load neighboring elements of a column of A at
 * once, and share those of B. Products and sums are rounded each, as in `cuda/lib/cublas/gemm.h`, which has the same plan.
 */
import { blockIndex, constant, loop, ptr, s64, syncThreads, threadIndex, type Value, when } from '../build/index.ts';
import { type Inside, kernelName, kernelOf, type Made, type Operation } from './handle.ts';
import { assign, changing, load, multiply, multiplyAdd, now, numberOf, realType, sharedNumbers, store } from './number.ts';

/** Threads of a block, each with some rows of C that are as far from each other as there are threads. */
export const rowThreads = 64;
const perThread = 2;
/** Rows of C of a block. */
export const blockRows = rowThreads * perThread;
/** Columns of C of a block. */
export const blockColumns = 8;
const depth = 64;

type Places = Inside<'a' | 'b' | 'c', 'm' | 'n' | 'k' | 'lda' | 'ldb' | 'ldc' | 'strideA' | 'strideB' | 'strideC', 'alpha' | 'beta'>;

/** C = alpha op(A) op(B) + beta C of real numbers, with the parameters of the product of `product.ts`. */
export function rowKernel(letter: 'S' | 'D', transA: Operation, transB: Operation): Made {
  const type = realType(letter);
  const columns = blockColumns;
  const words = ['m', 'n', 'k', 'lda', 'ldb', 'ldc', 'strideA', 'strideB', 'strideC'].map((word) => [word, s64]);
  const reals = ['alpha', 'alphaIm', 'beta', 'betaIm'].map((word) => [word, type]);
  const parameters = { a: ptr(type), b: ptr(type), c: ptr(type), ...Object.fromEntries(words), ...Object.fromEntries(reals) };
  const isAlong = transA === 'N';
  return kernelOf(
    kernelName(letter, 'rows', transA === 'N' ? 'n' : 't', transB === 'N' ? 'n' : 't'),
    parameters,
    (p: Places) => {
      const batch = blockIndex('z').to(s64);
      const [a, b, c] = [p.a.add(batch.mul(p.strideA)), p.b.add(batch.mul(p.strideB)), p.c.add(batch.mul(p.strideC))];
      const [row0, column0] = [blockIndex('x').mul(blockRows).to(s64), blockIndex('y').mul(columns).to(s64)];
      const row = row0.add(threadIndex().to(s64));
      const shared = sharedNumbers(letter, depth * columns);
      const sums = Array.from({ length: columns * perThread }, () => changing(letter, numberOf(letter, 0)));
      const own = Array.from({ length: perThread }, (_, i) => (i === 0 ? row : row.add(i * rowThreads)));
      const addAll = (rows: readonly Value<'s64'>[], first: Value<'s64'>, count: Value<'s64'>): void =>
        loop(constant(s64, 0), count, 1, (q) => {
          const k = first.add(q);
          const xs = rows.map((r) => load(letter, a, isAlong ? k.mul(p.lda).add(r) : r.mul(p.lda).add(k)));
          for (let j = 0; j < columns; j++) {
            const y = load(letter, shared, q.mul(columns).add(j));
            for (const [i, x] of xs.entries()) {
              const sum = sums[i * columns + j]!;
              assign(sum, multiplyAdd(x, y, now(sum)));
            }
          }
        });
      loop(constant(s64, 0), p.k, depth, (first) => {
        const count = p.k.sub(first).min(depth);
        syncThreads();
        // Columns behind the last one repeat it.
        loop(threadIndex().to(s64), count.mul(columns), rowThreads, (i) => {
          const q = i.shr(Math.log2(columns));
          const column = column0.add(i.and(columns - 1)).min(p.n.sub(1));
          const k = first.add(q);
          store(letter, shared, i, load(letter, b, transB === 'N' ? column.mul(p.ldb).add(k) : k.mul(p.ldb).add(column)));
        });
        syncThreads();
        // Neighbors are loaded at once where rows are known to be neighbors, which those of the last block are not.
        when(
          row0.add(blockRows).le(p.m),
          () => addAll(own, first, count),
          () =>
            addAll(
              own.map((each) => each.min(p.m.sub(1))),
              first,
              count,
            ),
        );
      });
      for (const [i, each] of own.entries())
        when(each.lt(p.m), () => {
          for (let j = 0; j < columns; j++) {
            const column = column0.add(j);
            when(column.lt(p.n), () => {
              const place = column.mul(p.ldc).add(each);
              const value = changing(letter, multiply({ re: p.alpha }, now(sums[i * columns + j]!)));
              when(p.beta.ne(0), () => assign(value, multiplyAdd({ re: p.beta }, load(letter, c, place), now(value))));
              store(letter, c, place, now(value));
            });
          }
        });
    },
    rowThreads,
  );
}
