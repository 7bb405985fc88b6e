//! cumetal: --grid 4 --block 128
//! cumetal: --arg f32:512x4=rand(17) --arg f32:512x4 --arg f32:512 --arg u32=512 --print 1:8 --print 2:4
// Vectors of four scaled to length 1, and how long they were: vector loads and stores, exact square root and reciprocal.
extern "C" __global__ void normalize(const float4 *in, float4 *out, float *lengths, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w);
  float scale = 1.0f / length;
  out[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
  lengths[i] = length;
}
