// What the planted programs share: memory of the device, and the comparison with what the host expects.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(2);
}

template <class T>
T* upload(const std::vector<T>& host) {
  T* device;
  must(cudaMalloc(&device, host.size() * sizeof(T)));
  must(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
T* zeros(size_t count) {
  T* device;
  must(cudaMalloc(&device, count * sizeof(T)));
  must(cudaMemset(device, 0, count * sizeof(T)));
  return device;
}

template <class T>
std::vector<T> download(const T* device, size_t count) {
  must(cudaDeviceSynchronize());
  std::vector<T> host(count);
  must(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
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
