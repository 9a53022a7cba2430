// What every program of this directory needs: buffers in two places, and a verdict.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void succeed(hipError_t status, const char* call) {
  if (status == hipSuccess) return;
  std::printf("%s: %s\n", call, hipGetErrorString(status));
  std::exit(2);
}
#define SUCCEED(CALL) succeed(CALL, #CALL)

template <class T>
struct Buffer {
  explicit Buffer(size_t count) : host(count) {
    SUCCEED(hipMalloc(reinterpret_cast<void**>(&device), count * sizeof(T)));
    SUCCEED(hipMemset(device, 0, count * sizeof(T)));
  }
  void upload() { SUCCEED(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice)); }
  void download() {
    SUCCEED(hipGetLastError());
    SUCCEED(hipDeviceSynchronize());
    SUCCEED(hipMemcpy(host.data(), device, host.size() * sizeof(T), hipMemcpyDeviceToHost));
  }
  std::vector<T> host;
  T* device = nullptr;
};

inline int& mistakes() {
  static int count = 0;
  return count;
}
inline long& checks() {
  static long count = 0;
  return count;
}

// Within `relative` of the larger number; not a number equals itself.
inline void expect(const char* what, long index, double found, double wanted, double relative = 0) {
  ++checks();
  const double scale = std::fmax(std::fabs(found), std::fabs(wanted));
  const bool same = found == wanted || (std::isnan(found) && std::isnan(wanted));
  if (same || std::fabs(found - wanted) <= relative * scale) return;
  if (++mistakes() <= 10) std::printf("%s[%ld]: %.17g, expected %.17g\n", what, index, found, wanted);
}

inline int finish() {
  std::printf("%ld checks, %d mistakes\n", checks(), mistakes());
  return mistakes() || checks() == 0;
}
