// CUDA gives hosts these functions; C libraries have them only since C23 (glibc 2.41). Headers of a newer C
// library than the one that a program runs with still declare them, so they are to be found here.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

// Exact at the multiples of a half, unlike sin(pi * x).
template <typename T>
T sine_of_pi(T x) {
  const T turn = std::fmod(std::fabs(x), T(2));
  const T part = turn - std::floor(turn * 2) / 2;  // of the quadrant, in [0, 1/2)
  const T pi = T(3.14159265358979323846L);
  T value = 0;
  switch (static_cast<int>(std::floor(turn * 2))) {
    case 0:
      value = std::sin(pi * part);
      break;
    case 1:
      value = std::cos(pi * part);
      break;
    case 2:
      value = -std::sin(pi * part);
      break;
    default:
      value = -std::cos(pi * part);
      break;
  }
  return std::signbit(x) ? -value : value;
}

template <typename T>
T cosine_of_pi(T x) {
  const T turn = std::fmod(std::fabs(x), T(2));
  return sine_of_pi(turn + T(0.5));
}

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float number_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// To nearest even, as the low half of a register's float: where the ABI has a result of type __bf16.
float as_bfloat(float x) {
  const uint32_t bits = bits_of(x);
  if (x != x) return number_of(bits >> 16 | 0x40u);
  return number_of((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Rounded to odd, so that one more rounding is correct: see include/simt/small_formats.h.
float to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = nearest;
  const uint32_t bits = bits_of(nearest);
  if (!(x - x == 0.0) || back == x || bits & 1u) return nearest;
  if (!(nearest - nearest == 0.0f)) return number_of(bits - 1u);
  return number_of((back > x) == (back > 0.0) && back != 0.0 ? bits - 1u : bits + 1u);
}

}  // namespace

// The compiler's names for conversions that x86 processors before AVX-512 BF16 lack.
extern "C" __attribute__((visibility("default"))) float __truncsfbf2(float x) { return as_bfloat(x); }
extern "C" __attribute__((visibility("default"))) float __truncdfbf2(double x) { return as_bfloat(to_odd(x)); }

#define SIMT_HOST_MATH extern "C" __attribute__((visibility("default"), weak))
SIMT_HOST_MATH double rsqrt(double x) { return 1.0 / std::sqrt(x); }
SIMT_HOST_MATH float rsqrtf(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
SIMT_HOST_MATH double sinpi(double x) { return sine_of_pi(x); }
SIMT_HOST_MATH float sinpif(float x) { return static_cast<float>(sine_of_pi(static_cast<double>(x))); }
SIMT_HOST_MATH double cospi(double x) { return cosine_of_pi(x); }
SIMT_HOST_MATH float cospif(float x) { return static_cast<float>(cosine_of_pi(static_cast<double>(x))); }
