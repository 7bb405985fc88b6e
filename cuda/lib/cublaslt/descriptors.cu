// Descriptors of cuBLASLt and their attributes. Source: cuBLAS Library, "cuBLASLt Datatypes Reference", "cuBLASLt API Reference".
#include "descriptors.h"

#include <cstring>
#include <new>

using namespace cumetal;

namespace {

/** An attribute: its number, and its place in the structure. */
struct Attribute {
  int number;
  size_t offset, size;
};

#define CUMETAL_ATTRIBUTE(Struct, number, member) {number, __builtin_offsetof(Struct, member), sizeof(Struct::member)}

#define LAYOUT(name, member) CUMETAL_ATTRIBUTE(Layout, CUBLASLT_MATRIX_LAYOUT_##name, member)
const Attribute layoutAttributes[] = {
    LAYOUT(TYPE, type), LAYOUT(ORDER, order), LAYOUT(ROWS, rows), LAYOUT(COLS, cols), LAYOUT(LD, ld), LAYOUT(BATCH_COUNT, batchCount),
    LAYOUT(STRIDED_BATCH_OFFSET, batchOffset), LAYOUT(PLANE_OFFSET, planeOffset)};

#define PRODUCT(name, member) CUMETAL_ATTRIBUTE(MatmulDesc, CUBLASLT_MATMUL_DESC_##name, member)
const Attribute productAttributes[] = {
    PRODUCT(COMPUTE_TYPE, computeType),
    PRODUCT(SCALE_TYPE, scaleType),
    PRODUCT(POINTER_MODE, pointerMode),
    PRODUCT(TRANSA, transA),
    PRODUCT(TRANSB, transB),
    PRODUCT(TRANSC, transC),
    PRODUCT(FILL_MODE, fillMode),
    PRODUCT(EPILOGUE, epilogue),
    PRODUCT(BIAS_POINTER, bias),
    PRODUCT(BIAS_BATCH_STRIDE, biasStride),
    PRODUCT(EPILOGUE_AUX_POINTER, aux),
    PRODUCT(EPILOGUE_AUX_LD, auxLd),
    PRODUCT(EPILOGUE_AUX_BATCH_STRIDE, auxStride),
    PRODUCT(ALPHA_VECTOR_BATCH_STRIDE, alphaStride),
    PRODUCT(SM_COUNT_TARGET, smCount),
    PRODUCT(A_SCALE_POINTER, aScale),
    PRODUCT(B_SCALE_POINTER, bScale),
    PRODUCT(C_SCALE_POINTER, cScale),
    PRODUCT(D_SCALE_POINTER, dScale),
    PRODUCT(AMAX_D_POINTER, amaxD),
    PRODUCT(EPILOGUE_AUX_DATA_TYPE, auxType),
    PRODUCT(EPILOGUE_AUX_SCALE_POINTER, auxScale),
    PRODUCT(EPILOGUE_AUX_AMAX_POINTER, auxAmax),
    PRODUCT(FAST_ACCUM, fastAccum),
    PRODUCT(BIAS_DATA_TYPE, biasType),
    PRODUCT(ATOMIC_SYNC_NUM_CHUNKS_D_ROWS, chunksRows),
    PRODUCT(ATOMIC_SYNC_NUM_CHUNKS_D_COLS, chunksCols),
    PRODUCT(ATOMIC_SYNC_IN_COUNTERS_POINTER, inCounters),
    PRODUCT(ATOMIC_SYNC_OUT_COUNTERS_POINTER, outCounters),
    PRODUCT(A_SCALE_MODE, aScaleMode),
    PRODUCT(B_SCALE_MODE, bScaleMode),
    PRODUCT(C_SCALE_MODE, cScaleMode),
    PRODUCT(D_SCALE_MODE, dScaleMode),
    PRODUCT(EPILOGUE_AUX_SCALE_MODE, auxScaleMode),
    PRODUCT(D_OUT_SCALE_POINTER, dOutScale),
    PRODUCT(D_OUT_SCALE_MODE, dOutScaleMode)};

#define TRANSFORM(name, member) CUMETAL_ATTRIBUTE(TransformDesc, CUBLASLT_MATRIX_TRANSFORM_DESC_##name, member)
const Attribute transformAttributes[] = {TRANSFORM(SCALE_TYPE, scaleType), TRANSFORM(POINTER_MODE, pointerMode), TRANSFORM(TRANSA, transA),
                                         TRANSFORM(TRANSB, transB)};

#define PREFERENCE(name, member) CUMETAL_ATTRIBUTE(Preference, CUBLASLT_MATMUL_PREF_##name, member)
const Attribute preferenceAttributes[] = {
    PREFERENCE(SEARCH_MODE, searchMode),           PREFERENCE(MAX_WORKSPACE_BYTES, workspaceBytes),
    PREFERENCE(REDUCTION_SCHEME_MASK, reductionMask), PREFERENCE(MIN_ALIGNMENT_A_BYTES, alignmentA),
    PREFERENCE(MIN_ALIGNMENT_B_BYTES, alignmentB), PREFERENCE(MIN_ALIGNMENT_C_BYTES, alignmentC),
    PREFERENCE(MIN_ALIGNMENT_D_BYTES, alignmentD), PREFERENCE(MAX_WAVES_COUNT, wavesCount),
    PREFERENCE(IMPL_MASK, implMask)};

#define CONFIG(name, member) CUMETAL_ATTRIBUTE(Algorithm, CUBLASLT_ALGO_CONFIG_##name, member)
const Attribute configAttributes[] = {
    CONFIG(ID, id),
    CONFIG(TILE_ID, tile),
    CONFIG(SPLITK_NUM, splitK),
    CONFIG(REDUCTION_SCHEME, reduction),
    CONFIG(CTA_SWIZZLING, swizzling),
    CONFIG(CUSTOM_OPTION, customOption),
    CONFIG(STAGES_ID, stages),
    CONFIG(INNER_SHAPE_ID, innerShape),
    CONFIG(CLUSTER_SHAPE_ID, clusterShape)};

template <size_t count>
const Attribute *find(const Attribute (&attributes)[count], int number) {
  for (const Attribute &each : attributes)
    if (each.number == number) return &each;
  return nullptr;
}

/** The size must be that of the attribute. */
cublasStatus_t put(void *to, const Attribute *attribute, const void *buf, size_t size) {
  CUMETAL_NEED(to && buf && attribute && size == attribute->size);
  memcpy(static_cast<char *>(to) + attribute->offset, buf, size);
  return CUBLAS_STATUS_SUCCESS;
}

/** A size of 0 asks for the size of the attribute. */
cublasStatus_t get(const void *from, const Attribute *attribute, void *buf, size_t size, size_t *written) {
  CUMETAL_NEED(from && attribute && (size > 0 ? buf != nullptr && size == attribute->size : written != nullptr));
  if (written) *written = attribute->size;
  if (size > 0) memcpy(buf, static_cast<const char *>(from) + attribute->offset, size);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Inner>
cublasStatus_t init(Opaque *to, size_t size, const Inner &value) {
  CUMETAL_NEED(to && size >= sizeof(Opaque));
  memset(static_cast<void *>(to), 0, size);
  memcpy(static_cast<void *>(to), &value, sizeof value);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Inner>
cublasStatus_t create(Opaque **to, const Inner &value) {
  CUMETAL_NEED(to);
  *to = new (std::nothrow) Opaque;
  if (!*to) return CUBLAS_STATUS_ALLOC_FAILED;
  return init(*to, sizeof(Opaque), value);
}

template <class Opaque>
cublasStatus_t destroy(Opaque *p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}

Layout layout(cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  Layout made = {};
  made.type = type;
  made.rows = rows;
  made.cols = cols;
  made.ld = ld;
  made.batchCount = 1;
  return made;
}

MatmulDesc product(cublasComputeType_t compute, cudaDataType_t scale) {
  MatmulDesc made = {};
  made.computeType = compute;
  made.scaleType = scale;
  made.fillMode = CUBLAS_FILL_MODE_FULL;
  made.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  made.auxType = made.biasType = -1;
  return made;
}

TransformDesc transform(cudaDataType scale) {
  TransformDesc made = {};
  made.scaleType = scale;
  return made;
}

Preference preference() {
  Preference made = {};
  made.reductionMask = CUBLASLT_REDUCTION_SCHEME_MASK;
  made.implMask = ~0ull;
  made.alignmentA = made.alignmentB = made.alignmentC = made.alignmentD = 256;
  return made;
}

}  // namespace

extern "C" cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, size_t size, cudaDataType type, uint64_t rows, uint64_t cols,
                                                            int64_t ld) {
  return init(to, size, layout(type, rows, cols, ld));
}
extern "C" cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *to, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  return create(to, layout(type, rows, cols, ld));
}
extern "C" cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, size_t size, cublasComputeType_t compute, cudaDataType_t scale) {
  return init(to, size, product(compute, scale));
}
extern "C" cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *to, cublasComputeType_t compute, cudaDataType_t scale) {
  return create(to, product(compute, scale));
}
extern "C" cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t to, size_t size, cudaDataType scale) {
  return init(to, size, transform(scale));
}
extern "C" cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t *to, cudaDataType scale) {
  return create(to, transform(scale));
}
extern "C" cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t to, size_t size) { return init(to, size, preference()); }
extern "C" cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *to) { return create(to, preference()); }

#define CUMETAL_ACCESS(Name, Handle, Names, attributes)                                                                          \
  extern "C" cublasStatus_t cublasLt##Name##Destroy(Handle p) { return destroy(p); }                                             \
  extern "C" cublasStatus_t cublasLt##Name##SetAttribute(Handle p, Names attr, const void *buf, size_t size) {                   \
    return put(p, find(attributes, attr), buf, size);                                                                            \
  }                                                                                                                              \
  extern "C" cublasStatus_t cublasLt##Name##GetAttribute(Handle p, Names attr, void *buf, size_t size, size_t *written) {        \
    return get(p, find(attributes, attr), buf, size, written);                                                                   \
  }
CUMETAL_ACCESS(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, layoutAttributes)
CUMETAL_ACCESS(MatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, productAttributes)
CUMETAL_ACCESS(MatrixTransformDesc, cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t, transformAttributes)
CUMETAL_ACCESS(MatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, preferenceAttributes)

extern "C" cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, const void *buf,
                                                               size_t size) {
  CUMETAL_NEED(attr != CUBLASLT_ALGO_CONFIG_ID);
  return put(algo, find(configAttributes, attr), buf, size);
}
extern "C" cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, void *buf,
                                                               size_t size, size_t *written) {
  return get(algo, find(configAttributes, attr), buf, size, written);
}
