// A blur of 17 taps, rows then columns, both unrolled over eight outputs a thread: straight code of the size that
// compilers make of real filters.
// nvcc -ptx -O3 -arch=sm_80 -o blur17.ptx blur17.cu
constexpr int reach = 8;
constexpr int outputs = 8;
constexpr int width = 16;
constexpr int height = 8;

__device__ __forceinline__ float tap(int i) {
  constexpr float taps[2 * reach + 1] = {0.0044f, 0.0115f, 0.0257f, 0.0488f, 0.0799f, 0.1124f, 0.1354f, 0.1405f, 0.1350f,
                                         0.1101f, 0.0776f, 0.0471f, 0.0249f, 0.0112f, 0.0043f, 0.0015f, 0.0005f};
  return taps[i];
}

extern "C" __global__ void blur_rows(const float *in, float *out, int pitch) {
  __shared__ float tile[height][(outputs + 2) * width];
  const int x0 = (blockIdx.x * outputs - 1) * width + threadIdx.x;
  const int y0 = blockIdx.y * height + threadIdx.y;
  in += y0 * pitch + x0;
  out += y0 * pitch + x0;
#pragma unroll
  for (int i = 0; i < outputs + 2; i++) {
    const int x = x0 + i * width;
    tile[threadIdx.y][threadIdx.x + i * width] = x >= 0 && x < pitch ? in[i * width] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= outputs; i++) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -reach; j <= reach; j++) sum += tap(reach - j) * tile[threadIdx.y][threadIdx.x + i * width + j];
    out[i * width] = sum;
  }
}

extern "C" __global__ void blur_columns(const float *in, float *out, int pitch, int rows) {
  __shared__ float tile[width][(outputs + 2) * height + 1];
  const int x0 = blockIdx.x * width + threadIdx.x;
  const int y0 = (blockIdx.y * outputs - 1) * height + threadIdx.y;
  in += y0 * pitch + x0;
  out += y0 * pitch + x0;
#pragma unroll
  for (int i = 0; i < outputs + 2; i++) {
    const int y = y0 + i * height;
    tile[threadIdx.x][threadIdx.y + i * height] = y >= 0 && y < rows ? in[i * height * pitch] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= outputs; i++) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -reach; j <= reach; j++) sum += tap(reach - j) * tile[threadIdx.x][threadIdx.y + i * height + j];
    out[i * height * pitch] = sum;
  }
}
