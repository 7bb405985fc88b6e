// Level 1 by types that are known when the program runs. Source: cuBLAS Library, tables of supported types.
#include "level1-mixed.h"

using namespace cumetal;

struct Kind {
  cublasStatus_t (*run)(const Level1 &);
  /** The types of computations and of norms. */
  cudaDataType sum, norm;
};

static Kind kindOf(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return {level1H, CUDA_R_32F, CUDA_R_16F};
    case CUDA_R_16BF:
      return {level1B, CUDA_R_32F, CUDA_R_16BF};
    case CUDA_R_32F:
      return {level1S, CUDA_R_32F, CUDA_R_32F};
    case CUDA_R_64F:
      return {level1D, CUDA_R_64F, CUDA_R_64F};
    case CUDA_C_32F:
      return {level1C, CUDA_C_32F, CUDA_R_32F};
    case CUDA_C_64F:
      return {level1Z, CUDA_C_64F, CUDA_R_64F};
    default:
      return {nullptr, type, type};
  }
}

/** Runs a call on vectors of one type; computations of another type are not there. */
static cublasStatus_t run(const Level1 &call, cudaDataType x, cudaDataType y, cudaDataType execution) {
  CUMETAL_NEED_HANDLE(call.handle);
  const Kind kind = kindOf(x);
  if (!kind.run || x != y || (execution != kind.sum && execution != x)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return kind.run(call);
}
static bool isAlpha(cudaDataType alpha, cudaDataType x) { return alpha == x || alpha == kindOf(x).sum; }

extern "C" cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType, const void *x, cudaDataType xType, int incx,
                                       void *y, cudaDataType yType, int incy, cudaDataType execution) {
  if (!isAlpha(alphaType, xType)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return run({Level1::axpy, handle, n, alpha, alphaType == xType, x, incx, y, incy, nullptr}, xType, yType, execution);
}
extern "C" cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType, void *x, cudaDataType xType, int incx,
                                       cudaDataType execution) {
  if (!isAlpha(alphaType, xType)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return run({Level1::scal, handle, n, alpha, alphaType == xType, x, incx, nullptr, 0, nullptr}, xType, xType, execution);
}
extern "C" cublasStatus_t cublasCopyEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, void *y, cudaDataType yType, int incy) {
  return run({Level1::copy, handle, n, nullptr, false, x, incx, y, incy, nullptr}, xType, yType, xType);
}
extern "C" cublasStatus_t cublasSwapEx(cublasHandle_t handle, int n, void *x, cudaDataType xType, int incx, void *y, cudaDataType yType, int incy) {
  return run({Level1::swap, handle, n, nullptr, false, x, incx, y, incy, nullptr}, xType, yType, xType);
}
extern "C" cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, const void *y, cudaDataType yType, int incy,
                                      void *result, cudaDataType resultType, cudaDataType execution) {
  if (resultType != xType) return CUBLAS_STATUS_NOT_SUPPORTED;
  return run({Level1::dot, handle, n, nullptr, false, x, incx, const_cast<void *>(y), incy, result}, xType, yType, execution);
}
extern "C" cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, const void *y, cudaDataType yType, int incy,
                                       void *result, cudaDataType resultType, cudaDataType execution) {
  if (resultType != xType) return CUBLAS_STATUS_NOT_SUPPORTED;
  return run({Level1::dotc, handle, n, nullptr, false, x, incx, const_cast<void *>(y), incy, result}, xType, yType, execution);
}
/** Norms are of the real type; computations of complex vectors too may be named by it. */
static cublasStatus_t norm(const Level1 &call, cudaDataType x, cudaDataType result, cudaDataType execution) {
  const Kind kind = kindOf(x);
  if (result != kind.norm) return CUBLAS_STATUS_NOT_SUPPORTED;
  return run(call, x, x, execution == kind.norm ? x : execution);
}
extern "C" cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, void *result, cudaDataType resultType,
                                       cudaDataType execution) {
  return norm({Level1::nrm2, handle, n, nullptr, false, x, incx, nullptr, 0, result}, xType, resultType, execution);
}
extern "C" cublasStatus_t cublasAsumEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, void *result, cudaDataType resultType,
                                       cudaDataType execution) {
  return norm({Level1::asum, handle, n, nullptr, false, x, incx, nullptr, 0, result}, xType, resultType, execution);
}
extern "C" cublasStatus_t cublasIamaxEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, int *result) {
  return run({Level1::amax, handle, n, nullptr, false, x, incx, nullptr, 0, result}, xType, xType, xType);
}
extern "C" cublasStatus_t cublasIaminEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, int *result) {
  return run({Level1::amin, handle, n, nullptr, false, x, incx, nullptr, 0, result}, xType, xType, xType);
}
