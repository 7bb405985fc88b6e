//! cumetal: --grid 8 --block 256
//! cumetal: --arg f32:4096=iota --arg f32:8 --print 1
// Sums 512 numbers a block: a tree in shared memory, half as many threads at each step.
#define THREADS 256

extern "C" __global__ void reduce(const float *in, float *out) {
  __shared__ float partial[THREADS];
  unsigned t = threadIdx.x, first = blockIdx.x * THREADS * 2 + t;
  partial[t] = in[first] + in[first + THREADS];
  __syncthreads();
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
