// Sparse matrices of cuSOLVER. Source: cuSOLVER Library, "cuSolverSP: sparse LAPACK Function Reference".
#ifndef __CUMETAL_CUSOLVERSP_H__
#define __CUMETAL_CUSOLVERSP_H__
// Programs ask by the names of NVIDIA's guards whether a library is used.
#define CUSOLVERSP_H_

#include <stdint.h>

#include "cusolver_common.h"
#include "cusparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverSpContext *cusolverSpHandle_t;

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *streamId);

cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                         const int *csrEndPtrA, const int *csrColIndA, int *issym);
cusolverStatus_t cusolverSpXcsrsymrcmHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrsymmdqHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrsymamdHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                           const int *csrColIndA, const int64_t *options, int *p);
cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA,
                                                   const int *csrRowPtrA, const int *csrColIndA, const int *p, const int *q,
                                                   size_t *bufferSizeInBytes);
cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA, int *csrRowPtrA,
                                        int *csrColIndA, const int *p, const int *q, int *map, void *pBuffer);

#define __cumetal_sparse_solvers(L, T, R) \
  cusolverStatus_t cusolverSp##L##csrlsvluHost(cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const T *csrValA, \
                                               const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, int reorder, T *x, \
                                               int *singularity); \
  cusolverStatus_t cusolverSp##L##csrlsvqr(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA, const T *csrValA, \
                                           const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, int reorder, T *x, \
                                           int *singularity); \
  cusolverStatus_t cusolverSp##L##csrlsvqrHost(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA, const T *csrValA, \
                                               const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, int reorder, T *x, \
                                               int *singularity); \
  cusolverStatus_t cusolverSp##L##csrlsvchol(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA, const T *csrValA, \
                                             const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, int reorder, T *x, \
                                             int *singularity); \
  cusolverStatus_t cusolverSp##L##csrlsvcholHost(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA, \
                                                 const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, \
                                                 int reorder, T *x, int *singularity);
__cumetal_sparse_solvers(S, float, float)
__cumetal_sparse_solvers(D, double, double)
__cumetal_sparse_solvers(C, cuComplex, float)
__cumetal_sparse_solvers(Z, cuDoubleComplex, double)
#undef __cumetal_sparse_solvers

#ifdef __cplusplus
}
#endif

#endif
