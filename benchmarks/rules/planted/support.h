// What the planted programs share: memory of the device, and the comparison with what the host expects. Whoever includes
// this has defined GPU(name), the name with the prefix of its API.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(GPU(Error_t) status) {
  if (status == GPU(Success)) return;
  std::fprintf(stderr, "%s\n", GPU(GetErrorString)(status));
  std::exit(2);
}

template <class T>
T* upload(const std::vector<T>& host) {
  T* device;
  must(GPU(Malloc)(&device, host.size() * sizeof(T)));
  must(GPU(Memcpy)(device, host.data(), host.size() * sizeof(T), GPU(MemcpyHostToDevice)));
  return device;
}

template <class T>
T* zeros(size_t count) {
  T* device;
  must(GPU(Malloc)(&device, count * sizeof(T)));
  must(GPU(Memset)(device, 0, count * sizeof(T)));
  return device;
}

template <class T>
std::vector<T> download(const T* device, size_t count) {
  must(GPU(DeviceSynchronize)());
  std::vector<T> host(count);
  must(GPU(Memcpy)(host.data(), device, count * sizeof(T), GPU(MemcpyDeviceToHost)));
  return host;
}

// Numbers in 0 ... 1, the same everywhere.
inline float noise(size_t i) {
  unsigned x = unsigned(i) * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  return float((x ^ (x >> 13)) >> 8) / 16777216.0f;
}

inline std::vector<float> noises(size_t count, float low = 0, float high = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = low + (high - low) * noise(i);
  return values;
}

inline bool near(double found, double expected, double tolerance) {
  return std::abs(found - expected) <= tolerance * (1 + std::abs(expected));
}

inline int told(bool right) {
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
