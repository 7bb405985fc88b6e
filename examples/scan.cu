//! cumetal: --grid 4 --block 256
//! cumetal: --arg u32:1024=ones --arg u32:1024 --arg u32:4 --print 1:8 --print 2
// Running sums within each block (Hillis and Steele), double-buffered in shared memory, and each block's total.
#define THREADS 256

extern "C" __global__ void scan(const unsigned *in, unsigned *out, unsigned *totals) {
  __shared__ unsigned sums[2][THREADS];
  unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t, from = 0;
  sums[0][t] = in[i];
  __syncthreads();
  for (unsigned distance = 1; distance < THREADS; distance *= 2) {
    unsigned sum = sums[from][t];
    if (t >= distance) sum += sums[from][t - distance];
    from ^= 1;
    sums[from][t] = sum;
    __syncthreads();
  }
  out[i] = sums[from][t];
  if (t == THREADS - 1) totals[blockIdx.x] = sums[from][t];
}
