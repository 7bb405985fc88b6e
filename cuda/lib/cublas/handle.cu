// Handles and their settings, and copies of vectors and matrices. Source: cuBLAS Library, "cuBLAS Helper Function Reference".
#include "context.h"

#define CUMETAL_SETTING(Name, Type, member)                                           \
  extern "C" cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value) {      \
    CUMETAL_NEED_HANDLE(handle);                                                      \
    handle->member = value;                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                     \
  }                                                                                   \
  extern "C" cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type *value) { \
    CUMETAL_NEED_HANDLE(handle);                                                      \
    CUMETAL_NEED(value);                                                              \
    *value = handle->member;                                                          \
    return CUBLAS_STATUS_SUCCESS;                                                     \
  }
CUMETAL_SETTING(Stream_v2, cudaStream_t, stream)
CUMETAL_SETTING(PointerMode_v2, cublasPointerMode_t, pointerMode)
CUMETAL_SETTING(AtomicsMode, cublasAtomicsMode_t, atomicsMode)
CUMETAL_SETTING(MathMode, cublasMath_t, mathMode)
CUMETAL_SETTING(SmCountTarget, int, smCountTarget)

extern "C" cublasStatus_t cublasCreate_v2(cublasHandle_t *to) {
  CUMETAL_NEED(to);
  cublasContext *handle = new cublasContext();
  void *scratch = nullptr;
  if (cudaMalloc(&scratch, cumetal::scratchBytes) != cudaSuccess) {
    delete handle;
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  handle->scratch = static_cast<char *>(scratch);
  *to = handle;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  cudaFree(handle->scratch);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version) {
  CUMETAL_NEED(version);
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
  CUMETAL_NEED(value && type >= MAJOR_VERSION && type <= PATCH_LEVEL);
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

// Work of a stream is done in order, so that no function needs memory of the program.
extern "C" cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *, size_t) {
  CUMETAL_NEED_HANDLE(handle);
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLoggerConfigure(int, int, int, const char *) { return CUBLAS_STATUS_SUCCESS; }

static cublasLogCallback loggerCallback;
extern "C" cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  loggerCallback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback) {
  CUMETAL_NEED(callback);
  *callback = loggerCallback;
  return CUBLAS_STATUS_SUCCESS;
}

#define CUMETAL_STATUSES(EACH)                                                                    \
  EACH(SUCCESS, "success")                                                                        \
  EACH(NOT_INITIALIZED, "the library was not initialized")                                        \
  EACH(ALLOC_FAILED, "the resource allocation failed")                                            \
  EACH(INVALID_VALUE, "an unsupported value or parameter was passed to the function")                                 \
  EACH(ARCH_MISMATCH, "the function requires an architectural feature absent from the device") \
  EACH(MAPPING_ERROR, "an access to GPU memory space failed")                                     \
  EACH(EXECUTION_FAILED, "the function failed to launch on the GPU")                              \
  EACH(INTERNAL_ERROR, "an internal operation failed")                                            \
  EACH(NOT_SUPPORTED, "the requested functionality is not supported")                             \
  EACH(LICENSE_ERROR, "the license check failed")
#define CUMETAL_NAME(name, text) \
  case CUBLAS_STATUS_##name:     \
    return "CUBLAS_STATUS_" #name;
#define CUMETAL_TEXT(name, text) \
  case CUBLAS_STATUS_##name:     \
    return text;
extern "C" const char *cublasGetStatusName(cublasStatus_t status) {
  switch (status) { CUMETAL_STATUSES(CUMETAL_NAME) }
  return "CUBLAS_STATUS_UNKNOWN";
}
extern "C" const char *cublasGetStatusString(cublasStatus_t status) {
  switch (status) { CUMETAL_STATUSES(CUMETAL_TEXT) }
  return "unrecognized status";
}

static cublasStatus_t copied(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/** Copies a matrix by columns; a vector is one of a row. */
static cublasStatus_t copyMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb, cudaMemcpyKind kind,
                                 cudaStream_t stream, bool isAsync) {
  CUMETAL_NEED(rows >= 0 && cols >= 0 && size > 0 && lda > 0 && ldb > 0);
  if (lda < rows || ldb < rows) return CUBLAS_STATUS_MAPPING_ERROR;
  if (rows == 0 || cols == 0) return CUBLAS_STATUS_SUCCESS;
  const size_t from = size_t(lda) * size, to = size_t(ldb) * size, width = size_t(rows) * size;
  if (lda == rows && ldb == rows)
    return copied(isAsync ? cudaMemcpyAsync(b, a, width * cols, kind, stream) : cudaMemcpy(b, a, width * cols, kind));
  return copied(isAsync ? cudaMemcpy2DAsync(b, to, a, from, width, cols, kind, stream) : cudaMemcpy2D(b, to, a, from, width, cols, kind));
}

static cublasStatus_t copyVector(int n, int size, const void *x, int incx, void *y, int incy, cudaMemcpyKind kind, cudaStream_t stream,
                                 bool isAsync) {
  CUMETAL_NEED(n >= 0 && size > 0 && incx > 0 && incy > 0);
  if (incx == 1 && incy == 1) return copyMatrix(n, 1, size, x, n > 0 ? n : 1, y, n > 0 ? n : 1, kind, stream, isAsync);
  return copyMatrix(1, n, size, x, incx, y, incy, kind, stream, isAsync);
}

#define CUMETAL_COPIES(Name, kind)                                                                                                     \
  extern "C" cublasStatus_t cublas##Name##Vector(int n, int size, const void *x, int incx, void *y, int incy) {                        \
    return copyVector(n, size, x, incx, y, incy, kind, 0, false);                                                                      \
  }                                                                                                                                    \
  extern "C" cublasStatus_t cublas##Name##VectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s) {   \
    return copyVector(n, size, x, incx, y, incy, kind, s, true);                                                                       \
  }                                                                                                                                    \
  extern "C" cublasStatus_t cublas##Name##Matrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb) {             \
    return copyMatrix(rows, cols, size, a, lda, b, ldb, kind, 0, false);                                                               \
  }                                                                                                                                    \
  extern "C" cublasStatus_t cublas##Name##MatrixAsync(int rows, int cols, int size, const void *a, int lda, void *b, int ldb,          \
                                                      cudaStream_t s) {                                                                \
    return copyMatrix(rows, cols, size, a, lda, b, ldb, kind, s, true);                                                                \
  }
CUMETAL_COPIES(Set, cudaMemcpyHostToDevice)
CUMETAL_COPIES(Get, cudaMemcpyDeviceToHost)
