/** cuBLAS without handles: the only handle, the last error, and characters as operations. */
#ifndef CUMETAL_CUBLAS_LEGACY_H
#define CUMETAL_CUBLAS_LEGACY_H

#include <cublas.h>

namespace cumetal {

/** Null before `cublasInit`, which every function reports. */
cublasHandle_t legacyHandle();
/** Keeps an error until it is asked for. */
void legacyNote(cublasStatus_t status);

static inline char upper(char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; }
/** A character that stands for nothing gives a value that no function takes. */
static inline cublasOperation_t operationOf(char c) {
  return upper(c) == 'N' ? CUBLAS_OP_N : upper(c) == 'T' ? CUBLAS_OP_T : upper(c) == 'C' ? CUBLAS_OP_C : cublasOperation_t(-1);
}
static inline cublasFillMode_t fillOf(char c) {
  return upper(c) == 'U' ? CUBLAS_FILL_MODE_UPPER : upper(c) == 'L' ? CUBLAS_FILL_MODE_LOWER : cublasFillMode_t(-1);
}
static inline cublasSideMode_t sideOf(char c) {
  return upper(c) == 'L' ? CUBLAS_SIDE_LEFT : upper(c) == 'R' ? CUBLAS_SIDE_RIGHT : cublasSideMode_t(-1);
}
static inline cublasDiagType_t diagOf(char c) {
  return upper(c) == 'U' ? CUBLAS_DIAG_UNIT : upper(c) == 'N' ? CUBLAS_DIAG_NON_UNIT : cublasDiagType_t(-1);
}

}  // namespace cumetal

#endif
