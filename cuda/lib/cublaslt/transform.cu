// C = alpha·op(A) + beta·op(B) by elements. A unit is compiled for each type of computations: CUMETAL_ENTRY is the name of its function, CUMETAL_VALUE
// the type. Source: cuBLAS Library, "cublasLtMatrixTransform".
#include "transform.h"

#include "values.h"

using namespace cumetal;

static const int threads = 256;

template <class Value>
static __device__ Value factorOf(const Factor &factor, int type) {
  return load<Value>(factor.pointer ? factor.pointer : static_cast<const void *>(factor.value), 0, type);
}

template <class Value>
static __device__ Value elementOf(const Operand &from, long long batch, long long row, long long column) {
  const Value v = load<Value>(from.first, batch * from.batchStep + row * from.rowStep + column * from.columnStep, from.type);
  return from.isConjugated ? conj(v) : v;
}

template <class Value>
static __global__ void __launch_bounds__(threads) transformKernel(LtTransform p) {
  const Value alpha = factorOf<Value>(p.alpha, p.scaleType), beta = factorOf<Value>(p.beta, p.scaleType);
  const long long size = (long long)p.m * p.n, count = size * p.batches;
  for (long long i = blockIdx.x * (long long)threads + threadIdx.x; i < count; i += (long long)gridDim.x * threads) {
    const long long batch = i / size, place = i % size, row = place % p.m, column = place / p.m;
    Value v = Value(0);
    // Nothing is read where the factor is zero.
    if (alpha != Value(0)) v = alpha * elementOf<Value>(p.a, batch, row, column);
    if (beta != Value(0)) v = v + beta * elementOf<Value>(p.b, batch, row, column);
    store<Value>(p.c.first, batch * p.c.batchStep + row * p.c.rowStep + column * p.c.columnStep, p.c.type, v);
  }
}

cublasStatus_t cumetal::CUMETAL_ENTRY(const LtTransform &p, cudaStream_t stream) {
  const long long count = (long long)p.m * p.n * p.batches, blocks = (count + threads - 1) / threads;
  transformKernel<CUMETAL_VALUE><<<blocks > 4096 ? 4096 : int(blocks), threads, 0, stream>>>(p);
  return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
