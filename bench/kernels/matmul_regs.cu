// C = A B for row-major matrices whose sides are multiples of 64: a block has a tile of 64 x 64 in registers, 8 x 4 per thread.
constexpr int tile = 64, depth = 8;

extern "C" __global__ void __launch_bounds__(128) matmul_regs(const float* a, const float* b, float* c, int n) {
  __shared__ float left[depth][tile];
  __shared__ float right[depth][tile];
  const int t = threadIdx.x, row = t / 16 * 8, column = t % 16 * 4;
  const float* from_a = a + blockIdx.y * tile * n;
  const float* from_b = b + blockIdx.x * tile;
  float sums[8][4] = {};
  for (int k = 0; k < n; k += depth) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int at = t + 128 * i;
      left[at % depth][at / depth] = from_a[at / depth * n + k + at % depth];
      right[at / tile][at % tile] = from_b[(k + at / tile) * n + at % tile];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; d++) {
      float x[8], y[4];
#pragma unroll
      for (int i = 0; i < 8; i++) x[i] = left[d][row + i];
#pragma unroll
      for (int j = 0; j < 4; j++) y[j] = right[d][column + j];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[(blockIdx.y * tile + row + i) * n + blockIdx.x * tile + column + j] = sums[i][j];
}
