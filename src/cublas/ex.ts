/** Products with types as arguments, and those of cuBLASLt with epilogues. Source: cuBLAS Library, "cublasGemmEx()" and "Using the cuBLASLt API". */
import type { KernelBuffer } from '../api/index.ts';
import { bf16, f16, f64, s8 } from '../build/index.ts';
import { type Activation, gemm as gemmOf } from '../kernels/index.ts';
import { geam } from './elements.ts';
import {
  assertHolds,
  assertStrides,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  type Operation,
  refuse,
  type Scalar,
} from './handle.ts';
import { gemmStridedBatched, tileOfProduct } from './product.ts';

/** Single precision. */
export const CUDA_R_32F = 'f32';
/** Double precision. */
export const CUDA_R_64F = 'f64';
/** Halves. */
export const CUDA_R_16F = 'f16';
/** Bfloats. */
export const CUDA_R_16BF = 'bf16';
/** Signed bytes. */
export const CUDA_R_8I = 'i8';
/** Signed integers. */
export const CUDA_R_32I = 'i32';
/** Complex numbers of single precision. */
export const CUDA_C_32F = 'c32';
/** Complex numbers of double precision. */
export const CUDA_C_64F = 'c64';
/** The type of the elements of a matrix: `c32` and `c64` are pairs of f32 and of f64. */
export type DataType = 'f32' | 'f64' | 'f16' | 'bf16' | 'i8' | 'i32' | 'c32' | 'c64';

/** Sums of single precision. */
export const CUBLAS_COMPUTE_32F = '32F';
/** Sums of single precision, of f32 that is rounded to tf32. */
export const CUBLAS_COMPUTE_32F_FAST_TF32 = '32F_FAST_TF32';
/** Sums of double precision. */
export const CUBLAS_COMPUTE_64F = '64F';
/** Sums of integers. */
export const CUBLAS_COMPUTE_32I = '32I';
/** The type in which products are summed. */
export type ComputeType = '32F' | '32F_FAST_TF32' | '64F' | '32I';

/** What is computed by the types of A and B, of C, and of the sums. */
const products = {
  'f32 f32 32F': undefined,
  'f32 f32 32F_FAST_TF32': undefined,
  'f64 f64 64F': f64,
  'f16 f16 32F': f16,
  'bf16 bf16 32F': bf16,
  'i8 i32 32I': s8,
} as const;
const complexLetters: Readonly<Record<string, 'C' | 'Z'>> = {
  ...{ 'c32 c32 32F': 'C', 'c64 c64 64F': 'Z' },
  // The type of sums allows less precision, and demands none of it.
  'c32 c32 32F_FAST_TF32': 'C',
};

interface Given {
  readonly transA: Operation;
  readonly transB: Operation;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly alpha: Scalar<'C'>;
  readonly a: unknown;
  readonly lda: number;
  readonly strideA: number;
  readonly b: unknown;
  readonly ldb: number;
  readonly strideB: number;
  readonly beta: Scalar<'C'>;
  readonly c: unknown;
  readonly ldc: number;
  readonly strideC: number;
  readonly batch: number;
  readonly types: readonly [a: DataType, b: DataType, c: DataType];
  readonly compute: ComputeType;
  readonly activation?: Activation;
  readonly bias?: unknown;
  /** Whether the mode of the handle holds: cuBLASLt knows the type of sums alone. */
  readonly hasMode?: boolean;
}

function assertMatrices(name: string, g: Given): void {
  const { transA, transB, m, n, k, batch, lda, ldb, ldc } = g;
  assertWords(name, { transa: [transA, 'NTC'], transb: [transB, 'NTC'] });
  assertWhole(name, { m, n, k, batchCount: batch > 65535 ? Number.NaN : batch });
  assertStrides(name, { strideA: g.strideA, strideB: g.strideB, strideC: g.strideC });
  const [sizeA, sizeB] = [transA === 'N' ? [m, k] : [k, m], transB === 'N' ? [k, n] : [n, k]] as [[number, number], [number, number]];
  for (const [what, ld, rows] of [
    ['lda', lda, sizeA[0]],
    ['ldb', ldb, sizeB[0]],
    ['ldc', ldc, m],
  ] as const)
    assertWhole(name, { [what]: ld }, Math.max(1, rows));
  const of = (rows: number, columns: number, ld: number, stride: number): number =>
    batch === 0 || rows === 0 || columns === 0 ? 0 : (batch - 1) * stride + extentOfMatrix(rows, columns, ld);
  assertHolds(name, 'S', 'a', g.a, of(...sizeA, lda, g.strideA));
  assertHolds(name, 'S', 'b', g.b, of(...sizeB, ldb, g.strideB));
  assertHolds(name, 'S', 'c', g.c, of(m, n, ldc, g.strideC));
}

function run(handle: CublasHandle, name: string, g: Given): void {
  const { types, compute, m, n, k, batch } = g;
  const key = `${types[0]} ${types[2]} ${compute}`;
  const letter = complexLetters[key];
  if (types[0] !== types[1] || !(letter || key in products))
    refuse(name, `a product of ${types[0]} and ${types[1]} as ${types[2]}, summed as ${compute}, is not there`);
  if (letter) {
    const { transA, transB, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC } = g;
    const call = gemmStridedBatched(letter) as (...args: unknown[]) => void;
    call(handle, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC, batch);
    return;
  }
  assertMatrices(name, g);
  if (m === 0 || n === 0 || batch === 0) return;
  const type = products[key as keyof typeof products];
  const tf32 = types[0] === 'f32' && (compute === '32F_FAST_TF32' || (g.hasMode && handle.mathMode === 'TF32_TENSOR_OP'));
  // In columns, C is the transpose of a matrix in rows.
  const made = gemmOf({
    ...{ type: type as never, transposeA: g.transB !== 'N', transposeB: g.transA !== 'N' },
    ...(g.activation ? { activation: g.activation } : {}),
    ...(tf32 ? { tf32 } : types[0] === 'f64' ? {} : tileOfProduct(handle, m, n)),
  });
  const args = {
    ...{ a: g.b, b: g.a, c: g.c, m: n, n: m, k, lda: g.ldb, ldb: g.lda, ldc: g.ldc, alpha: g.alpha, beta: g.beta, bias: g.bias ?? null },
    ...{ strideA: g.strideB, strideB: g.strideA, strideC: g.strideC, batch },
  };
  made.launch(handle.device, args as never, handle.stream ? { stream: handle.stream } : {});
}

/**
 * `C = alpha * op(A) * op(B) + beta * C` with types as arguments: f32, f64, f16 and bf16 (summed as f32), i8 (summed as i32), and complex ones. The algorithm of
 * the function of C is left out.
 */
export function cublasGemmEx(
  handle: CublasHandle,
  transa: Operation,
  transb: Operation,
  m: number,
  n: number,
  k: number,
  alpha: Scalar<'C'>,
  a: KernelBuffer,
  aType: DataType,
  lda: number,
  b: KernelBuffer,
  bType: DataType,
  ldb: number,
  beta: Scalar<'C'>,
  c: KernelBuffer,
  cType: DataType,
  ldc: number,
  computeType: ComputeType,
): void {
  const none = { strideA: 0, strideB: 0, strideC: 0, batch: 1 };
  const types = [aType, bType, cType] as const;
  run(handle, 'cublasGemmEx', {
    ...none,
    transA: transa,
    transB: transb,
    m,
    n,
    k,
    alpha,
    a,
    lda,
    b,
    ldb,
    beta,
    c,
    ldc,
    types,
    compute: computeType,
    hasMode: true,
  });
}

/** `cublasGemmEx` of matrices that follow each other by their strides. */
export function cublasGemmStridedBatchedEx(
  handle: CublasHandle,
  transa: Operation,
  transb: Operation,
  m: number,
  n: number,
  k: number,
  alpha: Scalar<'C'>,
  a: KernelBuffer,
  aType: DataType,
  lda: number,
  strideA: number,
  b: KernelBuffer,
  bType: DataType,
  ldb: number,
  strideB: number,
  beta: Scalar<'C'>,
  c: KernelBuffer,
  cType: DataType,
  ldc: number,
  strideC: number,
  batchCount: number,
  computeType: ComputeType,
): void {
  const strides = { strideA, strideB, strideC, batch: batchCount };
  const types = [aType, bType, cType] as const;
  const sizes = { transA: transa, transB: transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc };
  run(handle, 'cublasGemmStridedBatchedEx', { ...strides, ...sizes, types, compute: computeType, hasMode: true });
}

/** `cublasGemmEx` of f16, summed as f32. */
export function cublasHgemm(
  handle: CublasHandle,
  transa: Operation,
  transb: Operation,
  m: number,
  n: number,
  k: number,
  alpha: number,
  a: KernelBuffer<'f16'>,
  lda: number,
  b: KernelBuffer<'f16'>,
  ldb: number,
  beta: number,
  c: KernelBuffer<'f16'>,
  ldc: number,
): void {
  cublasGemmEx(
    handle,
    transa,
    transb,
    m,
    n,
    k,
    alpha,
    a as KernelBuffer,
    'f16',
    lda,
    b as KernelBuffer,
    'f16',
    ldb,
    beta,
    c as KernelBuffer,
    'f16',
    ldc,
    '32F',
  );
}

/** What happens to each element of the result. */
export type Epilogue = 'DEFAULT' | 'RELU' | 'BIAS' | 'RELU_BIAS' | 'GELU' | 'GELU_BIAS';
/** A product of `cublasLtMatmul`. */
export interface LtMatmulDesc {
  readonly computeType: ComputeType;
  readonly transA?: Operation;
  readonly transB?: Operation;
  /** `GELU` is by the hyperbolic tangent, as in cuBLASLt. */
  readonly epilogue?: Epilogue;
  /** A number for each row of D, in the type of the sums, for epilogues with a bias. */
  readonly bias?: KernelBuffer;
}
/** A matrix of `cublasLtMatmul`, in columns. */
export interface LtMatrixLayout {
  readonly type: DataType;
  readonly rows: number;
  readonly cols: number;
  /** The elements from one column to the next. */
  readonly ld: number;
  /** The matrices; 1 by default. */
  readonly batchCount?: number;
  /** The elements from one matrix to the next. */
  readonly stridedBatchOffset?: number;
}
const ends: Readonly<Record<Epilogue, { readonly activation?: Activation; readonly hasBias: boolean }>> = {
  DEFAULT: { hasBias: false },
  RELU: { activation: 'relu', hasBias: false },
  BIAS: { hasBias: true },
  RELU_BIAS: { activation: 'relu', hasBias: true },
  GELU: { activation: 'geluTanh', hasBias: false },
  GELU_BIAS: { activation: 'geluTanh', hasBias: true },
};

/** The description of a product. */
export const cublasLtMatmulDescCreate = (computeType: ComputeType, attributes: Omit<LtMatmulDesc, 'computeType'> = {}): LtMatmulDesc => ({
  computeType,
  ...attributes,
});
/** The description of a matrix. */
export const cublasLtMatrixLayoutCreate = (
  type: DataType,
  rows: number,
  cols: number,
  ld: number,
  batch: Pick<LtMatrixLayout, 'batchCount' | 'stridedBatchOffset'> = {},
): LtMatrixLayout => ({ type, rows, cols, ld, ...batch });

/**
 * `D = f(alpha * op(A) * op(B) + beta * C + bias)`. C and D are the same memory, or C is f32 or f64 and copied first; algorithms and workspaces are left out.
 */
export function cublasLtMatmul(
  handle: CublasHandle,
  desc: LtMatmulDesc,
  alpha: number,
  a: KernelBuffer,
  layoutA: LtMatrixLayout,
  b: KernelBuffer,
  layoutB: LtMatrixLayout,
  beta: number,
  c: KernelBuffer,
  layoutC: LtMatrixLayout,
  d: KernelBuffer,
  layoutD: LtMatrixLayout,
): void {
  const name = 'cublasLtMatmul';
  const { transA = 'N', transB = 'N', epilogue = 'DEFAULT', bias, computeType } = desc;
  const end = ends[epilogue] ?? refuse(name, `the epilogue ${epilogue} is not there`);
  if (end.hasBias !== (bias !== undefined)) refuse(name, `the epilogue ${epilogue} ${end.hasBias ? 'needs a bias' : 'has no bias'}`);
  const [m, k] = transA === 'N' ? [layoutA.rows, layoutA.cols] : [layoutA.cols, layoutA.rows];
  const [kb, n] = transB === 'N' ? [layoutB.rows, layoutB.cols] : [layoutB.cols, layoutB.rows];
  if (k !== kb || layoutD.rows !== m || layoutD.cols !== n)
    refuse(name, `the matrices are ${m} by ${k}, ${kb} by ${n} and ${layoutD.rows} by ${layoutD.cols}`);
  if (layoutC.type !== layoutD.type) refuse(name, 'C and D have different types');
  const { batchCount: batch = 1 } = layoutD;
  const strideOf = ({ stridedBatchOffset = 0 }: LtMatrixLayout): number => stridedBatchOffset;
  if (beta !== 0 && c !== d) {
    const { type, ld, rows } = layoutC;
    if ((type !== 'f32' && type !== 'f64') || batch !== 1)
      refuse(name, 'C and D are different memory, and no single matrices of f32 or f64');
    geam(type === 'f32' ? 'S' : 'D')(handle, 'N', 'N', rows, n, 1, c as never, ld, 0, c as never, ld, d as never, layoutD.ld);
  }
  const matrices = {
    ...{ a, lda: layoutA.ld, strideA: strideOf(layoutA), b, ldb: layoutB.ld, strideB: strideOf(layoutB) },
    ...{ c: d, ldc: layoutD.ld, strideC: strideOf(layoutD), types: [layoutA.type, layoutB.type, layoutD.type] as const },
  };
  const last = { ...(end.activation ? { activation: end.activation } : {}), ...(bias ? { bias } : {}) };
  run(handle, name, { transA, transB, m, n, k, alpha, beta, batch, compute: computeType, ...matrices, ...last });
}
