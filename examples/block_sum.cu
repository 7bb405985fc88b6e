//! cumetal: --grid 4 --block 256
//! cumetal: --arg f32:1000=rand(5) --arg f32:4 --arg i32=1000 --print 1
// Sums of blocks: over a warp by shuffles, then over the warps by the first of them.
__device__ float warp_sum(float value) {
  for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffff, value, by);
  return value;
}

extern "C" __global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float parts[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float value = warp_sum(i < n ? in[i] : 0.0f);
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  if (warp > 0) return;
  value = warp_sum(lane < blockDim.x / 32 ? parts[lane] : 0.0f);
  if (lane == 0) out[blockIdx.x] = value;
}
