/* Aligned memory by the names of older systems. Source: the manual of GNU's C library, "Allocating Aligned Memory Blocks". */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

void *memalign(size_t alignment, size_t size) {
  void *pointer;
  if (alignment < sizeof pointer) alignment = sizeof pointer;
  return posix_memalign(&pointer, alignment, size) == 0 ? pointer : 0;
}

void *valloc(size_t size) { return memalign(getpagesize(), size); }
