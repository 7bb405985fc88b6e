// Handles and settings of cuBLASLt. Source: cuBLAS Library, "cuBLASLt API Reference".
#include "descriptors.h"

#include <new>

struct cublasLtContext {
  size_t version;
};

extern "C" cublasStatus_t cublasLtCreate(cublasLtHandle_t *to) {
  CUMETAL_NEED(to);
  *to = new (std::nothrow) cublasLtContext{CUBLAS_VERSION};
  return *to ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
extern "C" cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" const char *cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
extern "C" const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
extern "C" size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
extern "C" size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
extern "C" cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value) { return cublasGetProperty(type, value); }

// Nothing is searched for, so that nothing is kept.
static size_t cacheCapacity;
extern "C" cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t *capacity) {
  CUMETAL_NEED(capacity);
  *capacity = cacheCapacity;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cacheCapacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" void cublasLtDisableCpuInstructionsSetMask(unsigned) {}

// There is no log.
extern "C" cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) { return CUBLAS_STATUS_SUCCESS; }
extern "C" cublasStatus_t cublasLtLoggerSetFile(FILE *) { return CUBLAS_STATUS_SUCCESS; }
extern "C" cublasStatus_t cublasLtLoggerOpenFile(const char *) { return CUBLAS_STATUS_SUCCESS; }
extern "C" cublasStatus_t cublasLtLoggerSetLevel(int) { return CUBLAS_STATUS_SUCCESS; }
extern "C" cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
extern "C" cublasStatus_t cublasLtLoggerForceDisable(void) { return CUBLAS_STATUS_SUCCESS; }
