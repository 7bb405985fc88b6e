/** What a handle of cuBLAS is, and what its functions share. */
#ifndef CUMETAL_CUBLAS_CONTEXT_H
#define CUMETAL_CUBLAS_CONTEXT_H

#include <cublas_v2.h>

#include "../common/number.h"

struct cublasContext {
  cudaStream_t stream;
  cublasPointerMode_t pointerMode;
  cublasAtomicsMode_t atomicsMode;
  cublasMath_t mathMode;
  int smCountTarget;
  /** Memory of the device for partial results. */
  char *scratch;
};

namespace cumetal {

/** Bytes of `scratch`: partial results of as many blocks as a reduction has at most, and a result. */
static const int scratchBytes = 64 * 1024;
static const int maxBlocks = 1024;
static const int threads = 256;

static inline cublasStatus_t launched() {
  return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

static inline int blocksFor(long long n) {
  const long long blocks = (n + threads - 1) / threads;
  return int(blocks < 1 ? 1 : blocks > maxBlocks ? maxBlocks : blocks);
}

/** A scalar as a kernel takes it: by value, or by a pointer to memory of the device. */
template <class T>
struct Scalar {
  T value;
  const T *pointer;
};

template <class T, class U>
static inline Scalar<T> scalarOf(cublasHandle_t handle, const U *p) {
  const T *own = reinterpret_cast<const T *>(p);
  if (handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE) return {T(), own};
  return {*own, nullptr};
}

/** Whether a scalar is known to be this number. */
template <class T>
static inline bool isKnown(const Scalar<T> &scalar, T number) { return !scalar.pointer && scalar.value == number; }

/** Where a kernel writes a result: at the pointer, or in the memory of the handle if the pointer is of the host. */
template <class T>
static inline T *resultPlace(cublasHandle_t handle, void *to) {
  return handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE ? static_cast<T *>(to) : reinterpret_cast<T *>(handle->scratch);
}

/** Brings a result to the host if it is wanted there. */
static inline cublasStatus_t deliver(cublasHandle_t handle, void *to, size_t bytes) {
  if (cudaPeekAtLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_SUCCESS;
  if (cudaMemcpyAsync(to, handle->scratch, bytes, cudaMemcpyDeviceToHost, handle->stream) != cudaSuccess ||
      cudaStreamSynchronize(handle->stream) != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  return CUBLAS_STATUS_SUCCESS;
}

/** Writes a result that needs no kernel. */
template <class T>
static inline cublasStatus_t deliverValue(cublasHandle_t handle, void *to, T value) {
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) {
    *static_cast<T *>(to) = value;
    return CUBLAS_STATUS_SUCCESS;
  }
  const cudaError_t error = cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyHostToDevice, handle->stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/** The first element of a vector in the order of its elements, whatever the sign of the step. */
template <class T>
static CUMETAL_BOTH T *first(T *x, long long n, long long step) { return step < 0 ? x + (1 - n) * step : x; }

}  // namespace cumetal

#define CUMETAL_NEED_HANDLE(handle) \
  if (!(handle)) return CUBLAS_STATUS_NOT_INITIALIZED
#define CUMETAL_NEED(condition) \
  if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE
#define CUMETAL_TRY(call)                                              \
  do {                                                                 \
    const cublasStatus_t status_ = (call);                             \
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_;              \
  } while (0)

#endif
