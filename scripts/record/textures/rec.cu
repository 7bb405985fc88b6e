// Interprets a file of jobs: each makes a texture or surface and fetches at recorded coordinates.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <vector>

#include "args.h"


#define NG 11
static CUmodule mods[NG];
struct Entry { const char *name; int stride; };
#define E(N, S) {#N, S}
#define EG(G) E(f_##G, 4), E(u_##G, 4), E(s_##G, 4)
#define EI(G) E(fi_##G, 4), E(ui_##G, 4), E(si_##G, 4)
#define ESL(M) E(sl_1d_8_##M, 4), E(sl_1d_16_##M, 4), E(sl_1d_32_##M, 4), E(sl_1d_64_##M, 4), E(sl_1d_128_##M, 4), \
  E(sl_2d_8_##M, 4), E(sl_2d_16_##M, 4), E(sl_2d_32_##M, 4), E(sl_2d_64_##M, 4), E(sl_2d_128_##M, 4), \
  E(sl_3d_32_##M, 4), E(sl_a1d_32_##M, 4), E(sl_a2d_32_##M, 4), \
  E(ss_1d_8_##M, 4), E(ss_1d_32_##M, 4), E(ss_2d_8_##M, 4), E(ss_2d_16_##M, 4), E(ss_2d_32_##M, 4), E(ss_2d_64_##M, 4), \
  E(ss_2d_128_##M, 4), E(ss_3d_32_##M, 4), E(ss_a1d_32_##M, 4), E(ss_a2d_32_##M, 4)
static Entry entries[] = {
  EG(1d), EG(2d), EG(3d), EG(a1d), EG(a2d), EG(cube), EG(acube), EI(1d), EI(2d), EI(3d), EI(a1d), EI(a2d),
  E(l_1d, 8), E(l_2d, 8), E(l_3d, 8), E(l_a1d, 8), E(l_a2d, 8), E(l_cube, 8), E(g_1d, 12), E(g_2d, 12), E(g_3d, 12), E(b_1d, 4), E(b_2d, 4),
  E(li_1d, 8), E(li_2d, 8), E(o_2d, 4), E(o_1d, 4), E(h_2d, 4), E(hx_2d, 4), E(t0_2d, 4), E(t1_2d, 4), E(t2_2d, 4), E(t3_2d, 4), E(tu_2d, 4), E(ts_2d, 4),
  E(ta_a2d, 4), E(q0, 4), E(q1, 4), E(sq0, 4), E(sq1, 4), ESL(clamp), ESL(zero), ESL(trap), E(sp_1d_clamp, 4), E(sp_2d_clamp, 4), E(sp_1d_zero, 4), E(sp_2d_zero, 4),
  E(sr_add_2d, 4), E(sr_min_2d, 4),
};

// One texel channel. mode 0: values that filters can mix; 1: any bits; 2: its number; 3: 256 * coordinate.
static void fill(std::vector<unsigned char> &d, int kind, int bits, int ch, size_t w, size_t h, size_t dep, u seed, int mode) {
  int b = bits / 8;
  d.resize(w * h * dep * ch * b);
  size_t e = 0;
  for (size_t z = 0; z < dep; z++) for (size_t y = 0; y < h; y++) for (size_t x = 0; x < w; x++) for (int c = 0; c < ch; c++, e++) {
    u v = mix(seed + (u)e * 0x9E3779B9u);
    if (kind == 2) {
      if (mode == 0) v = bits == 32 ? (v & 0x807fffff) | ((118 + ((v >> 23) & 15)) << 23) : (v & 0x83ff) | ((8 + ((v >> 10) & 15) % 13) << 10);
      if (mode == 2) { float f = (float)e; memcpy(&v, &f, 4); }
      if (mode == 3) { float f = 256.0f * (c == 0 ? x : c == 1 ? y : c == 2 ? z : 1); memcpy(&v, &f, 4); }
      if (mode == 4) { float f = 256.0f * (seed & 255); memcpy(&v, &f, 4); }
    } else {
      if (mode == 2) v = (u)e;
      if (mode == 3) v = (u)(c == 0 ? x : c == 1 ? y : c == 2 ? z : 1);
    }
    memcpy(&d[e * b], &v, b);
  }
}

static FILE *out;
static void put(const void *p, size_t n) { fwrite(p, 1, n, out); }
#define CHECK(x) { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "job %d %s: %s: %s\n", job, form, #x, cudaGetErrorName(e_)); status = e_; cudaGetLastError(); } }

int main(int argc, char **argv) {
  FILE *jobs = fopen(argv[1], "r"), *cf = fopen(argv[2], "rb");
  out = fopen(argv[3], "wb");
  if (!jobs || !cf || !out) return 2;
  std::vector<u> coords;
  u word;
  while (fread(&word, 4, 1, cf) == 1) coords.push_back(word);
  cudaFree(0);
  for (int g = 0; g < NG; g++) { char f[32]; snprintf(f, 32, "g%d.cubin", g); int r = cuModuleLoad(&mods[g], f); if (r) { fprintf(stderr, "module %d: %d\n", g, r); mods[g] = nullptr; snprintf(f, 32, "g%d.ptx", g); r = cuModuleLoad(&mods[g], f); fprintf(stderr, "module %d by PTX: %d\n", g, r); if (r) mods[g] = nullptr; } }
  char form[64];
  int res, kind, bits, ch, w, h, d, flags, am[3], filter, read, norm, srgb, mipf, aniso, seam, mode, at, n, words, levels;
  u border[4], seed, bias, lmin, lmax;
  for (int job = 0;; job++) {
    if (fscanf(jobs, "%63s %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %x %x %x %x %d %x %x %x %d %d %d %u %d %d %d %d", form, &res, &kind, &bits, &ch, &w, &h, &d, &flags,
               am, am + 1, am + 2, &filter, &read, &norm, &srgb, border, border + 1, border + 2, border + 3, &mipf, &bias, &lmin, &lmax, &aniso, &seam, &levels,
               &seed, &mode, &at, &n, &words) != 32) break;
    Entry *entry = nullptr;
    for (auto &e : entries) if (!strcmp(e.name, form)) entry = &e;
    u status = 0;
    if (!entry) { fprintf(stderr, "no form %s\n", form); status = 9999; put(&status, 4); continue; }
    bool isSurface = form[0] == 's' && (form[1] == 'l' || form[1] == 's' || form[1] == 'p' || form[1] == 'r' || form[1] == 'q');
    bool isStore = form[0] == 's' && (form[1] == 's' || form[1] == 'p' || form[1] == 'r');
    cudaChannelFormatDesc desc = cudaCreateChannelDesc(bits, ch > 1 ? bits : 0, ch > 2 ? bits : 0, ch > 3 ? bits : 0, (cudaChannelFormatKind)kind);
    int texel = bits / 8 * ch;
    size_t H = h ? h : 1, D = d ? d : 1;
    if (flags & cudaArrayCubemap) D = (flags & cudaArrayLayered) ? 6 * (d / 6) : 6;
    std::vector<unsigned char> data;
    cudaResourceDesc rd = {};
    cudaArray_t array = nullptr;
    cudaMipmappedArray_t mip = nullptr;
    void *linear = nullptr;
    size_t pitch = 0;
    if (res == 0) {  // linear
      fill(data, kind, bits, ch, w, 1, 1, seed, mode);
      CHECK(cudaMalloc(&linear, data.size()));
      CHECK(cudaMemcpy(linear, data.data(), data.size(), cudaMemcpyHostToDevice));
      rd.resType = cudaResourceTypeLinear;
      rd.res.linear.devPtr = linear; rd.res.linear.desc = desc; rd.res.linear.sizeInBytes = data.size();
    } else if (res == 1) {
      fill(data, kind, bits, ch, w, H, 1, seed, mode);
      CHECK(cudaMallocPitch(&linear, &pitch, (size_t)w * texel, H));
      CHECK(cudaMemcpy2D(linear, pitch, data.data(), (size_t)w * texel, (size_t)w * texel, H, cudaMemcpyHostToDevice));
      rd.resType = cudaResourceTypePitch2D;
      rd.res.pitch2D.devPtr = linear; rd.res.pitch2D.desc = desc; rd.res.pitch2D.width = w; rd.res.pitch2D.height = H; rd.res.pitch2D.pitchInBytes = pitch;
    } else {
      for (int level = 0; level < (res == 3 ? levels : 1); level++) {
        cudaArray_t target;
        int lw = w >> level ? w >> level : 1, lh = h ? (h >> level ? h >> level : 1) : 0, ld = (flags & 5) ? d : d ? (d >> level ? d >> level : 1) : 0;
        if (res == 2) { CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d), flags)); target = array; }
        else {
          if (level == 0) { CHECK(cudaMallocMipmappedArray(&mip, &desc, make_cudaExtent(w, h, d), levels, flags)); }
          CHECK(cudaGetMipmappedArrayLevel(&target, mip, level));
        }
        if (status) break;
        size_t LH = lh ? lh : 1, LD = ld ? ld : 1;
        fill(data, kind, bits, ch, lw, LH, LD, seed + level, mode);
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(data.data(), (size_t)lw * texel, lw, LH);
        p.dstArray = target; p.extent = make_cudaExtent(lw, LH, LD); p.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&p));
      }
      if (res == 2) { rd.resType = cudaResourceTypeArray; rd.res.array.array = array; }
      else { rd.resType = cudaResourceTypeMipmappedArray; rd.res.mipmap.mipmap = mip; }
    }
    u64 handle = 0;
    if (!status) {
      if (isSurface) { CHECK(cudaCreateSurfaceObject((cudaSurfaceObject_t *)&handle, &rd)); }
      else {
        cudaTextureDesc td = {};
        for (int i = 0; i < 3; i++) td.addressMode[i] = (cudaTextureAddressMode)am[i];
        td.filterMode = (cudaTextureFilterMode)filter; td.readMode = (cudaTextureReadMode)read; td.normalizedCoords = norm; td.sRGB = srgb;
        memcpy(td.borderColor, border, 16);
        td.mipmapFilterMode = (cudaTextureFilterMode)mipf; td.maxAnisotropy = aniso; td.seamlessCubemap = seam;
        memcpy(&td.mipmapLevelBias, &bias, 4); memcpy(&td.minMipmapLevelClamp, &lmin, 4); memcpy(&td.maxMipmapLevelClamp, &lmax, 4);
        CHECK(cudaCreateTextureObject((cudaTextureObject_t *)&handle, &rd, &td, nullptr));
      }
    }
    std::vector<u> result((size_t)n * words);
    u *dc = nullptr, *dr = nullptr;
    if (!status) {
      size_t cw = (size_t)n * entry->stride;
      CHECK(cudaMalloc(&dc, cw * 4 + 4));
      CHECK(cudaMalloc(&dr, result.size() * 4 + 4));
      CHECK(cudaMemcpy(dc, coords.data() + at, cw * 4, cudaMemcpyHostToDevice));
      CHECK(cudaMemset(dr, 0xcd, result.size() * 4));
      Args a = {handle, dc, dr, n, words};
      char kname[80]; snprintf(kname, 80, "k_%s", form);
      CUfunction fn = nullptr; int lerr = 1000;
      for (int g = 0; g < NG && !fn; g++) if (mods[g] && cuModuleGetFunction(&fn, mods[g], kname) != CUDA_SUCCESS) fn = nullptr;
      if (!fn) { fprintf(stderr, "job %d %s: no function\n", job, form); status = 9998; }
      else {
        void *params[] = {&a};
        lerr = cuLaunchKernel(fn, isStore ? 1 : (n + 63) / 64, 1, 1, isStore ? 1 : 64, 1, 1, 0, 0, params, nullptr);
        if (lerr) { fprintf(stderr, "job %d %s: cuLaunchKernel: %d\n", job, form, lerr); status = 8000 + lerr; }
      }
      CHECK(cudaDeviceSynchronize());
      if (!status && !isStore) CHECK(cudaMemcpy(result.data(), dr, result.size() * 4, cudaMemcpyDeviceToHost));
      if (!status && isStore) {
        cudaMemcpy3DParms p = {};
        p.dstPtr = make_cudaPitchedPtr(data.data(), (size_t)w * texel, w, H);
        p.srcArray = array; p.extent = make_cudaExtent(w, H, D); p.kind = cudaMemcpyDeviceToHost;
        CHECK(cudaMemcpy3D(&p));
      }
    }
    put(&status, 4);
    if (!status) { if (isStore) put(data.data(), data.size()); else put(result.data(), result.size() * 4); }
    if (handle) { if (isSurface) cudaDestroySurfaceObject(handle); else cudaDestroyTextureObject(handle); }
    cudaFree(dc); cudaFree(dr); cudaFree(linear); cudaFreeArray(array); cudaFreeMipmappedArray(mip);
    cudaGetLastError();
  }
  fclose(out);
  return 0;
}
