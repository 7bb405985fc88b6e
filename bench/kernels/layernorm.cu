// Layer normalisation and softmax of rows, a block for each row, with sums and maxima over warps by shuffles.
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) x += __shfl_xor_sync(0xffffffff, x, by);
  return x;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, by));
  return x;
}

template <bool is_max>
__device__ __forceinline__ float over_block(float x, float* parts) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  x = is_max ? warp_max(x) : warp_sum(x);
  __syncthreads();
  if (lane == 0) parts[warp] = x;
  __syncthreads();
  x = lane < blockDim.x / 32 ? parts[lane] : (is_max ? -3.4e38f : 0.0f);
  return is_max ? warp_max(x) : warp_sum(x);
}

extern "C" __global__ void layernorm(const float* in, const float* scale, const float* shift, float* out, int width) {
  __shared__ float parts[32];
  const float* row = in + (long long)blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i];
  const float mean = over_block<false>(sum, parts) / width;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float factor = rsqrtf(over_block<false>(squares, parts) / width + 1e-5f);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[(long long)blockIdx.x * width + i] = (row[i] - mean) * factor * scale[i] + shift[i];
}

extern "C" __global__ void softmax(const float* in, float* out, int width) {
  __shared__ float parts[32];
  const float* row = in + (long long)blockIdx.x * width;
  float most = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) most = fmaxf(most, row[i]);
  most = over_block<true>(most, parts);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += __expf(row[i] - most);
  sum = over_block<false>(sum, parts);
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[(long long)blockIdx.x * width + i] = __expf(row[i] - most) / sum;
}
