// The kernels of `npm run bench -- cpu`, as CUDA and as OpenCL: what differs is in the macros.
#ifdef __OPENCL_VERSION__
typedef uint u32;
#define KERNEL __kernel void
#define GLOBAL __global
#define CONST_GLOBAL __global const
#define SHARED __local
#define DEVICE
#define TID_X get_local_id(0)
#define TID_Y get_local_id(1)
#define BLOCK_X get_group_id(0)
#define BLOCK_Y get_group_id(1)
#define GID_X get_global_id(0)
#define GID_Y get_global_id(1)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define FMA(a, b, c) mad(a, b, c)
#define AS_INT(x) as_int(x)
#define AS_FLOAT(x) as_float(x)
#define SQRT(x) sqrt(x)
#define ATOMIC_INC_SHARED(p) atomic_inc(p)
#define ATOMIC_ADD_GLOBAL(p, v) atomic_add(p, v)
#define CONSTANT __constant
#else
typedef unsigned int u32;
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define CONST_GLOBAL const
#define SHARED __shared__
#define DEVICE __device__ __forceinline__
#define TID_X threadIdx.x
#define TID_Y threadIdx.y
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#define GID_X (blockIdx.x * blockDim.x + threadIdx.x)
#define GID_Y (blockIdx.y * blockDim.y + threadIdx.y)
#define BARRIER __syncthreads()
#define FMA(a, b, c) fmaf(a, b, c)
#define AS_INT(x) __float_as_int(x)
#define AS_FLOAT(x) __int_as_float(x)
#define SQRT(x) sqrtf(x)
#define ATOMIC_INC_SHARED(p) atomicAdd(p, 1u)
#define ATOMIC_ADD_GLOBAL(p, v) atomicAdd(p, v)
#define CONSTANT __device__ __constant__ const
#endif

KERNEL saxpy(CONST_GLOBAL float *x, GLOBAL float *y, float a, int n) {
  int i = GID_X;
  if (i < n) y[i] = FMA(a, x[i], y[i]);
}

KERNEL stencil5(CONST_GLOBAL float *in, GLOBAL float *out, int n) {
  int x = GID_X;
  int y = GID_Y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

KERNEL sgemm16(CONST_GLOBAL float *a, CONST_GLOBAL float *b, GLOBAL float *c, int n) {
  SHARED float ta[16][16];
  SHARED float tb[16][16];
  int tx = TID_X, ty = TID_Y;
  int row = BLOCK_Y * 16 + ty, column = BLOCK_X * 16 + tx;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 16) {
    ta[ty][tx] = a[row * n + t + tx];
    tb[ty][tx] = b[(t + ty) * n + column];
    BARRIER;
    for (int k = 0; k < 16; k++) sum = FMA(ta[ty][k], tb[k][tx], sum);
    BARRIER;
  }
  c[row * n + column] = sum;
}

KERNEL sgemm32(CONST_GLOBAL float *a, CONST_GLOBAL float *b, GLOBAL float *c, int n) {
  SHARED float ta[32][32];
  SHARED float tb[32][32];
  int tx = TID_X, ty = TID_Y;
  int row = BLOCK_Y * 32 + ty, column = BLOCK_X * 32 + tx;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 32) {
    ta[ty][tx] = a[row * n + t + tx];
    tb[ty][tx] = b[(t + ty) * n + column];
    BARRIER;
    for (int k = 0; k < 32; k++) sum = FMA(ta[ty][k], tb[k][tx], sum);
    BARRIER;
  }
  c[row * n + column] = sum;
}

KERNEL reduce(CONST_GLOBAL float *in, GLOBAL float *out, int n) {
  SHARED float part[256];
  int t = TID_X;
  int i = GID_X;
  part[t] = i < n ? in[i] : 0.0f;
  BARRIER;
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    BARRIER;
  }
  if (t == 0) out[BLOCK_X] = part[0];
}

KERNEL histogram(CONST_GLOBAL u32 *in, GLOBAL u32 *out, int n) {
  SHARED u32 bins[256];
  int t = TID_X;
  bins[t] = 0;
  BARRIER;
  int i = BLOCK_X * 4096 + t;
  for (int k = 0; k < 16; k++, i += 256)
    if (i < n) ATOMIC_INC_SHARED(&bins[in[i] & 255u]);
  BARRIER;
  ATOMIC_ADD_GLOBAL(&out[t], bins[t]);
}

KERNEL xorshift(GLOBAL u32 *out, int n, int turns) {
  int i = GID_X;
  if (i >= n) return;
  u32 x = out[i];
  for (int k = 0; k < turns; k++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  out[i] = x;
}

CONSTANT u32 K256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

KERNEL sha256(CONST_GLOBAL u32 *in, GLOBAL u32 *out, int n) {
  int i = GID_X;
  if (i >= n) return;
  u32 w[16];
#pragma unroll
  for (int k = 0; k < 16; k++) w[k] = in[k * n + i];
  u32 a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
  for (int k = 0; k < 64; k++) {
    if (k >= 16) {
      u32 s0 = w[(k + 1) & 15], s1 = w[(k + 14) & 15];
      s0 = ROTR(s0, 7) ^ ROTR(s0, 18) ^ (s0 >> 3);
      s1 = ROTR(s1, 17) ^ ROTR(s1, 19) ^ (s1 >> 10);
      w[k & 15] += s0 + s1 + w[(k + 9) & 15];
    }
    u32 t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + K256[k] + w[k & 15];
    u32 t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  out[i] = a + 0x6a09e667;
  out[n + i] = b + 0xbb67ae85;
  out[2 * n + i] = c + 0x3c6ef372;
  out[3 * n + i] = d + 0xa54ff53a;
  out[4 * n + i] = e + 0x510e527f;
  out[5 * n + i] = f + 0x9b05688c;
  out[6 * n + i] = g + 0x1f83d9ab;
  out[7 * n + i] = h + 0x5be0cd19;
}

KERNEL mandelbrot(GLOBAL u32 *out, int n, int most) {
  int x = GID_X, y = GID_Y;
  if (x >= n || y >= n) return;
  float cx = -2.0f + 3.0f * (float)x / (float)n, cy = -1.5f + 3.0f * (float)y / (float)n;
  float zx = 0.0f, zy = 0.0f;
  int k = 0;
  while (k < most && zx * zx + zy * zy < 4.0f) {
    float next = zx * zx - zy * zy + cx;
    zy = FMA(2.0f * zx, zy, cy);
    zx = next;
    k++;
  }
  out[y * n + x] = k;
}

DEVICE float poly_exp(float x) {
  float t = x * 1.44269504f;
  float r = t + 12582912.0f;
  int k = AS_INT(r);
  float f = t - (r - 12582912.0f);
  float p = 1.5403530e-4f;
  p = FMA(p, f, 1.3333558e-3f);
  p = FMA(p, f, 9.6181291e-3f);
  p = FMA(p, f, 5.5504109e-2f);
  p = FMA(p, f, 2.4022651e-1f);
  p = FMA(p, f, 6.9314718e-1f);
  p = FMA(p, f, 1.0f);
  return AS_FLOAT(AS_INT(p) + (k << 23));
}

DEVICE float poly_log(float x) {
  int bits = AS_INT(x) - 0x3f3504f3;
  int e = bits >> 23;
  float m = AS_FLOAT((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  float p = 7.0376836e-2f;
  p = FMA(p, m, -1.1514610e-1f);
  p = FMA(p, m, 1.1676998e-1f);
  p = FMA(p, m, -1.2420141e-1f);
  p = FMA(p, m, 1.4249323e-1f);
  p = FMA(p, m, -1.6668057e-1f);
  p = FMA(p, m, 2.0000714e-1f);
  p = FMA(p, m, -2.4999994e-1f);
  p = FMA(p, m, 3.3333331e-1f);
  float m2 = m * m;
  return FMA((float)e, 0.69314718f, m + FMA(p * m, m2, -0.5f * m2));
}

DEVICE float normal(float d) {
  float a = d < 0.0f ? -d : d;
  float k = 1.0f / FMA(0.2316419f, a, 1.0f);
  float p = 1.330274429f;
  p = FMA(p, k, -1.821255978f);
  p = FMA(p, k, 1.781477937f);
  p = FMA(p, k, -0.356563782f);
  p = FMA(p, k, 0.31938153f);
  float c = 0.39894228f * poly_exp(-0.5f * d * d) * p * k;
  return d > 0.0f ? 1.0f - c : c;
}

KERNEL black_scholes(CONST_GLOBAL float *price, CONST_GLOBAL float *strike, CONST_GLOBAL float *years, GLOBAL float *call, GLOBAL float *put, int n) {
  int i = GID_X;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = SQRT(t);
  float d1 = (poly_log(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  float n1 = normal(d1), n2 = normal(d2);
  float later = poly_exp(-0.02f * t) * x;
  call[i] = s * n1 - later * n2;
  put[i] = later * (1.0f - n2) - s * (1.0f - n1);
}

#ifndef __OPENCL_VERSION__
KERNEL shuffled(CONST_GLOBAL float *in, GLOBAL float *out, int n) {
  __shared__ float part[8];
  int t = TID_X;
  int i = GID_X;
  float v = i < n ? in[i] : 0.0f;
  for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
  if ((t & 31) == 0) part[t >> 5] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 8 ? part[t] : 0.0f;
    for (int s = 4; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
    if (t == 0) out[blockIdx.x] = v;
  }
}
#else
// OpenCL C without subgroups has no shuffles: the same sums through local memory.
KERNEL shuffled(CONST_GLOBAL float *in, GLOBAL float *out, int n) {
  SHARED float lane[256];
  SHARED float part[8];
  int t = TID_X;
  int i = GID_X;
  lane[t] = i < n ? in[i] : 0.0f;
  BARRIER;
  for (int s = 16; s > 0; s >>= 1) {
    float other = lane[(t & 31) + s < 32 ? t + s : t];
    BARRIER;
    lane[t] += other;
    BARRIER;
  }
  if ((t & 31) == 0) part[t >> 5] = lane[t];
  BARRIER;
  for (int s = 4; s > 0; s >>= 1) {
    float other = t < s ? part[t + s] : 0.0f;
    BARRIER;
    if (t < s) part[t] += other;
    BARRIER;
  }
  if (t == 0) out[BLOCK_X] = part[0];
}
#endif
