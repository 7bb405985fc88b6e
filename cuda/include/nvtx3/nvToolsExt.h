// NVTX ranges and marks: names that no tool reads, so each is a function that does nothing. Source: NVTX, "C API".
#ifndef __CUMETAL_NVTX_H__
#define __CUMETAL_NVTX_H__

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3,
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6,
} nvtxPayloadType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;
typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

// Handles are null, and nesting is not counted.
#define __cumetal_nvtx(result, name, arguments, value) \
  static inline result name arguments { return value; }
#define __cumetal_nvtx_texts(result, name, value, ...) \
  __cumetal_nvtx(result, name##A, (__VA_ARGS__ const char *), value) \
  __cumetal_nvtx(result, name##W, (__VA_ARGS__ const wchar_t *), value)
__cumetal_nvtx_texts(int, nvtxRangePush, 0, )
__cumetal_nvtx_texts(nvtxRangeId_t, nvtxRangeStart, 1, )
__cumetal_nvtx_texts(void, nvtxMark, (void)0, )
__cumetal_nvtx(int, nvtxRangePushEx, (const nvtxEventAttributes_t *), 0)
__cumetal_nvtx(int, nvtxRangePop, (void), 0)
__cumetal_nvtx(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *), 1)
__cumetal_nvtx(void, nvtxRangeEnd, (nvtxRangeId_t), (void)0)
__cumetal_nvtx(void, nvtxMarkEx, (const nvtxEventAttributes_t *), (void)0)
__cumetal_nvtx_texts(nvtxDomainHandle_t, nvtxDomainCreate, NULL, )
__cumetal_nvtx(void, nvtxDomainDestroy, (nvtxDomainHandle_t), (void)0)
__cumetal_nvtx(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), 0)
__cumetal_nvtx(int, nvtxDomainRangePop, (nvtxDomainHandle_t), 0)
__cumetal_nvtx(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), 1)
__cumetal_nvtx(void, nvtxDomainRangeEnd, (nvtxDomainHandle_t, nvtxRangeId_t), (void)0)
__cumetal_nvtx(void, nvtxDomainMarkEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), (void)0)
__cumetal_nvtx_texts(nvtxStringHandle_t, nvtxDomainRegisterString, NULL, nvtxDomainHandle_t, )
__cumetal_nvtx_texts(void, nvtxDomainNameCategory, (void)0, nvtxDomainHandle_t, uint32_t, )
__cumetal_nvtx_texts(void, nvtxNameCategory, (void)0, uint32_t, )
__cumetal_nvtx_texts(void, nvtxNameOsThread, (void)0, uint32_t, )
__cumetal_nvtx(void, nvtxInitialize, (const void *), (void)0)
#undef __cumetal_nvtx
#undef __cumetal_nvtx_texts

#ifdef UNICODE
#define __cumetal_nvtx_name(name) name##W
#else
#define __cumetal_nvtx_name(name) name##A
#endif
#define nvtxRangePush __cumetal_nvtx_name(nvtxRangePush)
#define nvtxRangeStart __cumetal_nvtx_name(nvtxRangeStart)
#define nvtxMark __cumetal_nvtx_name(nvtxMark)
#define nvtxDomainCreate __cumetal_nvtx_name(nvtxDomainCreate)
#define nvtxDomainRegisterString __cumetal_nvtx_name(nvtxDomainRegisterString)
#define nvtxDomainNameCategory __cumetal_nvtx_name(nvtxDomainNameCategory)
#define nvtxNameCategory __cumetal_nvtx_name(nvtxNameCategory)
#define nvtxNameOsThread __cumetal_nvtx_name(nvtxNameOsThread)

#endif
