// Output, assertions, memory and traps of device code. Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Trap Function",
// "Breakpoint Function", "Dynamic Global Memory Allocation and Operations".
#ifndef __CUMETAL_DEVICE_SYSTEM_H__
#define __CUMETAL_DEVICE_SYSTEM_H__

extern "C" {
__device__ int printf(const char *format, ...);
__device__ int vprintf(const char *format, __builtin_va_list arguments);
__device__ void *malloc(size_t size);
__device__ void free(void *pointer);
__device__ void __assertfail(const char *message, const char *file, unsigned int line, const char *function, size_t charSize);
}

__cumetal_device void __trap() { __asm__ volatile("trap;"); }
__cumetal_device void __brkpt() { __asm__ volatile("brkpt;"); }
__cumetal_device void __prof_trigger(int) {}

// What `assert` of C libraries calls: musl counts lines as `int`, glibc as `unsigned`.
__cumetal_device void __assert_fail(const char *message, const char *file, int line, const char *function) {
  __assertfail(message, file, (unsigned int)line, function, 1);
}
__cumetal_device void __assert_fail(const char *message, const char *file, unsigned int line, const char *function) {
  __assertfail(message, file, line, function, 1);
}

__cumetal_device void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
__cumetal_device void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
__cumetal_device void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
__cumetal_library int memcmp(const void *a, const void *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    int difference = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
    if (difference) return difference;
  }
  return 0;
}
__cumetal_library size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}
__cumetal_library int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}
__cumetal_library char *strcpy(char *to, const char *from) {
  char *at = to;
  while ((*at++ = *from++)) {
  }
  return to;
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ inline void *operator new(size_t size) { return malloc(size); }
__device__ inline void *operator new[](size_t size) { return malloc(size); }
__device__ inline void operator delete(void *pointer) noexcept { free(pointer); }
__device__ inline void operator delete[](void *pointer) noexcept { free(pointer); }
__device__ inline void operator delete(void *pointer, size_t) noexcept { free(pointer); }
__device__ inline void operator delete[](void *pointer, size_t) noexcept { free(pointer); }
__device__ inline void *operator new(size_t, void *place) noexcept { return place; }
__device__ inline void *operator new[](size_t, void *place) noexcept { return place; }
__device__ inline void operator delete(void *, void *) noexcept {}
__device__ inline void operator delete[](void *, void *) noexcept {}
#pragma clang diagnostic pop

#endif
