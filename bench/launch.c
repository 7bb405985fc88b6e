/* Launching an empty kernel through libcuda, from C: the peer of `npm run bench -- launch`. Arguments: a PTX file and how often. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int (*call)();

static void *library;

static call find(const char *name) {
  call found = (call)dlsym(library, name);
  if (found) return found;
  fprintf(stderr, "no %s\n", name);
  exit(1);
}

static void check(int result, const char *what) {
  if (result == 0) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, result);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

int main(int argc, char **argv) {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (argc < 3 || !library) return 4;
  int count = atoi(argv[2]), device;
  static char text[65536];
  FILE *file = fopen(argv[1], "rb");
  if (!file) return 2;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  void *context, *module, *kernel, *stream, *start, *end;
  unsigned long long memory;
  check(find("cuInit")(0), "cuInit");
  check(find("cuDeviceGet")(&device, 0), "cuDeviceGet");
  check(find("cuDevicePrimaryCtxRetain")(&context, device), "cuDevicePrimaryCtxRetain");
  check(find("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  check(find("cuModuleLoadDataEx")(&module, text, 0, NULL, NULL), "cuModuleLoadDataEx");
  check(find("cuModuleGetFunction")(&kernel, module, "nothing"), "cuModuleGetFunction");
  check(find("cuStreamCreate")(&stream, 0), "cuStreamCreate");
  check(find("cuEventCreate")(&start, 0), "cuEventCreate");
  check(find("cuEventCreate")(&end, 0), "cuEventCreate");
  check(find("cuMemAlloc_v2")(&memory, (size_t)4096), "cuMemAlloc");
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
      (void *)find("cuLaunchKernel");
  int (*wait)(void *) = (void *)find("cuStreamSynchronize");
  int (*record)(void *, void *) = (void *)find("cuEventRecord");
  int (*elapsed)(float *, void *, void *) = (void *)find("cuEventElapsedTime");
  float factor = 2.5f, ms;
  unsigned n = 7;
  void *args[] = {&memory, &n, &factor};
  for (int i = 0; i < count / 10 + 100; i++) check(launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL), "cuLaunchKernel");
  check(wait(stream), "cuStreamSynchronize");
  /* Bursts that fit the queue, so that it is the call that is timed and not the GPU. */
  double call_us = 0;
  for (int i = 0; i < count / 100; i++) {
    double from = now();
    for (int j = 0; j < 100; j++) launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
    call_us += now() - from;
    check(wait(stream), "cuStreamSynchronize");
  }
  double from = now();
  for (int i = 0; i < count; i++) {
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
    check(wait(stream), "cuStreamSynchronize");
  }
  double both_us = now() - from;
  from = now();
  for (int i = 0; i < count; i++) {
    record(start, stream);
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
    record(end, stream);
    check(wait(stream), "cuStreamSynchronize");
    check(elapsed(&ms, start, end), "cuEventElapsedTime");
  }
  double timed_us = now() - from;
  printf("%f %f %f\n", call_us / (count / 100 * 100), both_us / count, timed_us / count);
  return 0;
}
