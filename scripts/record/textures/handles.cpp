// Queries of handles, reductions of 64-bit texels, samples of textures without any, and NaNs of atomics: each module loaded alone, one line a launch.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long H;
typedef unsigned int u32;
static u32 seed = 9; static u32 rnd() { seed = seed * 1664525u + 1013904223u; return seed >> 4; }
static CUmodule mod; static CUdeviceptr out;
static int loaded(const char *name, const char *body, const char *globals) {
  static char t[8192]; snprintf(t, sizeof t, ".version 8.1\n.target sm_90\n.address_size 64\n%s\n.visible .entry k(.param .u64 p, .param .u64 h) {\n.reg .b64 %%rd<16>; .reg .b32 %%r<32>; .reg .f32 %%f<32>; .reg .pred %%p<8>; .reg .b16 %%h<8>;\nld.param.u64 %%rd1,[p]; ld.param.u64 %%rd2,[h]; mov.u32 %%r1,%%tid.x; mul.wide.u32 %%rd3,%%r1,32; add.u64 %%rd1,%%rd1,%%rd3;\n%s\nret; }\n", globals, body);
  CUresult r = cuModuleLoadData(&mod, t); if (r) printf("%s load %d\n", name, (int)r); return r == 0;
}
static void launch(const char *name, const char *with, H h, int threads, int words) {
  CUfunction f; cuModuleGetFunction(&f, mod, "k"); u32 host[512]; void *args[] = {&out, &h};
  cuMemcpyDtoH(host, out, sizeof host); CUresult r = cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, 0, args, 0); CUresult s = cuCtxSynchronize(); CUresult q = cuMemcpyDtoH(host, out, sizeof host);
  printf("%s %s launch %d sync %d copy %d:", name, with, (int)r, (int)s, (int)q); if (!q) for (int i = 0; i < threads; i++) for (int k = 0; k < words; k++) printf(" %x", host[8 * i + k]); printf("\n"); fflush(stdout); if (s || q) exit(1);
}
static void fill(u32 v) { u32 host[512]; for (int i = 0; i < 512; i++) host[i] = v; cuMemcpyHtoD(out, host, sizeof host); }
static CUarray array(CUarray_format f, int channels, int w, int h, void *data, int texel) {
  CUDA_ARRAY3D_DESCRIPTOR d; memset(&d, 0, sizeof d); d.Width = w; d.Height = h; d.Format = f; d.NumChannels = channels; d.Flags = CUDA_ARRAY3D_SURFACE_LDST; CUarray a; CUresult r = cuArray3DCreate(&a, &d); if (r) printf("array %d\n", (int)r);
  CUDA_MEMCPY2D c; memset(&c, 0, sizeof c); c.srcMemoryType = CU_MEMORYTYPE_HOST; c.srcHost = data; c.srcPitch = w * texel; c.dstMemoryType = CU_MEMORYTYPE_ARRAY; c.dstArray = a; c.WidthInBytes = w * texel; c.Height = h; r = cuMemcpy2D(&c); if (r) printf("copy %d\n", (int)r); return a;
}
int main(int argc, char **argv) {
  int test = atoi(argv[1]); CUdevice d; CUcontext c; cuInit(0); cuDeviceGet(&d, 0); cuDevicePrimaryCtxRetain(&c, d); cuCtxSetCurrent(c); cuMemAlloc(&out, 1 << 16); static u32 data[4096]; for (int i = 0; i < 4096; i++) data[i] = rnd() ^ rnd() << 8;
  if (argc > 2) seed = atoi(argv[2]);
  CUarray a = array(CU_AD_FORMAT_UNSIGNED_INT32, 4, 8, 4, data, 16); CUDA_RESOURCE_DESC r; memset(&r, 0, sizeof r); r.resType = CU_RESOURCE_TYPE_ARRAY; r.res.array.hArray = a;
  CUsurfObject s; cuSurfObjectCreate(&s, &r); CUDA_TEXTURE_DESC t; memset(&t, 0, sizeof t); t.flags = CU_TRSF_READ_AS_INTEGER; CUtexObject x; cuTexObjectCreate(&x, &r, &t, 0);
  if (test == 0) { static const char *types[] = {"texref", "samplerref", "surfref"}; char body[300], name[60]; for (int i = 0; i < 3; i++) { snprintf(body, 300, "istypep.%s %%p1,%%rd2; selp.u32 %%r2,1,0,%%p1; st.global.u32 [%%rd1],%%r2;", types[i]); snprintf(name, 60, "istypep.%s", types[i]); if (!loaded(name, body, "")) continue; fill(9); launch(name, "texture", x, 1, 1); fill(9); launch(name, "surface", s, 1, 1); fill(9); launch(name, "null", 0, 1, 1); fill(9); launch(name, "global", out, 1, 1); fill(9); launch(name, "wild", 0x123456789abcULL, 1, 1); } }
  if (test == 1) { static const char *q[] = {"txq.filter_mode", "txq.addr_mode_0", "txq.force_unnormalized_coords", "txq.num_samples", "txq.width", "suq.memory_layout", "suq.width"}; char body[300]; for (int i = 0; i < 7; i++) { snprintf(body, 300, "%s.b32 %%r2,[%%rd2]; st.global.u32 [%%rd1],%%r2;", q[i]); if (loaded(q[i], body, "")) { fill(9); launch(q[i], "handle", q[i][0] == 's' ? s : x, 1, 1); } } }
  if (test == 2) { static const char *q[] = {"txq.filter_mode", "txq.addr_mode_0", "txq.normalized_coords", "txq.num_samples", "txq.width", "txq.num_mipmap_levels", "txq.array_size"}; char body[300]; for (int i = 0; i < 7; i++) { snprintf(body, 300, "%s.b32 %%r2,[T]; st.global.u32 [%%rd1],%%r2;", q[i]); char n[60]; snprintf(n, 60, "%s texref", q[i]); if (loaded(n, body, ".global .texref T;")) { CUtexref ref; CUresult e = cuModuleGetTexRef(&ref, mod, "T"); CUresult b = e ? e : cuTexRefSetArray(ref, a, CU_TRSA_OVERRIDE_FORMAT); printf("%s get %d set %d\n", n, (int)e, (int)b); fill(9); launch(n, "array", 0, 1, 1); } }
    for (int i = 0; i < 2; i++) { snprintf(body, 300, "suq.%s.b32 %%r2,[S]; st.global.u32 [%%rd1],%%r2;", i ? "width" : "memory_layout"); if (loaded(i ? "suq.width surfref" : "suq.memory_layout surfref", body, ".global .surfref S;")) { CUsurfref ref; CUresult e = cuModuleGetSurfRef(&ref, mod, "S"); CUresult b = e ? e : cuSurfRefSetArray(ref, a, 0); printf("suq get %d set %d\n", (int)e, (int)b); fill(9); launch("suq", i ? "width" : "memory_layout", 0, 1, 1); } } }
  if (test >= 3 && test < 3 + 12) { static const struct { CUarray_format f; int n, bytes; const char *name; } F[] = {{CU_AD_FORMAT_UNSIGNED_INT32, 2, 8, "u32x2"}, {CU_AD_FORMAT_SIGNED_INT32, 2, 8, "s32x2"}, {CU_AD_FORMAT_FLOAT, 2, 8, "f32x2"}, {CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, "u32"}, {CU_AD_FORMAT_UNSIGNED_INT16, 4, 8, "u16x4"}, {CU_AD_FORMAT_UNSIGNED_INT32, 4, 16, "u32x4"}}; int k = (test - 3) % 6, max = (test - 3) / 6;
    CUarray b = array(F[k].f, F[k].n, 8, 4, data, F[k].bytes); r.res.array.hArray = b; CUsurfObject o; cuSurfObjectCreate(&o, &r); char body[500], name[60]; snprintf(name, 60, "sured.p.%s.b64 %s", max ? "max" : "min", F[k].name);
    snprintf(body, 500, "ld.global.u64 %%rd4,[%%rd1]; and.b32 %%r2,%%r1,7; shr.u32 %%r3,%%r1,3; sured.p.%s.2d.b64.trap [%%rd2, {%%r2,%%r3}], %%rd4;", max ? "max" : "min");
    if (loaded(name, body, "")) { u32 v[512]; for (int i = 0; i < 512; i++) v[i] = rnd() ^ rnd() << 8; cuMemcpyHtoD(out, v, sizeof v); printf("values"); for (int i = 0; i < 32; i++) printf(" %x %x", v[8 * i], v[8 * i + 1]); printf("\nbefore"); for (int i = 0; i < 8 * F[k].bytes; i++) printf(" %x", data[i]); printf("\n"); launch(name, "surface", o, 32, 2);
      static u32 got[4096]; CUDA_MEMCPY2D m; memset(&m, 0, sizeof m); m.dstMemoryType = CU_MEMORYTYPE_HOST; m.dstHost = got; m.dstPitch = 8 * F[k].bytes; m.srcMemoryType = CU_MEMORYTYPE_ARRAY; m.srcArray = b; m.WidthInBytes = 8 * F[k].bytes; m.Height = 4; cuMemcpy2D(&m); printf("after"); for (int i = 0; i < 8 * F[k].bytes; i++) printf(" %x", got[i]); printf("\n"); } }
  if (test == 15) { if (loaded("tex.2dms", "and.b32 %r2,%r1,7; shr.u32 %r3,%r1,3; mov.u32 %r4,0; tex.2dms.v4.u32.s32 {%r5,%r6,%r7,%r8},[%rd2,{%r4,%r2,%r3,%r3}]; st.global.v4.u32 [%rd1],{%r5,%r6,%r7,%r8};", "")) { fill(9); printf("data"); for (int i = 0; i < 128; i++) printf(" %x", data[i]); printf("\n"); launch("tex.2dms sample 0", "texture", x, 32, 4); } }
  if (test == 16) { if (loaded("tex.2dms", "and.b32 %r2,%r1,7; shr.u32 %r3,%r1,3; mov.u32 %r4,1; tex.2dms.v4.u32.s32 {%r5,%r6,%r7,%r8},[%rd2,{%r4,%r2,%r3,%r3}]; st.global.v4.u32 [%rd1],{%r5,%r6,%r7,%r8};", "")) { fill(9); launch("tex.2dms sample 1", "texture", x, 32, 4); } }
  if (test == 17) { // NaNs of atomics of floats: each operation on a NaN in memory and a number, and the reverse
    static const char *ops[] = {"atom.global.add.f32 %f2,[%rd1],%f1;", "red.global.add.f32 [%rd1],%f1;", "atom.global.add.v2.f32 {%f2,%f3},[%rd1],{%f1,%f1};", "atom.global.add.noftz.f16x2 %r4,[%rd1],%r3;", "atom.global.add.noftz.bf16x2 %r4,[%rd1],%r3;", "red.global.add.noftz.f16x2 [%rd1],%r3;"}; static const u32 nan[] = {0x7fc00001, 0xffc12345, 0x7f800001, 0xff812345, 0x7e017e02, 0xfe03fd55, 0x7fc1ffc2, 0x7c01fc03};
    for (int i = 0; i < 6; i++) { char body[400]; snprintf(body, 400, "ld.global.f32 %%f1,[%%rd1+8]; mov.b32 %%r3,%%f1; %s", ops[i]); if (!loaded(ops[i], body, "")) continue; for (int way = 0; way < 3; way++) { u32 v[512]; memset(v, 0, sizeof v); for (int k = 0; k < 8; k++) { v[8 * k] = v[8 * k + 1] = way == 1 ? 0x3f803c00 : nan[k]; v[8 * k + 2] = way == 0 ? 0x3f803c00 : nan[k ^ (way == 2)]; } cuMemcpyHtoD(out, v, sizeof v); launch(ops[i], way == 0 ? "memory" : way == 1 ? "operand" : "both", 0, 8, 3); } } 
    static const char *dbl = "ld.global.f64 %fd1,[%rd1+8]; atom.global.add.f64 %fd2,[%rd1],%fd1;"; char body[400]; snprintf(body, 400, ".reg .f64 %%fd<4>; %s", dbl); if (loaded("atom.add.f64", body, "")) { u32 v[512]; memset(v, 0, sizeof v); v[0] = 1; v[1] = 0x7ff80000; v[3] = 0x3ff00000; v[8] = 0x12345; v[9] = 0xfff00000; v[11] = 0x3ff00000; v[16] = 0; v[17] = 0x3ff00000; v[18] = 7; v[19] = 0xfff80000; cuMemcpyHtoD(out, v, sizeof v); launch("atom.add.f64", "both", 0, 3, 4); }
    if (loaded("inf", "ld.global.f32 %f1,[%rd1+8]; atom.global.add.f32 %f2,[%rd1],%f1;", "")) { u32 v[512]; memset(v, 0, sizeof v); v[0] = 0x7f800000; v[2] = 0xff800000; v[8] = 0x00000001; v[10] = 0x00000001; v[16] = 0x80000001; v[18] = 1; cuMemcpyHtoD(out, v, sizeof v); launch("atom.add.f32", "infinities denormals", 0, 3, 3); } }
  return 0;
}
