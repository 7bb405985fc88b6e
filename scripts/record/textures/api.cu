// Results of the API: error codes and what descriptions say.
#include <cuda_runtime.h>
#include <cuda.h>
#include <cstdio>
#include <cstring>
#define P(x) { cudaError_t e_ = (x); printf("%d %s = %s\n", __LINE__, #x, cudaGetErrorName(e_)); cudaGetLastError(); }
#define D(x) { CUresult e_ = (x); const char *n_ = "?"; cuGetErrorName(e_, &n_); printf("%d %s = %s\n", __LINE__, #x, n_); }
static void info(cudaArray_t a) {
  cudaChannelFormatDesc d; cudaExtent e; unsigned f;
  cudaError_t r = cudaArrayGetInfo(&d, &e, &f, a);
  printf("  info %s: %d %d %d %d f=%d  %zu %zu %zu flags %u\n", cudaGetErrorName(r), d.x, d.y, d.z, d.w, d.f, e.width, e.height, e.depth, f);
  cudaGetLastError();
}
int main() {
  cudaFree(0);
  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
  printf("textureAlignment %zu texturePitchAlignment %zu surfaceAlignment %zu\n", p.textureAlignment, p.texturePitchAlignment, p.surfaceAlignment);
  printf("1D %d mip %d 2D %d %d mip %d %d linear %d %d %d gather %d %d 3D %d %d %d alt %d %d %d cube %d 1Dl %d %d 2Dl %d %d %d cubel %d %d\n", p.maxTexture1D, p.maxTexture1DMipmap, p.maxTexture2D[0], p.maxTexture2D[1],
   p.maxTexture2DMipmap[0], p.maxTexture2DMipmap[1], p.maxTexture2DLinear[0], p.maxTexture2DLinear[1], p.maxTexture2DLinear[2], p.maxTexture2DGather[0], p.maxTexture2DGather[1], p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2],
   p.maxTexture3DAlt[0], p.maxTexture3DAlt[1], p.maxTexture3DAlt[2], p.maxTextureCubemap, p.maxTexture1DLayered[0], p.maxTexture1DLayered[1], p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2], p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[1]);
  printf("surf 1D %d 2D %d %d 3D %d %d %d 1Dl %d %d 2Dl %d %d %d cube %d cubel %d %d\n", p.maxSurface1D, p.maxSurface2D[0], p.maxSurface2D[1], p.maxSurface3D[0], p.maxSurface3D[1], p.maxSurface3D[2], p.maxSurface1DLayered[0], p.maxSurface1DLayered[1],
   p.maxSurface2DLayered[0], p.maxSurface2DLayered[1], p.maxSurface2DLayered[2], p.maxSurfaceCubemap, p.maxSurfaceCubemapLayered[0], p.maxSurfaceCubemapLayered[1]);
  cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>(), f4 = cudaCreateChannelDesc<float4>(), u1 = cudaCreateChannelDesc<unsigned char>(), i1 = cudaCreateChannelDesc<int>();
  cudaChannelFormatDesc f3 = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat), odd = cudaCreateChannelDesc(5, 0, 0, 0, cudaChannelFormatKindUnsigned), mixed = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
  cudaChannelFormatDesc f8 = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat), gap = cudaCreateChannelDesc(8, 0, 8, 0, cudaChannelFormatKindUnsigned), zero = cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindUnsigned), none = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindNone), d64 = cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t a = 0, b = 0, c = 0;
  P(cudaMallocArray(&a, &f1, 16, 8)); info(a);
  P(cudaMallocArray(&b, &f1, 16)); info(b);
  P(cudaMallocArray(&c, &f1, 0)); 
  P(cudaMallocArray(&c, &f1, 0, 8));
  P(cudaMallocArray(&c, &f3, 16, 8));
  P(cudaMallocArray(&c, &odd, 16, 8));
  P(cudaMallocArray(&c, &mixed, 16, 8));
  P(cudaMallocArray(&c, &f8, 16, 8));
  P(cudaMallocArray(&c, &gap, 16, 8));
  P(cudaMallocArray(&c, &zero, 16, 8));
  P(cudaMallocArray(&c, &none, 16, 8));
  P(cudaMallocArray(&c, &d64, 16, 8));
  P(cudaMallocArray(&c, &f1, 200000, 8));
  P(cudaMallocArray(&c, &f1, 131073));
  P(cudaMallocArray(&c, &f1, 16, 8, cudaArraySurfaceLoadStore)); info(c); P(cudaFreeArray(c));
  P(cudaMallocArray(&c, &f1, 16, 8, cudaArrayTextureGather)); info(c); P(cudaFreeArray(c));
  P(cudaMallocArray(&c, &f1, 16, 8, cudaArrayTextureGather | cudaArraySurfaceLoadStore)); info(c); P(cudaFreeArray(c));
  P(cudaMallocArray(&c, &f1, 16, 8, cudaArrayLayered));
  P(cudaMallocArray(&c, &f1, 16, 16, cudaArrayCubemap));
  P(cudaMallocArray(&c, &f1, 16, 16, 0x100));
  P(cudaMallocArray(nullptr, &f1, 16, 16));
  P(cudaMallocArray(&c, nullptr, 16, 16));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 0, 0))); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 8, 4))); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 0, 4)));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 0, 4), cudaArrayLayered)); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 8, 4), cudaArrayLayered)); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 8, 0), cudaArrayLayered));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 16, 6), cudaArrayCubemap)); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 8, 6), cudaArrayCubemap));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 16, 5), cudaArrayCubemap));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 16, 12), cudaArrayCubemap | cudaArrayLayered)); info(c); P(cudaFreeArray(c));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 16, 13), cudaArrayCubemap | cudaArrayLayered));
  P(cudaMalloc3DArray(&c, &f1, make_cudaExtent(16, 8, 4), cudaArrayTextureGather));
  cudaMipmappedArray_t m = 0;
  P(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(16, 8, 0), 5)); P(cudaGetMipmappedArrayLevel(&c, m, 0)); info(c); P(cudaGetMipmappedArrayLevel(&c, m, 4)); info(c); P(cudaGetMipmappedArrayLevel(&c, m, 5));
  P(cudaFreeArray(c));
  P(cudaFreeMipmappedArray(m));
  P(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(16, 8, 0), 9)); P(cudaGetMipmappedArrayLevel(&c, m, 4)); info(c); P(cudaGetMipmappedArrayLevel(&c, m, 5));
  P(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(16, 8, 0), 0));
  P(cudaFreeArray(0)); P(cudaFreeMipmappedArray(0));
  // copies
  static float h[4096];
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 9, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 4, 0, h, 64, 64, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 2, 0, h, 64, 32, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 30, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 32, 64, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 0, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 8, cudaMemcpyDeviceToHost));
  P(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 8, cudaMemcpyDefault));
  P(cudaMemcpy2DToArray(0, 0, 0, h, 64, 64, 8, cudaMemcpyHostToDevice));
  P(cudaMemcpy2DFromArray(h, 64, a, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
  P(cudaMemcpy2DArrayToArray(a, 0, 0, a, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  P(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, 64, 1, cudaMemcpyDeviceToDevice));
  P(cudaMemcpyToArray(a, 0, 0, h, 512, cudaMemcpyHostToDevice));
  P(cudaMemcpyToArray(a, 0, 0, h, 516, cudaMemcpyHostToDevice));
  P(cudaMemcpyToArray(a, 4, 1, h, 100, cudaMemcpyHostToDevice));
  P(cudaMemcpyToArray(b, 0, 0, h, 64, cudaMemcpyHostToDevice));
  P(cudaMemcpyToArray(b, 0, 0, h, 68, cudaMemcpyHostToDevice));
  P(cudaMemcpyFromArray(h, a, 4, 1, 100, cudaMemcpyDeviceToHost));
  P(cudaMemcpyArrayToArray(a, 0, 0, b, 0, 0, 64, cudaMemcpyDeviceToDevice));
  { cudaMemcpy3DParms q = {}; q.srcPtr = make_cudaPitchedPtr(h, 64, 16, 8); q.dstArray = a; q.extent = make_cudaExtent(16, 8, 1); q.kind = cudaMemcpyHostToDevice; P(cudaMemcpy3D(&q));
    q.extent = make_cudaExtent(16, 8, 0); P(cudaMemcpy3D(&q)); q.extent = make_cudaExtent(17, 8, 1); P(cudaMemcpy3D(&q)); q.extent = make_cudaExtent(16, 8, 2); P(cudaMemcpy3D(&q)); q.extent = make_cudaExtent(15, 8, 1); q.dstPos = make_cudaPos(2, 0, 0); P(cudaMemcpy3D(&q));
    q.extent = make_cudaExtent(4, 4, 1); q.dstPos = make_cudaPos(2, 1, 0); q.srcPos = make_cudaPos(3, 1, 0); for (int i = 0; i < 4096; i++) h[i] = i; P(cudaMemcpy3D(&q));
    cudaMemcpy2DFromArray(h, 64, a, 0, 0, 64, 8, cudaMemcpyDeviceToHost); printf("  %g %g %g\n", h[16 + 2], h[16 + 3], h[32 + 2]);
    q.dstPtr = make_cudaPitchedPtr(h, 64, 16, 8); P(cudaMemcpy3D(&q)); q.dstPtr = make_cudaPitchedPtr(0, 0, 0, 0); q.dstArray = 0; P(cudaMemcpy3D(&q)); }
  // objects
  cudaTextureObject_t t = 0, t2 = 0; cudaSurfaceObject_t s = 0;
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  cudaTextureDesc td = {};
  P(cudaCreateTextureObject(&t, &r, &td, nullptr)); printf("  handle %llx\n", t);
  P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); printf("  handle %llx\n", t2);
  P(cudaCreateSurfaceObject(&s, &r)); printf("  handle %llx\n", s);
  { cudaResourceDesc q = {}; P(cudaGetTextureObjectResourceDesc(&q, t)); printf("  %d %d flags %u\n", q.resType, q.res.array.array == a, q.flags); cudaTextureDesc x = {}; td.mipmapLevelBias = 2; td.maxAnisotropy = 3; P(cudaGetTextureObjectTextureDesc(&x, t)); cudaResourceViewDesc v = {}; P(cudaGetTextureObjectResourceViewDesc(&v, t)); printf("  view %d %zu %zu %zu\n", v.format, v.width, v.height, v.depth); P(cudaGetSurfaceObjectResourceDesc(&q, s)); }
  td = {};
  P(cudaDestroyTextureObject(t2)); P(cudaDestroyTextureObject(t2)); P(cudaDestroyTextureObject(0)); P(cudaDestroyTextureObject(12345678)); P(cudaDestroySurfaceObject(0)); P(cudaDestroySurfaceObject(s)); P(cudaDestroySurfaceObject(s));
  P(cudaGetTextureObjectResourceDesc(&r, 99999));
  r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  P(cudaCreateTextureObject(&t2, &r, nullptr, nullptr));
  P(cudaCreateTextureObject(&t2, nullptr, &td, nullptr));
  P(cudaCreateTextureObject(nullptr, &r, &td, nullptr));
  r.res.array.array = 0; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); P(cudaCreateSurfaceObject(&s, &r)); r.res.array.array = a;
  cudaArray_t ia, ua, ca; cudaMallocArray(&ia, &i1, 16, 8); cudaMallocArray(&ua, &u1, 16, 8); cudaMalloc3DArray(&ca, &f1, make_cudaExtent(16, 16, 6), cudaArrayCubemap);
  r.res.array.array = ia; td.readMode = cudaReadModeNormalizedFloat; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  td.readMode = cudaReadModeElementType; td.filterMode = cudaFilterModeLinear; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.array.array = ua; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td.readMode = cudaReadModeNormalizedFloat; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.array.array = ca; td = {}; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td.normalizedCoords = 1; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.array.array = a; td = {}; td.addressMode[0] = (cudaTextureAddressMode)7; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td.addressMode[0] = cudaAddressModeWrap; td.filterMode = (cudaTextureFilterMode)5; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  td = {}; td.readMode = cudaReadModeNormalizedFloat; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td = {}; td.sRGB = 1; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td = {}; td.maxAnisotropy = 99; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  td = {}; void *lin; cudaMalloc(&lin, 1 << 20); r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = lin; r.res.linear.desc = f1; r.res.linear.sizeInBytes = 1000; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.linear.sizeInBytes = 1001; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.linear.sizeInBytes = 3; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.linear.sizeInBytes = 0; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.linear.sizeInBytes = 1000; r.res.linear.devPtr = (char *)lin + 16; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.linear.devPtr = 0; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.linear.devPtr = lin; r.res.linear.sizeInBytes = 1u << 30; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.linear.sizeInBytes = 1000; r.res.linear.desc = f3; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.linear.desc = f1; P(cudaCreateSurfaceObject(&s, &r));
  r.res.linear.devPtr = h; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r = {}; r.resType = cudaResourceTypePitch2D; r.res.pitch2D.devPtr = lin; r.res.pitch2D.desc = f1; r.res.pitch2D.width = 16; r.res.pitch2D.height = 8; r.res.pitch2D.pitchInBytes = 512; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  for (size_t pitch : {64, 32, 65, 96, 80, 100}) { r.res.pitch2D.pitchInBytes = pitch; printf("pitch %zu ", pitch); P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); }
  r.res.pitch2D.pitchInBytes = 512; r.res.pitch2D.devPtr = (char *)lin + 32; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.pitch2D.devPtr = (char *)lin + 256; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); r.res.pitch2D.devPtr = lin; r.res.pitch2D.width = 0; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r.res.pitch2D.width = 16; td.filterMode = cudaFilterModeLinear; td.normalizedCoords = 1; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  td = {}; td.filterMode = cudaFilterModeLinear; r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = lin; r.res.linear.desc = f1; r.res.linear.sizeInBytes = 1000; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td.normalizedCoords = 1; td.addressMode[0] = cudaAddressModeWrap; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  td = {}; r = {}; r.resType = (cudaResourceType)9; P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  r = {}; r.resType = cudaResourceTypeMipmappedArray; cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(16, 8, 0), 5); r.res.mipmap.mipmap = m; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); td.normalizedCoords = 1; P(cudaCreateTextureObject(&t2, &r, &td, nullptr)); P(cudaCreateSurfaceObject(&s, &r));
  cudaArray_t l0; cudaGetMipmappedArrayLevel(&l0, m, 1); r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = l0; P(cudaCreateSurfaceObject(&s, &r)); P(cudaCreateTextureObject(&t2, &r, &td, nullptr));
  { cudaResourceViewDesc v = {}; v.format = cudaResViewFormatFloat1; v.width = 16; v.height = 8; r.res.array.array = a; P(cudaCreateTextureObject(&t2, &r, &td, &v)); v.format = cudaResViewFormatUnsignedInt1; P(cudaCreateTextureObject(&t2, &r, &td, &v)); v.width = 8; P(cudaCreateTextureObject(&t2, &r, &td, &v)); }
  size_t off = 0; size_t mw = 0; P(cudaDeviceGetTexture1DLinearMaxWidth(&mw, &f1, 0)); printf("  %zu\n", mw); P(cudaDeviceGetTexture1DLinearMaxWidth(&mw, &f4, 0)); printf("  %zu %zu\n", mw, off);
  size_t pitch; P(cudaMallocPitch(&lin, &pitch, 100, 10)); printf("  pitch %zu\n", pitch); P(cudaMallocPitch(&lin, &pitch, 513, 10)); printf("  pitch %zu\n", pitch); P(cudaMallocPitch(&lin, &pitch, 0, 10)); P(cudaMallocPitch(&lin, &pitch, 10, 0));
  cudaChannelFormatDesc gd; P(cudaGetChannelDesc(&gd, a)); printf("  %d %d %d %d %d\n", gd.x, gd.y, gd.z, gd.w, gd.f); P(cudaGetChannelDesc(&gd, 0));
  // driver
  CUarray da; CUDA_ARRAY_DESCRIPTOR ad = {16, 8, CU_AD_FORMAT_FLOAT, 1}; D(cuArrayCreate(&da, &ad)); CUDA_ARRAY_DESCRIPTOR ad2; D(cuArrayGetDescriptor(&ad2, da)); printf("  %zu %zu %d %u\n", ad2.Width, ad2.Height, ad2.Format, ad2.NumChannels);
  CUDA_ARRAY3D_DESCRIPTOR a3 = {16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, a4; CUarray db; D(cuArray3DCreate(&db, &a3)); D(cuArray3DGetDescriptor(&a4, db)); printf("  %zu %zu %zu %d %u %u\n", a4.Width, a4.Height, a4.Depth, a4.Format, a4.NumChannels, a4.Flags); D(cuArrayGetDescriptor(&ad2, db)); D(cuArray3DGetDescriptor(&a4, da)); printf("  %zu %zu %zu %d %u %u\n", a4.Width, a4.Height, a4.Depth, a4.Format, a4.NumChannels, a4.Flags);
  ad.NumChannels = 3; D(cuArrayCreate(&da, &ad)); ad.NumChannels = 1; ad.Width = 0; D(cuArrayCreate(&da, &ad));
  CUDA_MEMCPY2D mc = {}; mc.srcMemoryType = CU_MEMORYTYPE_HOST; mc.srcHost = h; mc.srcPitch = 64; mc.dstMemoryType = CU_MEMORYTYPE_ARRAY; mc.dstArray = (CUarray)a; mc.WidthInBytes = 64; mc.Height = 8; D(cuMemcpy2D(&mc)); mc.Height = 9; D(cuMemcpy2D(&mc)); mc.Height = 0; D(cuMemcpy2D(&mc));
  CUDA_RESOURCE_DESC rd = {}; rd.resType = CU_RESOURCE_TYPE_ARRAY; rd.res.array.hArray = (CUarray)a; CUDA_TEXTURE_DESC ct = {}; CUtexObject co; D(cuTexObjectCreate(&co, &rd, &ct, nullptr)); printf("  handle %llx\n", co); CUDA_TEXTURE_DESC cg; D(cuTexObjectGetTextureDesc(&cg, co)); printf("  flags %u\n", cg.flags); D(cuTexObjectDestroy(co)); D(cuArrayDestroy((CUarray)b)); D(cuArrayDestroy(0));
  { cudaTextureObject_t u; r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = ua; td = {}; cudaCreateTextureObject(&u, &r, &td, nullptr); D(cuTexObjectGetTextureDesc(&cg, u)); printf("  flags %u\n", cg.flags); td.readMode = cudaReadModeNormalizedFloat; td.normalizedCoords = 1; td.maxAnisotropy = 4; cudaCreateTextureObject(&u, &r, &td, nullptr); D(cuTexObjectGetTextureDesc(&cg, u)); printf("  flags %u aniso %u\n", cg.flags, cg.maxAnisotropy); }
  size_t fr0, fr1, tot; cudaMemGetInfo(&fr0, &tot); cudaMallocArray(&c, &f1, 4096, 4096); cudaMemGetInfo(&fr1, &tot); printf("array memory %zu\n", fr0 - fr1);
  P(cudaFreeArray(a));
  P(cudaDeviceSynchronize());
  return 0;
}
