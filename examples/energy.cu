//! cumetal: --grid 4 --block 128
//! cumetal: --arg f32:512=iota --arg "f32:4=fill(0)" --arg "u32:4=fill(0)" --print 1 --print 2
// Float sums and a lock-free maximum. All sums are of small whole numbers, so that their order does not matter.
extern "C" __global__ void energy(const float *in, float *sums, unsigned *found) {
  __shared__ float total;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) total = 0.0f;
  __syncthreads();
  float x = in[i];
  atomicAdd(&total, x);
  atomicAdd(&sums[i & 3], x * 0.5f);
  unsigned *best = found + (i & 1);
  unsigned bits = __float_as_uint(x), seen = *best;
  while (__uint_as_float(seen) < x) {
    unsigned before = atomicCAS(best, seen, bits);
    if (before == seen) break;
    seen = before;
  }
  atomicExch(&found[2], 42u);
  atomicOr(&found[3], 1u << (i & 31));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&sums[blockIdx.x & 3], total);
}
