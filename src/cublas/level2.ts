/** Level 2: products of a matrix and a vector. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference". */
import {
  assertHolds,
  assertStrides,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  extentOfVector,
  type FillMode,
  type Memory,
  type Operation,
  type Scalar,
} from './handle.ts';
import { generalOf, halfOf } from './matrix.ts';
import type { Letter } from './number.ts';

import { assertLd, assertVectors, product } from './vector-product.ts';
/** `y = alpha * op(A) * x + beta * y` of a full matrix of m by n. */
export const gemv =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    trans: Operation,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
  ): void =>
    gemvStridedBatched(letter)(handle, trans, m, n, alpha, a, lda, 0, x, incx, 0, beta, y, incy, 0, 1);

/** `gemv` of matrices and vectors that follow each other by their strides. */
export const gemvStridedBatched =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    trans: Operation,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    strideA: number,
    x: Memory<L>,
    incx: number,
    strideX: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
    strideY: number,
    batchCount: number,
  ): void => {
    const name = `cublas${letter}gemv`;
    assertWords(name, { trans: [trans, 'NTC'] });
    assertWhole(name, { m, n, batchCount: batchCount > 65535 ? Number.NaN : batchCount });
    assertStrides(name, { strideA, strideX, strideY });
    assertLd(name, lda, m);
    const [rows, columns] = trans === 'N' ? [m, n] : [n, m];
    assertVectors(name, letter, { n: columns, x, incx, m: rows, y, incy });
    const last = Math.max(0, batchCount - 1);
    assertHolds(name, letter, 'a', a, batchCount === 0 ? 0 : last * strideA + extentOfMatrix(m, n, lda));
    assertHolds(name, letter, 'x', x, batchCount === 0 ? 0 : last * strideX + extentOfVector(columns, incx));
    assertHolds(name, letter, 'y', y, batchCount === 0 ? 0 : last * strideY + extentOfVector(rows, incy));
    const strides = { strideA, strideX, strideY, batch: batchCount };
    product(handle, letter, generalOf(trans), { rows, columns, stored: m, a, ld: lda, x, incx, y, incy, alpha, beta, ...strides });
  };

/** `gemv` of a band: `kl` diagonals below the main one and `ku` above it. */
export const gbmv =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    trans: Operation,
    m: number,
    n: number,
    kl: number,
    ku: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
  ): void => {
    const name = `cublas${letter}gbmv`;
    assertWords(name, { trans: [trans, 'NTC'] });
    assertWhole(name, { m, n, kl, ku });
    assertLd(name, lda, kl + ku + 1);
    const [rows, columns] = trans === 'N' ? [m, n] : [n, m];
    assertVectors(name, letter, { n: columns, x, incx, m: rows, y, incy });
    assertHolds(name, letter, 'a', a, extentOfMatrix(kl + ku + 1, n, lda));
    product(handle, letter, generalOf(trans, 'band'), {
      ...{ rows, columns, a, ld: lda, below: kl, above: ku, x, incx, y, incy, alpha, beta },
    });
  };

type Symmetric = 'symmetric' | 'hermitian';

/** `y = alpha * A * x + beta * y`, of which a triangle is stored. */
export const symv =
  <L extends Letter>(letter: L, shape: Symmetric = 'symmetric') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
  ): void => {
    const name = `cublas${letter}${shape === 'symmetric' ? 'symv' : 'hemv'}`;
    assertWords(name, { uplo: [uplo, 'UL'] });
    assertWhole(name, { n });
    assertLd(name, lda, n);
    assertVectors(name, letter, { n, x, incx, m: n, y, incy });
    assertHolds(name, letter, 'a', a, extentOfMatrix(n, n, lda));
    product(handle, letter, halfOf(shape, uplo), { rows: n, columns: n, a, ld: lda, x, incx, y, incy, alpha, beta });
  };

/** `symv` of a band of `k` diagonals beside the main one. */
export const sbmv =
  <L extends Letter>(letter: L, shape: Symmetric = 'symmetric') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
  ): void => {
    const name = `cublas${letter}${shape === 'symmetric' ? 'sbmv' : 'hbmv'}`;
    assertWords(name, { uplo: [uplo, 'UL'] });
    assertWhole(name, { n, k });
    assertLd(name, lda, k + 1);
    assertVectors(name, letter, { n, x, incx, m: n, y, incy });
    assertHolds(name, letter, 'a', a, extentOfMatrix(k + 1, n, lda));
    product(handle, letter, halfOf(shape, uplo, 'band'), {
      ...{ rows: n, columns: n, a, ld: lda, below: uplo === 'U' ? 0 : k, above: uplo === 'U' ? k : 0, x, incx, y, incy, alpha, beta },
    });
  };

/** `symv` of a packed triangle. */
export const spmv =
  <L extends Letter>(letter: L, shape: Symmetric = 'symmetric') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: Scalar<L>,
    ap: Memory<L>,
    x: Memory<L>,
    incx: number,
    beta: Scalar<L>,
    y: Memory<L>,
    incy: number,
  ): void => {
    const name = `cublas${letter}${shape === 'symmetric' ? 'spmv' : 'hpmv'}`;
    assertWords(name, { uplo: [uplo, 'UL'] });
    assertWhole(name, { n });
    assertVectors(name, letter, { n, x, incx, m: n, y, incy });
    assertHolds(name, letter, 'ap', ap, (n * (n + 1)) / 2);
    product(handle, letter, halfOf(shape, uplo, 'packed'), { rows: n, columns: n, a: ap, ld: 0, x, incx, y, incy, alpha, beta });
  };
