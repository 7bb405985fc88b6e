/** A product of matrices as kernels take it. */
#ifndef CUMETAL_CUBLASLT_PRODUCT_H
#define CUMETAL_CUBLASLT_PRODUCT_H

#include "descriptors.h"

namespace cumetal {

/** Where the elements (row, column) of an operand are, in the frame of the product. */
struct Operand {
  void *first;
  long long rowStep, columnStep, batchStep;
  int type;
  bool isConjugated;
};

/** A factor: a number, or memory of the device with one for all rows or one for each. */
struct Factor {
  alignas(16) char value[16];
  const void *pointer;
  long long rowStep, batchStep;
};

/** Bits of the epilogues. Source: cuBLAS Library, "cublasLtEpilogue_t". */
enum EpilogueBits : unsigned {
  reluBit = CUBLASLT_EPILOGUE_RELU,
  biasBit = CUBLASLT_EPILOGUE_BIAS,
  geluBit = CUBLASLT_EPILOGUE_GELU,
  auxBit = CUBLASLT_EPILOGUE_RELU_AUX & ~CUBLASLT_EPILOGUE_RELU,
  reluBackBit = CUBLASLT_EPILOGUE_DRELU & ~auxBit,
  geluBackBit = CUBLASLT_EPILOGUE_DGELU & ~auxBit,
  gradientBit = CUBLASLT_EPILOGUE_DRELU_BGRAD & ~CUBLASLT_EPILOGUE_DRELU,
  gradientABit = CUBLASLT_EPILOGUE_BGRADA,
  gradientBBit = CUBLASLT_EPILOGUE_BGRADB,
};

struct LtProduct {
  int m, n, k, batches;
  Operand a, b, c, d;
  int scaleType;
  Factor alpha, beta;
  unsigned epilogue;
  void *bias, *aux;
  int biasType, auxType;
  long long biasStride, auxLd, auxStride;
  /** Of the device; null is 1. */
  const float *aScale, *bScale, *dScale, *auxScale;
  float *amaxD, *auxAmax;
};

/** A kernel for operands of one type. */
typedef cublasStatus_t RunProduct(const LtProduct &, cudaStream_t);
RunProduct ltH, ltB, ltS, ltD, ltC, ltZ, ltI, ltJ, ltF;

}  // namespace cumetal

#endif
