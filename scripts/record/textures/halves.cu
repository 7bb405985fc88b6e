// Half results of textures beside those of floats, cubes with gradients and gathers, converting stores and reductions of surfaces. One line a test, words in hexadecimal.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long H;
static uint32_t seed = 5;
static uint32_t rnd() { seed = seed * 1664525u + 1013904223u; return seed >> 8; }
__global__ void both(H t, const float *c, uint32_t *o, int lod) {
  int i = threadIdx.x; float x = c[2 * i], y = c[2 * i + 1]; float r, g, b, a; unsigned short h0, h1, h2, h3; uint32_t p0, p1, l0, l1; float q = lod / 4.0f; unsigned short m0, m1, m2, m3;
  asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "f"(x), "f"(y));
  asm volatile("{.reg .f16 a,b,c,d; tex.2d.v4.f16.f32 {a,b,c,d}, [%4, {%5,%6}]; mov.b16 %0,a; mov.b16 %1,b; mov.b16 %2,c; mov.b16 %3,d;}" : "=h"(h0), "=h"(h1), "=h"(h2), "=h"(h3) : "l"(t), "f"(x), "f"(y));
  asm volatile("tex.2d.v2.f16x2.f32 {%0,%1}, [%2, {%3,%4}];" : "=r"(p0), "=r"(p1) : "l"(t), "f"(x), "f"(y));
  asm volatile("tex.level.2d.v2.f16x2.f32 {%0,%1}, [%2, {%3,%4}], %5;" : "=r"(l0), "=r"(l1) : "l"(t), "f"(x), "f"(y), "f"(q));
  o += 10 * i; o[0] = __float_as_uint(r); o[1] = __float_as_uint(g); o[2] = __float_as_uint(b); o[3] = __float_as_uint(a); o[4] = h0 | h1 << 16; o[5] = h2 | h3 << 16; o[6] = p0; o[7] = p1; o[8] = l0; o[9] = l1;
}
__global__ void ints(H t, uint32_t *o) {
  int i = threadIdx.x; int x = i % 9 - 1, y = i / 9 - 1; uint32_t p0, p1; float r, g, b, a;
  asm volatile("tex.2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(x), "r"(y));
  asm volatile("tex.2d.v2.f16x2.s32 {%0,%1}, [%2, {%3,%4}];" : "=r"(p0), "=r"(p1) : "l"(t), "r"(x), "r"(y));
  o += 6 * i; o[0] = __float_as_uint(r); o[1] = __float_as_uint(g); o[2] = __float_as_uint(b); o[3] = __float_as_uint(a); o[4] = p0; o[5] = p1;
}
__global__ void cube(H t, const float *c, uint32_t *o) {
  int i = threadIdx.x; const float *d = c + 9 * i; uint32_t w[4]; o += 24 * i;
#define G4(C, K) asm volatile("tld4." C ".cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(t), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(0.f)); for (int k = 0; k < 4; k++) o[K + k] = w[k];
  G4("r", 0) G4("a", 4)
  asm volatile("tex.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(t), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(0.f)); for (int k = 0; k < 4; k++) o[8 + k] = w[k];
  asm volatile("tex.grad.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}], {%9,%10,%11,%8}, {%12,%13,%14,%8};" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(t), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(0.f), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]), "f"(d[8])); for (int k = 0; k < 4; k++) o[12 + k] = w[k];
  asm volatile("tex.level.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}], %9;" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(t), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(0.f), "f"(0.5f)); for (int k = 0; k < 4; k++) o[16 + k] = w[k];
  for (int k = 20; k < 24; k++) o[k] = 0;
}
__global__ void stores(H s, const uint32_t *v) {
  int i = threadIdx.x, x = i % 8, y = i / 8; const uint32_t *w = v + 4 * i;
  asm volatile("sust.p.2d.v4.b32.trap [%0, {%1,%2}], {%3,%4,%5,%6};" ::"l"(s), "r"(x), "r"(y), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
}
#define RED(N, F, T, R) __global__ void N(H s, const uint32_t *v) { int i = threadIdx.x, x = i % 8, y = i / 8; T w = *(const T *)(v + 2 * i); asm volatile("sured.p." F ".trap [%0, {%1,%2}], %3;" ::"l"(s), "r"(x), "r"(y), R(w) : "memory"); }
RED(radd, "add.2d.b32", uint32_t, "r") RED(rmin, "min.2d.b32", uint32_t, "r") RED(rmax, "max.2d.b32", uint32_t, "r") RED(rand_, "and.2d.b32", uint32_t, "r") RED(ror_, "or.2d.b32", uint32_t, "r")
static uint32_t out[1 << 14];
static void show(const char *name, const void *d, int words) {
  cudaError_t e = cudaDeviceSynchronize(); if (e) { printf("%s error %d\n", name, (int)e); fflush(stdout); exit(1); }
  cudaMemcpy(out, d, 4 * words, cudaMemcpyDeviceToHost); printf("%s", name); for (int i = 0; i < words; i++) printf(" %x", out[i]); printf("\n");
}
struct Format { const char *name; int bits[4]; cudaChannelFormatKind kind; int normal; };
static const Format formats[] = {{"f32", {32, 32, 32, 32}, cudaChannelFormatKindFloat, 0}, {"f16", {16, 16, 16, 16}, cudaChannelFormatKindFloat, 0}, {"un8", {8, 8, 8, 8}, cudaChannelFormatKindUnsigned, 1}, {"sn8", {8, 8, 8, 8}, cudaChannelFormatKindSigned, 1}, {"un16", {16, 16, 16, 16}, cudaChannelFormatKindUnsigned, 1}, {"sn16", {16, 16, 16, 16}, cudaChannelFormatKindSigned, 1},
  {"u8", {8, 8, 8, 8}, cudaChannelFormatKindUnsigned, 0}, {"s8", {8, 8, 8, 8}, cudaChannelFormatKindSigned, 0}, {"u16", {16, 16, 16, 16}, cudaChannelFormatKindUnsigned, 0}, {"s16", {16, 16, 16, 16}, cudaChannelFormatKindSigned, 0}, {"u32", {32, 32, 32, 32}, cudaChannelFormatKindUnsigned, 0}, {"s32", {32, 32, 32, 32}, cudaChannelFormatKindSigned, 0}, {"r32", {32, 0, 0, 0}, cudaChannelFormatKindUnsigned, 0}, {"i32", {32, 0, 0, 0}, cudaChannelFormatKindSigned, 0}, {"f1", {32, 0, 0, 0}, cudaChannelFormatKindFloat, 0}};
static void texels(uint8_t *p, const Format &f, int n, int wild) {
  int b = f.bits[0] / 8; for (int i = 0; i < n; i++) { if (f.kind == cudaChannelFormatKindFloat) { float v = ((int)(rnd() % 2001) - 1000) / (wild ? 0.013f : 500.0f) * (wild && rnd() % 3 == 0 ? 1e-9f : 1); if (b == 4) memcpy(p + 4 * i, &v, 4); else { __half h = __float2half(v); memcpy(p + 2 * i, &h, 2); } } else for (int k = 0; k < b; k++) p[b * i + k] = rnd(); }
}
int main(int argc, char **argv) {
  int only = atoi(argv[1]); uint32_t *o; float *c; cudaMalloc(&o, 1 << 16); cudaMalloc(&c, 1 << 16); static float hc[1 << 13]; static uint8_t host[1 << 16]; char name[100]; setvbuf(stdout, 0, _IOLBF, 1 << 16);
  int texelBytes;
  if (only == 0) for (int k = 0; k < 6; k++) for (int linear = 0; linear < 2; linear++) for (int wild = 0; wild < (k < 2 ? 2 : 1); wild++) {
    const Format &f = formats[k]; seed = 100 * k + 10 * linear + wild; cudaArray_t a; cudaChannelFormatDesc d = {f.bits[0], f.bits[1], f.bits[2], f.bits[3], f.kind}; cudaMallocArray(&a, &d, 7, 5); texelBytes = f.bits[0] / 2; texels(host, f, 7 * 5 * 4, wild);
    cudaMemcpy2DToArray(a, 0, 0, host, 7 * texelBytes, 7 * texelBytes, 5, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a; cudaTextureDesc t = {}; t.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp; t.readMode = f.normal ? cudaReadModeNormalizedFloat : cudaReadModeElementType; cudaTextureObject_t h; cudaError_t e = cudaCreateTextureObject(&h, &r, &t, 0); if (e) { printf("%s create %d\n", f.name, (int)e); continue; }
    for (int i = 0; i < 128; i++) hc[i] = (int)(rnd() % 2304) / 256.0f - 1; cudaMemcpy(c, hc, 512, cudaMemcpyHostToDevice);
    both<<<1, 64>>>(h, c, o, 0); snprintf(name, 100, "half %s linear=%d wild=%d", f.name, linear, wild); show(name, o, 640);
    if (!linear) { ints<<<1, 63>>>(h, o); snprintf(name, 100, "ints %s wild=%d", f.name, wild); show(name, o, 378); }
  }
  if (only == 1) for (int linear = 0; linear < 2; linear++) {
    seed = 1000 + linear; cudaMipmappedArray_t m; cudaChannelFormatDesc d = {32, 32, 32, 32, cudaChannelFormatKindFloat}; cudaMallocMipmappedArray(&m, &d, make_cudaExtent(8, 8, 6), 3, cudaArrayCubemap);
    for (int l = 0; l < 3; l++) { cudaArray_t a; cudaGetMipmappedArrayLevel(&a, m, l); int n = 8 >> l; texels(host, formats[0], n * n * 6 * 4, 0); cudaMemcpy3DParms p = {}; p.srcPtr = make_cudaPitchedPtr(host, n * 16, n, n); p.dstArray = a; p.extent = make_cudaExtent(n, n, 6); p.kind = cudaMemcpyHostToDevice; printf("copy %d\n", (int)cudaMemcpy3D(&p)); }
    cudaResourceDesc r = {}; r.resType = cudaResourceTypeMipmappedArray; r.res.mipmap.mipmap = m; cudaTextureDesc t = {}; t.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; t.mipmapFilterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; t.maxMipmapLevelClamp = 2; t.normalizedCoords = 1; t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp; cudaTextureObject_t h; cudaError_t e = cudaCreateTextureObject(&h, &r, &t, 0); if (e) { printf("cube create %d\n", (int)e); continue; }
    for (int i = 0; i < 96 * 9; i++) hc[i] = ((int)(rnd() % 2001) - 1000) / 1000.0f * (i % 9 < 3 ? 1 : 0.5f); cudaMemcpy(c, hc, sizeof(float) * 96 * 9, cudaMemcpyHostToDevice);
    cube<<<1, 96>>>(h, c, o); snprintf(name, 100, "cube linear=%d", linear); show(name, o, 96 * 24);
  }
  if (only == 2) { int k = atoi(argv[2]), kernel = atoi(argv[3]); const Format &f = formats[k]; seed = 2000 + 10 * k + kernel; cudaArray_t a; cudaChannelFormatDesc d = {f.bits[0], f.bits[1], f.bits[2], f.bits[3], f.kind}; cudaMallocArray(&a, &d, 8, 4, cudaArraySurfaceLoadStore); texelBytes = f.bits[1] ? f.bits[0] / 2 : f.bits[0] / 8; texels(host, f, 8 * 4 * 4, 0);
    cudaMemcpy2DToArray(a, 0, 0, host, 8 * texelBytes, 8 * texelBytes, 4, cudaMemcpyHostToDevice); cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a; cudaSurfaceObject_t s; cudaError_t e = cudaCreateSurfaceObject(&s, &r); if (e) { printf("%s surface %d\n", f.name, (int)e); return 0; }
    static uint32_t v[256]; for (int i = 0; i < 256; i++) { v[i] = i % 3 == 0 ? rnd() % 300 - 40 : rnd() << 8 ^ rnd(); if (i % 5 == 1) { float x = ((int)(rnd() % 4001) - 2000) / 1000.0f; memcpy(v + i, &x, 4); } } cudaMemcpy(c, v, sizeof v, cudaMemcpyHostToDevice);
    void (*list[])(H, const uint32_t *) = {stores, radd, rmin, rmax, rand_, ror_}; list[kernel]<<<1, 32>>>(s, (uint32_t *)c);
    cudaError_t q = cudaDeviceSynchronize(); if (q) { printf("surface %s %d error %d\n", f.name, kernel, (int)q); return 0; } memset(out, 0, sizeof out); cudaMemcpy2DFromArray(out, 8 * texelBytes, a, 0, 0, 8 * texelBytes, 4, cudaMemcpyDeviceToHost); printf("surface %s %d", f.name, kernel); for (int i = 0; i < 8 * texelBytes; i++) printf(" %x", out[i]); printf("\n"); }
  return 0;
}
