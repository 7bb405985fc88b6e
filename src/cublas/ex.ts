/** Products with types as arguments. Source: cuBLAS Library, "cublasGemmEx()". */
import type { KernelBuffer } from '../api/index.ts';
import type { CublasHandle, Operation, Scalar } from './handle.ts';
import { type ComputeType, type DataType, runTyped } from './typed.ts';

export type { ComputeType, DataType } from './typed.ts';

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
/** Sums of single precision. */
export const CUBLAS_COMPUTE_32F = '32F';
/** Sums of single precision, of f32 that is rounded to tf32. */
export const CUBLAS_COMPUTE_32F_FAST_TF32 = '32F_FAST_TF32';
/** Sums of double precision. */
export const CUBLAS_COMPUTE_64F = '64F';
/** Sums of integers. */
export const CUBLAS_COMPUTE_32I = '32I';
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
  runTyped(handle, 'cublasGemmEx', {
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
  runTyped(handle, 'cublasGemmStridedBatchedEx', { ...strides, ...sizes, types, compute: computeType, hasMode: true });
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
