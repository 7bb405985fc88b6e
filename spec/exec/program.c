// A program as NVIDIA's compiler makes it: it registers its code before `main`, and calls kernels through stubs. It prints what it computes.
#include "cuda.h"
#include "image.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct { int magic, version; const void *data; void *name; } wrapper = {0x466243b1, 1, image, NULL};
static void **handle;
static float factor;
static uint32_t *both;

static void scale(float *p, uint32_t n) {
  void *args[] = {&p, &n};
  dim3 grid, block;
  size_t shared;
  void *stream;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == 0) cudaLaunchKernel((void *)scale, grid, block, args, shared, stream);
}
static void twice(void) { cudaLaunchKernel((void *)twice, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL); }
static void forever(uint32_t *p) { cudaLaunchKernel((void *)forever, (dim3){1, 1, 1}, (dim3){1, 1, 1}, (void *[]){&p}, 0, NULL); }

static void done(void) { __cudaUnregisterFatBinary(handle); }
__attribute__((constructor)) static void begin(void) {
  handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, (char *)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, (char *)twice, "twice", "twice", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, (char *)forever, "forever", "forever", -1, 0, 0, 0, 0, 0);
  __cudaRegisterVar(handle, (char *)&factor, "factor", "factor", 0, 4, 1, 0);
  __cudaRegisterManagedVar(handle, (void **)&both, "both", "both", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  atexit(done);
}

// Sets an error of its own, and sees no other thread's.
static void *work(void *arg) {
  void *p;
  int value = (int)(intptr_t)arg, back = -1;
  if (cudaMalloc(&p, 64) || cudaMemcpy(p, &value, 4, 1) || cudaMemcpy(&back, p, 4, 2) || cudaFree(p)) return (void *)1;
  cudaFree((void *)12345);
  return (void *)(intptr_t)(back != value || cudaPeekAtLastError() != 1 || cudaGetLastError() != 1 || cudaGetLastError() != 0);
}

static void called(void *arg) {
  void *p;
  *(int *)arg = cudaMalloc(&p, 8) == 0 && cudaFree(p) == 0;
}

static int everything(void) {
  enum { n = 1000, threads = 300 };
  static float host[n];
  float three = 3, *device, *shared;
  int count = -1;
  char properties[2048];
  for (int i = 0; i < n; i++) host[i] = i;
  memset(properties, 0x55, sizeof properties);
  printf("count %d\n", cudaGetDeviceCount(&count) == 0 ? count : -1);
  cudaMalloc((void **)&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, 1);
  cudaMemcpyToSymbol(&factor, &three, 4, 0, 1);
  if (__cudaPushCallConfiguration((dim3){8, 1, 1}, (dim3){128, 1, 1}, 0, NULL) == 0) scale(device, n);
  cudaMemcpy(host, device, sizeof host, 2);
  printf("scale %s %g %g\n", cudaGetErrorName(cudaGetLastError()), host[1], host[999]);
  cudaMallocManaged((void **)&shared, sizeof host, 1);
  for (int i = 0; i < n; i++) shared[i] = 2 * i;
  __cudaPushCallConfiguration((dim3){8, 1, 1}, (dim3){128, 1, 1}, 0, NULL);
  scale(shared, n);
  printf("managed %g %g\n", shared[1], shared[999]);
  uint32_t most = n;
  int together = cudaLaunchCooperativeKernel((void *)scale, (dim3){8, 1, 1}, (dim3){128, 1, 1}, (void *[]){&shared, &most}, 0, NULL);
  printf("together %d %g\n", together, shared[999]);
  __cudaInitModule(handle);
  *both += 1;
  twice();
  printf("variable %u\n", *both);
  pthread_t ids[threads];
  int bad = 0;
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, work, (void *)(intptr_t)i);
  for (int i = 0; i < threads; i++) {
    void *result;
    pthread_join(ids[i], &result);
    bad += result != NULL;
  }
  printf("threads %d\n", bad);
  int nested = 0;
  printf("callback %d", cudaLaunchHostFunc(NULL, called, &nested));
  printf(" %d\n", nested);
  printf("pointers %d %d\n", cudaMalloc((void **)8, 4), cudaMemcpy(device, (void *)0x10000000000, 16, 1));
  // The struct of release 12 and earlier, under the name that they give it: it ends before byte 729.
  int status = cudaGetDeviceProperties(properties, 0);
  printf("properties %d %d %d\n", status, *(int *)(properties + 308), properties[728]);
  printf("missing %d\n", cudaNoSuchFunction(1));
  fflush(stdout);
  if (fork() == 0) {
    void *p;
    printf("child %s\n", cudaGetErrorName(0) ? "" : "none");
    printf("child %d\n", cudaMalloc(&p, 4));
    fflush(stdout);
    _exit(5);
  }
  wait(&status);
  printf("parent %d %d\n", WEXITSTATUS(status), cudaFree(device));
  return 7;
}

int main(int count, char **words) {
  void *p;
  if (count == 1) return everything();
  if (strcmp(words[1], "outside") == 0 && cudaMalloc(&p, 40) == 0) {
    __cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, NULL);
    scale(p, 11);
    return 0;
  }
  if (strcmp(words[1], "wait") == 0) {
    printf("waiting\n");
    fflush(stdout);
    for (;;) pause();
  }
  if (strcmp(words[1], "forever") == 0 && cudaMalloc(&p, 4) == 0) {
    // The code is compiled before the kernel starts that never ends.
    twice();
    printf("waiting\n");
    fflush(stdout);
    forever(p);
  }
  return 1;
}
