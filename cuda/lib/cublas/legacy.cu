// The handle of programs without handles. Source: cuBLAS Library, "Using the cuBLAS Legacy API", "cuBLAS Legacy Helper Functions".
#include "legacy.h"

static cublasHandle_t handle;
static cublasStatus_t lastError = CUBLAS_STATUS_SUCCESS;

cublasHandle_t cumetal::legacyHandle() { return handle; }
void cumetal::legacyNote(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) lastError = status;
}

extern "C" cublasStatus_t cublasInit(void) { return handle ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&handle); }
extern "C" cublasStatus_t cublasShutdown(void) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t status = cublasDestroy_v2(handle);
  handle = nullptr;
  return status;
}
extern "C" cublasStatus_t cublasGetError(void) {
  const cublasStatus_t status = lastError;
  lastError = CUBLAS_STATUS_SUCCESS;
  return status;
}
extern "C" cublasStatus_t cublasGetVersion(int *version) { return cublasGetVersion_v2(handle, version); }
extern "C" cublasStatus_t cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream_v2(handle, stream); }
extern "C" cublasStatus_t cublasAlloc(int n, int elemSize, void **to) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n <= 0 || elemSize <= 0 || !to) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaMalloc(to, size_t(n) * elemSize) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
extern "C" cublasStatus_t cublasFree(void *pointer) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  return cudaFree(pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
