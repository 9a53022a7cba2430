// What the zoo's programs share: one spelling of both runtimes, and memory with numbers in it.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>
#if defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#endif

template <class T>
T* device(size_t count, T value = T()) {
  T* at = nullptr;
  std::vector<T> host(count, value);
  if (GPU(Malloc)(&at, count * sizeof(T)) || GPU(Memcpy)(at, host.data(), count * sizeof(T), GPU(MemcpyHostToDevice))) exit(9);
  return at;
}

template <class T>
T* ascending(size_t count) {
  T* at = device<T>(count);
  std::vector<T> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = T(i % 1000);
  if (GPU(Memcpy)(at, host.data(), count * sizeof(T), GPU(MemcpyHostToDevice))) exit(9);
  return at;
}

template <class T>
int finish(const T* at, size_t count) {
  if (GPU(DeviceSynchronize)()) return 8;
  std::vector<T> host(count);
  if (GPU(Memcpy)(host.data(), at, count * sizeof(T), GPU(MemcpyDeviceToHost))) return 9;
  double sum = 0;
  for (const T& value : host) sum += double(value);
  printf("sum %.6g\n", sum);
  return 0;
}
