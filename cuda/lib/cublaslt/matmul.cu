// Products: which are there, algorithms, and the call. Source: cuBLAS Library, "cublasLtMatmul", tables of supported types.
#include "operands.h"

using namespace cumetal;

namespace {

typedef RunProduct *Run;

/** The types of a product. */
struct Types {
  int compute, scale, a, b, c, d;
};

bool isFloat8(int type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool isHalf(int type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }
bool isComplex(int type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

/** Products of floats of 8 bits: at least one operand has the format E4M3, and D is like C or a float of 8 bits. */
Run float8For(const Types &t) {
  if (!isFloat8(t.a) || !isFloat8(t.b) || (t.a == CUDA_R_8F_E5M2 && t.b == CUDA_R_8F_E5M2)) return nullptr;
  if (!isHalf(t.c)) return t.c == CUDA_R_32F && t.d == CUDA_R_32F ? ltF : nullptr;
  const bool isOther = t.a != t.b;
  return t.d == t.c || t.d == CUDA_R_8F_E4M3 || (isOther && t.d == CUDA_R_8F_E5M2) ? ltF : nullptr;
}

Run singleFor(const Types &t) {
  if (t.scale == CUDA_C_32F) return t.a == CUDA_C_32F && t.b == CUDA_C_32F && t.c == CUDA_C_32F && t.d == CUDA_C_32F ? ltC : nullptr;
  if (t.scale != CUDA_R_32F) return nullptr;
  if (isFloat8(t.a)) return float8For(t);
  if (t.a != t.b || t.c != t.d || (t.c != t.a && t.c != CUDA_R_32F)) return nullptr;
  switch (t.a) {
    case CUDA_R_16F:
      return ltH;
    case CUDA_R_16BF:
      return ltB;
    case CUDA_R_32F:
      return ltS;
    case CUDA_R_8I:
      return t.c == CUDA_R_32F ? ltJ : nullptr;
  }
  return nullptr;
}

/** What multiplies these types; null if nothing does. */
Run runFor(const Types &t) {
  const bool isSame = t.a == t.b && t.a == t.c && t.a == t.d;
  switch (t.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return isSame && t.a == CUDA_R_16F && t.scale == CUDA_R_16F ? ltH : nullptr;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return singleFor(t);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return t.a == CUDA_R_32F || t.a == CUDA_C_32F ? singleFor(t) : nullptr;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      if (!isSame || t.scale != t.a) return nullptr;
      return t.a == CUDA_R_64F ? ltD : t.a == CUDA_C_64F ? ltZ : nullptr;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (t.a != CUDA_R_8I || t.b != CUDA_R_8I || t.c != t.d) return nullptr;
      if (t.scale == CUDA_R_32I) return t.c == CUDA_R_32I ? ltI : nullptr;
      return t.scale == CUDA_R_32F && t.c == CUDA_R_8I ? ltJ : nullptr;
  }
  return nullptr;
}

bool isEpilogue(unsigned e) {
  switch (e) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
      return true;
  }
  return false;
}

/** The type of a bias that names none: that of D, where a bias can have it. */
int biasTypeOf(const MatmulDesc &desc, const Types &t) {
  if (desc.biasType >= 0) return desc.biasType;
  if (isFloat8(t.a)) return isHalf(t.d) ? t.d : isHalf(t.c) ? t.c : CUDA_R_16BF;
  return t.d == CUDA_R_8I ? CUDA_R_32F : t.d;
}

/** Types of a bias: those that load and store have, where the manual names more than one. */
bool isBiasType(int type, const Types &t) {
  if (isFloat8(t.a)) return isHalf(type) || (type == CUDA_R_32F && t.d == CUDA_R_32F);
  return type == (t.d == CUDA_R_8I ? CUDA_R_32F : t.d);
}

/** What a product has that is neither in tables of types nor in sizes. */
cublasStatus_t checkModes(const MatmulDesc &desc) {
  CUMETAL_NEED(isOperation(desc.transA) && isOperation(desc.transB) && isOperation(desc.transC) && isEpilogue(desc.epilogue));
  CUMETAL_NEED(desc.pointerMode >= CUBLASLT_POINTER_MODE_HOST && desc.pointerMode <= CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
  CUMETAL_SUPPORT(desc.transC == CUBLAS_OP_N && desc.fillMode == CUBLAS_FILL_MODE_FULL);
  CUMETAL_SUPPORT(desc.aScaleMode == 0 && desc.bScaleMode == 0 && desc.cScaleMode == 0 && desc.dScaleMode == 0 && desc.auxScaleMode == 0 &&
                  desc.dOutScaleMode == 0 && !desc.dOutScale);
  CUMETAL_SUPPORT(desc.chunksRows == 0 && desc.chunksCols == 0 && !desc.inCounters && !desc.outCounters);
  return CUBLAS_STATUS_SUCCESS;
}

/** Whether these epilogues are there for the types, and what they need is set but for pointers. */
cublasStatus_t checkEpilogue(const MatmulDesc &desc, const Types &t, LtProduct &p) {
  const unsigned e = desc.epilogue;
  const bool isInteger = t.scale == CUDA_R_32I, isOfGelu = e & (geluBit | geluBackBit);
  CUMETAL_SUPPORT(e == CUBLASLT_EPILOGUE_DEFAULT || !(isComplex(t.d) || (isInteger && (isOfGelu || (e & (auxBit | gradientABit | gradientBBit))))));
  CUMETAL_SUPPORT(!isFloat8(t.a) || !(e & (gradientABit | gradientBBit)));
  p.epilogue = e == CUBLASLT_EPILOGUE_DEFAULT ? 0 : e;
  p.biasType = biasTypeOf(desc, t);
  if (e & (biasBit | gradientBit | gradientABit | gradientBBit)) CUMETAL_SUPPORT(isBiasType(p.biasType, t));
  p.biasStride = desc.biasStride;
  p.auxType = desc.auxType >= 0 && isOfGelu ? desc.auxType : t.d;
  p.auxLd = desc.auxLd;
  p.auxStride = desc.auxStride;
  if (!(e & auxBit)) return CUBLAS_STATUS_SUCCESS;
  const int multiple = isOfGelu ? 8 : 128;
  CUMETAL_NEED(p.auxLd >= p.m && p.auxLd % multiple == 0 && p.auxStride % multiple == 0);
  if (isOfGelu) CUMETAL_SUPPORT(p.auxType == t.d || (isFloat8(t.a) && (isFloat8(p.auxType) || isHalf(p.auxType))));
  return CUBLAS_STATUS_SUCCESS;
}

/** Scales are for floats of 8 bits. A scale of C that is no such matrix is set by programs that do not use C. */
cublasStatus_t checkScales(const MatmulDesc &desc, const Types &t, bool usesC, LtProduct &p) {
  const bool isAny = desc.aScale || desc.bScale || desc.cScale || desc.dScale || desc.amaxD || desc.auxScale || desc.auxAmax;
  CUMETAL_NEED(!isAny || isFloat8(t.a));
  CUMETAL_SUPPORT(!desc.cScale || !usesC);
  CUMETAL_SUPPORT(!desc.dScale || isFloat8(t.d));
  const bool isScaledAux = (desc.epilogue & geluBit) && (desc.epilogue & auxBit) && isFloat8(p.auxType);
  CUMETAL_SUPPORT((!desc.auxScale && !desc.auxAmax) || isScaledAux);
  p.aScale = static_cast<const float *>(desc.aScale);
  p.bScale = static_cast<const float *>(desc.bScale);
  p.dScale = static_cast<const float *>(desc.dScale);
  p.auxScale = static_cast<const float *>(desc.auxScale);
  p.amaxD = static_cast<float *>(desc.amaxD);
  p.auxAmax = static_cast<float *>(desc.auxAmax);
  return CUBLAS_STATUS_SUCCESS;
}

struct Pointers {
  const void *a, *b, *c;
  void *d;
};

/** Everything about a product but its factors, its pointers of epilogues and scales. */
cublasStatus_t describe(const MatmulDesc &desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const Pointers &pointers, LtProduct &p, Types &types, Run &run) {
  CUMETAL_NEED(a && b && c && d);
  if (const cublasStatus_t status = checkModes(desc)) return status;
  Matrix ma, mb, mc, md;
  CUMETAL_NEED(fill(ma, a, pointers.a, desc.transA) && fill(mb, b, pointers.b, desc.transB) && fill(mc, c, pointers.c, CUBLAS_OP_N) &&
               fill(md, d, pointers.d, CUBLAS_OP_N));
  CUMETAL_NEED(ma.columns == mb.rows && ma.rows == md.rows && mb.columns == md.columns && mc.rows == md.rows && mc.columns == md.columns);
  const int batches = md.layout->batchCount;
  CUMETAL_NEED(ma.layout->batchCount == batches && mb.layout->batchCount == batches && mc.layout->batchCount == batches);
  CUMETAL_SUPPORT(isPlainLayout(*ma.layout) && isPlainLayout(*mb.layout) && isPlainLayout(*mc.layout) && isPlainLayout(*md.layout));
  types = {desc.computeType, desc.scaleType, ma.operand.type, mb.operand.type, mc.operand.type, md.operand.type};
  run = runFor(types);
  CUMETAL_SUPPORT(run);
  p = {int(md.rows), int(md.columns), int(ma.columns), batches, ma.operand, mb.operand, mc.operand, md.operand, desc.scaleType};
  return checkEpilogue(desc, types, p);
}

/** Alpha and beta by the pointer mode. */
cublasStatus_t factors(const MatmulDesc &desc, const void *alpha, const void *beta, LtProduct &p) {
  const int mode = desc.pointerMode;
  const bool hasBeta = mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  CUMETAL_NEED(alpha && (beta || !hasBeta));
  const long long step = mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? 1 : 0;
  p.alpha = mode == CUBLASLT_POINTER_MODE_HOST ? ofHost(alpha, p.scaleType) : Factor{{}, alpha, step, step ? desc.alphaStride : 0};
  if (mode == CUBLASLT_POINTER_MODE_DEVICE || mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
    p.beta = {{}, beta, step, 0};
  else
    p.beta = ofHost(hasBeta ? beta : nullptr, p.scaleType);
  return CUBLAS_STATUS_SUCCESS;
}

/** The only algorithm. */
cublasLtMatmulAlgo_t algorithm() {
  const Algorithm own = {algorithmMagic, 0, CUBLASLT_MATMUL_TILE_32x32, 1, 0, 0, 0, 0, 0, 0};
  cublasLtMatmulAlgo_t made = {};
  memcpy(&made, &own, sizeof own);
  return made;
}

bool isOwn(const cublasLtMatmulAlgo_t *algo) { return algo && reinterpret_cast<const Algorithm *>(algo)->magic == algorithmMagic; }

/** Whether the product is there, without its pointers. */
cublasStatus_t check(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  CUMETAL_NEED(desc);
  LtProduct p;
  Types types;
  Run run;
  if (const cublasStatus_t status = describe(productOf(desc), a, b, c, d, {}, p, types, run)) return status;
  return checkScales(productOf(desc), types, false, p);
}

}  // namespace

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha, const void *a,
                                         cublasLtMatrixLayout_t aLayout, const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,
                                         const void *c, cublasLtMatrixLayout_t cLayout, void *d, cublasLtMatrixLayout_t dLayout,
                                         const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(operation);
  const MatmulDesc &desc = productOf(operation);
  LtProduct p;
  Types types;
  Run run;
  if (const cublasStatus_t status = describe(desc, aLayout, bLayout, cLayout, dLayout, {a, b, c, d}, p, types, run)) return status;
  if (const cublasStatus_t status = factors(desc, alpha, beta, p)) return status;
  const bool usesC = !isZero(p.beta, p.scaleType);
  if (const cublasStatus_t status = checkScales(desc, types, usesC, p)) return status;
  if (p.m == 0 || p.n == 0 || p.batches == 0) return CUBLAS_STATUS_SUCCESS;
  CUMETAL_NEED(d && ((a && b) || p.k == 0) && (c || !usesC));
  p.bias = desc.bias;
  p.aux = desc.aux;
  CUMETAL_NEED(p.bias || !(p.epilogue & (biasBit | gradientBit | gradientABit | gradientBBit)));
  CUMETAL_NEED(p.aux || !(p.epilogue & auxBit));
  return run(p, stream);
}

extern "C" cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                         cublasLtMatmulPreference_t preference, int requested,
                                                         cublasLtMatmulHeuristicResult_t results[], int *count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(count);
  *count = 0;
  CUMETAL_NEED(preference && results && requested > 0);
  if (const cublasStatus_t status = check(desc, a, b, c, d)) return status;
  results[0] = {algorithm(), 0, CUBLAS_STATUS_SUCCESS, 1.0f, {}};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                  cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algo,
                                                  cublasLtMatmulHeuristicResult_t *result) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(result && isOwn(algo));
  if (const cublasStatus_t status = check(desc, a, b, c, d)) return status;
  *result = {*algo, 0, CUBLAS_STATUS_SUCCESS, 1.0f, {}};
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a,
                                                   cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int requested, int ids[], int *count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(count);
  *count = 0;
  CUMETAL_NEED(requested > 0 && ids);
  if (!runFor({compute, scale, a, b, c, d})) return CUBLAS_STATUS_NOT_SUPPORTED;
  ids[0] = 0;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a,
                                                 cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id, cublasLtMatmulAlgo_t *algo) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(algo && id == 0);
  if (!runFor({compute, scale, a, b, c, d})) return CUBLAS_STATUS_NOT_SUPPORTED;
  *algo = algorithm();
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

/** A value of an algorithm's capabilities; those that are lists have one element. */
struct Capability {
  int attribute;
  size_t size;
  uint64_t value;
};

const Capability capabilities[] = {
    {CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, 4, 0},
    {CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_UPLO_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_TILE_IDS, 4, CUBLASLT_MATMUL_TILE_32x32},
    {CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX, 4, 0},
    {CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER, 4, 1},
    {CUBLASLT_ALGO_CAP_POINTER_MODE_MASK, 4, 31},
    {CUBLASLT_ALGO_CAP_EPILOGUE_MASK, 4, 1023},
    {CUBLASLT_ALGO_CAP_STAGES_IDS, 4, CUBLASLT_MATMUL_STAGES_UNDEFINED},
    {CUBLASLT_ALGO_CAP_LD_NEGATIVE, 4, 0},
    {CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, 8, CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_ATOMIC_SYNC, 4, 0},
};

}  // namespace

extern "C" cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t attr, void *buf,
                                                            size_t size, size_t *written) {
  CUMETAL_NEED(isOwn(algo) && (size > 0 ? buf != nullptr : written != nullptr));
  for (const Capability &each : capabilities) {
    if (each.attribute != attr) continue;
    const bool isList = attr == CUBLASLT_ALGO_CAP_TILE_IDS || attr == CUBLASLT_ALGO_CAP_STAGES_IDS;
    CUMETAL_NEED(size == 0 || size == each.size || (isList && size > each.size));
    if (written) *written = each.size;
    if (size > 0) memcpy(buf, &each.value, each.size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
