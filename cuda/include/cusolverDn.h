// Dense matrices of cuSOLVER. Source: cuSOLVER Library, "cuSolverDN: dense LAPACK Function Reference".
#ifndef __CUMETAL_CUSOLVERDN_H__
#define __CUMETAL_CUSOLVERDN_H__

#include "cusolver_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverDnContext *cusolverDnHandle_t;

cusolverStatus_t cusolverGetVersion(int *version);
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value);
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *streamId);

#define __cumetal_solver(L, T, R) \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, int *Lwork); \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, T *Workspace, int Lwork, \
                                        int *devInfo); \
  cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const T *A, int lda, T *B, \
                                        int ldb, int *devInfo); \
  cusolverStatus_t cusolverDn##L##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *Aarray[], int lda, \
                                               int *infoArray, int batchSize); \
  cusolverStatus_t cusolverDn##L##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, T *A[], int lda, T *B[], \
                                               int ldb, int *d_info, int batchSize); \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *Lwork); \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *Workspace, int *devIpiv, int *devInfo); \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *A, int lda, \
                                        const int *devIpiv, T *B, int ldb, int *devInfo); \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *lwork); \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *TAU, T *Workspace, int Lwork, \
                                        int *devInfo); \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork); \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T *A, int lda, R *S, \
                                        T *U, int ldu, T *VT, int ldvt, T *work, int lwork, R *rwork, int *info);
#define __cumetal_solver_forms(L, T, R, orgqr, ormqr, syevd) \
  cusolverStatus_t cusolverDn##L##orgqr##_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T *A, int lda, const T *tau, \
                                                     int *lwork); \
  cusolverStatus_t cusolverDn##L##orgqr(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda, const T *tau, T *work, int lwork, \
                                        int *info); \
  cusolverStatus_t cusolverDn##L##ormqr##_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, \
                                                     int k, const T *A, int lda, const T *tau, const T *C, int ldc, int *lwork); \
  cusolverStatus_t cusolverDn##L##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, \
                                        const T *A, int lda, const T *tau, T *C, int ldc, T *work, int lwork, int *devInfo); \
  cusolverStatus_t cusolverDn##L##syevd##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, \
                                                     const T *A, int lda, const R *W, int *lwork); \
  cusolverStatus_t cusolverDn##L##syevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A, int lda, R *W, \
                                        T *work, int lwork, int *info);
__cumetal_solver(S, float, float)
__cumetal_solver(D, double, double)
__cumetal_solver(C, cuComplex, float)
__cumetal_solver(Z, cuDoubleComplex, double)
__cumetal_solver_forms(S, float, float, orgqr, ormqr, syevd)
__cumetal_solver_forms(D, double, double, orgqr, ormqr, syevd)
__cumetal_solver_forms(C, cuComplex, float, ungqr, unmqr, heevd)
__cumetal_solver_forms(Z, cuDoubleComplex, double, ungqr, unmqr, heevd)
#undef __cumetal_solver
#undef __cumetal_solver_forms

#ifdef __cplusplus
}
#endif

#endif
