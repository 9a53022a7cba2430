// One source for both vendors: API(Malloc) is hipMalloc or cudaMalloc. A failed check says where and counts.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef USE_CUDA
#include <cuda_runtime.h>
#define API(name) cuda##name
#else
#include <hip/hip_runtime.h>
#define API(name) hip##name
#endif

static int failures = 0;
#define EXPECT(actual, expected)                                                                       \
  do {                                                                                                 \
    const long long got_ = (long long)(actual), wanted_ = (long long)(expected);                       \
    if (got_ != wanted_) {                                                                             \
      std::printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, got_, wanted_);       \
      ++failures;                                                                                      \
    }                                                                                                  \
  } while (0)
#define WORKS(call) EXPECT(call, 0)
#define FAILS(call, error)                   \
  do {                                       \
    EXPECT(call, error);                     \
    EXPECT(API(GetLastError)(), error);      \
    EXPECT(API(GetLastError)(), 0);          \
  } while (0)
