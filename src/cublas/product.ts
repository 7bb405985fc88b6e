/**
 * Level 3: products of matrices. General ones of real numbers are those of `cumetal/kernels`, which are fastest; all others are one kernel over what finds
 * an element. Source: cuBLAS Library, "cuBLAS Level-3 Function Reference" and "BLAS-like Extension".
 */
import { blockIndex, constant, f64, type Index, loop, ptr, s64, syncThreads, threadIndex, type Value, when } from '../build/index.ts';
import { gemm as gemmOf } from '../kernels/index.ts';
import {
  assertHolds,
  assertStrides,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  type FillMode,
  type Inside,
  isZero,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Operation,
  refuse,
  type Scalar,
  scalarParts,
} from './handle.ts';
import { elementOf, generalOf, type Stored, wordsOf } from './matrix.ts';
import {
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
  realPart,
  realType,
  sharedNumbers,
  store,
} from './number.ts';

const side = 16;
const threads = side * side;
const per = 2;
const tile = side * per;
const depth = 16;

type Words = 'm' | 'n' | 'k' | 'lda' | 'ldb' | 'ldc' | 'strideA' | 'strideB' | 'strideC';
/** What kernels of level 3 see. */
export type Places = Inside<'a' | 'b' | 'c', Words, 'alpha' | 'alphaIm' | 'beta' | 'betaIm'>;
/** The parameters of kernels of level 3. */
export const parametersOf = (letter: Letter): Record<string, unknown> => {
  const type = realType(letter);
  const words = ['m', 'n', 'k', 'lda', 'ldb', 'ldc', 'strideA', 'strideB', 'strideC'].map((word) => [word, s64]);
  return {
    ...{ a: ptr(type), b: ptr(type), c: ptr(type), ...Object.fromEntries(words) },
    ...{ alpha: type, alphaIm: type, beta: type, betaIm: type },
  };
};
/** A scalar of the parameters. */
export const number = (letter: Letter, re: Real, im: Real): Num => (isComplex(letter) ? { re, im } : { re });

/** What is written of C. */
interface Target {
  readonly part?: FillMode | undefined;
  /** Whether the diagonal is real. */
  readonly isReal?: boolean;
}

/** C = alpha A B + beta C: a block has a tile of 32 by 32, a thread 2 by 2 of it. */
function productKernel(letter: Letter, am: Stored, bm: Stored, { part, isReal = false }: Target) {
  const words = [wordsOf(am), wordsOf(bm), part ? part.toLowerCase() : 'w', isReal ? 'real' : 'any'];
  return kernelOf(
    kernelName(letter, 'gemm', ...words),
    parametersOf(letter),
    (p: Places) => {
      const batch = blockIndex('z').to(s64);
      const parts = isComplex(letter) ? 2 : 1;
      const at = (base: Places['a'], stride: Value<'s64'>): Places['a'] => base.add(batch.mul(stride).mul(parts));
      const none = { rows: p.k, below: p.k, above: p.k };
      const [left, right] = [
        { ...none, a: at(p.a, p.strideA), ld: p.lda },
        { ...none, a: at(p.b, p.strideB), ld: p.ldb },
      ];
      const c = at(p.c, p.strideC);
      const [row0, column0] = [blockIndex('x').mul(tile), blockIndex('y').mul(tile)];
      const own = threadIndex();
      const [x, y] = [own.and(side - 1), own.shr(4)];
      const [as, bs] = [sharedNumbers(letter, depth * (tile + 1)), sharedNumbers(letter, depth * (tile + 1))];
      const sums = Array.from({ length: per * per }, () => changing(letter, numberOf(letter, 0)));
      const line = own.and(tile - 1);
      loop(constant(s64, 0), p.k, depth, (first) => {
        for (let i = 0; i < (tile * depth) / threads; i++) {
          const q = own.shr(5).add(i * (threads / tile));
          const [at64, r, s] = [first.add(q.to(s64)), row0.add(line).to(s64), column0.add(line).to(s64)];
          const place: Index = q.mul(tile + 1).add(line);
          const [u, v] = [changing(letter, numberOf(letter, 0)), changing(letter, numberOf(letter, 0))];
          when(r.lt(p.m).and(at64.lt(p.k)), () => assign(u, elementOf(letter, am, left, r, at64)));
          when(s.lt(p.n).and(at64.lt(p.k)), () => assign(v, elementOf(letter, bm, right, at64, s)));
          store(letter, as, place, now(u));
          store(letter, bs, place, now(v));
        }
        syncThreads();
        loop(0, depth, 1, (q) => {
          const us = Array.from({ length: per }, (_, i) => load(letter, as, q.mad(tile + 1, x.add(i * side))));
          const vs = Array.from({ length: per }, (_, j) => load(letter, bs, q.mad(tile + 1, y.add(j * side))));
          for (const [i, u] of us.entries())
            for (const [j, v] of vs.entries()) assign(sums[i * per + j]!, multiplyAdd(u, v, now(sums[i * per + j]!)));
        });
        syncThreads();
      });
      const [alpha, beta] = [number(letter, p.alpha, p.alphaIm), number(letter, p.beta, p.betaIm)];
      for (let i = 0; i < per; i++)
        for (let j = 0; j < per; j++) {
          const [r, s] = [
            row0
              .add(x)
              .add(i * side)
              .to(s64),
            column0
              .add(y)
              .add(j * side)
              .to(s64),
          ];
          const isIn = r.lt(p.m).and(s.lt(p.n));
          const isPart = part === undefined ? isIn : isIn.and(part === 'U' ? r.le(s) : r.ge(s));
          when(isPart, () => {
            const place = s.mul(p.ldc).add(r);
            const value = changing(letter, multiply(alpha, now(sums[i * per + j]!)));
            when(isNotZero(beta), () => assign(value, multiplyAdd(beta, load(letter, c, place), now(value))));
            if (isReal) when(r.eq(s), () => assign(value, realPart(now(value))));
            store(letter, c, place, now(value));
          });
        }
    },
    threads,
  );
}

interface Product {
  readonly m: number;
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
  readonly strideA?: number;
  readonly strideB?: number;
  readonly strideC?: number;
  readonly batch?: number;
}

/** Enqueues C = alpha A B + beta C of matrices of any kind. */
export function product(handle: CublasHandle, letter: Letter, am: Stored, bm: Stored, given: Product, target: Target = {}): void {
  const { m, n, k, a, lda, b, ldb, c, ldc, strideA = 0, strideB = 0, strideC = 0, batch = 1 } = given;
  if (m === 0 || n === 0 || batch === 0) return;
  const [[alpha, alphaIm], [beta, betaIm]] = [scalarParts(given.alpha), scalarParts(given.beta)];
  // Nothing is read of A and B where the factor is 0.
  const args = { a, b, c, m, n, k: isZero(given.alpha) ? 0 : k, lda, ldb, ldc, strideA, strideB, strideC, alpha, alphaIm, beta, betaIm };
  const grid = [Math.ceil(m / tile), Math.ceil(n / tile), batch] as const;
  launch(handle, productKernel(letter, am, bm, target), grid, threads, args);
}

/** What a function gives for a general product. */
export interface General extends Product {
  readonly transA: Operation;
  readonly transB: Operation;
}

function assertProduct(name: string, letter: Letter, g: General): void {
  const { m, n, k, lda, ldb, ldc, batch = 1 } = g;
  assertWords(name, { transa: [g.transA, 'NTC'], transb: [g.transB, 'NTC'] });
  assertWhole(name, { m, n, k, batchCount: batch > 65535 ? Number.NaN : batch });
  assertStrides(name, { strideA: g.strideA ?? 0, strideB: g.strideB ?? 0, strideC: g.strideC ?? 0 });
  const [rowsA, columnsA, rowsB, columnsB] = [...(g.transA === 'N' ? [m, k] : [k, m]), ...(g.transB === 'N' ? [k, n] : [n, k])] as [
    number,
    number,
    number,
    number,
  ];
  assertWhole(name, { lda }, Math.max(1, rowsA));
  assertWhole(name, { ldb }, Math.max(1, rowsB));
  assertWhole(name, { ldc }, Math.max(1, m));
  const of = (rows: number, columns: number, ld: number, stride = 0): number =>
    batch === 0 || rows === 0 || columns === 0 ? 0 : (batch - 1) * stride + extentOfMatrix(rows, columns, ld);
  assertHolds(name, letter, 'a', g.a, of(rowsA, columnsA, lda, g.strideA));
  assertHolds(name, letter, 'b', g.b, of(rowsB, columnsB, ldb, g.strideB));
  assertHolds(name, letter, 'c', g.c, of(m, n, ldc, g.strideC));
}

/** The tile of a product of reals: one that is smaller than large tiles takes small ones. f64 and tf32 have no choice but that of the library. */
export const tileOfProduct = ({ device }: CublasHandle, m: number, n: number): { readonly tile?: 64 } =>
  device.info.kind !== 'cpu' && Math.min(m, n) < 128 ? { tile: 64 } : {};

/** A pitch that the kernels of `cumetal/kernels` take. */
const isShort = (pitch: number): boolean => pitch < 2 ** 25;

/** Enqueues a product of general matrices. */
export function general(handle: CublasHandle, letter: Letter, name: string, g: General): void {
  assertProduct(name, letter, g);
  const { m, n, k, a, b, c, alpha, beta, lda, ldb, ldc, strideA = 0, strideB = 0, strideC = 0, batch = 1 } = g;
  if (m === 0 || n === 0 || batch === 0) return;
  if (isComplex(letter) || !isShort(lda) || !isShort(ldb) || isZero(alpha)) {
    product(handle, letter, generalOf(g.transA), generalOf(g.transB), g);
    return;
  }
  const tf32 = letter === 'S' && handle.mathMode === 'TF32_TENSOR_OP';
  // In columns, C is the transpose of a matrix in rows, and that is the product of the transposed factors in turn.
  const made = gemmOf({
    ...{ type: (letter === 'D' ? f64 : undefined) as never, transposeA: g.transB !== 'N', transposeB: g.transA !== 'N' },
    ...(tf32 ? { tf32 } : letter === 'S' ? tileOfProduct(handle, m, n) : {}),
  });
  const args = { a: b, b: a, c, m: n, n: m, k, lda: ldb, ldb: lda, ldc, strideA: strideB, strideB: strideA, strideC, batch, alpha, beta };
  made.launch(handle.device, args as never, handle.stream ? { stream: handle.stream } : {});
}

/** `C = alpha * op(A) * op(B) + beta * C`. */
export const gemm =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    transa: Operation,
    transb: Operation,
    m: number,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    b: Memory<L>,
    ldb: number,
    beta: Scalar<L>,
    c: Memory<L>,
    ldc: number,
  ): void =>
    general(handle, letter, `cublas${letter}gemm`, { transA: transa, transB: transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc });

/** `gemm` of matrices that follow each other by their strides. */
export const gemmStridedBatched =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    transa: Operation,
    transb: Operation,
    m: number,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: Memory<L>,
    lda: number,
    strideA: number,
    b: Memory<L>,
    ldb: number,
    strideB: number,
    beta: Scalar<L>,
    c: Memory<L>,
    ldc: number,
    strideC: number,
    batchCount: number,
  ): void => {
    const strides = { strideA, strideB, strideC, batch: batchCount };
    const name = `cublas${letter}gemmStridedBatched`;
    general(handle, letter, name, { transA: transa, transB: transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, ...strides });
  };

/** `gemm` of lists of matrices: a launch for each. */
export const gemmBatched =
  <L extends Letter>(letter: L) =>
  (
    handle: CublasHandle,
    transa: Operation,
    transb: Operation,
    m: number,
    n: number,
    k: number,
    alpha: Scalar<L>,
    a: readonly Memory<L>[],
    lda: number,
    b: readonly Memory<L>[],
    ldb: number,
    beta: Scalar<L>,
    c: readonly Memory<L>[],
    ldc: number,
    batchCount: number,
  ): void => {
    const name = `cublas${letter}gemmBatched`;
    if (![a, b, c].every((list) => list.length >= batchCount)) refuse(name, `a list has fewer than ${batchCount} matrices`);
    for (let i = 0; i < batchCount; i++)
      general(handle, letter, name, { transA: transa, transB: transb, m, n, k, alpha, a: a[i], lda, b: b[i], ldb, beta, c: c[i], ldc });
  };

interface Sided {
  readonly m: number;
  readonly n: number;
  readonly order: number;
  readonly a: unknown;
  readonly lda: number;
  readonly b: unknown;
  readonly ldb: number;
  readonly c?: unknown;
  readonly ldc?: number;
}
/** Checks a matrix of an order beside one of m by n. */
export function assertSizes(name: string, letter: Letter, { m, n, order, a, lda, b, ldb, c = null, ldc = ldb }: Sided): void {
  assertWhole(name, { m, n });
  assertWhole(name, { lda }, Math.max(1, order));
  assertWhole(name, { ldb }, Math.max(1, m));
  assertWhole(name, { ldc }, Math.max(1, m));
  assertHolds(name, letter, 'a', a, extentOfMatrix(order, order, lda));
  assertHolds(name, letter, 'b', b, extentOfMatrix(m, n, ldb));
  assertHolds(name, letter, 'c', c, extentOfMatrix(m, n, ldc));
}
