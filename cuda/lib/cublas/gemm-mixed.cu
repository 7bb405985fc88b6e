// Products with operands of one type, results of another and sums of a third. A unit is compiled for each list of types: CUMETAL_ENTRY is the
// name of its function, CUMETAL_IN, CUMETAL_OUT, CUMETAL_SUM and CUMETAL_SCALE are types. Source: cuBLAS Library, "cublasGemmEx".
#include "gemm-mixed.h"

using namespace cumetal;

typedef CUMETAL_IN In;
typedef CUMETAL_OUT Out;

cublasStatus_t cumetal::CUMETAL_ENTRY(const Product &p) {
  return gemm<CUMETAL_SUM, CUMETAL_SCALE, In, Out>(
      p.handle, p.transa, p.transb, p.m, p.n, p.k, p.alpha, {static_cast<const In *>(p.a), static_cast<const In *const *>(p.aList)}, p.lda, p.strideA,
      {static_cast<const In *>(p.b), static_cast<const In *const *>(p.bList)}, p.ldb, p.strideB, p.beta,
      {static_cast<Out *>(p.c), static_cast<Out *const *>(p.cList)}, p.ldc, p.strideC, p.batches);
}
