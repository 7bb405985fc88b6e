// Handles of cuBLASXt. Source: cuBLAS Library, "cuBLASXt API Datatypes Reference" and "cuBLASXt API Helper Function Reference".
#include "xt.h"

extern "C" cublasStatus_t cublasXtCreate(cublasXtHandle_t *to) {
  CUMETAL_NEED(to);
  cublasHandle_t blas;
  CUMETAL_TRY(cublasCreate(&blas));
  *to = new cublasXtContext{blas, 2048, CUBLASXT_PINNING_DISABLED};
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  const cublasStatus_t status = cublasDestroy(handle->blas);
  delete handle;
  return status;
}
// A board has one device.
extern "C" cublasStatus_t cublasXtGetNumBoards(int devices, int ids[], int *boards) {
  CUMETAL_NEED(devices > 0 && ids && boards);
  *boards = devices;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasXtMaxBoards(int *boards) {
  CUMETAL_NEED(boards);
  return cudaGetDeviceCount(boards) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
extern "C" cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int devices, int ids[]) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(devices > 0 && ids);
  int current, count;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaGetDevice(&current) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < devices; i++) CUMETAL_NEED(ids[i] >= 0 && ids[i] < count);
  // Work is done by the device of the handle, which is the current one.
  return devices == 1 && ids[0] == current ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
extern "C" cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(blockDim > 0);
  handle->blockDim = blockDim;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *blockDim) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(blockDim);
  *blockDim = handle->blockDim;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(mode == CUBLASXT_PINNING_DISABLED || mode == CUBLASXT_PINNING_ENABLED);
  handle->pinning = mode;
  return CUBLAS_STATUS_SUCCESS;
}
extern "C" cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(mode);
  *mode = handle->pinning;
  return CUBLAS_STATUS_SUCCESS;
}
// Parts of the work on the host would be another library's.
extern "C" cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t, cublasXtOpType_t, void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
extern "C" cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t, cublasXtOpType_t, float ratio) {
  CUMETAL_NEED_HANDLE(handle);
  return ratio == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
