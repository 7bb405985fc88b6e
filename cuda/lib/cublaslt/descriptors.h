/** What the opaque structures of cuBLASLt contain. */
#ifndef CUMETAL_CUBLASLT_DESCRIPTORS_H
#define CUMETAL_CUBLASLT_DESCRIPTORS_H

#include <cublasLt.h>

namespace cumetal {

/** How a matrix lies in memory. */
struct Layout {
  uint32_t type;
  int32_t order;
  uint64_t rows, cols;
  int64_t ld;
  int32_t batchCount;
  int64_t batchOffset, planeOffset;
};

/** A product and what follows it. */
struct MatmulDesc {
  int32_t computeType, scaleType, pointerMode, transA, transB, transC, fillMode;
  uint32_t epilogue;
  void *bias, *aux;
  int64_t biasStride, auxLd, auxStride, alphaStride;
  const void *aScale, *bScale, *cScale, *dScale, *auxScale;
  void *amaxD, *auxAmax;
  int32_t auxType, biasType, smCount;
  int8_t fastAccum;
  /** What is kept and refused when a product needs it. */
  int32_t aScaleMode, bScaleMode, cScaleMode, dScaleMode, auxScaleMode, dOutScaleMode, chunksRows, chunksCols;
  void *inCounters, *outCounters, *dOutScale;
};

struct TransformDesc {
  int32_t scaleType, pointerMode, transA, transB;
};

struct Preference {
  uint32_t searchMode, reductionMask;
  uint64_t workspaceBytes, implMask;
  uint32_t alignmentA, alignmentB, alignmentC, alignmentD;
  float wavesCount;
};

struct Algorithm {
  /** Tells an algorithm from memory that was never set. */
  uint32_t magic;
  int32_t id;
  uint32_t tile;
  int32_t splitK;
  uint32_t reduction, swizzling, customOption, stages;
  uint16_t innerShape, clusterShape;
};
static const uint32_t algorithmMagic = 0x6c74676d;

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "layout");
static_assert(sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t), "product");
static_assert(sizeof(TransformDesc) <= sizeof(cublasLtMatrixTransformDescOpaque_t), "transformation");
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "preference");
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t), "algorithm");

static inline const Layout &layoutOf(cublasLtMatrixLayout_t p) { return *reinterpret_cast<const Layout *>(p); }
static inline const MatmulDesc &productOf(cublasLtMatmulDesc_t p) { return *reinterpret_cast<const MatmulDesc *>(p); }
static inline const TransformDesc &transformOf(cublasLtMatrixTransformDesc_t p) { return *reinterpret_cast<const TransformDesc *>(p); }

}  // namespace cumetal

#define CUMETAL_NEED(condition) \
  if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE
#define CUMETAL_SUPPORT(condition) \
  if (!(condition)) return CUBLAS_STATUS_NOT_SUPPORTED

#endif
