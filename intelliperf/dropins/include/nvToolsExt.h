// NVTX: markers for NVIDIA's profilers; nothing listens here.
#pragma once
#include <stdint.h>
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t messageType;
  union { const char* ascii; const wchar_t* unicode; } message;
} nvtxEventAttributes_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
static inline int nvtxRangePushA(const char* text) { return (void)text, 0; }
static inline int nvtxRangePush(const char* text) { return (void)text, 0; }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) { return (void)attributes, 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline void nvtxMarkA(const char* text) { (void)text; }
static inline void nvtxMark(const char* text) { (void)text; }
static inline nvtxRangeId_t nvtxRangeStartA(const char* text) { return (void)text, 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
static inline void nvtxNameOsThreadA(uint32_t thread, const char* name) { (void)thread, (void)name; }
