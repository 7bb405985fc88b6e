// Dynamic libraries: a program of WebAssembly has none, so that each call fails and says so. Source: POSIX.1-2024, <dlfcn.h>.
#ifndef __CUMETAL_DLFCN_H__
#define __CUMETAL_DLFCN_H__

#include <stddef.h>

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 0x100
#define RTLD_DEFAULT ((void *)0)
#define RTLD_NEXT ((void *)-1)

static inline void *dlopen(const char *, int) { return NULL; }
static inline void *dlsym(void *, const char *) { return NULL; }
static inline int dlclose(void *) { return -1; }
static inline char *dlerror(void) { return (char *)"a program of WebAssembly loads no libraries"; }

#endif
