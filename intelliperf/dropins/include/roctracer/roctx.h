// ROCTX: markers for AMD's profilers; nothing listens here.
#pragma once
#include <stdint.h>
typedef uint64_t roctx_range_id_t;
#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1
static inline uint32_t roctx_version_major(void) { return ROCTX_VERSION_MAJOR; }
static inline uint32_t roctx_version_minor(void) { return ROCTX_VERSION_MINOR; }
static inline void roctxMarkA(const char* text) { (void)text; }
static inline void roctxMark(const char* text) { (void)text; }
static inline int roctxRangePushA(const char* text) { return (void)text, 0; }
static inline int roctxRangePush(const char* text) { return (void)text, 0; }
static inline int roctxRangePop(void) { return 0; }
static inline roctx_range_id_t roctxRangeStartA(const char* text) { return (void)text, (roctx_range_id_t)0; }
static inline roctx_range_id_t roctxRangeStart(const char* text) { return (void)text, (roctx_range_id_t)0; }
static inline void roctxRangeStop(roctx_range_id_t range) { (void)range; }
