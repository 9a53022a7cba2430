// Reinterpreting bits, and the numbers of 16 bits that x86 has no C++ type for.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace machine {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline uint32_t low_half(uint64_t value) { return uint32_t(value); }
inline uint32_t high_half(uint64_t value) { return uint32_t(value >> 32); }
inline uint64_t joined(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }
inline uint32_t lanes_in(uint64_t mask) { return uint32_t(__builtin_popcountll(mask)); }

// To an integer, ties to even, in whatever mode arithmetic rounds.
template <class T>
inline T to_even(T value) {
  return std::isfinite(value) ? std::copysign(value - std::remainder(value, T(1)), value) : value;
}

double half_to_double(uint16_t half);
uint16_t double_to_half(double value);  // nearest, ties to even
uint16_t double_to_half_toward_zero(double value);
double fused_for_rounding(double product, double addend);  // product exact; rounds to odd: safe to round again

// IEEE binary16.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(double value) : bits(double_to_half(value)) {}
  explicit Half(float value) : bits(double_to_half(double(value))) {}
  operator double() const { return half_to_double(bits); }
};

}  // namespace machine
