// What several instructions compute. From the MI200 ISA reference's pseudocode.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>

#include "bits.h"

namespace machine {

inline bool signals(float value) {
  const uint32_t bits = bits_as<uint32_t>(value);
  return (bits & 0x7FC00000) == 0x7F800000 && (bits & 0x003FFFFF);
}
inline bool signals(double value) {
  const uint64_t bits = bits_as<uint64_t>(value);
  return (bits & 0x7FF8000000000000) == 0x7FF0000000000000 && (bits & 0x0007FFFFFFFFFFFF);
}
inline bool signals(Half value) { return (value.bits & 0x7E00) == 0x7C00 && (value.bits & 0x01FF); }

inline float quieted(float value) { return bits_as<float>(bits_as<uint32_t>(value) | 0x00400000); }
inline double quieted(double value) { return bits_as<double>(bits_as<uint64_t>(value) | 0x0008000000000000); }
inline Half quieted(Half value) {
  value.bits |= 0x0200;
  return value;
}

inline bool unordered(double value) { return value != value; }
inline bool negative(float value) { return std::signbit(value); }
inline bool negative(double value) { return std::signbit(value); }
inline bool negative(Half value) { return value.bits >> 15; }

// IEEE minNum and maxNum, -0 below +0, signalling NaN quieted (MODE.IEEE, which compute kernels set).
template <class T>
T least(T a, T b) {
  if (signals(a)) return quieted(a);
  if (signals(b)) return quieted(b);
  if (unordered(a)) return b;
  if (unordered(b)) return a;
  if (double(a) == 0 && double(b) == 0) return negative(a) ? a : b;
  return double(a) < double(b) ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (signals(a)) return quieted(a);
  if (signals(b)) return quieted(b);
  if (unordered(a)) return b;
  if (unordered(b)) return a;
  if (double(a) == 0 && double(b) == 0) return negative(a) ? b : a;
  return double(a) > double(b) ? a : b;
}
template <class T>
T middle(T a, T b, T c) {
  if (unordered(a) || unordered(b) || unordered(c)) return least(least(a, b), c);
  return greatest(least(a, b), least(greatest(a, b), c));
}
template <class T>
T middle_integer(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Toward zero, saturated; not a number becomes 0.
template <class Integer>
Integer saturated(double value) {
  if (value != value) return 0;
  if (value <= double(std::numeric_limits<Integer>::min())) return std::numeric_limits<Integer>::min();
  if (value >= double(std::numeric_limits<Integer>::max())) return std::numeric_limits<Integer>::max();
  return Integer(value);
}

template <class Integer>
Integer saturated_integer(int64_t value) {
  return Integer(std::min<int64_t>(std::max<int64_t>(value, std::numeric_limits<Integer>::min()),
                                   std::numeric_limits<Integer>::max()));
}

inline int32_t signed24(uint32_t value) { return int32_t(value << 8) >> 8; }
inline uint32_t unsigned24(uint32_t value) { return value & 0xFFFFFF; }

inline uint32_t reversed(uint32_t value) {
  uint32_t result = 0;
  for (uint32_t n = 0; n < 32; ++n) result |= (value >> n & 1) << (31 - n);
  return result;
}
inline uint64_t reversed64(uint64_t value) { return joined(reversed(high_half(value)), reversed(low_half(value))); }

inline uint32_t first_one_from_top(uint32_t value) { return value ? uint32_t(__builtin_clz(value)) : ~0u; }
inline uint32_t first_one_from_bottom(uint32_t value) { return value ? uint32_t(__builtin_ctz(value)) : ~0u; }
inline uint32_t sign_run(int32_t value) { return first_one_from_top(uint32_t(value ^ (value >> 31))); }

inline uint32_t field_of(uint32_t value, uint32_t offset, uint32_t width) {
  return value >> (offset & 31) & uint32_t((1ull << (width & 31)) - 1);
}
inline uint32_t signed_field_of(uint32_t value, uint32_t offset, uint32_t width) {
  offset &= 31;
  width &= 31;
  if (width == 0) return 0;
  if (offset + width >= 32) return uint32_t(int32_t(value) >> offset);
  return uint32_t(int32_t(value << (32 - offset - width)) >> (32 - width));
}

inline uint32_t absolute_difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
inline uint32_t byte_of(uint64_t value, uint32_t n) { return uint32_t(value >> 8 * n) & 0xFF; }
inline uint32_t sad_bytes(uint32_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (uint32_t n = 0; n < 4; ++n)
    if (!masked || byte_of(b, n)) sum += absolute_difference(byte_of(a, n), byte_of(b, n));
  return sum;
}

uint32_t permuted_bytes(uint32_t high, uint32_t low, uint32_t selector);
uint32_t lerped_bytes(uint32_t a, uint32_t b, uint32_t rounding);

template <class T>
T fixed_up_quotient(T quotient, T denominator, T numerator);
float scaled_for_division(float value, float denominator, float numerator, bool& scaled);
double scaled_for_division(double value, double denominator, double numerator, bool& scaled);
float fused_with_rescale(float a, float b, float c, bool scaled);
double fused_with_rescale(double a, double b, double c, bool scaled);
double two_over_pi_piece(double value, uint32_t segment);

// V_CMP_CLASS: one bit per kind of number.
uint32_t class_of(float value);
uint32_t class_of(double value);
uint32_t class_of(Half value);

inline double turns(double x) { return (x - std::floor(x)) * 6.283185307179586476925; }
inline Half fused_half(Half a, Half b, Half c) { return Half(fused_for_rounding(double(a) * double(b), double(c))); }

template <class T>
T fraction(T value) {
  const double part = double(value) - std::floor(double(value));
  const T largest = std::is_same<T, float>::value ? T(0x1.fffffep-1) : T(0x1.fffffffffffffp-1);
  return part >= double(largest) ? largest : T(part);
}
inline Half half_fraction(Half value) {
  const double part = double(value) - std::floor(double(value));
  return Half(part > 0.99951171875 ? 0.99951171875 : part);
}

template <class T>
T mantissa(T value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
template <class T>
int32_t exponent_of(T value) {
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  return exponent;
}

}  // namespace machine
