//! cumetal: --grid 16 --block 256
//! cumetal: --arg f32=2.5 --arg f32:4000=rand(7) --arg f32:4000=iota --arg u32=4000 --print 2:8
// y = a * x + y in one rounding, the last block only partly full.
extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
