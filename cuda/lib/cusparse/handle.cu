// Handles and descriptors. Source: cuSPARSE Library, "cuSPARSE Management Functions" and "Generic API".
#include "context.h"

extern "C" cusparseStatus_t cusparseCreate(cusparseHandle_t *to) {
  CUMETAL_NEED(to);
  *to = new cusparseContext();
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(version);
  *version = CUSPARSE_VERSION;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value) {
  CUMETAL_NEED(value && type >= MAJOR_VERSION && type <= PATCH_LEVEL);
  *value = type == MAJOR_VERSION ? CUSPARSE_VER_MAJOR : type == MINOR_VERSION ? CUSPARSE_VER_MINOR : CUSPARSE_VER_PATCH;
  return CUSPARSE_STATUS_SUCCESS;
}

#define CUMETAL_SETTING(Name, Type, member)                                                \
  extern "C" cusparseStatus_t cusparseSet##Name(cusparseHandle_t handle, Type value) {     \
    CUMETAL_NEED_HANDLE(handle);                                                           \
    handle->member = value;                                                                \
    return CUSPARSE_STATUS_SUCCESS;                                                        \
  }                                                                                        \
  extern "C" cusparseStatus_t cusparseGet##Name(cusparseHandle_t handle, Type *value) {    \
    CUMETAL_NEED_HANDLE(handle);                                                           \
    CUMETAL_NEED(value);                                                                   \
    *value = handle->member;                                                               \
    return CUSPARSE_STATUS_SUCCESS;                                                        \
  }
CUMETAL_SETTING(Stream, cudaStream_t, stream)
CUMETAL_SETTING(PointerMode, cusparsePointerMode_t, pointerMode)

#define CUMETAL_STATUSES(EACH)                                                  \
  EACH(SUCCESS, "success")                                                      \
  EACH(NOT_INITIALIZED, "initialization error")                                 \
  EACH(ALLOC_FAILED, "out of memory")                                           \
  EACH(INVALID_VALUE, "invalid value")                                          \
  EACH(ARCH_MISMATCH, "architecture mismatch")                                  \
  EACH(MAPPING_ERROR, "texture memory mapping error")                                  \
  EACH(EXECUTION_FAILED, "kernel launch failure")                               \
  EACH(INTERNAL_ERROR, "internal error")                                        \
  EACH(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported")                  \
  EACH(ZERO_PIVOT, "zero pivot")                                                \
  EACH(NOT_SUPPORTED, "operation not supported")                                \
  EACH(INSUFFICIENT_RESOURCES, "insufficient resources")
#define CUMETAL_NAME(name, text)   \
  case CUSPARSE_STATUS_##name:     \
    return "CUSPARSE_STATUS_" #name;
#define CUMETAL_TEXT(name, text)   \
  case CUSPARSE_STATUS_##name:     \
    return text;
extern "C" const char *cusparseGetErrorName(cusparseStatus_t status) {
  switch (status) { CUMETAL_STATUSES(CUMETAL_NAME) }
  return "unrecognized error code";
}
extern "C" const char *cusparseGetErrorString(cusparseStatus_t status) {
  switch (status) { CUMETAL_STATUSES(CUMETAL_TEXT) }
  return "unrecognized error code";
}

extern "C" cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *to) {
  CUMETAL_NEED(to);
  *to = new cusparseMatDescr();
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
#define CUMETAL_PART(Name, Type, member)                                                \
  extern "C" cusparseStatus_t cusparseSetMat##Name(cusparseMatDescr_t descr, Type v) {  \
    CUMETAL_NEED(descr);                                                                \
    descr->member = v;                                                                  \
    return CUSPARSE_STATUS_SUCCESS;                                                     \
  }                                                                                     \
  extern "C" Type cusparseGetMat##Name(const cusparseMatDescr_t descr) { return descr->member; }
CUMETAL_PART(Type, cusparseMatrixType_t, type)
CUMETAL_PART(FillMode, cusparseFillMode_t, fill)
CUMETAL_PART(DiagType, cusparseDiagType_t, diag)
CUMETAL_PART(IndexBase, cusparseIndexBase_t, base)

extern "C" cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *to, int64_t size, int64_t nnz, void *indices, void *values,
                                                cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) {
  CUMETAL_NEED(to && size >= 0 && nnz >= 0 && nnz <= size);
  *to = new cusparseSpVecDescr{size, nnz, indices, values, index, base, type};
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *to, int64_t size, int64_t nnz, const void *indices, const void *values,
                                                     cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) {
  return cusparseCreateSpVec(const_cast<cusparseSpVecDescr_t *>(to), size, nnz, const_cast<void *>(indices), const_cast<void *>(values), index, base, type);
}
extern "C" cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t v, int64_t *size, int64_t *nnz, void **indices, void **values, cusparseIndexType_t *index,
                                             cusparseIndexBase_t *base, cudaDataType *type) {
  CUMETAL_NEED(v);
  *size = v->size;
  *nnz = v->nnz;
  *indices = v->indices;
  *values = v->values;
  *index = v->index;
  *base = v->base;
  *type = v->type;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *to, int64_t size, void *values, cudaDataType type) {
  CUMETAL_NEED(to && size >= 0);
  *to = new cusparseDnVecDescr{size, values, type};
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *to, int64_t size, const void *values, cudaDataType type) {
  return cusparseCreateDnVec(const_cast<cusparseDnVecDescr_t *>(to), size, const_cast<void *>(values), type);
}
extern "C" cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t v, int64_t *size, void **values, cudaDataType *type) {
  CUMETAL_NEED(v);
  *size = v->size;
  *values = v->values;
  *type = v->type;
  return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t createSparse(cusparseSpMatDescr_t *to, cusparseFormat_t format, int64_t rows, int64_t columns, int64_t nnz, void *offsets,
                                     void *indices, void *values, cusparseIndexType_t offsetType, cusparseIndexType_t indexType,
                                     cusparseIndexBase_t base, cudaDataType type) {
  CUMETAL_NEED(to && rows >= 0 && columns >= 0 && nnz >= 0);
  *to = new cusparseSpMatDescr{format, rows, columns, nnz, offsets, indices, values, offsetType, indexType, base, type};
  (*to)->batches = 1;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *to, int64_t rows, int64_t columns, int64_t nnz, void *offsets, void *indices,
                                              void *values, cusparseIndexType_t offsetType, cusparseIndexType_t indexType, cusparseIndexBase_t base,
                                              cudaDataType type) {
  return createSparse(to, CUSPARSE_FORMAT_CSR, rows, columns, nnz, offsets, indices, values, offsetType, indexType, base, type);
}
extern "C" cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *to, int64_t rows, int64_t columns, int64_t nnz, const void *offsets,
                                                   const void *indices, const void *values, cusparseIndexType_t offsetType,
                                                   cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type) {
  return createSparse(const_cast<cusparseSpMatDescr_t *>(to), CUSPARSE_FORMAT_CSR, rows, columns, nnz, const_cast<void *>(offsets),
                      const_cast<void *>(indices), const_cast<void *>(values), offsetType, indexType, base, type);
}
extern "C" cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *to, int64_t rows, int64_t columns, int64_t nnz, void *offsets, void *indices,
                                              void *values, cusparseIndexType_t offsetType, cusparseIndexType_t indexType, cusparseIndexBase_t base,
                                              cudaDataType type) {
  return createSparse(to, CUSPARSE_FORMAT_CSC, rows, columns, nnz, offsets, indices, values, offsetType, indexType, base, type);
}
extern "C" cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *to, int64_t rows, int64_t columns, int64_t nnz, void *rowIndices, void *indices,
                                              void *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type) {
  return createSparse(to, CUSPARSE_FORMAT_COO, rows, columns, nnz, rowIndices, indices, values, indexType, indexType, base, type);
}
extern "C" cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz, void **offsets, void **indices,
                                           void **values, cusparseIndexType_t *offsetType, cusparseIndexType_t *indexType, cusparseIndexBase_t *base,
                                           cudaDataType *type) {
  CUMETAL_NEED(m && m->format == CUSPARSE_FORMAT_CSR);
  *rows = m->rows;
  *columns = m->columns;
  *nnz = m->nnz;
  *offsets = m->offsets;
  *indices = m->indices;
  *values = m->values;
  *offsetType = m->offsetType;
  *indexType = m->indexType;
  *base = m->base;
  *type = m->type;
  return CUSPARSE_STATUS_SUCCESS;
}
static cusparseStatus_t setPointers(cusparseSpMatDescr_t m, cusparseFormat_t format, void *offsets, void *indices, void *values) {
  CUMETAL_NEED(m && m->format == format && offsets && indices && values);
  m->offsets = offsets;
  m->indices = indices;
  m->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void *offsets, void *indices, void *values) {
  return setPointers(m, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}
extern "C" cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t m, void *offsets, void *indices, void *values) {
  return setPointers(m, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}
extern "C" cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t m, void *rows, void *indices, void *values) {
  return setPointers(m, CUSPARSE_FORMAT_COO, rows, indices, values);
}
extern "C" cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int batches, int64_t offsetsBatch, int64_t valuesBatch) {
  CUMETAL_NEED(m && m->format == CUSPARSE_FORMAT_CSR && batches > 0);
  m->batches = batches;
  m->offsetsBatch = offsetsBatch;
  m->valuesBatch = valuesBatch;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz) {
  CUMETAL_NEED(m && rows && columns && nnz);
  *rows = m->rows;
  *columns = m->columns;
  *nnz = m->nnz;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t m, cusparseFormat_t *format) {
  CUMETAL_NEED(m && format);
  *format = m->format;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t m, cusparseIndexBase_t *base) {
  CUMETAL_NEED(m && base);
  *base = m->base;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t m, cusparseSpMatAttribute_t attribute, void *data, size_t bytes) {
  CUMETAL_NEED(m && data && bytes == sizeof(int));
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    m->fill = *static_cast<cusparseFillMode_t *>(data);
  else if (attribute == CUSPARSE_SPMAT_DIAG_TYPE)
    m->diag = *static_cast<cusparseDiagType_t *>(data);
  else
    return CUSPARSE_STATUS_INVALID_VALUE;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t m, cusparseSpMatAttribute_t attribute, void *data, size_t bytes) {
  CUMETAL_NEED(m && data && bytes == sizeof(int));
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    *static_cast<cusparseFillMode_t *>(data) = m->fill;
  else if (attribute == CUSPARSE_SPMAT_DIAG_TYPE)
    *static_cast<cusparseDiagType_t *>(data) = m->diag;
  else
    return CUSPARSE_STATUS_INVALID_VALUE;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *to, int64_t rows, int64_t columns, int64_t ld, void *values, cudaDataType type,
                                                cusparseOrder_t order) {
  CUMETAL_NEED(to && rows >= 0 && columns >= 0 && ld >= (order == CUSPARSE_ORDER_COL ? rows : columns));
  *to = new cusparseDnMatDescr{rows, columns, ld, values, type, order, 1, 0};
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *to, int64_t rows, int64_t columns, int64_t ld, const void *values,
                                                     cudaDataType type, cusparseOrder_t order) {
  return cusparseCreateDnMat(const_cast<cusparseDnMatDescr_t *>(to), rows, columns, ld, const_cast<void *>(values), type, order);
}
extern "C" cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *ld, void **values, cudaDataType *type,
                                             cusparseOrder_t *order) {
  CUMETAL_NEED(m);
  *rows = m->rows;
  *columns = m->columns;
  *ld = m->ld;
  *values = m->values;
  *type = m->type;
  *order = m->order;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t m, int batches, int64_t batch) {
  CUMETAL_NEED(m && batches > 0);
  m->batches = batches;
  m->batch = batch;
  return CUSPARSE_STATUS_SUCCESS;
}
#define CUMETAL_VALUES(Name)                                                                         \
  extern "C" cusparseStatus_t cusparse##Name##GetValues(cusparse##Name##Descr_t m, void **values) {  \
    CUMETAL_NEED(m && values);                                                                       \
    *values = m->values;                                                                             \
    return CUSPARSE_STATUS_SUCCESS;                                                                  \
  }                                                                                                  \
  extern "C" cusparseStatus_t cusparse##Name##SetValues(cusparse##Name##Descr_t m, void *values) {   \
    CUMETAL_NEED(m);                                                                                 \
    m->values = values;                                                                              \
    return CUSPARSE_STATUS_SUCCESS;                                                                  \
  }
CUMETAL_VALUES(SpVec)
CUMETAL_VALUES(DnVec)
CUMETAL_VALUES(SpMat)
CUMETAL_VALUES(DnMat)
