// In front of NVIDIA's driver: what `cumetal record` preloads into a program on a machine with an NVIDIA GPU. The program runs on its GPU. Each
// launch is written to a log with what it was given and what memory held before and after it; `driver-log.ts` reads the log.
//
// Programs and NVIDIA's runtime, shared or inside a program, find the driver's functions by `dlsym` and `cuGetProcAddress`; both are replaced.
// Source: CUDA Driver API (`cuGetProcAddress`, `cuFuncGetParamInfo`, `cuMemGetAddressRange`).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t u64;
typedef uint32_t u32;
#define CM_EXPORT __attribute__((visibility("default")))

// The head of CUlaunchConfig.
typedef struct { u32 grid[3], block[3], shared; void *stream; void *attributes; u32 count; } cm_config;
typedef struct { u32 grid[3], block[3], shared; void *stream; } cm_shape;

enum { m_device = 1, m_image = 2, m_launch = 3, m_object = 4 };

static struct {
  pthread_mutex_t lock;
  char path[512];
  char *kernel, *variables;
  u64 limit, most, count, recorded;
  int file;
} cm = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

__attribute__((format(printf, 1, 2))) static void cm_say(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (length > (int)sizeof text - 1) length = sizeof text - 1;
  (void)!write(2, text, length);
}

// ── the log ──

typedef struct { char *bytes; size_t size, room; } cm_buffer;

static void *cm_more(cm_buffer *to, size_t size) {
  if (to->size + size > to->room) {
    to->room = 2 * (to->size + size);
    to->bytes = realloc(to->bytes, to->room);
    if (!to->bytes) abort();
  }
  to->size += size;
  return to->bytes + to->size - size;
}
static void cm_put(cm_buffer *to, const void *bytes, size_t size) { memcpy(cm_more(to, size), bytes, size); }
static void cm_put32(cm_buffer *to, u32 value) { cm_put(to, &value, 4); }
static void cm_put64(cm_buffer *to, u64 value) { cm_put(to, &value, 8); }

static void cm_log(u32 kind, const void *bytes, u64 size) {
  if (cm.file < 0) {
    char path[600];
    snprintf(path, sizeof path, "%s.%d", cm.path, getpid());
    cm.file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (cm.file < 0) return;
  }
  u64 head[2] = {kind, size};
  if (write(cm.file, head, sizeof head) != sizeof head) return;
  for (const char *at = bytes; size > 0;) {
    ssize_t done = write(cm.file, at, size);
    if (done <= 0) return;
    at += done, size -= done;
  }
}

// ── the driver ──

typedef void *(*cm_dlsym_t)(void *, const char *);
static cm_dlsym_t cm_real_dlsym(void) {
  static cm_dlsym_t real;
  if (!real) real = (cm_dlsym_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!real) real = (cm_dlsym_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (!real) real = (cm_dlsym_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
  return real;
}

// A function of the real driver by its exported name.
static void *cm_driver(const char *name) {
  static void *library;
  if (!library) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library ? cm_real_dlsym()(library, name) : NULL;
}
#define CM_DRIVER(name, list) \
  static int(*real) list; \
  if (!real) real = (int(*) list)cm_driver(name)

static int cm_range(u64 address, u64 *base, size_t *size) {
  CM_DRIVER("cuMemGetAddressRange_v2", (u64 *, size_t *, u64));
  return real && real(base, size, address) == 0;
}
static int cm_copy(void *to, u64 from, size_t size) {
  CM_DRIVER("cuMemcpyDtoH_v2", (void *, u64, size_t));
  return real && real(to, from, size) == 0;
}
static int cm_synchronize(void) {
  CM_DRIVER("cuCtxSynchronize", (void));
  return real ? real() : 1;
}
static int cm_is_capturing(void *stream) {
  CM_DRIVER("cuStreamIsCapturing", (void *, int *));
  int status = 0;
  return real && (real(stream, &status) != 0 || status != 0);
}

// A handle of a launch is a function, or a kernel of a library.
static void *cm_function_of(void *handle, const char **name) {
  CM_DRIVER("cuFuncGetName", (const char **, void *));
  *name = NULL;
  static int (*kernel_name)(const char **, void *), (*function_of)(void **, void *);
  if (!kernel_name) kernel_name = (int (*)(const char **, void *))cm_driver("cuKernelGetName");
  if (!function_of) function_of = (int (*)(void **, void *))cm_driver("cuKernelGetFunction");
  void *function = NULL;
  if (kernel_name && function_of && kernel_name(name, handle) == 0 && *name && function_of(&function, handle) == 0) return function;
  return real && real(name, handle) == 0 && *name ? handle : NULL;
}

static int cm_param(void *function, size_t index, size_t *size) {
  CM_DRIVER("cuFuncGetParamInfo", (void *, size_t, size_t *, size_t *));
  size_t offset;
  return real && real(function, index, &offset, size) == 0;
}

// ── a launch ──

typedef struct { u64 base; size_t size; char *before; } cm_memory;
#define CM_MOST_MEMORY 256
typedef struct { cm_memory list[CM_MOST_MEMORY]; u32 count; u64 bytes; int failed; } cm_reached;

// Addresses that allocations had, roughly: other words are not looked up.
static u64 cm_lowest = ~0ull, cm_highest;
static void cm_note_memory(u64 base, u64 size) {
  if (base < cm_lowest) cm_lowest = base;
  if (base + size > cm_highest) cm_highest = base + size;
}

static void cm_reach(cm_reached *reached, const char *bytes, size_t size);

static void cm_reach_word(cm_reached *reached, u64 word) {
  u64 base;
  size_t size;
  for (u32 i = 0; i < reached->count; i++)
    if (word >= reached->list[i].base && word - reached->list[i].base < reached->list[i].size) return;
  if (reached->failed || !cm_range(word, &base, &size)) return;
  cm_note_memory(base, size);
  reached->bytes += 2 * size;
  if (reached->count == CM_MOST_MEMORY || reached->bytes > cm.most) {
    reached->failed = 1;
    return;
  }
  char *before = malloc(size ? size : 1);
  if (!before || !cm_copy(before, base, size)) {
    free(before);
    reached->failed = 1;
    return;
  }
  reached->list[reached->count++] = (cm_memory){base, size, before};
  cm_reach(reached, before, size);
}

static void cm_reach(cm_reached *reached, const char *bytes, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    u64 word;
    memcpy(&word, bytes + at, 8);
    if (word >= cm_lowest && word < cm_highest) cm_reach_word(reached, word);
  }
}

// The values of parameters, each after its size.
static u32 cm_put_params(cm_buffer *to, void *function, void **params, cm_reached *reached) {
  u32 count = 0;
  size_t size;
  for (; cm_param(function, count, &size); count++) {
    cm_put32(to, (u32)size);
    cm_put(to, params[count], size);
    // Any word of a parameter may be an address: there are few.
    for (size_t at = 0; at + 8 <= size; at += 8) {
      u64 word;
      memcpy(&word, (char *)params[count] + at, 8);
      if (word > 0xffff) cm_reach_word(reached, word);
    }
  }
  return count;
}

// The module's variables, among those that the program's PTX names.
static u32 cm_put_variables(cm_buffer *to, void *function) {
  CM_DRIVER("cuFuncGetModule", (void **, void *));
  static int (*global)(u64 *, size_t *, void *, const char *);
  if (!global) global = (int (*)(u64 *, size_t *, void *, const char *))cm_driver("cuModuleGetGlobal_v2");
  void *module;
  u32 count = 0;
  if (!real || !global || !cm.variables || real(&module, function) != 0) return 0;
  for (char *name = cm.variables; *name; name += strlen(name) + 1) {
    u64 at;
    size_t size;
    if (global(&at, &size, module, name) != 0) continue;
    size_t start = to->size;
    cm_put32(to, (u32)strlen(name));
    cm_put32(to, (u32)size);
    cm_put(to, name, strlen(name));
    if (cm_copy(cm_more(to, size), at, size)) count++;
    else to->size = start;
  }
  return count;
}

typedef int (*cm_go)(const void *how, void *handle, void **params, void **extra);

// The files whose code this process may launch: the program, which has no name here, and its libraries.
static int cm_log_object(struct dl_phdr_info *info, size_t size, void *unused) {
  char program[512];
  (void)size, (void)unused;
  ssize_t length = info->dlpi_name && info->dlpi_name[0] ? 0 : readlink("/proc/self/exe", program, sizeof program);
  if (length > 0) cm_log(m_object, program, length);
  else if (info->dlpi_name && info->dlpi_name[0] == '/') cm_log(m_object, info->dlpi_name, strlen(info->dlpi_name));
  return 0;
}

static void cm_log_device(void) {
  static int (*device)(int *), (*name_of)(char *, int, int);
  char name[256] = {0};
  int number;
  if (device) return;
  dl_iterate_phdr(cm_log_object, NULL);
  device = (int (*)(int *))cm_driver("cuCtxGetDevice");
  name_of = (int (*)(char *, int, int))cm_driver("cuDeviceGetName");
  if (device && name_of && device(&number) == 0 && name_of(name, sizeof name - 1, number) == 0) cm_log(m_device, name, strlen(name));
}

static int cm_wants(const char *name) { return cm.recorded < cm.limit && (!cm.kernel || strcmp(cm.kernel, name) == 0); }

static int cm_record(const cm_shape *shape, void *handle, void **params, void **extra, cm_go go, const void *how) {
  pthread_mutex_lock(&cm.lock);
  u64 number = cm.count++;
  const char *name;
  void *function = cm_function_of(handle, &name);
  int result = -1;
  if (function && cm_wants(name) && !extra && !cm_is_capturing(shape->stream) && cm_synchronize() == 0) {
    cm_buffer parts = {0}, variables = {0}, log = {0};
    cm_reached reached = {0};
    u32 count = params ? cm_put_params(&parts, function, params, &reached) : 0;
    u32 variable_count = cm_put_variables(&variables, function);
    result = go(how, handle, params, extra);
    int failed = result != 0 || cm_synchronize() != 0;
    if (reached.failed) cm_say("cumetal record: launch %llu (%s) reaches too much memory\n", (unsigned long long)number, name);
    // What the driver refuses is no launch.
    else if (result == 0) {
      cm_log_device();
      cm_put64(&log, number);
      cm_put(&log, shape->grid, 12);
      cm_put(&log, shape->block, 12);
      for (u32 i = 0; i < 6; i++) cm_put32(&log, (u32[]){shape->shared, (u32)strlen(name), count, reached.count, variable_count, failed}[i]);
      cm_put(&log, name, strlen(name));
      cm_put(&log, parts.bytes, parts.size);
      for (u32 i = 0; i < reached.count; i++) {
        cm_put64(&log, reached.list[i].base);
        cm_put64(&log, reached.list[i].size);
        cm_put(&log, reached.list[i].before, reached.list[i].size);
        if (!failed && !cm_copy(cm_more(&log, reached.list[i].size), reached.list[i].base, reached.list[i].size)) reached.failed = 1;
      }
      cm_put(&log, variables.bytes, variables.size);
      if (!reached.failed) cm_log(m_launch, log.bytes, log.size), cm.recorded++;
    }
    for (u32 i = 0; i < reached.count; i++) free(reached.list[i].before);
    free(parts.bytes), free(variables.bytes), free(log.bytes);
  }
  pthread_mutex_unlock(&cm.lock);
  return result >= 0 ? result : go(how, handle, params, extra);
}

// ── the functions that are replaced, each with the real one; `_ptsz`: of programs whose default stream is each thread's ──

typedef int (*cm_launch_t)(void *, u32, u32, u32, u32, u32, u32, u32, void *, void **, void **);
typedef int (*cm_cooperative_t)(void *, u32, u32, u32, u32, u32, u32, u32, void *, void **);
typedef int (*cm_launch_ex_t)(const cm_config *, void *, void **, void **);

#define CM_LAUNCH(name) \
  static cm_launch_t real_##name; \
  static int go_##name(const void *how, void *handle, void **params, void **extra) { \
    const cm_shape *s = how; \
    return real_##name(handle, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->shared, s->stream, params, extra); \
  } \
  CM_EXPORT int name(void *handle, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **params, void **extra) { \
    if (!real_##name) real_##name = (cm_launch_t)cm_driver(#name); \
    cm_shape shape = {{gx, gy, gz}, {bx, by, bz}, shared, stream}; \
    return cm_record(&shape, handle, params, extra, go_##name, &shape); \
  }
#define CM_COOPERATIVE(name) \
  static cm_cooperative_t real_##name; \
  static int go_##name(const void *how, void *handle, void **params, void **extra) { \
    const cm_shape *s = how; \
    (void)extra; \
    return real_##name(handle, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->shared, s->stream, params); \
  } \
  CM_EXPORT int name(void *handle, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **params) { \
    if (!real_##name) real_##name = (cm_cooperative_t)cm_driver(#name); \
    cm_shape shape = {{gx, gy, gz}, {bx, by, bz}, shared, stream}; \
    return cm_record(&shape, handle, params, NULL, go_##name, &shape); \
  }
#define CM_LAUNCH_EX(name) \
  static cm_launch_ex_t real_##name; \
  static int go_##name(const void *how, void *handle, void **params, void **extra) { return real_##name(how, handle, params, extra); } \
  CM_EXPORT int name(const cm_config *config, void *handle, void **params, void **extra) { \
    if (!real_##name) real_##name = (cm_launch_ex_t)cm_driver(#name); \
    cm_shape shape; \
    memcpy(&shape, config, sizeof shape); \
    return cm_record(&shape, handle, params, extra, go_##name, config); \
  }
CM_LAUNCH(cuLaunchKernel)
CM_LAUNCH(cuLaunchKernel_ptsz)
CM_COOPERATIVE(cuLaunchCooperativeKernel)
CM_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)
CM_LAUNCH_EX(cuLaunchKernelEx)
CM_LAUNCH_EX(cuLaunchKernelEx_ptsz)

#define CM_ALLOCATE(name, list, args, size) \
  static int(*real_##name) list; \
  CM_EXPORT int name list { \
    if (!real_##name) real_##name = (int(*) list)cm_driver(#name); \
    int result = real_##name args; \
    if (result == 0) cm_note_memory(*to, size); \
    return result; \
  }
CM_ALLOCATE(cuMemAlloc_v2, (u64 * to, size_t bytes), (to, bytes), bytes)
CM_ALLOCATE(cuMemAllocManaged, (u64 * to, size_t bytes, u32 flags), (to, bytes, flags), bytes)
CM_ALLOCATE(cuMemAllocAsync, (u64 * to, size_t bytes, void *stream), (to, bytes, stream), bytes)
CM_ALLOCATE(cuMemAllocAsync_ptsz, (u64 * to, size_t bytes, void *stream), (to, bytes, stream), bytes)
CM_ALLOCATE(cuMemAllocPitch_v2, (u64 * to, size_t *pitch, size_t width, size_t height, u32 element), (to, pitch, width, height, element), *pitch *height)

// Code that the program makes while it runs; that in its file is read there.
static void cm_note_image(const void *image) {
  u32 magic;
  memcpy(&magic, image, 4);
  u64 size = 0;
  if (magic == 0xba55ed50) memcpy(&size, (const char *)image + 8, 8), size += 16;
  else if (magic != 0x464c457f && magic != 0x466243b1) size = strlen(image);
  pthread_mutex_lock(&cm.lock);
  if (size > 0) cm_log(m_image, image, size);
  pthread_mutex_unlock(&cm.lock);
}
#define CM_LOAD(name, list, args) \
  static int(*real_##name) list; \
  CM_EXPORT int name list { \
    if (!real_##name) real_##name = (int(*) list)cm_driver(#name); \
    if (image) cm_note_image(image); \
    return real_##name args; \
  }
CM_LOAD(cuModuleLoadData, (void **to, const void *image), (to, image))
CM_LOAD(cuModuleLoadDataEx, (void **to, const void *image, u32 count, void *options, void **values), (to, image, count, options, values))
CM_LOAD(cuLibraryLoadData, (void **to, const void *image, void *a, void **b, u32 c, void *d, void **e, u32 f), (to, image, a, b, c, d, e, f))

// ── how they are found ──

typedef struct { const char *name, *asked; int flags; void *function, **real; } cm_hook;
#define CM_HOOK(name, asked, flags) {#name, asked, flags, (void *)name, (void **)&real_##name}
enum { f_any = 0, f_plain = 1, f_thread = 2 };
static cm_hook cm_hooks[] = {
    CM_HOOK(cuLaunchKernel, "cuLaunchKernel", f_plain),
    CM_HOOK(cuLaunchKernel_ptsz, "cuLaunchKernel", f_thread),
    CM_HOOK(cuLaunchKernelEx, "cuLaunchKernelEx", f_plain),
    CM_HOOK(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", f_thread),
    CM_HOOK(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", f_plain),
    CM_HOOK(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", f_thread),
    CM_HOOK(cuMemAlloc_v2, "cuMemAlloc", f_any),
    CM_HOOK(cuMemAllocManaged, "cuMemAllocManaged", f_any),
    CM_HOOK(cuMemAllocAsync, "cuMemAllocAsync", f_plain),
    CM_HOOK(cuMemAllocAsync_ptsz, "cuMemAllocAsync", f_thread),
    CM_HOOK(cuMemAllocPitch_v2, "cuMemAllocPitch", f_any),
    CM_HOOK(cuModuleLoadData, "cuModuleLoadData", f_any),
    CM_HOOK(cuModuleLoadDataEx, "cuModuleLoadDataEx", f_any),
    CM_HOOK(cuLibraryLoadData, "cuLibraryLoadData", f_any),
    {0},
};

static int (*real_get_v2)(const char *, void **, int, u64, int *);
static int (*real_get)(const char *, void **, int, u64);
static int cm_get_v2(const char *, void **, int, u64, int *);
static int cm_get(const char *, void **, int, u64);

static void cm_replace(const char *name, void **function, u64 flags) {
  if (!*function || cm.path[0] == 0) return;
  if (strcmp(name, "cuGetProcAddress") == 0 || strcmp(name, "cuGetProcAddress_v2") == 0) {
    // Two functions have had this name; the one for older programs has an argument less.
    if (*function == cm_driver("cuGetProcAddress")) real_get = *function, *function = cm_get;
    else real_get_v2 = *function, *function = cm_get_v2;
    return;
  }
  for (cm_hook *hook = cm_hooks; hook->name; hook++) {
    int wanted = hook->flags == f_any || (hook->flags == f_thread) == ((flags & 2) != 0);
    if (!wanted || strcmp(hook->asked, name) != 0) continue;
    if (*function != hook->function) *hook->real = *function, *function = hook->function;
    return;
  }
}
static int cm_get_v2(const char *name, void **function, int version, u64 flags, int *status) {
  int result = real_get_v2(name, function, version, flags, status);
  if (result == 0 && function) cm_replace(name, function, flags);
  return result;
}
static int cm_get(const char *name, void **function, int version, u64 flags) {
  int result = real_get(name, function, version, flags);
  if (result == 0 && function) cm_replace(name, function, flags);
  return result;
}

// `dlsym` itself. The call of the real one is the last thing it does, so that RTLD_NEXT means next to the caller.
__attribute__((optimize("O2"))) CM_EXPORT void *dlsym(void *handle, const char *name) {
  if (cm.path[0] == 0 || strncmp(name, "cu", 2) != 0) return cm_real_dlsym()(handle, name);
  void *found = cm_real_dlsym()(handle, name);
  if (!found) return NULL;
  if (strcmp(name, "cuGetProcAddress_v2") == 0) return real_get_v2 = found, (void *)cm_get_v2;
  if (strcmp(name, "cuGetProcAddress") == 0) return real_get = found, (void *)cm_get;
  for (cm_hook *hook = cm_hooks; hook->name; hook++)
    if (strcmp(hook->name, name) == 0 && found != hook->function) return *hook->real = found, hook->function;
  return found;
}

// ── the start ──

static char *cm_read_variables(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
  // Names with a zero byte behind each, and one more.
  char *text = calloc(1, size + 2);
  if (file >= 0 && text && pread(file, text, size, 0) != size) text[0] = 0;
  if (file >= 0) close(file);
  return text;
}

static void cm_in_child(void) {
  cm.file = -1;
  pthread_mutex_init(&cm.lock, NULL);
}

__attribute__((constructor)) static void cm_start(void) {
  const char *path = getenv("CUMETAL_RECORD");
  if (!path || strlen(path) >= sizeof cm.path - 20) return;
  const char *limit = getenv("CUMETAL_RECORD_LIMIT"), *variables = getenv("CUMETAL_RECORD_VARIABLES");
  cm.limit = limit ? strtoull(limit, NULL, 10) : 100;
  cm.most = 1ull << 30;
  cm.kernel = getenv("CUMETAL_RECORD_KERNEL");
  if (variables) cm.variables = cm_read_variables(variables);
  pthread_atfork(NULL, NULL, cm_in_child);
  strcpy(cm.path, path);
}
