// Products with what follows them. A unit is compiled for each type of operands: CUMETAL_ENTRY is the name of its function, CUMETAL_IN, CUMETAL_SUM
// and CUMETAL_VALUE are types of elements, of sums and of what comes behind them. A block has 32 rows of D and tiles of 32 columns, and a thread four
// elements of a tile. Source: cuBLAS Library, "cublasLtMatmul", "cublasLtEpilogue_t".
#include "product.h"

#include "values.h"

using namespace cumetal;

static const int side = 32, threads = 256;
/** Whether there are functions behind a product: complex numbers have none, and integers only those that are exact. */
template <class Value>
static constexpr bool isFloat = IsSame<Value, float>::value || IsSame<Value, double>::value;
template <class Value>
static constexpr bool isReal = !Traits<Value>::isComplex;

template <class In, class Sum>
static __device__ __forceinline__ Sum operand(const Operand &from, long long batch, long long row, long long column) {
  const In element = static_cast<const In *>(from.first)[batch * from.batchStep + row * from.rowStep + column * from.columnStep];
  if constexpr (IsSame<In, Float8>::value) {
    return single(element, from.type);
  } else {
    const Sum a = Convert<Sum>::from(element);
    return from.isConjugated ? conj(a) : a;
  }
}

template <class Value>
static __device__ __forceinline__ Value factorOf(const Factor &factor, int type, long long batch, long long row) {
  const void *from = factor.pointer ? factor.pointer : factor.value;
  return load<Value>(from, factor.pointer ? batch * factor.batchStep + row * factor.rowStep : 0, type);
}

static __device__ __forceinline__ float scaleOf(const float *scale) { return scale ? *scale : 1.0f; }

/** The tangens hyperbolicus of √(2/π)·(x + 0.044715·x³), which GELU and its derivative have. */
template <class V>
static __device__ V geluTangent(V x) {
  const V u = V(0.7978845608028654) * (x + V(0.044715) * x * x * x);
  if constexpr (sizeof(V) == 8)
    return tanh(u);
  else
    return tanhf(u);
}
template <class V>
static __device__ V gelu(V x) { return V(0.5) * x * (V(1) + geluTangent(x)); }
template <class V>
static __device__ V geluDerivative(V x) {
  const V t = geluTangent(x);
  return V(0.5) * (V(1) + t) + V(0.5) * x * (V(1) - t * t) * V(0.7978845608028654) * (V(1) + V(3 * 0.044715) * x * x);
}

/** Largest moduli that a thread has seen. */
struct Largest {
  float d, aux;
};

static __device__ __forceinline__ float larger(float most, float v) {
  const float size = fabsf(v);
  // A NaN stays.
  return size <= most ? most : size;
}

static __device__ void raise(float *to, float most) {
  // Floats without a sign compare as integers.
  if (to) atomicMax(reinterpret_cast<int *>(to), __float_as_int(most));
}

/** What follows the sum for an element; `mask` has the bits of a column. */
template <class Value>
static __device__ Value finished(const LtProduct &p, Value v, long long batch, int row, int column, unsigned *mask, int bit, Largest &most) {
  if constexpr (isReal<Value>) {
    const unsigned e = p.epilogue;
    if (e & biasBit) v = v + load<Value>(p.bias, batch * p.biasStride + row, p.biasType);
    const long long place = batch * p.auxStride + row + column * p.auxLd;
    if constexpr (isFloat<Value>) {
      if (e & geluBit) {
        if (e & auxBit) {
          if constexpr (sizeof(Value) == 4) {
            most.aux = larger(most.aux, v);
            store<Value>(p.aux, place, p.auxType, p.auxScale ? v * *p.auxScale : v);
          } else {
            store<Value>(p.aux, place, p.auxType, v);
          }
        }
        v = gelu(v);
      }
      if (e & geluBackBit) v = v * geluDerivative(load<Value>(p.aux, place, p.auxType));
    }
    if (e & reluBit) {
      if ((e & auxBit) && v > Value(0)) atomicOr(mask, 1u << bit);
      v = v > Value(0) ? v : Value(0);
    }
    if (e & reluBackBit) v = static_cast<const unsigned char *>(p.aux)[place / 8] >> (place % 8) & 1 ? v : Value(0);
  }
  return v;
}

template <class In, class Sum, class Value>
static __global__ void __launch_bounds__(threads) productKernel(LtProduct p) {
  constexpr int depth = sizeof(Sum) > 8 ? 16 : 32;
  __shared__ Sum as[depth][side], bs[depth][side];
  __shared__ unsigned masks[side];
  __shared__ Value rows[16][side];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.x * side;
  const bool hasMask = (p.epilogue & auxBit) && (p.epilogue & reluBit);
  Largest most = {0, 0};
  for (int batch = blockIdx.z; batch < p.batches; batch += gridDim.z) {
    Value rowSums[2] = {Value(0), Value(0)};
    for (int column0 = blockIdx.y * side; column0 < p.n; column0 += gridDim.y * side) {
      Sum s00 = Sum(0), s01 = Sum(0), s10 = Sum(0), s11 = Sum(0);
      if (t < side) masks[t] = 0;
      for (int k0 = 0; k0 < p.k; k0 += depth) {
        for (int i = t; i < side * depth; i += threads) {
          const int r = i % side, q = i / side;
          as[q][r] = row0 + r < p.m && k0 + q < p.k ? operand<In, Sum>(p.a, batch, row0 + r, k0 + q) : Sum(0);
        }
        for (int i = t; i < side * depth; i += threads) {
          const int q = i % depth, r = i / depth;
          bs[q][r] = column0 + r < p.n && k0 + q < p.k ? operand<In, Sum>(p.b, batch, k0 + q, column0 + r) : Sum(0);
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < depth; q++) {
          const Sum x0 = as[q][tx], x1 = as[q][tx + 16], y0 = bs[q][ty * 2], y1 = bs[q][ty * 2 + 1];
          s00 += x0 * y0;
          s01 += x0 * y1;
          s10 += x1 * y0;
          s11 += x1 * y1;
        }
        __syncthreads();
      }
      if (p.k == 0) __syncthreads();
      const Sum sums[4] = {s00, s01, s10, s11};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = row0 + tx + (i / 2) * 16, column = column0 + ty * 2 + i % 2;
        if (row >= p.m || column >= p.n) continue;
        const Value alpha = factorOf<Value>(p.alpha, p.scaleType, batch, row), beta = factorOf<Value>(p.beta, p.scaleType, batch, row);
        // Nothing of A and B counts where the factor is zero, and C is not read.
        Value v = Value(0);
        if (alpha != Value(0)) {
          if constexpr (IsSame<In, Float8>::value)
            v = alpha * (scaleOf(p.aScale) * scaleOf(p.bScale)) * sums[i];
          else
            v = alpha * Value(sums[i]);
        }
        if (beta != Value(0)) {
          v = v + beta * load<Value>(p.c.first, batch * p.c.batchStep + row * p.c.rowStep + column * p.c.columnStep, p.c.type);
        }
        v = finished<Value>(p, v, batch, row, column, &masks[column - column0], row - row0, most);
        rowSums[i / 2] = rowSums[i / 2] + v;
        if constexpr (IsSame<In, Float8>::value) {
          most.d = larger(most.d, v);
          v = v * scaleOf(p.dScale);
        }
        store<Value>(p.d.first, batch * p.d.batchStep + row * p.d.rowStep + column * p.d.columnStep, p.d.type, v);
      }
      if (hasMask) {
        __syncthreads();
        // The leading dimension is a multiple of 128 bits, so that each column has words of its own.
        if (t < side && column0 + t < p.n)
          static_cast<unsigned *>(p.aux)[(batch * p.auxStride + row0 + (column0 + t) * p.auxLd) / 32] = masks[t];
      }
      __syncthreads();
    }
    if (p.epilogue & gradientBit) {
      // One block has all columns of its rows.
      rows[ty][tx] = rowSums[0];
      rows[ty][tx + 16] = rowSums[1];
      __syncthreads();
      if (t < side && row0 + t < p.m) {
        Value sum = Value(0);
        for (int i = 0; i < 16; i++) sum = sum + rows[i][t];
        store<Value>(p.bias, batch * p.biasStride + row0 + t, p.biasType, sum);
      }
      __syncthreads();
    }
  }
  if constexpr (IsSame<Value, float>::value) {
    raise(p.amaxD, most.d);
    raise(p.auxAmax, most.aux);
  }
}

/** Sums of the rows of A, or of the columns of B. */
template <class In, class Sum, class Value>
static __global__ void __launch_bounds__(threads) gradientKernel(LtProduct p) {
  const bool isOfA = p.epilogue & gradientABit;
  const int count = isOfA ? p.m : p.n;
  for (int batch = blockIdx.y; batch < p.batches; batch += gridDim.y)
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
      Sum sum = Sum(0);
      for (int q = 0; q < p.k; q++) sum += isOfA ? operand<In, Sum>(p.a, batch, i, q) : operand<In, Sum>(p.b, batch, q, i);
      store<Value>(p.bias, batch * p.biasStride + i, p.biasType, Value(sum));
    }
}

static int blocks(int count, int most) { return count > most ? most : count; }

cublasStatus_t cumetal::CUMETAL_ENTRY(const LtProduct &p, cudaStream_t stream) {
  if (p.amaxD) cudaMemsetAsync(p.amaxD, 0, sizeof(float), stream);
  if (p.auxAmax) cudaMemsetAsync(p.auxAmax, 0, sizeof(float), stream);
  const int tiles = (p.n + side - 1) / side, batches = blocks(p.batches, 65535);
  productKernel<CUMETAL_IN, CUMETAL_SUM, CUMETAL_VALUE><<<dim3((p.m + side - 1) / side, p.epilogue & gradientBit ? 1 : blocks(tiles, 65535), batches), threads, 0, stream>>>(p);
  if (p.epilogue & (gradientABit | gradientBBit)) {
    const int count = p.epilogue & gradientABit ? p.m : p.n;
    gradientKernel<CUMETAL_IN, CUMETAL_SUM, CUMETAL_VALUE><<<dim3((count + threads - 1) / threads, batches), threads, 0, stream>>>(p);
  }
  return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
