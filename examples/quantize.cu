//! cumetal: --grid 4 --block 256
//! cumetal: --arg f32:1024=rand(19) --arg f16:1024 --arg i8:1024 --arg f32=300 --arg u32=1024 --print 1:8 --print 2:8
// Floats scaled, then stored as half precision and as saturated bytes.
#include <cuda_fp16.h>

extern "C" __global__ void quantize(const float *in, __half *halves, signed char *bytes, float scale, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = (in[i] - 0.5f) * scale;
  halves[i] = __float2half_rn(value);
  int rounded = __float2int_rn(value);
  bytes[i] = (signed char)min(max(rounded, -128), 127);
}
