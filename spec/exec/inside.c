// A program with a runtime inside, as NVIDIA's compiler links it by default: these functions are never run under `cumetal exec`.
#include "cuda.h"
#include <stdio.h>

#define INNER(name) printf("inner %s\n", name), fflush(stdout), 999
__attribute__((noinline)) void **__cudaRegisterFatBinary(void *wrapper) { INNER("register"); return wrapper; }
__attribute__((noinline)) int cudaMalloc(void **to, size_t bytes) { *to = (void *)bytes; return INNER("malloc"); }
__attribute__((noinline)) int cudaGetDeviceCount(int *to) { *to = 77; return INNER("count"); }
// In CUDA's manual, and not in the table.
__attribute__((noinline)) int cudaImportExternalMemory(void *to) { (void)to; return INNER("external"); }
// Of the program itself.
__attribute__((noinline)) int cudaOfMyOwn(int x) { return printf("own %d\n", x); }

int main(void) {
  int count = 0;
  void *p = NULL;
  __cudaRegisterFatBinary(NULL);
  int status = cudaGetDeviceCount(&count);
  printf("count %d %d\n", status, count);
  status = cudaMalloc(&p, 16);
  printf("malloc %d %d\n", status, p != (void *)16);
  printf("external %d\n", cudaImportExternalMemory(&p));
  cudaOfMyOwn(3);
  return 4;
}
