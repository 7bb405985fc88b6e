//! cumetal: --grid 8,8 --block 16,16
//! cumetal: --arg u8:128x128=rand(4) --arg u8:128x128 --arg u32=128 --print 1:32
// One step of Conway's Game of Life on a torus; a cell lives if its lowest bit is set, and is written as black or white.
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned mask = n - 1, count = 0;
  for (unsigned dy = 0; dy < 3; dy++)
    for (unsigned dx = 0; dx < 3; dx++)
      if (dx != 1 || dy != 1) count += in[((y + dy - 1) & mask) * n + ((x + dx - 1) & mask)] & 1;
  unsigned alive = in[y * n + x] & 1;
  out[y * n + x] = count == 3 || (alive && count == 2) ? 255 : 0;
}
