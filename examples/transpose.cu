//! cumetal: --grid 4,2 --block 32,8
//! cumetal: --arg u32:64x128=iota --arg u32:128x64 --arg u32=128 --arg u32=64 --print 1:8
// Turns rows into columns through a shared tile; the column of padding keeps its columns in different banks.
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(const unsigned *in, unsigned *out, unsigned width, unsigned height) {
  __shared__ unsigned tile[TILE][TILE + 1];
  unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned i = 0; i < TILE; i += ROWS)
    if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (unsigned i = 0; i < TILE; i += ROWS)
    if (x < height && y + i < width) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}
