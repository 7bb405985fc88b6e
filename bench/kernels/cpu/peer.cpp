// The peers of `npm run bench -- cpu`: plain loops for the C++ compiler, and the same kernels for OpenCL.
//   peer native KERNEL   |   peer opencl KERNEL SOURCE
// prints units per second of the best of many launches, and a checksum.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>
#ifdef WITH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#endif

using std::vector;
typedef uint32_t u32;

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The best of at least 5 runs and 0.25 s.
static double best(const std::function<void()> &run) {
  double least = 1e9, start = now();
  for (int i = 0; i < 5 || now() - start < 0.25; i++) {
    double t = now();
    run();
    t = now() - t;
    if (t < least) least = t;
  }
  return least;
}

struct Case {
  const char *name;
  double units;
};
static const Case cases[] = {{"saxpy", 8388608.0 * 12},  {"saxpy_small", 16384.0 * 12 * 64}, {"stencil5", 1024.0 * 1024}, {"sgemm16", 2.0 * 512 * 512 * 512},
                             {"sgemm32", 2.0 * 512 * 512 * 512}, {"reduce", 4194304},   {"shuffled", 4194304},          {"histogram", 4194304},
                             {"xorshift", 262144.0 * 64}, {"sha256", 65536},   {"mandelbrot", 512.0 * 512},     {"black_scholes", 262144}};

static vector<float> floats(int n, float scale, float from) {
  vector<float> v(n);
  u32 x = 12345;
  for (int i = 0; i < n; i++) {
    x = x * 1664525u + 1013904223u;
    v[i] = from + scale * (float)(x >> 8) / 16777216.0f;
  }
  return v;
}
static vector<u32> numbers(int n) {
  vector<u32> v(n);
  u32 x = 12345;
  for (int i = 0; i < n; i++) v[i] = (x = x * 1664525u + 1013904223u) >> 7;
  return v;
}

#define DEVICE static inline
#define NATIVE 1
DEVICE int as_bits(float x) { int r; memcpy(&r, &x, 4); return r; }
DEVICE float as_real(int x) { float r; memcpy(&r, &x, 4); return r; }
DEVICE float poly_exp(float x) {
  float t = x * 1.44269504f, r = t + 12582912.0f;
  int k = as_bits(r);
  float f = t - (r - 12582912.0f);
  float p = 1.5403530e-4f;
  p = p * f + 1.3333558e-3f; p = p * f + 9.6181291e-3f; p = p * f + 5.5504109e-2f; p = p * f + 2.4022651e-1f; p = p * f + 6.9314718e-1f; p = p * f + 1.0f;
  return as_real((int)((u32)as_bits(p) + ((u32)k << 23)));
}
DEVICE float poly_log(float x) {
  int bits = as_bits(x) - 0x3f3504f3, e = bits >> 23;
  float m = as_real((bits & 0x7fffff) + 0x3f3504f3) - 1.0f, p = 7.0376836e-2f;
  p = p * m - 1.1514610e-1f; p = p * m + 1.1676998e-1f; p = p * m - 1.2420141e-1f; p = p * m + 1.4249323e-1f;
  p = p * m - 1.6668057e-1f; p = p * m + 2.0000714e-1f; p = p * m - 2.4999994e-1f; p = p * m + 3.3333331e-1f;
  float m2 = m * m;
  return (float)e * 0.69314718f + (m + (p * m * m2 - 0.5f * m2));
}
DEVICE float normal(float d) {
  float a = d < 0.0f ? -d : d, k = 1.0f / (0.2316419f * a + 1.0f), p = 1.330274429f;
  p = p * k - 1.821255978f; p = p * k + 1.781477937f; p = p * k - 0.356563782f; p = p * k + 0.31938153f;
  float c = 0.39894228f * poly_exp(-0.5f * d * d) * p * k;
  return d > 0.0f ? 1.0f - c : c;
}
static const u32 K256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
static void sha256(const u32 *in, u32 *out, int n) {
  for (int i = 0; i < n; i++) {
    u32 w[16];
    for (int k = 0; k < 16; k++) w[k] = in[k * n + i];
    u32 a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma GCC unroll 64
    for (int k = 0; k < 64; k++) {
      if (k >= 16) {
        u32 s0 = w[(k + 1) & 15], s1 = w[(k + 14) & 15];
        s0 = ROTR(s0, 7) ^ ROTR(s0, 18) ^ (s0 >> 3);
        s1 = ROTR(s1, 17) ^ ROTR(s1, 19) ^ (s1 >> 10);
        w[k & 15] += s0 + s1 + w[(k + 9) & 15];
      }
      u32 t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + K256[k] + w[k & 15];
      u32 t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    u32 r[8] = {a + 0x6a09e667, b + 0xbb67ae85, c + 0x3c6ef372, d + 0xa54ff53a, e + 0x510e527f, f + 0x9b05688c, g + 0x1f83d9ab, h + 0x5be0cd19};
    for (int k = 0; k < 8; k++) out[k * n + i] = r[k];
  }
}

__attribute__((noinline)) static float sum(const float *x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
__attribute__((noinline)) static void saxpy(const float *x, float *y, float a, int n) {
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
__attribute__((noinline)) static void stencil5(const float *in, float *out, int n) {
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      int i = y * n + x;
      out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    }
}
__attribute__((noinline)) static void sgemm(const float *a, const float *b, float *c, int n) {
  memset(c, 0, 4 * n * n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
__attribute__((noinline)) static void histogram(const u32 *in, u32 *out, int n) {
  for (int i = 0; i < n; i++) out[in[i] & 255]++;
}
__attribute__((noinline)) static void xorshift(u32 *out, int n, int turns) {
  for (int i = 0; i < n; i++) {
    u32 x = out[i];
    for (int k = 0; k < turns; k++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; }
    out[i] = x;
  }
}
__attribute__((noinline)) static void mandelbrot(u32 *out, int n, int most) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float cx = -2.0f + 3.0f * (float)x / (float)n, cy = -1.5f + 3.0f * (float)y / (float)n, zx = 0, zy = 0;
      int k = 0;
      while (k < most && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        k++;
      }
      out[y * n + x] = k;
    }
}
__attribute__((noinline)) static void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
  for (int i = 0; i < n; i++) {
    float s = price[i], x = strike[i], t = years[i], root = std::sqrt(t);
    float d1 = (poly_log(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
    float n1 = normal(d1), n2 = normal(d2), later = poly_exp(-0.02f * t) * x;
    call[i] = s * n1 - later * n2;
    put[i] = later * (1.0f - n2) - s * (1.0f - n1);
  }
}

static volatile double kept;

static double native(const std::string &k) {
  if (k == "saxpy" || k == "saxpy_small") {
    int n = k == "saxpy" ? 8388608 : 16384, times = k == "saxpy" ? 1 : 64;
    auto x = floats(n, 1, 0), y = floats(n, 1, 0);
    return best([&] { for (int i = 0; i < times; i++) saxpy(x.data(), y.data(), 1e-6f, n); });
  }
  if (k == "stencil5") { auto a = floats(1024 * 1024, 1, 0), b = a; return best([&] { stencil5(a.data(), b.data(), 1024); }); }
  if (k == "sgemm16" || k == "sgemm32") { auto a = floats(512 * 512, 1, 0), b = a, c = a; return best([&] { sgemm(a.data(), b.data(), c.data(), 512); }); }
  if (k == "reduce" || k == "shuffled") { auto a = floats(4194304, 1, 0); return best([&] { kept = sum(a.data(), 4194304); }); }
  if (k == "histogram") { auto a = numbers(4194304); vector<u32> h(256); return best([&] { histogram(a.data(), h.data(), 4194304); }); }
  if (k == "xorshift") { auto a = numbers(262144); return best([&] { xorshift(a.data(), 262144, 64); }); }
  if (k == "sha256") { auto a = numbers(65536 * 16); vector<u32> o(65536 * 8); return best([&] { sha256(a.data(), o.data(), 65536); }); }
  if (k == "mandelbrot") { vector<u32> o(512 * 512); return best([&] { mandelbrot(o.data(), 512, 256); }); }
  auto p = floats(262144, 25, 5), s = floats(262144, 99, 1), t = floats(262144, 9.75f, 0.25f);
  vector<float> c(262144), q(262144);
  return best([&] { black_scholes(p.data(), s.data(), t.data(), c.data(), q.data(), 262144); });
}

#ifdef WITH_OPENCL
static double opencl(const std::string &k, const char *path) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr)) exit(4);
  cl_context c = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue q = clCreateCommandQueue(c, device, 0, nullptr);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  // Only the kernel that is asked for is compiled: what stands between its `KERNEL` and the next, and all that is not a kernel.
  std::string all = text.str(), name = k == "saxpy_small" ? "saxpy" : k, source;
  size_t at = 0;
  for (size_t from; (from = all.find("\nKERNEL ", at)) != std::string::npos;) {
    source += all.substr(at, from + 1 - at);
    size_t end = all.find("\n}\n", from) + 3;
    if (all.compare(from + 8, name.size() + 1, name + "(") == 0) source += all.substr(from, end - from);
    at = end;
  }
  source += all.substr(at);
  const char *s = source.c_str();
  cl_program p = clCreateProgramWithSource(c, 1, &s, nullptr, nullptr);
  if (clBuildProgram(p, 1, &device, "-cl-fast-relaxed-math -cl-mad-enable", nullptr, nullptr)) {
    char log[20000];
    clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  cl_kernel kernel = clCreateKernel(p, name.c_str(), nullptr);
  cl_uint index = 0;
  auto buffer = [&](const void *data, size_t bytes) {
    cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, (void *)data, nullptr);
    clSetKernelArg(kernel, index++, sizeof m, &m);
  };
  auto number = [&](auto v) { clSetKernelArg(kernel, index++, sizeof v, &v); };
  auto reals = [&](int n, float scale, float from) { auto v = floats(n, scale, from); buffer(v.data(), 4 * n); };
  auto words = [&](int n) { auto v = numbers(n); buffer(v.data(), 4 * n); };
  size_t grid[2] = {1, 1}, block[2] = {256, 1};
  int times = 1, dims = 1;
  if (name == "saxpy") { int n = k == "saxpy" ? 8388608 : 16384; times = k == "saxpy" ? 1 : 64; reals(n, 1, 0); reals(n, 1, 0); number(1e-6f); number(n); grid[0] = n; }
  else if (k == "stencil5") { reals(1048576, 1, 0); reals(1048576, 1, 0); number(1024); dims = 2; grid[0] = grid[1] = 1024; block[0] = 64; block[1] = 4; }
  else if (k == "sgemm16" || k == "sgemm32") { for (int i = 0; i < 3; i++) reals(262144, 1, 0); number(512); dims = 2; grid[0] = grid[1] = 512; block[0] = block[1] = k == "sgemm16" ? 16 : 32; }
  else if (k == "reduce" || k == "shuffled") { reals(4194304, 1, 0); reals(16384, 1, 0); number(4194304); grid[0] = 4194304; }
  else if (k == "histogram") { words(4194304); words(256); number(4194304); grid[0] = 262144; }
  else if (k == "xorshift") { words(262144); number(262144); number(64); grid[0] = 262144; }
  else if (k == "sha256") { words(65536 * 16); words(65536 * 8); number(65536); grid[0] = 65536; }
  else if (k == "mandelbrot") { words(262144); number(512); number(256); dims = 2; grid[0] = grid[1] = 512; block[0] = 16; block[1] = 16; }
  else if (k == "black_scholes") { reals(262144, 25, 5); reals(262144, 99, 1); reals(262144, 9.75f, 0.25f); reals(262144, 1, 0); reals(262144, 1, 0); number(262144); grid[0] = 262144; }
  else exit(5);
  cl_int failed = 0;
  double time = best([&] {
    for (int i = 0; i < times; i++) failed |= clEnqueueNDRangeKernel(q, kernel, dims, nullptr, grid, block, 0, nullptr, nullptr);
    failed |= clFinish(q);
  });
  if (failed) { fprintf(stderr, "OpenCL says %d\n", failed); exit(1); }
  return time;
}
#endif

int main(int count, char **words) {
  std::string how = count > 1 ? words[1] : "", kernel = count > 2 ? words[2] : "";
  for (const Case &each : cases) {
    if (kernel != each.name) continue;
#ifdef WITH_OPENCL
    if (how == "opencl") {
      printf("%.6g\n", each.units / opencl(kernel, words[3]));
      return 0;
    }
#endif
    printf("%.6g\n", each.units / native(kernel));
    return 0;
  }
  return 2;
}
