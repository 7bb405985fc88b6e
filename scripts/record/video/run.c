#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(x) do { CUresult r = (x); if (r) { printf("%s %d\n", #x, (int)r); return 1; } } while (0)
static char *text(const char *name, size_t *size) { FILE *f = fopen(name, "rb"); fseek(f, 0, SEEK_END); *size = ftell(f); rewind(f); char *p = malloc(*size + 1); fread(p, 1, *size, f); p[*size] = 0; fclose(f); return p; }
int main(int argc, char **argv) {
  size_t n, m; char *image = text(argv[1], &n), *in = text("input.bin", &m); int forms = atoi(argv[3]);
  CUdevice d; CUcontext c; CUmodule mod; CUdeviceptr p, q; OK(cuInit(0)); OK(cuDeviceGet(&d, 0)); OK(cuDevicePrimaryCtxRetain(&c, d)); OK(cuCtxSetCurrent(c));
  OK(cuModuleLoadData(&mod, image)); OK(cuMemAlloc(&p, m)); OK(cuMemAlloc(&q, forms * 64)); OK(cuMemcpyHtoD(p, in, m));
  for (int k = 0; k * 64 < forms; k++) { char name[20]; snprintf(name, 20, "k%d", k); CUfunction f; OK(cuModuleGetFunction(&f, mod, name)); CUdeviceptr at = q; void *args[] = {&p, &at}; OK(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, 0, args, 0)); }
  OK(cuCtxSynchronize()); char *out = malloc(forms * 64); OK(cuMemcpyDtoH(out, q, forms * 64)); FILE *f = fopen(argv[2], "wb"); fwrite(out, 64, forms, f); fclose(f); return 0;
}
