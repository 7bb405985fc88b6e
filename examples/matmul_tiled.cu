//! cumetal: --grid 4,4 --block 16,16
//! cumetal: --arg f32:64x64=rand(1) --arg f32:64x64=rand(2) --arg f32:64x64 --arg u32=64 --print 2:8
// C = A * B for square matrices, tile by tile through shared memory.
#define TILE 16

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, unsigned n) {
  __shared__ float tileA[TILE][TILE];
  __shared__ float tileB[TILE][TILE];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float sum = 0;
  for (unsigned k = 0; k < n; k += TILE) {
    tileA[y][x] = a[row * n + k + x];
    tileB[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (unsigned i = 0; i < TILE; i++) sum += tileA[y][i] * tileB[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
