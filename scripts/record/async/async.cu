// Records mbarriers, bulk copies and tensor copies with random inputs. Each line of the output is a test and what it gave, in hexadecimal.
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 1;
static uint32_t rnd() { seed = seed * 1664525u + 1013904223u; return seed >> 8; }
static uint8_t *dIn, *dOut;
static const int kIn = 1 << 16, kOut = 1 << 15;
static uint8_t hIn[1 << 16], hOut[1 << 15];

#define S(p) ((uint32_t)__cvta_generic_to_shared(p))
#define WAIT(bar, par) asm volatile("{.reg .pred p; L%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D%=; bra L%=; D%=: }" ::"r"(S(bar)), "r"(par) : "memory")

static void fill(int bytes, int mode) {
  for (int i = 0; i < bytes; i++) hIn[i] = (uint8_t)rnd();
  if (mode == 1)  // small floats: few infinities
    for (int i = 0; i + 3 < bytes; i += 4) { float f = (float)((int)(rnd() % 2001) - 1000) / 8.0f; memcpy(hIn + i, &f, 4); }
  if (mode == 2)  // special floats
    for (int i = 0; i + 3 < bytes; i += 4) {
      static const uint32_t list[] = {0, 0x80000000u, 1, 0x80000001u, 0x007fffff, 0x00800000, 0x7f800000, 0xff800000u, 0x7fc00000, 0x7f800001, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0x7f7fffff, 0x3f7fffff};
      uint32_t v = (i / 4) % 3 == 2 ? rnd() * 2654435761u : list[(i / 4) % (sizeof list / 4)]; memcpy(hIn + i, &v, 4); }
  cudaMemcpy(dIn, hIn, bytes, cudaMemcpyHostToDevice);
}
static void show(const char *name, int bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  if (e) { printf("%s error %d\n", name, (int)e); cudaGetLastError(); cudaDeviceReset(); cudaMalloc(&dIn, kIn); cudaMalloc(&dOut, kOut); return; }
  cudaMemcpy(hOut, dOut, bytes, cudaMemcpyDeviceToHost);
  printf("%s ", name); for (int i = 0; i < bytes; i++) printf("%02x", hOut[i]); printf("\n");
}

// ---- mbarrier: the state of each step, as far as instructions tell
__global__ void barrier(uint32_t *out, const uint32_t *steps, int count, uint32_t init) {
  __shared__ alignas(8) uint64_t bar; uint64_t state = 0; int at = 0;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(S(&bar)), "r"(init) : "memory");
  for (int i = 0; i < count; i++) {
    uint32_t kind = steps[2 * i], n = steps[2 * i + 1], a, b, c, d;
    if (kind == 0) asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(S(&bar)), "r"(n) : "memory");
    if (kind == 1) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(S(&bar)), "r"(n) : "memory");
    if (kind == 2) asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(S(&bar)), "r"(n) : "memory");
    if (kind == 3) asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(S(&bar)), "r"(n) : "memory");
    if (kind == 4) asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(S(&bar)), "r"(n) : "memory");
    if (kind == 5) asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(S(&bar)), "r"(n) : "memory");
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(a) : "r"(S(&bar)) : "memory");
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" : "=r"(b) : "r"(S(&bar)) : "memory");
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(c) : "r"(S(&bar)), "l"(state) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(d) : "l"(state));
    out[at++] = a | b << 1 | (kind == 2 || kind == 3 ? 0 : c << 2 | d << 8);
  }
}
// The words of a barrier, whose layout is NVIDIA's own.
__global__ void words(unsigned long long *out) {
  __shared__ alignas(8) uint64_t bar; volatile uint64_t *v = &bar; uint64_t st; int n = 0;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 5;" ::"r"(S(&bar)) : "memory"); out[n++] = *v;
  for (int i = 0; i < 6; i++) { asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(st) : "r"(S(&bar)) : "memory"); out[n++] = *v; out[n++] = st; }
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 100;" ::"r"(S(&bar)) : "memory"); out[n++] = *v;
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 130;" ::"r"(S(&bar)) : "memory"); out[n++] = *v;
}

// ---- bulk reductions
#define RED(NAME, FORM) __global__ void NAME(uint8_t *to, const uint8_t *from, int bytes) { __shared__ alignas(128) uint8_t buf[1024]; \
  for (int i = 0; i < bytes; i++) buf[i] = from[i]; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." FORM " [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(to), "r"(S(buf)), "r"(bytes) : "memory"); }
#define ALL(X) X(r0, "and.b32") X(r1, "or.b32") X(r2, "xor.b32") X(r3, "and.b64") X(r4, "add.u32") X(r5, "add.s32") X(r6, "add.u64") X(r7, "inc.u32") X(r8, "dec.u32") X(r9, "min.u32") X(r10, "max.s32") X(r11, "min.s64") X(r12, "max.u64") X(r13, "add.f32") X(r14, "add.f64") X(r15, "add.noftz.f16") X(r16, "add.noftz.bf16") X(r17, "min.f16") X(r18, "max.f16") X(r19, "min.bf16") X(r20, "max.bf16")
ALL(RED)

// ---- tensor copies
#define LOAD(N, C, ...) __global__ void load##N(const __grid_constant__ CUtensorMap map, uint8_t *out, int bytes, int out_bytes, int c0, int c1, int c2, int c3, int c4) { \
  extern __shared__ __align__(1024) uint8_t buf[]; __shared__ alignas(8) uint64_t bar; for (int i = 0; i < out_bytes; i++) buf[i] = 0xee; \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::"r"(S(&bar)) : "memory"); \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(S(&bar)), "r"(bytes) : "memory"); \
  asm volatile("cp.async.bulk.tensor." #N "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" C "}], [%2];" ::"r"(S(buf)), "l"(&map), "r"(S(&bar)), __VA_ARGS__ : "memory"); \
  WAIT(&bar, 0); for (int i = 0; i < out_bytes; i++) out[i] = buf[i]; }
LOAD(1, "%3", "r"(c0)) LOAD(2, "%3,%4", "r"(c0), "r"(c1)) LOAD(3, "%3,%4,%5", "r"(c0), "r"(c1), "r"(c2))
LOAD(4, "%3,%4,%5,%6", "r"(c0), "r"(c1), "r"(c2), "r"(c3)) LOAD(5, "%3,%4,%5,%6,%7", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))
#define COLS(N, C, O, ...) __global__ void cols##N(const __grid_constant__ CUtensorMap map, uint8_t *out, int bytes, int out_bytes, int c0, int c1, int c2, int c3, int c4, unsigned short o0, unsigned short o1, unsigned short o2) { \
  extern __shared__ __align__(1024) uint8_t buf[]; __shared__ alignas(8) uint64_t bar; for (int i = 0; i < out_bytes; i++) buf[i] = 0xee; \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::"r"(S(&bar)) : "memory"); \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(S(&bar)), "r"(bytes) : "memory"); \
  asm volatile("cp.async.bulk.tensor." #N "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" C "}], [%2], {" O "};" ::"r"(S(buf)), "l"(&map), "r"(S(&bar)), __VA_ARGS__ : "memory"); \
  WAIT(&bar, 0); for (int i = 0; i < out_bytes; i++) out[i] = buf[i]; }
COLS(3, "%3,%4,%5", "%6", "r"(c0), "r"(c1), "r"(c2), "h"(o0))
COLS(4, "%3,%4,%5,%6", "%7,%8", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"(o0), "h"(o1))
COLS(5, "%3,%4,%5,%6,%7", "%8,%9,%10", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "h"(o0), "h"(o1), "h"(o2))
#define STORE(NAME, OP) __global__ void NAME(const __grid_constant__ CUtensorMap map, const uint8_t *from, int bytes, int c0, int c1) { \
  extern __shared__ __align__(1024) uint8_t buf[]; for (int i = 0; i < bytes; i++) buf[i] = from[i]; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); \
  asm volatile(OP "tile.bulk_group [%0, {%1, %2}], [%3]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(&map), "r"(c0), "r"(c1), "r"(S(buf)) : "memory"); }
#define R2 "cp.reduce.async.bulk.tensor.2d.global.shared::cta."
STORE(store2, "cp.async.bulk.tensor.2d.global.shared::cta.")
STORE(sadd, R2 "add.") STORE(smin, R2 "min.") STORE(smax, R2 "max.") STORE(sinc, R2 "inc.") STORE(sdec, R2 "dec.") STORE(sand_, R2 "and.") STORE(sor_, R2 "or.") STORE(sxor_, R2 "xor.")

static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
struct Shape { int type, rank; cuuint64_t dims[5], strides[4]; cuuint32_t box[5], steps[5]; int interleave, swizzle, fill; };
static int encode(CUtensorMap *m, const Shape &s, void *at) {
  return cuTensorMapEncodeTiled(m, (CUtensorMapDataType)s.type, s.rank, at, s.dims, s.strides, s.box, s.steps, (CUtensorMapInterleave)s.interleave, (CUtensorMapSwizzle)s.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)s.fill);
}
static void bytesOf(const char *name, const CUtensorMap &m) { printf("%s ", name); for (int i = 0; i < 128; i++) printf("%02x", ((const uint8_t *)&m)[i]); printf("\n"); }
static int boxBytes(const Shape &s) { int n = s.box[0]; for (int i = 1; i < s.rank; i++) n *= (s.box[i] + s.steps[i] - 1) / s.steps[i]; return n * sizes[s.type]; }
static void dims(Shape &s, int width, int extra) {
  int size = sizes[s.type]; long pitch;
  for (int i = 0; i < s.rank; i++) { if (i > 0) s.box[i] = 1 + rnd() % (s.rank > 3 ? 3 : 6); s.steps[i] = 1 + (extra && i > 0 ? rnd() % 3 : 0); }
  s.box[0] = width / size;
  for (int i = 0; i < s.rank; i++) { int d = (int)s.box[i] + (int)(rnd() % 7) - 1; s.dims[i] = d < 1 ? 1 : d; }
  pitch = ((long)s.dims[0] * size + 15) / 16 * 16 + 16 * (rnd() % 2);
  for (int i = 1; i < s.rank; i++) { s.strides[i - 1] = pitch; pitch *= (long)s.dims[i]; }
}
static void loadOne(const char *what, const Shape &s, const int *c, int mode) {
  CUtensorMap m; memset(&m, 0, sizeof m); int e = encode(&m, s, dIn); char name[200];
  snprintf(name, sizeof name, "%s type=%d rank=%d swizzle=%d interleave=%d fill=%d dims=%d,%d,%d,%d,%d box=%u,%u,%u,%u,%u steps=%u,%u,%u,%u at=%d,%d,%d,%d,%d mode=%d", what, s.type, s.rank, s.swizzle, s.interleave, s.fill, (int)s.dims[0], (int)s.dims[1], (int)s.dims[2], (int)s.dims[3], (int)s.dims[4], s.box[0], s.box[1], s.box[2], s.box[3], s.box[4], s.steps[1], s.steps[2], s.steps[3], s.steps[4], c[0], c[1], c[2], c[3], c[4], mode);
  if (e) { printf("%s encode %d\n", name, e); return; }
  int bytes = boxBytes(s), out = bytes + 1024 > 16384 ? 16384 : bytes + 1024;
  cudaMemset(dOut, 0xdd, out);
  if (s.rank == 1) load1<<<1, 1, 32768>>>(m, dOut, bytes, out, c[0], c[1], c[2], c[3], c[4]);
  if (s.rank == 2) load2<<<1, 1, 32768>>>(m, dOut, bytes, out, c[0], c[1], c[2], c[3], c[4]);
  if (s.rank == 3) load3<<<1, 1, 32768>>>(m, dOut, bytes, out, c[0], c[1], c[2], c[3], c[4]);
  if (s.rank == 4) load4<<<1, 1, 32768>>>(m, dOut, bytes, out, c[0], c[1], c[2], c[3], c[4]);
  if (s.rank == 5) load5<<<1, 1, 32768>>>(m, dOut, bytes, out, c[0], c[1], c[2], c[3], c[4]);
  show(name, out);
}

// Tests by number, each with its own random numbers: a test that the GPU stops ends what is behind it in a process.
static int only;
static bool is(int k) { seed = 77u * k + 1; return only == k || (only < 0 && k < 20); }

int main(int argc, char **argv) {
  only = argc > 1 ? atoi(argv[1]) : -1;
  setvbuf(stdout, 0, _IOFBF, 1 << 16);
  cudaMalloc(&dIn, kIn); cudaMalloc(&dOut, kOut);
  // Random steps that the rules allow, by a model of them.
  if (is(0)) for (int t = 0; t < 20; t++) {
    uint32_t init = t < 3 ? t + 1 : 1 + rnd() % 400, pending = init, expected = init, list[128]; long bytes = 0; int n = 0;
    list[n * 2] = 0; list[n * 2 + 1] = 1; n++; if (--pending == 0) pending = expected;
    while (n < 40) {
      uint32_t kind = rnd() % 6, count = pending ? 1 + rnd() % pending : 0, size = rnd() % 9000;
      if (kind == 0 && !pending) continue;
      if (kind == 1) { if (!pending) continue; count = 1; }
      if (kind == 4 && (!pending || expected <= count)) continue;
      if (kind == 5) { if (pending < 2) continue; count = pending - 1; }
      if (kind == 2 && pending == 0) continue;
      if (kind == 3 && pending == 0) { if (bytes <= 0) { kind = 2; size = (uint32_t)-bytes; } else size = (uint32_t)bytes; }
      if (kind == 2 && pending == 0 && bytes >= 0) continue;
      if (bytes > 900000 || bytes < -900000) break;
      list[n * 2] = kind; list[n * 2 + 1] = kind == 1 || kind == 2 || kind == 3 ? size : count; n++;
      if (kind == 1 || kind == 2) bytes += size; if (kind == 3) bytes -= size;
      if (kind == 4) expected -= count; if (kind == 0 || kind == 1 || kind == 4 || kind == 5) pending -= kind == 1 ? 1 : count;
      if (pending == 0 && bytes == 0) pending = expected;
    }
    cudaMemcpy(dIn, list, sizeof list, cudaMemcpyHostToDevice);
    barrier<<<1, 1>>>((uint32_t *)dOut, (uint32_t *)dIn, n, init);
    char name[40]; snprintf(name, 40, "mbarrier %d init=%u", t, init); show(name, 4 * n);
  }
  if (is(1)) { cudaMemset(dOut, 0, 256); words<<<1, 1>>>((unsigned long long *)dOut); show("own mbarrier words", 15 * 8); }
#define RUN(NAME, FORM) for (int mode = 0; mode < 3; mode++) { fill(1024, mode); cudaMemcpy(dOut, dIn, 512, cudaMemcpyDeviceToDevice); NAME<<<1, 1>>>(dOut, dIn + 512, 512); char name[60]; snprintf(name, 60, "reduce " FORM " %d", mode); show(name, 512); }
  if (is(2)) { ALL(RUN) }
  // All types, ranks and swizzles; the ends of tensors, steps, fills.
  if (is(3)) for (int swizzle = 0; swizzle <= 6; swizzle++) for (int rank = 1; rank <= 5; rank++) for (int k = 0; k < 4; k++) {
    Shape s = {}; s.rank = rank; s.type = rnd() % 10; s.swizzle = swizzle; s.fill = (s.type >= 6) && (rnd() & 1);
    int width = swizzle == 0 ? 16 * (1 + rnd() % 6) : swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128; dims(s, width, k > 0);
    int c[5] = {}; for (int i = 0; i < rank; i++) c[i] = k == 0 ? 0 : (int)(rnd() % (s.dims[i] + 3)) - 2; { int per = 16 / sizes[s.type]; c[0] = (c[0] + 64 * per) / per * per - 64 * per; }
    fill(1 << 15, 0); loadOne("load", s, c, 0);
  }
  // Rows that are narrower than the swizzle, shared memory that is read as it is.
  for (int swizzle = 1, k = 20; swizzle <= 3; swizzle++) for (int width = 16; width < 16 << swizzle; width *= 2) if (is(k++)) { Shape s = {}; s.rank = 2; s.type = 0; s.swizzle = swizzle; dims(s, width, 0); s.box[1] = 16; s.dims[1] = 16; int c[5] = {}; fill(1 << 15, 0); loadOne("narrow", s, c, 0); }
  // NaN fill of each type, and types that convert.
  if (is(4)) for (int type = 6; type <= 12; type++) for (int f = 0; f < 2; f++) { Shape s = {}; s.rank = 2; s.type = type; s.fill = f; dims(s, 64, 0); s.dims[0] = s.box[0]; s.dims[1] = s.box[1]; s.strides[0] = 64; int c[5] = {(int)s.box[0] / 2, -1}; fill(1 << 15, 2); loadOne("fill", s, c, 2); int d[5] = {}; loadOne("convert", s, d, 2); }
  if (is(10)) for (int type = 10; type <= 12; type++) for (int t = 0; t < 3; t++) { Shape s = {}; s.rank = 2; s.type = type; s.box[0] = s.dims[0] = 64; s.box[1] = s.dims[1] = 16; s.steps[0] = s.steps[1] = 1; s.strides[0] = 256; for (int i = 0; i < 1024; i++) { uint32_t v = rnd() << 8 ^ rnd(); if (t == 0) v = (v & 0x807fffffu) | (i & 1 ? 0x7f800000u : 0u); if (t == 1) v = (v & 0xffffe000u) | (0x1000 + (int)(rnd() % 3) - 1); memcpy(hIn + 4 * i, &v, 4); } cudaMemcpy(dIn, hIn, 4096, cudaMemcpyHostToDevice); int c[5] = {}; printf("in "); for (int i = 0; i < 4096; i++) printf("%02x", hIn[i]); printf("\n"); loadOne("convert", s, c, 2); }
  // Stores and reductions through maps that convert.
#define CONV(NAME) for (int type = 10; type <= 12; type++) { Shape s = {}; s.rank = 2; s.type = type; s.box[0] = s.dims[0] = 16; s.box[1] = s.dims[1] = 8; s.steps[0] = s.steps[1] = 1; s.strides[0] = 64; CUtensorMap m; int e = encode(&m, s, dOut); fill(4096, 2); cudaMemcpy(dOut, dIn + 2048, 640, cudaMemcpyDeviceToDevice); char name[60]; snprintf(name, 60, "tensor " #NAME " type=%d", type); if (e) { printf("%s encode %d\n", name, e); continue; } NAME<<<1, 1, 32768>>>(m, dIn, 512, 0, 0); show(name, 640); }
  if (is(11)) { CONV(store2) CONV(sadd) CONV(smin) CONV(smax) }
  // An innermost coordinate that is not at a multiple of 16 bytes; a tensor whose rows end within 16 bytes.
  if (is(12)) for (int k = 0; k < 6; k++) { Shape s = {}; s.rank = 2; s.type = 1; s.box[0] = 32; s.box[1] = 4; s.dims[0] = 37; s.dims[1] = 6; s.steps[0] = s.steps[1] = 1; s.strides[0] = 80; int c[5] = {k == 0 ? 0 : k == 1 ? 8 : k == 2 ? 4 : k == 3 ? -8 : k == 4 ? 1 : -3, 1}; fill(4096, 0); loadOne("edge", s, c, 0); }
  // Interleaved layouts.
  for (int il = 1, k = 30; il <= 2; il++) for (int rank = 3; rank <= 5; rank++) for (int sw = 0; sw <= (il == 2 ? 1 : 0); sw++) if (is(k++)) { Shape s = {}; s.rank = rank; s.type = 1; s.interleave = il; s.swizzle = sw; int slice = 16 * il; s.box[0] = slice / 2; s.dims[0] = slice / 2 * 3; long pitch = slice; for (int i = 0; i < rank; i++) { s.steps[i] = 1; if (i) { s.box[i] = 2 + i % 2; s.dims[i] = 3 + i; s.strides[i - 1] = pitch * (i == 1 ? 1 : 1); pitch *= (long)s.dims[i]; } } int c[5] = {0, 1, 1, 0, 0}; fill(1 << 15, 0); loadOne("interleave", s, c, 0); int d[5] = {slice / 2, 0, 2, 0, 0}; loadOne("interleave", s, d, 0); }
  // Columns.
  if (is(5)) for (int k = 0; k < 24; k++) {
    int rank = 3 + k % 3, axes = rank - 2; cuuint64_t dm[5] = {16}, st[4]; cuuint32_t steps[5] = {1, 1, 1, 1, 1}; int lo[3], up[3]; long pitch = 32;
    for (int i = 1; i < rank; i++) { dm[i] = i == rank - 1 ? 3 : 4 + rnd() % 8; st[i - 1] = pitch; pitch *= (long)dm[i]; if (i < rank - 1 && k >= 12) steps[i] = 1 + rnd() % 2; }
    int c[5] = {(int)(rnd() % 2) * 8, 0, 0, 0, 0}; unsigned short o[3];
    for (int i = 0; i < axes; i++) { lo[i] = -(int)(rnd() % 2); up[i] = -(int)(rnd() % 2); o[i] = rnd() % 3; c[i + 1] = lo[i] + (int)steps[i + 1] * (int)(rnd() % 3); }
    c[rank - 1] = rnd() % 2; CUtensorMap m; memset(&m, 0, sizeof m); int pixels = 8 + rnd() % 60; fill(1 << 15, 0);
    int e = cuTensorMapEncodeIm2col(&m, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, dIn, dm, st, lo, up, 8, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    char name[160]; snprintf(name, 160, "columns %d rank=%d dims=%d,%d,%d,%d lower=%d,%d upper=%d,%d steps=%u,%u pixels=%d at=%d,%d,%d,%d,%d off=%d,%d", k, rank, (int)dm[1], (int)dm[2], (int)dm[3], (int)dm[4], lo[0], lo[1], up[0], up[1], steps[1], steps[2], pixels, c[0], c[1], c[2], c[3], c[4], o[0], o[1]);
    if (e) { printf("%s encode %d\n", name, e); continue; }
    int bytes = pixels * 16; cudaMemset(dOut, 0xdd, bytes);
    if (rank == 3) cols3<<<1, 1, 32768>>>(m, dOut, bytes, bytes, c[0], c[1], c[2], c[3], c[4], o[0], o[1], o[2]);
    if (rank == 4) cols4<<<1, 1, 32768>>>(m, dOut, bytes, bytes, c[0], c[1], c[2], c[3], c[4], o[0], o[1], o[2]);
    if (rank == 5) cols5<<<1, 1, 32768>>>(m, dOut, bytes, bytes, c[0], c[1], c[2], c[3], c[4], o[0], o[1], o[2]);
    show(name, bytes);
  }
  // Stores and reductions of each type.
#define ST(NAME) for (int type = 0; type <= 9; type++) { Shape s = {}; s.rank = 2; s.type = type; dims(s, 64, 0); s.box[1] = 5; s.dims[1] = 4; s.dims[0] = s.box[0] + 3; s.strides[0] = 160; CUtensorMap m; int e = encode(&m, s, dOut); fill(4096, type == 7 ? 2 : type >= 6 ? 1 : 0); cudaMemcpy(dOut, dIn + 2048, 640, cudaMemcpyDeviceToDevice); char name[60]; snprintf(name, 60, "tensor " #NAME " type=%d", type); if (e) { printf("%s encode %d\n", name, e); continue; } NAME<<<1, 1, 32768>>>(m, dIn, 320, 32 / sizes[s.type], -1); show(name, 640); }
  if (is(6)) { ST(store2) }
#define NUMBERS(NAME, ...) { static const int types[] = {__VA_ARGS__}; for (int type : types) { Shape s = {}; s.rank = 2; s.type = type; dims(s, 64, 0); s.box[1] = 5; s.dims[1] = 4; s.dims[0] = s.box[0] + 3; s.strides[0] = 160; CUtensorMap m; int e = encode(&m, s, dOut); fill(4096, type == 7 ? 2 : type >= 6 ? 1 : 0); cudaMemcpy(dOut, dIn + 2048, 640, cudaMemcpyDeviceToDevice); char name[60]; snprintf(name, 60, "tensor " #NAME " type=%d", type); if (e) { printf("%s encode %d\n", name, e); continue; } NAME<<<1, 1, 32768>>>(m, dIn, 320, 32 / sizes[s.type], -1); show(name, 640); } }
  if (is(7)) { NUMBERS(sadd, 2, 3, 4, 6, 7, 9) NUMBERS(smin, 2, 3, 4, 5, 6, 9) NUMBERS(smax, 2, 3, 4, 5, 6, 9) NUMBERS(sinc, 2) NUMBERS(sdec, 2) NUMBERS(sand_, 2, 3, 4, 5) NUMBERS(sor_, 2, 4) NUMBERS(sxor_, 2, 4) }
  // Results of the functions of the host for arguments that are at fault.
  if (is(8)) for (int k = 0; k < 24; k++) {
    Shape s = {}; s.rank = 2; s.type = 6; s.dims[0] = 64; s.dims[1] = 8; s.strides[0] = 128; s.box[0] = 16; s.box[1] = 8; s.steps[0] = s.steps[1] = 1; void *at = dIn; CUtensorMap m[2]; CUtensorMap *to = m;
    if (k == 1) at = dIn + 8; if (k == 2) s.strides[0] = 120; if (k == 3) s.box[0] = 12; if (k == 4) s.box[1] = 257; if (k == 5) s.box[1] = 0; if (k == 6) s.steps[1] = 9; if (k == 7) s.steps[1] = 0; if (k == 8) s.dims[0] = 0; if (k == 9) s.rank = 0; if (k == 10) s.rank = 6; if (k == 11) s.type = 16; if (k == 12) { s.swizzle = 1; s.box[0] = 32; } if (k == 13) { s.type = 1; s.fill = 1; } if (k == 14) s.interleave = 1; if (k == 15) s.strides[0] = 64; if (k == 16) s.strides[0] = 0; if (k == 17) s.strides[0] = 1ull << 40; if (k == 18) to = (CUtensorMap *)((char *)m + 16); if (k == 19) s.steps[0] = 2; if (k == 20) s.swizzle = 7; if (k == 21) at = 0; if (k == 22) s.dims[1] = 1ull << 32; if (k == 23) s.dims[1] = (1ull << 32) + 1;
    printf("fault %d %d\n", k, encode(to, s, at));
  }
  // The bytes of maps as the driver makes them, at addresses of no meaning: its own format, for a later encoder.
  if (is(9)) for (int k = 0; k < 40; k++) { Shape s = {}; s.rank = 1 + rnd() % 5; s.type = rnd() % 13; s.swizzle = rnd() % 4; s.fill = s.type >= 6 ? rnd() & 1 : 0; dims(s, s.swizzle ? 16 << s.swizzle : 64, 1); CUtensorMap m; memset(&m, 0, sizeof m); if (encode(&m, s, (void *)(0x7f0012345600ull + 0x1000 * k)) == 0) { char name[200]; snprintf(name, 200, "own map type=%d rank=%d swizzle=%d fill=%d dims=%d,%d,%d,%d,%d strides=%d,%d,%d,%d box=%u,%u,%u,%u,%u steps=%u,%u,%u,%u", s.type, s.rank, s.swizzle, s.fill, (int)s.dims[0], (int)s.dims[1], (int)s.dims[2], (int)s.dims[3], (int)s.dims[4], (int)s.strides[0], (int)s.strides[1], (int)s.strides[2], (int)s.strides[3], s.box[0], s.box[1], s.box[2], s.box[3], s.box[4], s.steps[1], s.steps[2], s.steps[3], s.steps[4]); bytesOf(name, m); } }
  return 0;
}
