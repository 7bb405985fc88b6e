/** What a handle of cuSOLVER is. */
#ifndef CUMETAL_CUSOLVER_CONTEXT_H
#define CUMETAL_CUSOLVER_CONTEXT_H

#include <cusolverDn.h>

#include "../common/number.h"

struct cusolverDnContext {
  cudaStream_t stream;
};

#define CUMETAL_NEED_HANDLE(handle) \
  if (!(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED
#define CUMETAL_NEED(condition) \
  if (!(condition)) return CUSOLVER_STATUS_INVALID_VALUE

#endif
