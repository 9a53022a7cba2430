// NVTX: markers for NVIDIA's profilers; nothing listens here. The C API of version 3.
#pragma once
#include <stddef.h>
#include <stdint.h>
#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_API
#define NVTX_INLINE_STATIC static inline

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration* nvtxStringHandle_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
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
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = 0x10001,
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 0x10002,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 0x10003,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 0x10004
} nvtxResourceGenericType_t;
typedef struct nvtxResourceAttributes_v0 {
  uint16_t version, size;
  int32_t identifierType;
  union identifier_t {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef struct nvtxResourceAttributes_v0 nvtxResourceAttributes_t;
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))

#ifdef __cplusplus
extern "C" {
#endif
// Unnamed in C++ and cast away in C: arguments that nobody looks at.
#define SIMT_NVTX(type, name, parameters, result)                         \
  static inline __attribute__((unused)) type name parameters { return result; }
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
SIMT_NVTX(void, nvtxInitialize, (const void* reserved), (void)0)
SIMT_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t* attributes), 0)
SIMT_NVTX(int, nvtxRangePushA, (const char* text), 0)
SIMT_NVTX(int, nvtxRangePushW, (const wchar_t* text), 0)
SIMT_NVTX(int, nvtxRangePop, (void), 0)
SIMT_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t* attributes), 0)
SIMT_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char* text), 0)
SIMT_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t* text), 0)
SIMT_NVTX(void, nvtxRangeEnd, (nvtxRangeId_t range), (void)0)
SIMT_NVTX(void, nvtxMarkEx, (const nvtxEventAttributes_t* attributes), (void)0)
SIMT_NVTX(void, nvtxMarkA, (const char* text), (void)0)
SIMT_NVTX(void, nvtxMarkW, (const wchar_t* text), (void)0)
SIMT_NVTX(void, nvtxNameCategoryA, (uint32_t category, const char* name), (void)0)
SIMT_NVTX(void, nvtxNameCategoryW, (uint32_t category, const wchar_t* name), (void)0)
SIMT_NVTX(void, nvtxNameOsThreadA, (uint32_t thread, const char* name), (void)0)
SIMT_NVTX(void, nvtxNameOsThreadW, (uint32_t thread, const wchar_t* name), (void)0)
SIMT_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char* name), 0)
SIMT_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t* name), 0)
SIMT_NVTX(void, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (void)0)
SIMT_NVTX(void, nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes), (void)0)
SIMT_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes), 0)
SIMT_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), 0)
SIMT_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes), 0)
SIMT_NVTX(void, nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range), (void)0)
SIMT_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char* text), 0)
SIMT_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, (nvtxDomainHandle_t domain, const wchar_t* text), 0)
SIMT_NVTX(void, nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char* name), (void)0)
SIMT_NVTX(void, nvtxDomainNameCategoryW, (nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name), (void)0)
SIMT_NVTX(nvtxResourceHandle_t, nvtxDomainResourceCreate, (nvtxDomainHandle_t domain, nvtxResourceAttributes_t* what), 0)
SIMT_NVTX(void, nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource), (void)0)
#undef SIMT_NVTX
#ifdef __clang__
#pragma clang diagnostic pop
#else
#pragma GCC diagnostic pop
#endif
#ifdef __cplusplus
}
#endif

#if defined(UNICODE)
#define nvtxMark nvtxMarkW
#define nvtxRangePush nvtxRangePushW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif
