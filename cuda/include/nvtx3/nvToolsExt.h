// NVTX ranges and marks: names that no tool reads, so each is a function that does nothing. Source: NVTX, "C API".
#ifndef __CUMETAL_NVTX_H__
#define __CUMETAL_NVTX_H__

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
  } payload;
  int32_t messageType;
  union {
    const char *ascii;
    const wchar_t *unicode;
  } message;
} nvtxEventAttributes_t;

static inline int nvtxRangePushA(const char *message) { return message ? 0 : 0; }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *attributes) { return attributes ? 0 : 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *message) { return message ? 1 : 1; }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
static inline void nvtxMarkA(const char *message) { (void)message; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name) { return name ? 0 : 0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline void nvtxNameOsThreadA(uint32_t id, const char *name) { (void)id, (void)name; }
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA

#endif
