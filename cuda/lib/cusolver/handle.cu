// Handles. Source: cuSOLVER Library, "cuSolverDN Helper Function Reference".
#include "context.h"

extern "C" cusolverStatus_t cusolverGetVersion(int *version) {
  CUMETAL_NEED(version);
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value) {
  CUMETAL_NEED(value && type >= MAJOR_VERSION && type <= PATCH_LEVEL);
  *value = type == MAJOR_VERSION ? CUSOLVER_VER_MAJOR : type == MINOR_VERSION ? CUSOLVER_VER_MINOR : CUSOLVER_VER_PATCH;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *to) {
  CUMETAL_NEED(to);
  *to = new cusolverDnContext();
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  CUMETAL_NEED_HANDLE(handle);
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(stream);
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}
