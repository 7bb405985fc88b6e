//! cumetal: --grid 4 --block 256
//! cumetal: --arg f32:1024=iota --arg f32:1024=fill(0.5) --arg f32:1024 --arg u32=1024 --print 2:8
// Adds two vectors, one element a thread.
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
