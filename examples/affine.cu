//! cumetal: --grid 2 --block 256
//! cumetal: --arg f32:512x2=rand(23) --arg f32:512x2 --arg bytes@affine.bin --print 1:8
// Points of the plane turned, scaled and moved by a struct that is passed by value; the struct ends with how many points there are.
struct Affine {
  float xx, xy, yx, yy;
  float2 move;
  unsigned short count;
};

extern "C" __global__ void affine(const float2 *in, float2 *out, Affine by) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= by.count) return;
  float2 p = in[i];
  out[i] = make_float2(by.xx * p.x + by.xy * p.y + by.move.x, by.yx * p.x + by.yy * p.y + by.move.y);
}
