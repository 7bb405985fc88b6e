/** Functions of the elements of matrices. Source: cuBLAS Library, "BLAS-like Extension". */
import { blockIndex, gridSize, loop, s64, threadIndex, type Value, when } from '../build/index.ts';
import {
  assertHolds,
  assertSteps,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  extentOfVector,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Operation,
  type Scalar,
  type Side,
  scalarParts,
  startOf,
} from './handle.ts';
import { elementOf, generalOf, wordsOf } from './matrix.ts';
import { assign, changing, isNotZero, type Letter, load, multiply, multiplyAdd, now, numberOf, store } from './number.ts';

import { number, type Places, parametersOf } from './product.ts';

const threads = 256;

/** A kernel over the elements of C, in columns. */
function elementKernel(letter: Letter, name: string, body: (p: Places, row: Value<'s64'>, column: Value<'s64'>) => void) {
  return kernelOf(
    kernelName(letter, name),
    parametersOf(letter),
    (p: Places) =>
      loop(blockIndex().mad(threads, threadIndex()).to(s64), p.m.mul(p.n), gridSize().mul(threads).to(s64), (i) => {
        const column = i.div(p.m);
        body(p, i.sub(column.mul(p.m)), column);
      }),
    threads,
  );
}
const blocksOf = (m: number, n: number): number => Math.min(1024, Math.ceil((m * n) / threads));

/** `C = alpha * op(A) + beta * op(B)` */
export const geam =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    transa: Operation,
    transb: Operation,
    m: number,
    n: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    beta: Scalar<L>,
    b: Memory<L>,
    ldb: number,
    c: Memory<L>,
    ldc: number,
  ): void => {
    const name = `cublas${letter}geam`;
    assertWords(name, { transa: [transa, 'NTC'], transb: [transb, 'NTC'] });
    assertWhole(name, { m, n });
    const [extentA, extentB] = [transa, transb].map((trans) => (trans === 'N' ? [m, n] : [n, m])) as [number[], number[]];
    assertWhole(name, { lda }, Math.max(1, extentA[0]!));
    assertWhole(name, { ldb }, Math.max(1, extentB[0]!));
    assertWhole(name, { ldc }, Math.max(1, m));
    assertHolds(name, letter, 'a', a, extentOfMatrix(extentA[0]!, extentA[1]!, lda));
    assertHolds(name, letter, 'b', b, extentOfMatrix(extentB[0]!, extentB[1]!, ldb));
    assertHolds(name, letter, 'c', c, extentOfMatrix(m, n, ldc));
    if (m === 0 || n === 0) return;
    const [am, bm] = [generalOf(transa), generalOf(transb)];
    const made = elementKernel(letter, `geam_${wordsOf(am)}_${wordsOf(bm)}`, (p, row, column) => {
      const value = changing(letter, numberOf(letter, 0));
      const none = { rows: p.m, below: p.m, above: p.m };
      const [x, y] = [number(letter, p.alpha, p.alphaIm), number(letter, p.beta, p.betaIm)];
      when(isNotZero(x), () => assign(value, multiply(x, elementOf(letter, am, { ...none, a: p.a, ld: p.lda }, row, column))));
      when(isNotZero(y), () =>
        assign(value, multiplyAdd(y, elementOf(letter, bm, { ...none, a: p.b, ld: p.ldb }, row, column), now(value))),
      );
      store(letter, p.c, column.mul(p.ldc).add(row), now(value));
    });
    const [[re, im], [betaRe, betaIm]] = [scalarParts(alpha), scalarParts(beta)];
    const none = { k: 0, strideA: 0, strideB: 0, strideC: 0 };
    launch(handle, made, blocksOf(m, n), threads, { ...none, a, b, c, m, n, lda, ldb, ldc, alpha: re, alphaIm: im, beta: betaRe, betaIm });
  };

/** `C = A * diag(x)`, or with the diagonal on the left. */
export const dgmm =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    mode: Side,
    m: number,
    n: number,
    a: Memory<L>,
    lda: number,
    x: Memory<L>,
    incx: number,
    c: Memory<L>,
    ldc: number,
  ): void => {
    const name = `cublas${letter}dgmm`;
    assertWords(name, { mode: [mode, 'LR'] });
    assertWhole(name, { m, n });
    assertWhole(name, { lda, ldc }, Math.max(1, m));
    assertSteps(name, { incx });
    const count = mode === 'L' ? m : n;
    assertHolds(name, letter, 'a', a, extentOfMatrix(m, n, lda));
    assertHolds(name, letter, 'x', x, extentOfVector(count, incx));
    assertHolds(name, letter, 'c', c, extentOfMatrix(m, n, ldc));
    if (m === 0 || n === 0) return;
    const made = elementKernel(letter, `dgmm_${mode.toLowerCase()}`, (p, row, column) => {
      const factor = load(letter, p.b, p.strideB.add((mode === 'L' ? row : column).mul(p.ldb)));
      store(letter, p.c, column.mul(p.ldc).add(row), multiply(load(letter, p.a, column.mul(p.lda).add(row)), factor));
    });
    const none = { k: 0, strideA: 0, strideC: 0, alpha: 1, alphaIm: 0, beta: 0, betaIm: 0 };
    launch(handle, made, blocksOf(m, n), threads, { ...none, a, b: x, c, m, n, lda, ldb: incx, ldc, strideB: startOf(count, incx) });
  };
