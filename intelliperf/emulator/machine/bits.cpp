#include "bits.h"

#include <cfenv>

#include "wave.h"

namespace machine {

double half_to_double(uint16_t half) {
  const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  double magnitude;
  if (exponent == 0)
    magnitude = std::ldexp(double(fraction), -24);
  else if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else
    magnitude = std::ldexp(double(fraction | 1024), int(exponent) - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

namespace {

uint16_t rounded_half(double value, bool toward_zero) {
  if (!toward_zero && std::fegetround() != FE_TONEAREST) throw Stop("half precision rounded other than to nearest");
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (std::isinf(value)) return sign | 0x7C00;
  if (magnitude == 0) return sign;
  if (magnitude >= 65536.0) return sign | (toward_zero ? 0x7BFF : 0x7C00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int place = exponent - 11 < -24 ? -24 : exponent - 11;
  const double scaled = std::ldexp(magnitude, -place);
  const double whole = toward_zero ? std::floor(scaled) : std::nearbyint(scaled);
  if (place == -24) return sign | uint16_t(whole);  // subnormal, or carried into the least normal one
  const uint32_t encoded = uint32_t(place + 24) * 1024 + uint32_t(whole);  // a carry moves into the exponent
  return sign | uint16_t(encoded >= 0x7C00 ? (toward_zero ? 0x7BFF : 0x7C00) : encoded);
}

}  // namespace

uint16_t double_to_half(double value) { return rounded_half(value, false); }

uint16_t double_to_half_toward_zero(double value) { return rounded_half(value, true); }

double fused_for_rounding(double product, double addend) {
  const double sum = product + addend;
  if (!std::isfinite(sum)) return sum;
  const double added = sum - product;
  const double error = (product - (sum - added)) + (addend - added);
  const uint64_t encoded = bits_as<uint64_t>(sum);
  if (error == 0 || (encoded & 1)) return sum;
  const bool away = (error > 0) == (sum > 0);
  return bits_as<double>(away ? encoded + 1 : encoded - 1);
}

}  // namespace machine
