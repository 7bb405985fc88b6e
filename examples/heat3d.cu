//! cumetal: --grid 4,3,2 --block 8,4,4
//! cumetal: --arg f32:8x12x30=rand(5) --arg f32:8x12x30 --arg u32=30 --arg u32=12 --arg u32=8 --print 1:8
// A point of a box and its six neighbours, averaged with the box's faces wrapping around; a grid and blocks of three dimensions.
extern "C" __global__ void heat3d(const float *in, float *out, unsigned nx, unsigned ny, unsigned nz) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  unsigned left = (x + nx - 1) % nx, right = (x + 1) % nx;
  unsigned up = (y + ny - 1) % ny, down = (y + 1) % ny;
  unsigned front = (z + nz - 1) % nz, back = (z + 1) % nz;
  unsigned row = (z * ny + y) * nx;
  float sum = in[row + x] + in[row + left] + in[row + right];
  sum += in[(z * ny + up) * nx + x] + in[(z * ny + down) * nx + x];
  sum += in[(front * ny + y) * nx + x] + in[(back * ny + y) * nx + x];
  out[row + x] = sum / 7.0f;
}
