/** Triangular matrices of level 2: products and solutions. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference". */
import { local, loop, s64, syncThreads, threadIndex, type Value, when } from '../build/index.ts';
import {
  assertHolds,
  assertWhole,
  assertWords,
  type CublasHandle,
  type Diagonal,
  extentOfMatrix,
  type FillMode,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Operation,
  startOf,
} from './handle.ts';
import { copy } from './level1.ts';
import { elementOf, isUpperAfter, type Stored, triangleOf, wordsOf } from './matrix.ts';
import { divide, isComplex, type Letter, load, multiply, store, subtract } from './number.ts';

import { assertLd, assertVectors, operandOf, type Places, parametersOf, product, threads } from './vector-product.ts';

/** Solves op(A) x = b in place, in one block: each element, as soon as it is known, is taken out of those that follow. */
function solveKernel(letter: Letter, m: Stored) {
  return kernelOf(
    kernelName(letter, 'solve', wordsOf(m)),
    parametersOf(letter),
    (p: Places) => {
      const operand = operandOf(p);
      const isUpper = isUpperAfter(m);
      const place = (i: Value<'s64'>): Value<'s64'> => p.x0.add(i.mul(p.incx));
      const reach = m.storage === 'band' ? p.below.add(p.above) : p.rows;
      loop(local(s64, 0), p.rows, 1, (j) => {
        const c = isUpper ? p.rows.sub(1).sub(j) : j;
        if (!m.isUnit)
          when(threadIndex().eq(0), () =>
            store(letter, p.x, place(c), divide(load(letter, p.x, place(c)), elementOf(letter, m, operand, c, c))),
          );
        syncThreads();
        const known = load(letter, p.x, place(c));
        loop(threadIndex().to(s64), p.rows.sub(1).sub(j).min(reach), threads, (i) => {
          const r = isUpper ? c.sub(1).sub(i) : c.add(1).add(i);
          const minus = multiply(elementOf(letter, m, operand, r, c), known);
          store(letter, p.x, place(r), subtract(load(letter, p.x, place(r)), minus));
        });
        syncThreads();
      });
    },
    threads,
  );
}

interface Triangle {
  readonly uplo: FillMode;
  readonly trans: Operation;
  readonly diag: Diagonal;
  readonly n: number;
  /** The diagonals of a band beside the main one. */
  readonly k?: number;
  readonly a: unknown;
  readonly ld?: number;
  readonly x: unknown;
  readonly incx: number;
}

function triangle(handle: CublasHandle, letter: Letter, base: string, storage: Stored['storage'], given: Triangle): void {
  const { uplo, trans, diag, n, k = 0, a, ld = 0, x, incx } = given;
  const name = `cublas${letter}${base}`;
  assertWords(name, { uplo: [uplo, 'UL'], trans: [trans, 'NTC'], diag: [diag, 'NU'] });
  assertWhole(name, { n, k });
  if (storage !== 'packed') assertLd(name, ld, storage === 'band' ? k + 1 : n);
  assertVectors(name, letter, { n, x, incx });
  const needed = storage === 'packed' ? (n * (n + 1)) / 2 : extentOfMatrix(storage === 'band' ? k + 1 : n, n, ld);
  assertHolds(name, letter, 'a', a, needed);
  if (n === 0) return;
  const m = triangleOf(uplo, trans, diag, storage);
  const [below, above] = uplo === 'U' ? [0, k] : [k, 0];
  if (base.endsWith('sv')) {
    const none = { y: null, columns: n, y0: 0, incy: 1, strideA: 0, strideX: 0, strideY: 0, alpha: 1, alphaIm: 0, beta: 0, betaIm: 0 };
    const args = { ...none, a, x, rows: n, ld, stored: n, below, above, x0: startOf(n, incx), incx };
    launch(handle, solveKernel(letter, m), 1, threads, args);
    return;
  }
  // The product reads a copy of the vector.
  const old = handle.device.allocate(letter === 'S' || letter === 'C' ? 'f32' : 'f64', n * (isComplex(letter) ? 2 : 1));
  copy(letter)(handle, n, x as never, incx, old as never, 1);
  product(handle, letter, m, { rows: n, columns: n, a, ld, below, above, x: old, incx: 1, y: x, incy: incx, alpha: 1, beta: 0 });
  old.free();
}

/** `x = op(A) * x` of a triangular matrix (`trmv`), or the solution of `op(A) * x = b` in place (`trsv`). */
export const trmv =
  <L extends Letter>(letter: L, name: 'trmv' | 'trsv') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    trans: Operation,
    diag: Diagonal,
    n: number,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
  ): void =>
    triangle(handle, letter, name, 'full', { uplo, trans, diag, n, a, ld: lda, x, incx });
/** The same of a band. */
export const tbmv =
  <L extends Letter>(letter: L, name: 'tbmv' | 'tbsv') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    trans: Operation,
    diag: Diagonal,
    n: number,
    k: number,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
  ): void =>
    triangle(handle, letter, name, 'band', { uplo, trans, diag, n, k, a, ld: lda, x, incx });
/** The same of a packed triangle. */
export const tpmv =
  <L extends Letter>(letter: L, name: 'tpmv' | 'tpsv') =>
  (handle: CublasHandle, uplo: FillMode, trans: Operation, diag: Diagonal, n: number, ap: Memory<L>, x: Memory<L>, incx: number): void =>
    triangle(handle, letter, name, 'packed', { uplo, trans, diag, n, a: ap, x, incx });
