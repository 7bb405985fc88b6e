// The steps of cuSOLVER's sparse solvers. Source: cuSOLVER Library, samples of "cuSolverSP", which this preview is described by.
#ifndef __CUMETAL_CUSOLVERSP_LOWLEVEL_PREVIEW_H__
#define __CUMETAL_CUSOLVERSP_LOWLEVEL_PREVIEW_H__
// Programs ask by the names of NVIDIA's guards whether a library is used.
#define CUSOLVERSP_LOWLEVEL_PREVIEW_H_

#include "cusolverSp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csrluInfoHost *csrluInfoHost_t;
typedef struct csrqrInfoHost *csrqrInfoHost_t;
typedef struct csrcholInfoHost *csrcholInfoHost_t;
typedef struct csrqrInfo *csrqrInfo_t;
typedef struct csrcholInfo *csrcholInfo_t;

cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info);
cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrluInfoHost_t info);
cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzLRef, int *nnzURef, csrluInfoHost_t info);
#define __cumetal_sparse_lu(L, T, R) \
  cusolverStatus_t cusolverSp##L##csrluBufferInfoHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                      const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info, \
                                                      size_t *internalDataInBytes, size_t *workspaceInBytes); \
  cusolverStatus_t cusolverSp##L##csrluFactorHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                  const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info, \
                                                  R pivot_threshold, void *pBuffer); \
  cusolverStatus_t cusolverSp##L##csrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info, R tol, int *position); \
  cusolverStatus_t cusolverSp##L##csrluSolveHost(cusolverSpHandle_t handle, int n, const T *b, T *x, csrluInfoHost_t info, void *pBuffer); \
  cusolverStatus_t cusolverSp##L##csrluExtractHost(cusolverSpHandle_t handle, int *P, int *Q, const cusparseMatDescr_t descrL, T *csrValL, \
                                                   int *csrRowPtrL, int *csrColIndL, const cusparseMatDescr_t descrU, T *csrValU, \
                                                   int *csrRowPtrU, int *csrColIndU, csrluInfoHost_t info, void *pBuffer);
#define __cumetal_sparse_qr(L, T, R, End) \
  cusolverStatus_t cusolverSp##L##csrqrBufferInfo##End(cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                       const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, \
                                                       csrqrInfo##End##_t info, size_t *internalDataInBytes, size_t *workspaceInBytes); \
  cusolverStatus_t cusolverSp##L##csrqrSetup##End(cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                  const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, T mu, \
                                                  csrqrInfo##End##_t info); \
  cusolverStatus_t cusolverSp##L##csrqrFactor##End(cusolverSpHandle_t handle, int m, int n, int nnzA, T *b, T *x, csrqrInfo##End##_t info, \
                                                   void *pBuffer); \
  cusolverStatus_t cusolverSp##L##csrqrZeroPivot##End(cusolverSpHandle_t handle, csrqrInfo##End##_t info, R tol, int *position); \
  cusolverStatus_t cusolverSp##L##csrqrSolve##End(cusolverSpHandle_t handle, int m, int n, T *b, T *x, csrqrInfo##End##_t info, void *pBuffer);
#define __cumetal_sparse_chol(L, T, R, End) \
  cusolverStatus_t cusolverSp##L##csrcholBufferInfo##End(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                         const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, \
                                                         csrcholInfo##End##_t info, size_t *internalDataInBytes, size_t *workspaceInBytes); \
  cusolverStatus_t cusolverSp##L##csrcholFactor##End(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                     const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, \
                                                     csrcholInfo##End##_t info, void *pBuffer); \
  cusolverStatus_t cusolverSp##L##csrcholZeroPivot##End(cusolverSpHandle_t handle, csrcholInfo##End##_t info, R tol, int *position); \
  cusolverStatus_t cusolverSp##L##csrcholSolve##End(cusolverSpHandle_t handle, int n, const T *b, T *x, csrcholInfo##End##_t info, \
                                                    void *pBuffer);
#define __cumetal_sparse_steps(End) \
  cusolverStatus_t cusolverSpCreateCsrqrInfo##End(csrqrInfo##End##_t *info); \
  cusolverStatus_t cusolverSpDestroyCsrqrInfo##End(csrqrInfo##End##_t info); \
  cusolverStatus_t cusolverSpXcsrqrAnalysis##End(cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                 const int *csrRowPtrA, const int *csrColIndA, csrqrInfo##End##_t info); \
  cusolverStatus_t cusolverSpCreateCsrcholInfo##End(csrcholInfo##End##_t *info); \
  cusolverStatus_t cusolverSpDestroyCsrcholInfo##End(csrcholInfo##End##_t info); \
  cusolverStatus_t cusolverSpXcsrcholAnalysis##End(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, \
                                                   const int *csrRowPtrA, const int *csrColIndA, csrcholInfo##End##_t info);
__cumetal_sparse_steps(Host)
__cumetal_sparse_steps()
__cumetal_sparse_lu(S, float, float)
__cumetal_sparse_lu(D, double, double)
__cumetal_sparse_lu(C, cuComplex, float)
__cumetal_sparse_lu(Z, cuDoubleComplex, double)
__cumetal_sparse_qr(S, float, float, Host)
__cumetal_sparse_qr(D, double, double, Host)
__cumetal_sparse_qr(C, cuComplex, float, Host)
__cumetal_sparse_qr(Z, cuDoubleComplex, double, Host)
__cumetal_sparse_qr(S, float, float, )
__cumetal_sparse_qr(D, double, double, )
__cumetal_sparse_qr(C, cuComplex, float, )
__cumetal_sparse_qr(Z, cuDoubleComplex, double, )
__cumetal_sparse_chol(S, float, float, Host)
__cumetal_sparse_chol(D, double, double, Host)
__cumetal_sparse_chol(C, cuComplex, float, Host)
__cumetal_sparse_chol(Z, cuDoubleComplex, double, Host)
__cumetal_sparse_chol(S, float, float, )
__cumetal_sparse_chol(D, double, double, )
__cumetal_sparse_chol(C, cuComplex, float, )
__cumetal_sparse_chol(Z, cuDoubleComplex, double, )
#undef __cumetal_sparse_steps
#undef __cumetal_sparse_lu
#undef __cumetal_sparse_qr
#undef __cumetal_sparse_chol

#ifdef __cplusplus
}
#endif

#endif
