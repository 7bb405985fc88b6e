/**
 * cuBLAS: functions by the names and with the arguments of NVIDIA's library, over buffers of the API. Matrices are in columns. Start at `handle.ts` for types and
 * checks, `number.ts` for what kernels compute with.
 */
import { dgmm, geam } from './elements.ts';
import { asum, axpy, copy, dot, extreme, nrm2, rot, rotg, rotm, scal, swap } from './level1.ts';
import { gbmv, gemv, gemvStridedBatched, sbmv, spmv, symv } from './level2.ts';
import { symm, syr2k, syrk, syrkx } from './level3.ts';
import { gemm, gemmBatched, gemmStridedBatched } from './product.ts';
import { tbmv, tpmv, trmv } from './triangles.ts';
import { trmm, trsm } from './triangles3.ts';
import { ger, spr, spr2, syr, syr2 } from './updates.ts';

export * from './ex.ts';
export {
  type Complex,
  CUBLAS_DEFAULT_MATH,
  CUBLAS_DIAG_NON_UNIT,
  CUBLAS_DIAG_UNIT,
  CUBLAS_FILL_MODE_LOWER,
  CUBLAS_FILL_MODE_UPPER,
  CUBLAS_OP_C,
  CUBLAS_OP_N,
  CUBLAS_OP_T,
  CUBLAS_SIDE_LEFT,
  CUBLAS_SIDE_RIGHT,
  CUBLAS_TF32_TENSOR_OP_MATH,
  CublasHandle,
  cublasCreate,
  cublasDestroy,
  cublasGetMathMode,
  cublasGetStream,
  cublasSetMathMode,
  cublasSetStream,
  type Diagonal,
  type FillMode,
  type MathMode,
  type Memory,
  type Operation,
  type Scalar,
  type Side,
} from './handle.ts';
export * from './lt.ts';
export type { Letter } from './number.ts';

// Level 1
/** `y = x`, of f32. */
export const cublasScopy = copy('S');
/** `y = x`, of f64. */
export const cublasDcopy = copy('D');
/** `y = x`, of complex f32. */
export const cublasCcopy = copy('C');
/** `y = x`, of complex f64. */
export const cublasZcopy = copy('Z');
/** Exchanges x and y, of f32. */
export const cublasSswap = swap('S');
/** Exchanges x and y, of f64. */
export const cublasDswap = swap('D');
/** Exchanges x and y, of complex f32. */
export const cublasCswap = swap('C');
/** Exchanges x and y, of complex f64. */
export const cublasZswap = swap('Z');
/** `y = alpha * x + y`, of f32. */
export const cublasSaxpy = axpy('S');
/** `y = alpha * x + y`, of f64. */
export const cublasDaxpy = axpy('D');
/** `y = alpha * x + y`, of complex f32. */
export const cublasCaxpy = axpy('C');
/** `y = alpha * x + y`, of complex f64. */
export const cublasZaxpy = axpy('Z');
/** `x = alpha * x`, of f32. */
export const cublasSscal = scal('S');
/** `x = alpha * x`, of f64. */
export const cublasDscal = scal('D');
/** `x = alpha * x`, of complex f32. */
export const cublasCscal = scal('C');
/** `x = alpha * x`, of complex f64. */
export const cublasZscal = scal('Z');
/** `Σ x[i] * y[i]`, of f32. */
export const cublasSdot = dot('S');
/** `Σ x[i] * y[i]`, of f64. */
export const cublasDdot = dot('D');
/** `Σ x[i] * y[i]`, of complex f32. */
export const cublasCdotu = dot('C');
/** `Σ x[i] * y[i]`, of complex f64. */
export const cublasZdotu = dot('Z');
/** `Σ conj(x[i]) * y[i]`, of complex f32. */
export const cublasCdotc = dot('C', true);
/** `Σ conj(x[i]) * y[i]`, of complex f64. */
export const cublasZdotc = dot('Z', true);
/** The Euclidean norm, of f32. */
export const cublasSnrm2 = nrm2('S');
/** The Euclidean norm, of f64. */
export const cublasDnrm2 = nrm2('D');
/** The Euclidean norm, of complex f32. */
export const cublasScnrm2 = nrm2('C');
/** The Euclidean norm, of complex f64. */
export const cublasDznrm2 = nrm2('Z');
/** `Σ |re x[i]| + |im x[i]|`, of f32. */
export const cublasSasum = asum('S');
/** `Σ |re x[i]| + |im x[i]|`, of f64. */
export const cublasDasum = asum('D');
/** `Σ |re x[i]| + |im x[i]|`, of complex f32. */
export const cublasScasum = asum('C');
/** `Σ |re x[i]| + |im x[i]|`, of complex f64. */
export const cublasDzasum = asum('Z');
/** Where `|re| + |im|` is largest, from 1 on, of f32. */
export const cublasIsamax = extreme('S', 'amax');
/** Where `|re| + |im|` is largest, from 1 on, of f64. */
export const cublasIdamax = extreme('D', 'amax');
/** Where `|re| + |im|` is largest, from 1 on, of complex f32. */
export const cublasIcamax = extreme('C', 'amax');
/** Where `|re| + |im|` is largest, from 1 on, of complex f64. */
export const cublasIzamax = extreme('Z', 'amax');
/** Where `|re| + |im|` is smallest, from 1 on, of f32. */
export const cublasIsamin = extreme('S', 'amin');
/** Where `|re| + |im|` is smallest, from 1 on, of f64. */
export const cublasIdamin = extreme('D', 'amin');
/** Where `|re| + |im|` is smallest, from 1 on, of complex f32. */
export const cublasIcamin = extreme('C', 'amin');
/** Where `|re| + |im|` is smallest, from 1 on, of complex f64. */
export const cublasIzamin = extreme('Z', 'amin');
/** A rotation of x and y, of f32. */
export const cublasSrot = rot('S');
/** A rotation of x and y, of f64. */
export const cublasDrot = rot('D');
/** A rotation of x and y, of complex f32. */
export const cublasCrot = rot('C');
/** A rotation of x and y, of complex f64. */
export const cublasZrot = rot('Z');
/** A modified rotation by `[flag, h11, h21, h12, h22]`, of f32. */
export const cublasSrotm = rotm('S');
/** A modified rotation by `[flag, h11, h21, h12, h22]`, of f64. */
export const cublasDrotm = rotm('D');
/** The rotation that makes b zero: `[r, z, c, s]`, of f32. */
export const cublasSrotg = rotg('S');
/** The rotation that makes b zero: `[r, z, c, s]`, of f64. */
export const cublasDrotg = rotg('D');

// Level 2
/** `y = alpha * op(A) * x + beta * y`, of f32. */
export const cublasSgemv = gemv('S');
/** `y = alpha * op(A) * x + beta * y`, of f64. */
export const cublasDgemv = gemv('D');
/** `y = alpha * op(A) * x + beta * y`, of complex f32. */
export const cublasCgemv = gemv('C');
/** `y = alpha * op(A) * x + beta * y`, of complex f64. */
export const cublasZgemv = gemv('Z');
/** `gemv` of matrices and vectors that follow each other by strides, of f32. */
export const cublasSgemvStridedBatched = gemvStridedBatched('S');
/** `gemv` of matrices and vectors that follow each other by strides, of f64. */
export const cublasDgemvStridedBatched = gemvStridedBatched('D');
/** `gemv` of matrices and vectors that follow each other by strides, of complex f32. */
export const cublasCgemvStridedBatched = gemvStridedBatched('C');
/** `gemv` of matrices and vectors that follow each other by strides, of complex f64. */
export const cublasZgemvStridedBatched = gemvStridedBatched('Z');
/** `y = alpha * op(A) * x + beta * y` of a band, of f32. */
export const cublasSgbmv = gbmv('S');
/** `y = alpha * op(A) * x + beta * y` of a band, of f64. */
export const cublasDgbmv = gbmv('D');
/** `y = alpha * op(A) * x + beta * y` of a band, of complex f32. */
export const cublasCgbmv = gbmv('C');
/** `y = alpha * op(A) * x + beta * y` of a band, of complex f64. */
export const cublasZgbmv = gbmv('Z');
/** `y = alpha * A * x + beta * y`, A symmetric, of f32. */
export const cublasSsymv = symv('S');
/** `y = alpha * A * x + beta * y`, A symmetric, of f64. */
export const cublasDsymv = symv('D');
/** `y = alpha * A * x + beta * y`, A symmetric, of complex f32. */
export const cublasCsymv = symv('C');
/** `y = alpha * A * x + beta * y`, A symmetric, of complex f64. */
export const cublasZsymv = symv('Z');
/** `y = alpha * A * x + beta * y`, A Hermitian, of complex f32. */
export const cublasChemv = symv('C', 'hermitian');
/** `y = alpha * A * x + beta * y`, A Hermitian, of complex f64. */
export const cublasZhemv = symv('Z', 'hermitian');
/** `symv` of a band, of f32. */
export const cublasSsbmv = sbmv('S');
/** `symv` of a band, of f64. */
export const cublasDsbmv = sbmv('D');
/** `hemv` of a band, of complex f32. */
export const cublasChbmv = sbmv('C', 'hermitian');
/** `hemv` of a band, of complex f64. */
export const cublasZhbmv = sbmv('Z', 'hermitian');
/** `symv` of a packed triangle, of f32. */
export const cublasSspmv = spmv('S');
/** `symv` of a packed triangle, of f64. */
export const cublasDspmv = spmv('D');
/** `hemv` of a packed triangle, of complex f32. */
export const cublasChpmv = spmv('C', 'hermitian');
/** `hemv` of a packed triangle, of complex f64. */
export const cublasZhpmv = spmv('Z', 'hermitian');
/** `A = alpha * x * yᵀ + A`, of f32. */
export const cublasSger = ger('S', 'ger');
/** `A = alpha * x * yᵀ + A`, of f64. */
export const cublasDger = ger('D', 'ger');
/** `A = alpha * x * yᵀ + A`, of complex f32. */
export const cublasCgeru = ger('C', 'geru');
/** `A = alpha * x * yᵀ + A`, of complex f64. */
export const cublasZgeru = ger('Z', 'geru');
/** `A = alpha * x * conj(y)ᵀ + A`, of complex f32. */
export const cublasCgerc = ger('C', 'gerc');
/** `A = alpha * x * conj(y)ᵀ + A`, of complex f64. */
export const cublasZgerc = ger('Z', 'gerc');
/** `A = alpha * x * xᵀ + A` of a triangle, of f32. */
export const cublasSsyr = syr('S', 'syr');
/** `A = alpha * x * xᵀ + A` of a triangle, of f64. */
export const cublasDsyr = syr('D', 'syr');
/** `A = alpha * x * xᵀ + A` of a triangle, of complex f32. */
export const cublasCsyr = syr('C', 'syr');
/** `A = alpha * x * xᵀ + A` of a triangle, of complex f64. */
export const cublasZsyr = syr('Z', 'syr');
/** `A = alpha * x * conj(x)ᵀ + A` of a triangle, by a real scalar, of complex f32. */
export const cublasCher = syr('C', 'her');
/** `A = alpha * x * conj(x)ᵀ + A` of a triangle, by a real scalar, of complex f64. */
export const cublasZher = syr('Z', 'her');
/** `syr` of a packed triangle, of f32. */
export const cublasSspr = spr('S', 'spr');
/** `syr` of a packed triangle, of f64. */
export const cublasDspr = spr('D', 'spr');
/** `her` of a packed triangle, of complex f32. */
export const cublasChpr = spr('C', 'hpr');
/** `her` of a packed triangle, of complex f64. */
export const cublasZhpr = spr('Z', 'hpr');
/** `A = alpha * (x * yᵀ + y * xᵀ) + A` of a triangle, of f32. */
export const cublasSsyr2 = syr2('S', 'syr2');
/** `A = alpha * (x * yᵀ + y * xᵀ) + A` of a triangle, of f64. */
export const cublasDsyr2 = syr2('D', 'syr2');
/** `A = alpha * (x * yᵀ + y * xᵀ) + A` of a triangle, of complex f32. */
export const cublasCsyr2 = syr2('C', 'syr2');
/** `A = alpha * (x * yᵀ + y * xᵀ) + A` of a triangle, of complex f64. */
export const cublasZsyr2 = syr2('Z', 'syr2');
/** `A = alpha * x * conj(y)ᵀ + conj(alpha) * y * conj(x)ᵀ + A` of a triangle, of complex f32. */
export const cublasCher2 = syr2('C', 'her2');
/** `A = alpha * x * conj(y)ᵀ + conj(alpha) * y * conj(x)ᵀ + A` of a triangle, of complex f64. */
export const cublasZher2 = syr2('Z', 'her2');
/** `syr2` of a packed triangle, of f32. */
export const cublasSspr2 = spr2('S', 'spr2');
/** `syr2` of a packed triangle, of f64. */
export const cublasDspr2 = spr2('D', 'spr2');
/** `her2` of a packed triangle, of complex f32. */
export const cublasChpr2 = spr2('C', 'hpr2');
/** `her2` of a packed triangle, of complex f64. */
export const cublasZhpr2 = spr2('Z', 'hpr2');
/** `x = op(A) * x`, A triangular, of f32. */
export const cublasStrmv = trmv('S', 'trmv');
/** `x = op(A) * x`, A triangular, of f64. */
export const cublasDtrmv = trmv('D', 'trmv');
/** `x = op(A) * x`, A triangular, of complex f32. */
export const cublasCtrmv = trmv('C', 'trmv');
/** `x = op(A) * x`, A triangular, of complex f64. */
export const cublasZtrmv = trmv('Z', 'trmv');
/** Solves `op(A) * x = b` in place, A triangular, of f32. */
export const cublasStrsv = trmv('S', 'trsv');
/** Solves `op(A) * x = b` in place, A triangular, of f64. */
export const cublasDtrsv = trmv('D', 'trsv');
/** Solves `op(A) * x = b` in place, A triangular, of complex f32. */
export const cublasCtrsv = trmv('C', 'trsv');
/** Solves `op(A) * x = b` in place, A triangular, of complex f64. */
export const cublasZtrsv = trmv('Z', 'trsv');
/** `trmv` of a band, of f32. */
export const cublasStbmv = tbmv('S', 'tbmv');
/** `trmv` of a band, of f64. */
export const cublasDtbmv = tbmv('D', 'tbmv');
/** `trmv` of a band, of complex f32. */
export const cublasCtbmv = tbmv('C', 'tbmv');
/** `trmv` of a band, of complex f64. */
export const cublasZtbmv = tbmv('Z', 'tbmv');
/** `trsv` of a band, of f32. */
export const cublasStbsv = tbmv('S', 'tbsv');
/** `trsv` of a band, of f64. */
export const cublasDtbsv = tbmv('D', 'tbsv');
/** `trsv` of a band, of complex f32. */
export const cublasCtbsv = tbmv('C', 'tbsv');
/** `trsv` of a band, of complex f64. */
export const cublasZtbsv = tbmv('Z', 'tbsv');
/** `trmv` of a packed triangle, of f32. */
export const cublasStpmv = tpmv('S', 'tpmv');
/** `trmv` of a packed triangle, of f64. */
export const cublasDtpmv = tpmv('D', 'tpmv');
/** `trmv` of a packed triangle, of complex f32. */
export const cublasCtpmv = tpmv('C', 'tpmv');
/** `trmv` of a packed triangle, of complex f64. */
export const cublasZtpmv = tpmv('Z', 'tpmv');
/** `trsv` of a packed triangle, of f32. */
export const cublasStpsv = tpmv('S', 'tpsv');
/** `trsv` of a packed triangle, of f64. */
export const cublasDtpsv = tpmv('D', 'tpsv');
/** `trsv` of a packed triangle, of complex f32. */
export const cublasCtpsv = tpmv('C', 'tpsv');
/** `trsv` of a packed triangle, of complex f64. */
export const cublasZtpsv = tpmv('Z', 'tpsv');

// Level 3
/** `C = alpha * op(A) * op(B) + beta * C`, of f32. */
export const cublasSgemm = gemm('S');
/** `C = alpha * op(A) * op(B) + beta * C`, of f64. */
export const cublasDgemm = gemm('D');
/** `C = alpha * op(A) * op(B) + beta * C`, of complex f32. */
export const cublasCgemm = gemm('C');
/** `C = alpha * op(A) * op(B) + beta * C`, of complex f64. */
export const cublasZgemm = gemm('Z');
/** `gemm` of matrices that follow each other by strides, of f32. */
export const cublasSgemmStridedBatched = gemmStridedBatched('S');
/** `gemm` of matrices that follow each other by strides, of f64. */
export const cublasDgemmStridedBatched = gemmStridedBatched('D');
/** `gemm` of matrices that follow each other by strides, of complex f32. */
export const cublasCgemmStridedBatched = gemmStridedBatched('C');
/** `gemm` of matrices that follow each other by strides, of complex f64. */
export const cublasZgemmStridedBatched = gemmStridedBatched('Z');
/** `gemm` of lists of matrices, of f32. */
export const cublasSgemmBatched = gemmBatched('S');
/** `gemm` of lists of matrices, of f64. */
export const cublasDgemmBatched = gemmBatched('D');
/** `gemm` of lists of matrices, of complex f32. */
export const cublasCgemmBatched = gemmBatched('C');
/** `gemm` of lists of matrices, of complex f64. */
export const cublasZgemmBatched = gemmBatched('Z');
/** `C = alpha * A * B + beta * C` or `B * A`, A symmetric, of f32. */
export const cublasSsymm = symm('S', 'symm');
/** `C = alpha * A * B + beta * C` or `B * A`, A symmetric, of f64. */
export const cublasDsymm = symm('D', 'symm');
/** `C = alpha * A * B + beta * C` or `B * A`, A symmetric, of complex f32. */
export const cublasCsymm = symm('C', 'symm');
/** `C = alpha * A * B + beta * C` or `B * A`, A symmetric, of complex f64. */
export const cublasZsymm = symm('Z', 'symm');
/** `C = alpha * A * B + beta * C` or `B * A`, A Hermitian, of complex f32. */
export const cublasChemm = symm('C', 'hemm');
/** `C = alpha * A * B + beta * C` or `B * A`, A Hermitian, of complex f64. */
export const cublasZhemm = symm('Z', 'hemm');
/** `C = alpha * op(A) * op(A)ᵀ + beta * C` of a triangle, of f32. */
export const cublasSsyrk = syrk('S', 'syrk');
/** `C = alpha * op(A) * op(A)ᵀ + beta * C` of a triangle, of f64. */
export const cublasDsyrk = syrk('D', 'syrk');
/** `C = alpha * op(A) * op(A)ᵀ + beta * C` of a triangle, of complex f32. */
export const cublasCsyrk = syrk('C', 'syrk');
/** `C = alpha * op(A) * op(A)ᵀ + beta * C` of a triangle, of complex f64. */
export const cublasZsyrk = syrk('Z', 'syrk');
/** `syrk` with conjugates and real scalars, of complex f32. */
export const cublasCherk = syrk('C', 'herk');
/** `syrk` with conjugates and real scalars, of complex f64. */
export const cublasZherk = syrk('Z', 'herk');
/** `C = alpha * (op(A) * op(B)ᵀ + op(B) * op(A)ᵀ) + beta * C` of a triangle, of f32. */
export const cublasSsyr2k = syr2k('S', 'syr2k');
/** `C = alpha * (op(A) * op(B)ᵀ + op(B) * op(A)ᵀ) + beta * C` of a triangle, of f64. */
export const cublasDsyr2k = syr2k('D', 'syr2k');
/** `C = alpha * (op(A) * op(B)ᵀ + op(B) * op(A)ᵀ) + beta * C` of a triangle, of complex f32. */
export const cublasCsyr2k = syr2k('C', 'syr2k');
/** `C = alpha * (op(A) * op(B)ᵀ + op(B) * op(A)ᵀ) + beta * C` of a triangle, of complex f64. */
export const cublasZsyr2k = syr2k('Z', 'syr2k');
/** `syr2k` with conjugates and a real `beta`, of complex f32. */
export const cublasCher2k = syr2k('C', 'her2k');
/** `syr2k` with conjugates and a real `beta`, of complex f64. */
export const cublasZher2k = syr2k('Z', 'her2k');
/** `C = alpha * op(A) * op(B)ᵀ + beta * C` of a triangle, of f32. */
export const cublasSsyrkx = syrkx('S', 'syrkx');
/** `C = alpha * op(A) * op(B)ᵀ + beta * C` of a triangle, of f64. */
export const cublasDsyrkx = syrkx('D', 'syrkx');
/** `C = alpha * op(A) * op(B)ᵀ + beta * C` of a triangle, of complex f32. */
export const cublasCsyrkx = syrkx('C', 'syrkx');
/** `C = alpha * op(A) * op(B)ᵀ + beta * C` of a triangle, of complex f64. */
export const cublasZsyrkx = syrkx('Z', 'syrkx');
/** `syrkx` with conjugates and a real `beta`, of complex f32. */
export const cublasCherkx = syrkx('C', 'herkx');
/** `syrkx` with conjugates and a real `beta`, of complex f64. */
export const cublasZherkx = syrkx('Z', 'herkx');
/** `C = alpha * op(A) * B` or `B * op(A)`, A triangular, of f32. */
export const cublasStrmm = trmm('S');
/** `C = alpha * op(A) * B` or `B * op(A)`, A triangular, of f64. */
export const cublasDtrmm = trmm('D');
/** `C = alpha * op(A) * B` or `B * op(A)`, A triangular, of complex f32. */
export const cublasCtrmm = trmm('C');
/** `C = alpha * op(A) * B` or `B * op(A)`, A triangular, of complex f64. */
export const cublasZtrmm = trmm('Z');
/** Solves `op(A) * X = alpha * B` or `X * op(A) = alpha * B` in place, A triangular, of f32. */
export const cublasStrsm = trsm('S');
/** Solves `op(A) * X = alpha * B` or `X * op(A) = alpha * B` in place, A triangular, of f64. */
export const cublasDtrsm = trsm('D');
/** Solves `op(A) * X = alpha * B` or `X * op(A) = alpha * B` in place, A triangular, of complex f32. */
export const cublasCtrsm = trsm('C');
/** Solves `op(A) * X = alpha * B` or `X * op(A) = alpha * B` in place, A triangular, of complex f64. */
export const cublasZtrsm = trsm('Z');
/** `C = alpha * op(A) + beta * op(B)`, of f32. */
export const cublasSgeam = geam('S');
/** `C = alpha * op(A) + beta * op(B)`, of f64. */
export const cublasDgeam = geam('D');
/** `C = alpha * op(A) + beta * op(B)`, of complex f32. */
export const cublasCgeam = geam('C');
/** `C = alpha * op(A) + beta * op(B)`, of complex f64. */
export const cublasZgeam = geam('Z');
/** `C = A * diag(x)` or `diag(x) * A`, of f32. */
export const cublasSdgmm = dgmm('S');
/** `C = A * diag(x)` or `diag(x) * A`, of f64. */
export const cublasDdgmm = dgmm('D');
/** `C = A * diag(x)` or `diag(x) * A`, of complex f32. */
export const cublasCdgmm = dgmm('C');
/** `C = A * diag(x)` or `diag(x) * A`, of complex f64. */
export const cublasZdgmm = dgmm('Z');
