/** Triangular matrices of level 3: products and solutions. Source: cuBLAS Library, "cuBLAS Level-3 Function Reference". */
import { blockIndex, constant, loop, s64, threadIndex, type Value, when } from '../build/index.ts';
import { geam } from './elements.ts';
import {
  assertWords,
  type CublasHandle,
  type Diagonal,
  type FillMode,
  isZero,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Operation,
  type Scalar,
  type Side,
  scalarParts,
} from './handle.ts';
import { elementOf, generalOf, isUpperAfter, type Stored, triangleOf, wordsOf } from './matrix.ts';
import { assign, changing, divide, isComplex, type Letter, load, multiply, now, store, subtract } from './number.ts';
import { assertSizes, number, type Places, parametersOf, product } from './product.ts';

const elementName = (letter: Letter): 'f32' | 'f64' => (letter === 'S' || letter === 'C' ? 'f32' : 'f64');

/** `C = alpha * op(A) * B`, or with A on the right, of a triangular A. `b` and `c` may be the same. */
export const trmm =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    where: Side,
    uplo: FillMode,
    trans: Operation,
    diag: Diagonal,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
    c: Memory<L>,
    ldc: number,
  ): void => {
    const name = `cublas${letter}trmm`;
    const order = where === 'L' ? m : n;
    assertWords(name, { side: [where, 'LR'], uplo: [uplo, 'UL'], trans: [trans, 'NTC'], diag: [diag, 'NU'] });
    assertSizes(name, letter, { m, n, order, a, lda, b, ldb, c, ldc });
    if (m === 0 || n === 0) return;
    // The result may be where B is.
    const copy = handle.device.allocate(elementName(letter), m * n * (isComplex(letter) ? 2 : 1));
    geam(letter)(handle, 'N', 'N', m, n, 1, b, ldb, 0, b, ldb, copy as never, m);
    const [half, whole] = [triangleOf(uplo, trans, diag), generalOf('N')];
    const sizes = { m, n, k: order, alpha, beta: 0, c, ldc };
    if (where === 'L') product(handle, letter, half, whole, { ...sizes, a, lda, b: copy, ldb: m });
    else product(handle, letter, whole, half, { ...sizes, a: copy, lda: m, b: a, ldb: lda });
    copy.free();
  };

/** Solves op(A) X = alpha B, or X op(A) = alpha B, in place: a thread has one right side. */
function solveKernel(letter: Letter, triangle: Stored, isRight: boolean) {
  // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
  const m = isRight ? { ...triangle, isTransposed: !triangle.isTransposed } : triangle;
  const isUpper = isUpperAfter(m);
  return kernelOf(
    kernelName(letter, 'trsm', wordsOf(triangle), isRight && 'right'),
    parametersOf(letter),
    (p: Places) => {
      const i = blockIndex().mad(32, threadIndex()).to(s64);
      const operand = { a: p.a, ld: p.lda, rows: p.m, below: p.m, above: p.m };
      const place = (row: Value<'s64'>): Value<'s64'> => (isRight ? row.mul(p.ldb).add(i) : i.mul(p.ldb).add(row));
      when(i.lt(p.n), () =>
        loop(constant(s64, 0), p.m, 1, (j) => {
          const row = isUpper ? p.m.sub(1).sub(j) : j;
          const sum = changing(letter, multiply(number(letter, p.alpha, p.alphaIm), load(letter, p.b, place(row))));
          loop(constant(s64, 0), j, 1, (q) => {
            const column = isUpper ? p.m.sub(1).sub(q) : q;
            // The whole element is in the triangle that is stored.
            const element = elementOf(letter, { ...m, shape: 'general' }, operand, row, column);
            assign(sum, subtract(now(sum), multiply(element, load(letter, p.b, place(column)))));
          });
          if (!m.isUnit) assign(sum, divide(now(sum), elementOf(letter, { ...m, shape: 'general' }, operand, row, row)));
          store(letter, p.b, place(row), now(sum));
        }),
      );
    },
    32,
  );
}

/** Solves `op(A) * X = alpha * B`, or with A on the right, of a triangular A; X takes the place of B. */
export const trsm =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    where: Side,
    uplo: FillMode,
    trans: Operation,
    diag: Diagonal,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
  ): void => {
    const name = `cublas${letter}trsm`;
    const order = where === 'L' ? m : n;
    assertWords(name, { side: [where, 'LR'], uplo: [uplo, 'UL'], trans: [trans, 'NTC'], diag: [diag, 'NU'] });
    assertSizes(name, letter, { m, n, order, a, lda, b, ldb });
    const sides = where === 'L' ? n : m;
    if (m === 0 || n === 0) return;
    // Nothing is read where the factor is 0.
    if (isZero(alpha)) return geam(letter)(handle, 'N', 'N', m, n, 0, b, ldb, 0, b, ldb, b, ldb);
    const [re, im] = scalarParts(alpha);
    const none = { c: null, k: 0, ldc: 0, strideA: 0, strideB: 0, strideC: 0, beta: 0, betaIm: 0 };
    const args = { ...none, a, b, m: order, n: sides, lda, ldb, alpha: re, alphaIm: im };
    launch(handle, solveKernel(letter, triangleOf(uplo, trans, diag), where === 'R'), Math.ceil(sides / 32), 32, args);
  };
