// What the zoo's programs share on the host: one spelling of both runtimes, data of many kinds, and a check of results.
// Standard output says whether the results are right; standard error how exact they are, and their bits.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#if defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#endif

namespace zoo {

inline const char* word(int argc, char** argv, int at, const char* otherwise) { return argc > at ? argv[at] : otherwise; }
inline int number(int argc, char** argv, int at, int otherwise) { return argc > at ? atoi(argv[at]) : otherwise; }

inline std::vector<float> floats(size_t count, const char* kind = "plain", unsigned seed = 1) {
  std::vector<float> made(count);
  unsigned s = seed * 2654435761u + 12345u;
  auto is = [&](const char* name) { return strcmp(kind, name) == 0; };
  for (size_t i = 0; i < count; ++i) {
    s = s * 1664525u + 1013904223u;
    const float u = float(s >> 8) / float(1 << 24);
    float v = 0.25f + u;
    if (is("signed")) v = u - 0.5f;
    if (is("negative")) v = -0.25f - u;
    if (is("large")) v = 1000.0f + u;
    if (is("huge")) v = 300.0f * (u - 0.5f);
    if (is("zero")) v = 0.0f;
    if (is("minus") && i % 7 == 3) v = -0.0f;
    if (is("equal")) v = 0.75f;
    if (is("sorted")) v = float(i) / float(count);
    if (is("nan") && i % 97 == 5) v = NAN;
    if (is("infinite") && i % 97 == 5) v = INFINITY;
    made[i] = v;
  }
  return made;
}

// Below `range`; "outside": some below zero and some beyond it.
inline std::vector<int> ints(size_t count, int range, const char* kind = "plain", unsigned seed = 1) {
  std::vector<int> made(count);
  unsigned s = seed * 2246822519u + 777u;
  auto is = [&](const char* name) { return strcmp(kind, name) == 0; };
  for (size_t i = 0; i < count; ++i) {
    s = s * 1664525u + 1013904223u;
    int v = int((s >> 9) % unsigned(range));
    if (is("equal")) v = range / 3;
    if (is("sorted")) v = int(i * size_t(range) / count);
    if (is("negative")) v = -v;
    if (is("outside") && i % 13 == 4) v = i % 2 ? -1 - v : range + v;
    made[i] = v;
  }
  return made;
}

template <class T>
T* device(const std::vector<T>& host) {
  T* at = nullptr;
  const size_t bytes = host.size() * sizeof(T);
  if (GPU(Malloc)(&at, bytes) || GPU(Memcpy)(at, host.data(), bytes, GPU(MemcpyHostToDevice))) exit(9);
  return at;
}

template <class T>
T* device(size_t count) {
  return device(std::vector<T>(count, T()));
}

template <class T>
std::vector<T> host(const T* at, size_t count) {
  std::vector<T> found(count);
  if (GPU(DeviceSynchronize)() || GPU(Memcpy)(found.data(), at, count * sizeof(T), GPU(MemcpyDeviceToHost))) exit(8);
  return found;
}

inline int failed = 0;

inline void verdict(const char* name, size_t wrong, size_t count) {
  if (wrong) failed = 1;
  if (wrong) printf("%s: FAIL in %zu of %zu\n", name, wrong, count);
  else printf("%s: PASS in %zu\n", name, count);
}

template <class T>
void bits(const char* name, const std::vector<T>& found, double errors) {
  uint64_t hash = 1469598103934665603ull;
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(found.data());
  for (size_t i = 0; i < found.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
  fprintf(stderr, "%s %016llx %.9g\n", name, static_cast<unsigned long long>(hash), errors);
}

// `exact` holds the numbers that an exact calculation has; `tolerance` is relative to the largest of them or 1.
inline void check(const char* name, const std::vector<float>& found, const std::vector<double>& exact, double tolerance) {
  double scale = 0, squares = 0;
  for (double e : exact) if (std::isfinite(e)) scale = std::fmax(scale, std::fabs(e));
  size_t wrong = 0, counted = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double f = found[i], e = exact[i];
    if (!std::isfinite(e) || !std::isfinite(f)) {
      wrong += !((std::isnan(e) && std::isnan(f)) || e == f);
      continue;
    }
    wrong += std::fabs(f - e) > tolerance * (scale > 0 ? scale : 1);
    const double ulp = std::ldexp(1.0, std::ilogb(std::fmax(std::fabs(e), 1e-30)) - 23);
    squares += (f - e) / ulp * ((f - e) / ulp);
    ++counted;
  }
  verdict(name, wrong, exact.size());
  bits(name, found, std::sqrt(squares / double(counted ? counted : 1)));
}

template <class T>
void same(const char* name, const std::vector<T>& found, const std::vector<T>& expected) {
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) wrong += std::memcmp(&found[i], &expected[i], sizeof(T)) != 0;
  verdict(name, wrong, expected.size());
  bits(name, found, 0);
}

}  // namespace zoo
