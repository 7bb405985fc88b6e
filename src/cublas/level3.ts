/** Level 3 with matrices of which a triangle is stored or written. Source: cuBLAS Library, "cuBLAS Level-3 Function Reference". */
import {
  assertHolds,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  type FillMode,
  type Memory,
  type Operation,
  type Scalar,
  type Side,
  scalarParts,
} from './handle.ts';
import { generalOf, halfOf } from './matrix.ts';
import type { Letter } from './number.ts';

import { assertSizes, product } from './product.ts';
/** `C = alpha * A * B + beta * C`, or with A on the right: of A a triangle is stored. */
export const symm =
  <L extends Letter>(letter: L, name: 'symm' | 'hemm') =>
  (
    handle: CublasHandle,
    where: Side,
    uplo: FillMode,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
    beta: Scalar<L>,
    c: Memory<L>,
    ldc: number,
  ): void => {
    const full = `cublas${letter}${name}`;
    const order = where === 'L' ? m : n;
    assertWords(full, { side: [where, 'LR'], uplo: [uplo, 'UL'] });
    assertSizes(full, letter, { m, n, order, a, lda, b, ldb, c, ldc });
    const [half, whole] = [halfOf(name === 'hemm' ? 'hermitian' : 'symmetric', uplo), generalOf('N')];
    const sizes = { m, n, k: order, alpha, beta, c, ldc };
    if (where === 'L') product(handle, letter, half, whole, { ...sizes, a, lda, b, ldb });
    else product(handle, letter, whole, half, { ...sizes, a: b, lda: ldb, b: a, ldb: lda });
  };

interface Rank {
  readonly uplo: FillMode;
  readonly trans: Operation;
  readonly n: number;
  readonly k: number;
  readonly alpha: Scalar<'C'>;
  readonly a: unknown;
  readonly lda: number;
  readonly b: unknown;
  readonly ldb: number;
  readonly beta: Scalar<'C'>;
  readonly c: unknown;
  readonly ldc: number;
}

/** C = alpha op(A) op(B)ᵀ + beta C in a triangle. */
function rankUpdate(handle: CublasHandle, letter: Letter, base: string, isHermitian: boolean, r: Rank): void {
  const name = `cublas${letter}${base}`;
  const { uplo, trans, n, k, lda, ldb, ldc } = r;
  assertWords(name, { uplo: [uplo, 'UL'], trans: [trans, 'NTC'] });
  assertWhole(name, { n, k });
  const [rows, columns] = trans === 'N' ? [n, k] : [k, n];
  assertWhole(name, { lda, ldb }, Math.max(1, rows));
  assertWhole(name, { ldc }, Math.max(1, n));
  assertHolds(name, letter, 'a', r.a, extentOfMatrix(rows, columns, lda));
  assertHolds(name, letter, 'b', r.b, extentOfMatrix(rows, columns, ldb));
  assertHolds(name, letter, 'c', r.c, extentOfMatrix(n, n, ldc));
  const other = isHermitian ? 'C' : 'T';
  const [am, bm] = trans === 'N' ? [generalOf('N'), generalOf(other)] : [generalOf(other), generalOf('N')];
  product(handle, letter, am, bm, { ...r, m: n }, { part: uplo, isReal: isHermitian });
}
type RealOr<N extends string, H extends string, L extends Letter> = N extends H ? number : Scalar<L>;

/** `C = alpha * op(A) * op(A)ᵀ + beta * C` of a triangle; `herk` has conjugates and real scalars. */
export const syrk =
  <L extends Letter, N extends 'syrk' | 'herk'>(letter: L, name: N) =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    trans: Operation,
    n: number,
    k: number,
    alpha: RealOr<N, 'herk', L>,
    a: Memory<L>,
    lda: number,
    beta: RealOr<N, 'herk', L>,
    c: Memory<L>,
    ldc: number,
  ): void =>
    rankUpdate(handle, letter, name, name === 'herk', { uplo, trans, n, k, alpha, a, lda, b: a, ldb: lda, beta, c, ldc });

/** `C = alpha * op(A) * op(B)ᵀ + alpha * op(B) * op(A)ᵀ + beta * C` of a triangle; `her2k` has conjugates and a real `beta`. */
export const syr2k =
  <L extends Letter, N extends 'syr2k' | 'her2k'>(letter: L, name: N) =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    trans: Operation,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
    beta: RealOr<N, 'her2k', L>,
    c: Memory<L>,
    ldc: number,
  ): void => {
    const isHermitian = name === 'her2k';
    rankUpdate(handle, letter, name, isHermitian, { uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc });
    const [re, im] = scalarParts(alpha);
    const back: Scalar<'C'> = isHermitian ? [re, -im] : alpha;
    rankUpdate(handle, letter, name, isHermitian, { uplo, trans, n, k, alpha: back, a: b, lda: ldb, b: a, ldb: lda, beta: 1, c, ldc });
  };
/** `C = alpha * op(A) * op(B)ᵀ + beta * C` of a triangle. */
export const syrkx =
  <L extends Letter, N extends 'syrkx' | 'herkx'>(letter: L, name: N) =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    trans: Operation,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
    beta: RealOr<N, 'herkx', L>,
    c: Memory<L>,
    ldc: number,
  ): void =>
    rankUpdate(handle, letter, name, name === 'herkx', { uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc });
