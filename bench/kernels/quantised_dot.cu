// Products of rows of 8-bit weights, 32 of a scale, with quantised vectors: a warp for each row, four products at once.
struct Block {
  float scale;
  int words[8];
};

extern "C" __global__ void quantised_dot(const Block* weights, const Block* vectors, float* out, int blocks, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  for (int column = 0; column < columns; column++) {
    float sum = 0.0f;
#pragma unroll 4
    for (int b = lane; b < blocks; b += 32) {
      const Block w = weights[row * blocks + b];
      const Block v = vectors[column * blocks + b];
      int dot = 0;
#pragma unroll
      for (int i = 0; i < 8; i++) dot = __dp4a(w.words[i], v.words[i], dot);
      sum += w.scale * v.scale * dot;
    }
#pragma unroll
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (lane == 0) out[column * rows + row] = sum;
  }
}
