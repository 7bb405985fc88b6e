// CUDA's libraries for `bench -- libraries`: each function gives the milliseconds of a call, of `count` calls in a row after one that is not counted, or a
// negative number where something failed. A file is compiled for each library, by the macro PEER_BLAS, PEER_FFT, PEER_RAND or PEER_CUB.
#include <chrono>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __global__ void fill(uint32_t *words, size_t n, int kind) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    uint32_t h = (uint32_t)i * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    // 0: words; 1: floats from 0 to 1; 2: pairs of halves; 3: doubles, whose upper word is that of a number from 1 to 2
    if (kind == 1) h = __float_as_uint((h >> 8) * 0x1p-24f);
    if (kind == 2) h = (h & 0x03ff03ffu) | 0x34003400u;
    if (kind == 3 && (i & 1)) h = (h & 0x000fffffu) | 0x3ff00000u;
    words[i] = h;
  }
}

struct Memory {
  void *at = nullptr;
  explicit Memory(size_t bytes, int kind = 1) {
    if (cudaMalloc(&at, bytes + 16) != cudaSuccess) at = nullptr;
    else fill<<<1024, 256>>>((uint32_t *)at, bytes / 4, kind);
  }
  ~Memory() { cudaFree(at); }
  template <class T> operator T *() { return (T *)at; }
};

template <class F> static double timed(int count, F run) {
  run();
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; i++) run();
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / count;
}

#ifdef PEER_BLAS
#include <cublas_v2.h>
extern "C" double peer(int which, int m, int n, int k, int count) {
  static cublasHandle_t handle = nullptr;
  if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return -1;
  const float one = 1, zero = 0;
  const double oneD = 1, zeroD = 0;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  double spent = -1;
  const size_t a = (size_t)m * k, b = (size_t)k * n, c = (size_t)m * n;
  if (which == 0) {
    Memory A(4 * a), B(4 * b), C(4 * c);
    spent = timed(count, [&] { status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A, m, B, k, &zero, C, m); });
  } else if (which == 1) {
    Memory A(8 * a, 3), B(8 * b, 3), C(8 * c, 3);
    spent = timed(count, [&] { status = cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &oneD, A, m, B, k, &zeroD, C, m); });
  } else if (which == 2) {
    Memory A(2 * a, 2), B(2 * b, 2), C(2 * c, 2);
    spent = timed(count, [&] {
      status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A.at, CUDA_R_16F, m, B.at, CUDA_R_16F, k, &zero, C.at, CUDA_R_16F, m,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });
  } else if (which == 3 || which == 4) {
    Memory A(4 * c), X(4 * (m + n)), Y(4 * (m + n));
    spent = timed(count, [&] { status = cublasSgemv(handle, which == 3 ? CUBLAS_OP_N : CUBLAS_OP_T, m, n, &one, A, m, X, 1, &zero, Y, 1); });
  } else if (which == 5) {
    Memory X(4 * (size_t)n), Y(4 * (size_t)n);
    spent = timed(count, [&] { status = cublasSaxpy(handle, n, &one, X, 1, Y, 1); });
  } else if (which == 6) {
    Memory X(4 * (size_t)n), Y(4 * (size_t)n), result(4);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    spent = timed(count, [&] { status = cublasSdot(handle, n, X, 1, Y, 1, result); });
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  } else if (which == 8) {
    Memory A(4 * a), B(4 * b), C(4 * c);
    cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
    spent = timed(count, [&] { status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A, m, B, k, &zero, C, m); });
    cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  } else if (which == 7) {
    const int batch = 256;
    Memory A(4 * a * batch), B(4 * b * batch), C(4 * c * batch);
    spent = timed(count, [&] {
      status = cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A, m, a, B, k, b, &zero, C, m, c, batch);
    });
  }
  return status == CUBLAS_STATUS_SUCCESS ? spent : -1;
}
#endif

#ifdef PEER_FFT
#include <cufft.h>
extern "C" double peer(int which, int m, int n, int k, int count) {
  cufftHandle plan;
  const size_t elements = (size_t)m * n * k;
  cufftResult status = which == 0   ? cufftPlan1d(&plan, n, CUFFT_C2C, m)
                       : which == 1 ? cufftPlan1d(&plan, n, CUFFT_Z2Z, m)
                       : which == 2 ? cufftPlan1d(&plan, n, CUFFT_R2C, m)
                       : which == 3 ? cufftPlan2d(&plan, m, n, CUFFT_C2C)
                                    : cufftPlan3d(&plan, m, n, k, CUFFT_C2C);
  if (status != CUFFT_SUCCESS) return -1;
  Memory from(16 * elements, which == 1 ? 3 : 1), to(16 * elements + 16 * m);
  const double spent = timed(count, [&] {
    status = which == 1   ? cufftExecZ2Z(plan, from, to, CUFFT_FORWARD)
             : which == 2 ? cufftExecR2C(plan, from, to)
                          : cufftExecC2C(plan, from, to, CUFFT_FORWARD);
  });
  cufftDestroy(plan);
  return status == CUFFT_SUCCESS ? spent : -1;
}
#endif

#ifdef PEER_RAND
#include <curand.h>
extern "C" double peer(int which, int m, int n, int k, int count) {
  curandGenerator_t generator;
  const curandRngType_t kinds[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MRG32K3A};
  if (curandCreateGenerator(&generator, kinds[which]) != CURAND_STATUS_SUCCESS) return -1;
  Memory out(4 * (size_t)n);
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  const double spent = timed(count, [&] { status = m ? curandGenerateNormal(generator, out, n, 0, 1) : curandGenerateUniform(generator, out, n); });
  curandDestroyGenerator(generator);
  return status == CURAND_STATUS_SUCCESS ? spent : -1;
}
#endif

#ifdef PEER_CUB
#include <cub/cub.cuh>
extern "C" double peer(int which, int m, int n, int k, int count) {
  Memory x(4 * (size_t)n, which < 2 ? 1 : 0), keys(4 * (size_t)n, 0), y(4 * (size_t)n), values(4 * (size_t)n, 0), to(4 * (size_t)n);
  cudaError_t status = cudaSuccess;
  auto call = [&](void *scratch, size_t &bytes) {
    if (which == 0) return cub::DeviceReduce::Sum(scratch, bytes, (float *)x, (float *)y, n);
    if (which == 1) return cub::DeviceScan::InclusiveSum(scratch, bytes, (float *)x, (float *)y, n);
    if (which == 2) return cub::DeviceRadixSort::SortKeys(scratch, bytes, (uint32_t *)keys, (uint32_t *)y, n);
    if (which == 3)
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, (uint32_t *)keys, (uint32_t *)y, (uint32_t *)values, (uint32_t *)to, n);
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, (uint32_t *)keys, (int *)y, m + 1, 0u, 0xffffffffu, n);
  };
  size_t bytes = 0;
  if (call(nullptr, bytes) != cudaSuccess) return -1;
  Memory scratch(bytes, 0);
  const double spent = timed(count, [&] {
    // The bench copies the keys before each sort, because ours is in place.
    if (which == 2 || which == 3) cudaMemcpyAsync(keys.at, x.at, 4 * (size_t)n, cudaMemcpyDeviceToDevice);
    status = call(scratch.at, bytes);
  });
  return status == cudaSuccess ? spent : -1;
}
#endif
