/** What level 2 shares, and the product of a matrix and a vector. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference". */
import {
  blockIndex,
  laneIndex,
  local,
  loopWhile,
  ptr,
  s64,
  shuffleDown,
  syncThreads,
  threadIndex,
  type Value,
  warpIndex,
  when,
} from '../build/index.ts';
import {
  assertHolds,
  assertSteps,
  assertWhole,
  type CublasHandle,
  extentOfVector,
  type Inside,
  isZero,
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
  partsOf,
  type Real,
  realType,
  sharedNumbers,
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

/**
 * Who has a row of y: 'threads' one thread, 'lanes' the 32 of a warp, for rows whose columns are side by side, and 'warps' a lane of each of 16 warps, for
 * rows that are side by side.
 */
type Sharing = 'threads' | 'lanes' | 'warps';
const warps = 16;
const blockOf = (by: Sharing): number => (by === 'warps' ? 32 * warps : threads);
const rowsOf = (by: Sharing): number => (by === 'threads' ? threads : by === 'lanes' ? threads / 32 : 32);
/** Columns whose elements a thread loads before it uses them. */
const ahead = 4;

/** The sum of what the threads of a row have, in the first of them. */
function sumOf(letter: Letter, by: Sharing, own: Num): Num {
  if (by === 'threads') return own;
  let whole = own;
  if (by === 'lanes') {
    for (let distance = 16; distance >= 1; distance /= 2) {
      const other: Num = { re: shuffleDown(whole.re, distance), ...(whole.im ? { im: shuffleDown(whole.im, distance) } : {}) };
      whole = add(whole, other);
    }
    return whole;
  }
  const parts = sharedNumbers(letter, 32 * warps);
  store(letter, parts, threadIndex(), own);
  syncThreads();
  for (let warp = 1; warp < warps; warp++) whole = add(whole, load(letter, parts, laneIndex().add(32 * warp)));
  return whole;
}

/** y = alpha op(A) x + beta y. */
function productKernel(letter: Letter, m: Stored, by: Sharing) {
  const block = blockOf(by);
  return kernelOf(
    kernelName(letter, 'product', wordsOf(m), by !== 'threads' && by),
    parametersOf(letter),
    (p: Places) => {
      const batch = blockIndex('y').to(s64);
      const at = (base: Places['a'], stride: Value<'s64'>): Places['a'] => base.add(batch.mul(stride).mul(partsOf(letter)));
      const [a, x, y] = [at(p.a, p.strideA), at(p.x, p.strideX), at(p.y, p.strideY)];
      const own = { threads: threadIndex(), lanes: threadIndex().shr(5), warps: laneIndex() }[by];
      const row = blockIndex().mad(rowsOf(by), own).to(s64);
      const first = { threads: row.sub(row), lanes: laneIndex().to(s64), warps: warpIndex().to(s64) }[by];
      const step = { threads: 1, lanes: 32, warps }[by];
      const isRow = row.lt(p.rows);
      const operand = { ...operandOf(p), a };
      const sum = changing(letter, numberOf(letter, 0));
      when(isRow, () => {
        const [from, to] = rangeOf(m, operand, row, p.columns);
        const c = local(s64, from.add(first));
        const take = (count: number): void => {
          const places = Array.from({ length: count }, (_, i) => c.get().add(i * step));
          const pairs = places.map(
            (each) => [elementOf(letter, m, operand, row, each), load(letter, x, p.x0.add(each.mul(p.incx)))] as const,
          );
          for (const [left, right] of pairs) assign(sum, multiplyAdd(left, right, now(sum)));
          c.set(c.add(count * step));
        };
        if (by === 'warps')
          loopWhile(
            () =>
              c
                .get()
                .add((ahead - 1) * step)
                .lt(to),
            () => take(ahead),
          );
        loopWhile(
          () => c.get().lt(to),
          () => take(1),
        );
      });
      const whole = sumOf(letter, by, now(sum));
      when(by === 'threads' ? isRow : isRow.and(first.eq(0)), () => {
        const place = p.y0.add(row.mul(p.incy));
        const value = changing(letter, multiply(number(letter, p.alpha, p.alphaIm), whole));
        const beta = number(letter, p.beta, p.betaIm);
        when(isNotZero(beta), () => assign(value, multiplyAdd(beta, load(letter, y, place), now(value))));
        store(letter, y, place, now(value));
      });
    },
    block,
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
  const by: Sharing = m.isTransposed || rows < 64 ? 'lanes' : m.storage === 'band' || columns < 4 * warps ? 'threads' : 'warps';
  const [[alpha, alphaIm], [beta, betaIm]] = [scalarParts(given.alpha), scalarParts(given.beta)];
  const args = {
    // Nothing is read of A and x where the factor is 0.
    ...{
      a,
      x,
      y,
      rows,
      columns: isZero(given.alpha) ? 0 : columns,
      ld,
      stored,
      below,
      above,
      x0: startOf(columns, incx),
      incx,
      y0: startOf(rows, incy),
      incy,
    },
    ...{ strideA, strideX, strideY, alpha, alphaIm, beta, betaIm },
  };
  const grid = [Math.ceil(rows / rowsOf(by)), batch, 1] as const;
  launch(handle, productKernel(letter, m, by), grid, blockOf(by), args);
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
