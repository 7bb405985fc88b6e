// Objects of the steps of sparse solvers, and what the steps find out of patterns. Source: cuSOLVER Library, samples of "cuSolverSP".
#include "sparse-info.h"
#include "sparse.h"

using namespace cumetal;

/** Whether a pattern is one. Columns that factors have entries in are found with the factors. */
static cusolverStatus_t analysed(cusolverSpHandle_t handle, Place place, int m, int n, int nnz, cusparseMatDescr_t description, const int *offsets,
                                 const int *indices, CsrInfo *info) {
  CUMETAL_NEED(info);
  Columns<float> a;
  CUMETAL_TRY(fetchRows(Given<float>{handle, place, m, n, nnz, description, nullptr, offsets, indices}, a));
  info->held.reset();
  return CUSOLVER_STATUS_SUCCESS;
}

#define CUMETAL_OBJECT(Name, Type)                                        \
  extern "C" cusolverStatus_t cusolverSpCreate##Name(Type##_t *to) {      \
    CUMETAL_NEED(to);                                                     \
    *to = new Type();                                                     \
    return CUSOLVER_STATUS_SUCCESS;                                       \
  }                                                                       \
  extern "C" cusolverStatus_t cusolverSpDestroy##Name(Type##_t info) {    \
    delete info;                                                          \
    return CUSOLVER_STATUS_SUCCESS;                                       \
  }
CUMETAL_OBJECT(CsrluInfoHost, csrluInfoHost)
CUMETAL_OBJECT(CsrqrInfoHost, csrqrInfoHost)
CUMETAL_OBJECT(CsrqrInfo, csrqrInfo)
CUMETAL_OBJECT(CsrcholInfoHost, csrcholInfoHost)
CUMETAL_OBJECT(CsrcholInfo, csrcholInfo)

extern "C" cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                         const int *offsets, const int *indices, csrluInfoHost_t info) {
  return analysed(handle, onHost, n, n, nnz, description, offsets, indices, info);
}
extern "C" cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzL, int *nnzU, csrluInfoHost_t info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(info && info->held && nnzL && nnzU);
  *nnzL = info->nnzL;
  *nnzU = info->nnzU;
  return CUSOLVER_STATUS_SUCCESS;
}
#define CUMETAL_ANALYSES(End, place)                                                                                                           \
  extern "C" cusolverStatus_t cusolverSpXcsrqrAnalysis##End(cusolverSpHandle_t handle, int m, int n, int nnz,                                  \
                                                            const cusparseMatDescr_t description, const int *offsets, const int *indices,      \
                                                            csrqrInfo##End##_t info) {                                                         \
    return analysed(handle, place, m, n, nnz, description, offsets, indices, info);                                                            \
  }                                                                                                                                            \
  extern "C" cusolverStatus_t cusolverSpXcsrcholAnalysis##End(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description, \
                                                              const int *offsets, const int *indices, csrcholInfo##End##_t info) {             \
    return analysed(handle, place, n, n, nnz, description, offsets, indices, info);                                                            \
  }
CUMETAL_ANALYSES(Host, onHost)
CUMETAL_ANALYSES(, onDevice)
