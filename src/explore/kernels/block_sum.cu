//! cumetal: --grid 8 --block 256 --arg f32:2048=iota --arg f32:8 --print 1
// The sum of each block: lanes by shuffles, then warps through shared memory.
extern "C" __global__ void block_sum(const float *in, float *out) {
  __shared__ float warps[32];
  float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
