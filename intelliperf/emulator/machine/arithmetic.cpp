#include "arithmetic.h"

namespace machine {
namespace {

template <class T>
struct Layout;
template <>
struct Layout<float> {
  using Word = uint32_t;
  static constexpr int kFractionBits = 23, kExponentMask = 255, kBias = 127, kNear = 96, kScale = 64, kTiny = 23;
};
template <>
struct Layout<double> {
  using Word = uint64_t;
  static constexpr int kFractionBits = 52, kExponentMask = 2047, kBias = 1023, kNear = 768, kScale = 128, kTiny = 53;
};

template <class T>
int biased_exponent(T value) {
  return int(bits_as<typename Layout<T>::Word>(value) >> Layout<T>::kFractionBits) & Layout<T>::kExponentMask;
}

template <class T>
bool subnormal(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL;
}

template <class T>
bool subnormal_quotient(T a, T b) {
  const T quotient = a / b;
  return subnormal(quotient) || (quotient == 0 && a != 0 && std::isfinite(b));
}

template <class T>
T scaled_operand(T value, T denominator, T numerator, bool& scaled) {
  using L = Layout<T>;
  scaled = false;
  if (denominator == 0 || numerator == 0) return T(NAN);
  if (biased_exponent(numerator) - biased_exponent(denominator) >= L::kNear) {  // quotient near the largest number
    scaled = true;
    return value == denominator ? std::ldexp(value, L::kScale) : value;
  }
  if (subnormal(denominator)) return std::ldexp(value, L::kScale);
  const bool small_inverse = subnormal_quotient(T(1), denominator);
  const bool small_quotient = subnormal_quotient(numerator, denominator);
  if (small_inverse && small_quotient) {
    scaled = true;
    return value == denominator ? std::ldexp(value, -L::kScale) : value;
  }
  if (small_inverse) return std::ldexp(value, -L::kScale);
  if (small_quotient) {
    scaled = true;
    return value == numerator ? std::ldexp(value, L::kScale) : value;
  }
  return biased_exponent(numerator) <= L::kTiny ? std::ldexp(value, L::kScale) : value;
}

// The quotient so far tells by which way the operands had been scaled. Rounded once, subnormal results too: 113 bits
// hold the product of two doubles.
template <class T>
T rescaled(T a, T b, T c, bool scaled) {
  using L = Layout<T>;
  if (!scaled) return std::fma(a, b, c);
  const T factor = std::ldexp(T(1), biased_exponent(c) > L::kBias ? L::kScale / 2 : -L::kScale / 2);
  return T((__float128(a) * __float128(b) + __float128(c)) * factor * factor);
}

template <class T>
int true_exponent(T value) {
  int exponent;
  std::frexp(value, &exponent);
  return exponent;
}

template <class T>
uint32_t number_class(T value, bool signalling) {
  const bool minus = negative(value);
  switch (std::fpclassify(double(value))) {
    case FP_NAN:
      return signalling ? 1 : 2;
    case FP_INFINITE:
      return minus ? 1u << 2 : 1u << 9;
    case FP_ZERO:
      return minus ? 1u << 5 : 1u << 6;
    default:
      return 0;
  }
}

}  // namespace

uint32_t permuted_bytes(uint32_t high, uint32_t low, uint32_t selector) {
  const uint64_t bytes = joined(low, high);
  uint32_t result = 0;
  for (uint32_t n = 0; n < 4; ++n) {
    const uint32_t choice = byte_of(selector, n);
    uint32_t byte;
    if (choice >= 13)
      byte = 0xFF;
    else if (choice == 12)
      byte = 0;
    else if (choice >= 8)
      byte = byte_of(bytes, 2 * (choice - 8) + 1) & 0x80 ? 0xFF : 0;
    else
      byte = byte_of(bytes, choice);
    result |= byte << 8 * n;
  }
  return result;
}

uint32_t lerped_bytes(uint32_t a, uint32_t b, uint32_t rounding) {
  uint32_t result = 0;
  for (uint32_t n = 0; n < 4; ++n)
    result |= ((byte_of(a, n) + byte_of(b, n) + (byte_of(rounding, n) & 1)) >> 1) << 8 * n;
  return result;
}

template <class T>
T fixed_up_quotient(T quotient, T denominator, T numerator) {
  const T sign = negative(denominator) != negative(numerator) ? T(-1) : T(1);
  if (unordered(double(numerator))) return quieted(numerator);
  if (unordered(double(denominator))) return quieted(denominator);
  const bool zero_below = denominator == 0, zero_above = numerator == 0;
  const bool endless_below = std::isinf(denominator), endless_above = std::isinf(numerator);
  if ((zero_below && zero_above) || (endless_below && endless_above)) return -T(NAN);
  if (zero_below || endless_above) return std::copysign(T(INFINITY), sign);
  if (endless_below || zero_above) return std::copysign(T(0), sign);
  const int difference = true_exponent(numerator) - true_exponent(denominator);
  if (difference - 1 > Layout<T>::kBias) return std::copysign(T(INFINITY), sign);
  if (difference + 1 < -(Layout<T>::kBias + Layout<T>::kFractionBits)) return std::copysign(T(0), sign);
  return std::copysign(quotient, sign);
}
template float fixed_up_quotient(float, float, float);
template double fixed_up_quotient(double, double, double);

float scaled_for_division(float value, float denominator, float numerator, bool& scaled) {
  return scaled_operand(value, denominator, numerator, scaled);
}
double scaled_for_division(double value, double denominator, double numerator, bool& scaled) {
  return scaled_operand(value, denominator, numerator, scaled);
}
float fused_with_rescale(float a, float b, float c, bool scaled) { return rescaled(a, b, c, scaled); }
double fused_with_rescale(double a, double b, double c, bool scaled) { return rescaled(a, b, c, scaled); }

// 53 bits of 2/pi from bit 53 * segment on, further on for large values (V_TRIG_PREOP_F64).
double two_over_pi_piece(double value, uint32_t segment) {
  static constexpr uint32_t kBits[] = {
      0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
      0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
      0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
      0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
      0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB};
  const int exponent = biased_exponent(value);
  int shift = int(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  uint64_t piece = 0;
  for (int n = 0; n < 53; ++n) {
    const int place = shift + n;
    const uint32_t bit = place < int(sizeof kBits * 8) ? kBits[place / 32] >> (31 - place % 32) & 1 : 0;
    piece = piece << 1 | bit;
  }
  const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(double(piece), scale);
}

uint32_t class_of(float value) {
  const uint32_t special = number_class(value, signals(value));
  if (special) return special;
  return subnormal(value) ? (negative(value) ? 1u << 4 : 1u << 7) : (negative(value) ? 1u << 3 : 1u << 8);
}
uint32_t class_of(double value) {
  const uint32_t special = number_class(value, signals(value));
  if (special) return special;
  return subnormal(value) ? (negative(value) ? 1u << 4 : 1u << 7) : (negative(value) ? 1u << 3 : 1u << 8);
}
uint32_t class_of(Half value) {
  const uint32_t special = number_class(value, signals(value));
  if (special) return special;
  const bool small = (value.bits & 0x7C00) == 0;
  return small ? (negative(value) ? 1u << 4 : 1u << 7) : (negative(value) ? 1u << 3 : 1u << 8);
}

}  // namespace machine
