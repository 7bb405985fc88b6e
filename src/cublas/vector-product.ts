/** What level 2 shares, and the product of a matrix and a vector. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference". */
import { blockIndex, loop, ptr, s64, shuffleDown, threadIndex, type Value, when } from '../build/index.ts';
import {
  assertHolds,
  assertSteps,
  assertWhole,
  type CublasHandle,
  extentOfVector,
  type Inside,
  kernelName,
  kernelOf,
  launch,
  type Scalar,
  scalarParts,
  startOf,
} from './handle.ts';
import { elementOf, rangeOf, type Stored, wordsOf } from './matrix.ts';
import {
  add,
  assign,
  changing,
  isComplex,
  isNotZero,
  type Letter,
  load,
  multiply,
  multiplyAdd,
  type Number as Num,
  now,
  numberOf,
  type Real,
  realType,
  store,
} from './number.ts';

/** Threads of a block. */
export const threads = 128;
type Words = 'rows' | 'columns' | 'ld' | 'stored' | 'below' | 'above' | 'x0' | 'incx' | 'y0' | 'incy' | 'strideA' | 'strideX' | 'strideY';
/** What kernels of level 2 see. */
export type Places = Inside<'a' | 'x' | 'y', Words, 'alpha' | 'alphaIm' | 'beta' | 'betaIm'>;
const words = ['rows', 'columns', 'ld', 'stored', 'below', 'above', 'x0', 'incx', 'y0', 'incy', 'strideA', 'strideX', 'strideY'] as const;
const reals = ['alpha', 'alphaIm', 'beta', 'betaIm'] as const;
/** The parameters of kernels of level 2. */
export const parametersOf = (letter: Letter): Record<string, unknown> => {
  const type = realType(letter);
  const each = (names: readonly string[], of: unknown): Record<string, unknown> => Object.fromEntries(names.map((name) => [name, of]));
  return { ...each(['a', 'x', 'y'], ptr(type)), ...each(words, s64), ...each(reals, type) };
};
/** A scalar of the parameters. */
export const number = (letter: Letter, re: Real, im: Real): Num => (isComplex(letter) ? { re, im } : { re });
/** The matrix of the parameters. */
export const operandOf = (p: Places) => ({ a: p.a, ld: p.ld, rows: p.stored, below: p.below, above: p.above });

/** y = alpha op(A) x + beta y: a thread has a row of a matrix whose columns are side by side, or 32 threads have it. */
function productKernel(letter: Letter, m: Stored, isSplit: boolean) {
  const group = isSplit ? 32 : 1;
  return kernelOf(
    kernelName(letter, 'product', wordsOf(m), isSplit && 'split'),
    parametersOf(letter),
    (p: Places) => {
      const batch = blockIndex('y').to(s64);
      const parts = isComplex(letter) ? 2 : 1;
      const at = (base: Places['a'], stride: Value<'s64'>): Places['a'] => base.add(batch.mul(stride).mul(parts));
      const [a, x, y] = [at(p.a, p.strideA), at(p.x, p.strideX), at(p.y, p.strideY)];
      const row = blockIndex()
        .mad(threads / group, isSplit ? threadIndex().shr(5) : threadIndex())
        .to(s64);
      const first = isSplit ? threadIndex().and(31).to(s64) : row.sub(row);
      const isRow = row.lt(p.rows);
      const operand = { ...operandOf(p), a };
      const sum = changing(letter, numberOf(letter, 0));
      when(isRow, () => {
        const [from, to] = rangeOf(m, operand, row, p.columns);
        loop(from.add(first), to, group, (c) =>
          assign(sum, multiplyAdd(elementOf(letter, m, operand, row, c), load(letter, x, p.x0.add(c.mul(p.incx))), now(sum))),
        );
      });
      let whole = now(sum);
      if (isSplit)
        for (let distance = 16; distance >= 1; distance /= 2) {
          const other: Num = { re: shuffleDown(whole.re, distance), ...(whole.im ? { im: shuffleDown(whole.im, distance) } : {}) };
          whole = add(whole, other);
        }
      when(isSplit ? isRow.and(first.eq(0)) : isRow, () => {
        const place = p.y0.add(row.mul(p.incy));
        const value = changing(letter, multiply(number(letter, p.alpha, p.alphaIm), whole));
        const beta = number(letter, p.beta, p.betaIm);
        when(isNotZero(beta), () => assign(value, multiplyAdd(beta, load(letter, y, place), now(value))));
        store(letter, y, place, now(value));
      });
    },
    threads,
  );
}

interface Product {
  readonly rows: number;
  readonly columns: number;
  readonly stored?: number;
  readonly a: unknown;
  readonly ld: number;
  readonly below?: number;
  readonly above?: number;
  readonly x: unknown;
  readonly incx: number;
  readonly y: unknown;
  readonly incy: number;
  readonly alpha: Scalar<'C'>;
  readonly beta: Scalar<'C'>;
  readonly strideA?: number;
  readonly strideX?: number;
  readonly strideY?: number;
  readonly batch?: number;
}

/** Enqueues y = alpha op(A) x + beta y. */
export function product(handle: CublasHandle, letter: Letter, m: Stored, given: Product): void {
  const { rows, columns, stored = rows, a, ld, below = 0, above = 0, x, incx, y, incy } = given;
  const { strideA = 0, strideX = 0, strideY = 0, batch = 1 } = given;
  if (rows === 0 || columns === 0 || batch === 0) return;
  const isSplit = m.isTransposed || rows < 64;
  const [[alpha, alphaIm], [beta, betaIm]] = [scalarParts(given.alpha), scalarParts(given.beta)];
  const args = {
    ...{ a, x, y, rows, columns, ld, stored, below, above, x0: startOf(columns, incx), incx, y0: startOf(rows, incy), incy },
    ...{ strideA, strideX, strideY, alpha, alphaIm, beta, betaIm },
  };
  const grid = [Math.ceil(rows / (isSplit ? threads / 32 : threads)), batch, 1] as const;
  launch(handle, productKernel(letter, m, isSplit), grid, threads, args);
}

/** Checks what products of a matrix and vectors share. */
export function assertVectors(
  name: string,
  letter: Letter,
  sizes: { n: number; x: unknown; incx: number; m?: number; y?: unknown; incy?: number },
): void {
  const { n, x, incx, m = 0, y = null, incy = 1 } = sizes;
  assertSteps(name, { incx, incy });
  assertHolds(name, letter, 'x', x, extentOfVector(n, incx));
  assertHolds(name, letter, 'y', y, extentOfVector(m, incy));
}
/** Refuses a step between columns that is less than they need. */
export function assertLd(name: string, ld: number, least: number): void {
  assertWhole(name, { ld }, Math.max(1, least));
}
