//! cumetal: --grid 6,12 --block 16,8
//! cumetal: --arg f32:96x96=rand(3) --arg f32:96x96 --arg u32=96 --arg u32=96 --arg f32=0.1 --print 1:8
// One step of heat flow: five points inside, the edge keeps its value.
extern "C" __global__ void stencil2d(const float *in, float *out, unsigned width, unsigned height, float rate) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned i = y * width + x;
  float centre = in[i];
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[i] = centre;
    return;
  }
  float around = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
  out[i] = centre + rate * (around - 4.0f * centre);
}
