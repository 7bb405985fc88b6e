// The kernels of `npm run bench -- webgpu`. Made with nvcc 13.0: nvcc -O3 -arch=sm_80 -ptx six.cu
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float s[16][16], t[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void reduce(const float *x, float *out, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void nbody(const float4 *p, float4 *f, int n) {
  __shared__ float4 s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = p[i];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < n; k += 256) {
    s[threadIdx.x] = p[k + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; j++) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float w = s[j].w * r * r * r;
      x += dx * w;
      y += dy * w;
      z += dz * w;
    }
    __syncthreads();
  }
  f[i] = make_float4(x, y, z, 0);
}

extern "C" __global__ void softmax(const float *x, float *y, int n) {
  __shared__ float s[256];
  const float *row = x + (size_t)blockIdx.x * n;
  float m = -1e30f;
  for (int i = threadIdx.x; i < n; i += 256) m = fmaxf(m, row[i]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += __expf(row[i] - m);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  float k = 1 / s[0];
  for (int i = threadIdx.x; i < n; i += 256) y[(size_t)blockIdx.x * n + i] = __expf(row[i] - m) * k;
}

extern "C" __global__ void histogram(const unsigned *x, unsigned *out, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[x[i] & 255], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}
