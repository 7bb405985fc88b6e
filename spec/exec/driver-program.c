// Finds the driver as NVIDIA's runtime does, and launches a kernel whose code is in the program.
#include "image.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((section(".nv_fatbin"), aligned(8), used)) static const unsigned char code[sizeof image] = IMAGE;

int main(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*get)(const char *, void **, int, uint64_t, int *) = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
  int (*allocate)(uint64_t *, size_t), (*copy)(uint64_t, const void *, size_t), (*kernel_of)(void **, void *, const char *);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  int status;
  void *kernel;
  uint64_t at, inner;
  float values[100];
  unsigned count = 50;
  if (!get || get("cuMemAlloc", (void **)&allocate, 12000, 0, &status) || get("cuMemcpyHtoD", (void **)&copy, 12000, 0, &status)) return 1;
  if (get("cuLaunchKernel", (void **)&launch, 12000, 0, &status) || get("cuLibraryGetKernel", (void **)&kernel_of, 12000, 0, &status)) return 2;
  for (int i = 0; i < 100; i++) values[i] = i;
  if (allocate(&at, sizeof values) || copy(at, values, sizeof values) || kernel_of(&kernel, NULL, "scale")) return 3;
  // From the eleventh number on.
  inner = at + 40;
  void *params[] = {&inner, &count};
  if (launch(kernel, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL)) return 4;
  // A captured launch is not one that runs.
  if (launch(kernel, 2, 1, 1, 32, 1, 1, 0, values, params, NULL)) return 5;
  printf("%g %g %g\n", ((float *)at)[9], ((float *)at)[10], ((float *)at)[60]);
  return 6;
}
