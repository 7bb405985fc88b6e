/** Linear combinations of two matrices, which may lie otherwise and have other types. */
#ifndef CUMETAL_CUBLASLT_TRANSFORM_H
#define CUMETAL_CUBLASLT_TRANSFORM_H

#include "product.h"

namespace cumetal {

struct LtTransform {
  int m, n, batches, scaleType;
  Operand a, b, c;
  Factor alpha, beta;
};

typedef cublasStatus_t RunTransform(const LtTransform &, cudaStream_t);
RunTransform ltTransformS, ltTransformD, ltTransformI, ltTransformC, ltTransformZ;

}  // namespace cumetal

#endif
