// The call of transformations. Source: cuBLAS Library, "cublasLtMatrixTransform".
#include "operands.h"
#include "transform.h"

using namespace cumetal;

/** Whether elements of a type can be loaded for, and stored after, computations of the type of the scale. */
static bool isTypeFor(int scale, int type) {
  switch (scale) {
    case CUDA_R_32F:
      return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_8I || type == CUDA_R_32I || type == CUDA_R_8F_E4M3 ||
             type == CUDA_R_8F_E5M2;
    case CUDA_R_16F:
      return type == CUDA_R_16F;
    case CUDA_R_32I:
      return type == CUDA_R_8I || type == CUDA_R_32I;
  }
  return type == scale;
}

static RunTransform *runFor(int scale) {
  switch (scale) {
    case CUDA_R_16F:
    case CUDA_R_32F:
      return ltTransformS;
    case CUDA_R_64F:
      return ltTransformD;
    case CUDA_R_32I:
      return ltTransformI;
    case CUDA_C_32F:
      return ltTransformC;
    case CUDA_C_64F:
      return ltTransformZ;
  }
  return nullptr;
}

/** Whether a matrix has the sizes of the result. */
static bool isLike(const Matrix &a, const Matrix &c) {
  return a.rows == c.rows && a.columns == c.columns && a.layout->batchCount == c.layout->batchCount;
}

extern "C" cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t transformation, const void *alpha,
                                                  const void *a, cublasLtMatrixLayout_t aLayout, const void *beta, const void *b,
                                                  cublasLtMatrixLayout_t bLayout, void *c, cublasLtMatrixLayout_t cLayout, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(transformation && cLayout && alpha && beta);
  const TransformDesc &desc = transformOf(transformation);
  CUMETAL_NEED(isOperation(desc.transA) && isOperation(desc.transB) &&
               (desc.pointerMode == CUBLASLT_POINTER_MODE_HOST || desc.pointerMode == CUBLASLT_POINTER_MODE_DEVICE));
  const bool isHost = desc.pointerMode == CUBLASLT_POINTER_MODE_HOST;
  const Factor factorA = isHost ? ofHost(alpha, desc.scaleType) : Factor{{}, alpha, 0, 0};
  const Factor factorB = isHost ? ofHost(beta, desc.scaleType) : Factor{{}, beta, 0, 0};
  // An operand with the factor zero may be absent.
  const bool usesA = aLayout || !isZero(factorA, desc.scaleType), usesB = bLayout || !isZero(factorB, desc.scaleType);
  Matrix ma, mb, mc;
  CUMETAL_NEED(fill(mc, cLayout, c, CUBLAS_OP_N));
  CUMETAL_NEED(!usesA || (aLayout && fill(ma, aLayout, a, desc.transA) && isLike(ma, mc)));
  CUMETAL_NEED(!usesB || (bLayout && fill(mb, bLayout, b, desc.transB) && isLike(mb, mc)));
  CUMETAL_SUPPORT(isPlainLayout(*mc.layout) && (!usesA || isPlainLayout(*ma.layout)) && (!usesB || isPlainLayout(*mb.layout)));
  RunTransform *run = runFor(desc.scaleType);
  CUMETAL_SUPPORT(run && isTypeFor(desc.scaleType, mc.operand.type) && (!usesA || isTypeFor(desc.scaleType, ma.operand.type)) &&
                  (!usesB || isTypeFor(desc.scaleType, mb.operand.type)));
  LtTransform p = {int(mc.rows), int(mc.columns), mc.layout->batchCount, desc.scaleType, {}, {}, mc.operand, factorA, factorB};
  if (usesA) p.a = ma.operand;
  if (usesB) p.b = mb.operand;
  if (p.m == 0 || p.n == 0 || p.batches == 0) return CUBLAS_STATUS_SUCCESS;
  CUMETAL_NEED(c && (a || isZero(factorA, p.scaleType)) && (b || isZero(factorB, p.scaleType)));
  return run(p, stream);
}
