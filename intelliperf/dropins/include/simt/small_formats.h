// Conversions between binary16, bfloat16 and the wider formats, correctly rounded, without library calls.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

// On the emulator, kernels round by the compiler's own conversion, and to odd by calls: the shadows of their numbers
// (ir/shadow) follow both, but not the bits.
#if (defined(__HIP_DEVICE_COMPILE__) || defined(__CUDA_ARCH__)) && !defined(__AMDGCN__) && !defined(__NVPTX__)
#define SIMT_FOLLOWED_ROUNDING 1
#define SIMT_ROUNDING __attribute__((noinline))
#else
#define SIMT_FOLLOWED_ROUNDING 0
#define SIMT_ROUNDING
#endif

namespace __simt {
// Round to odd: a value that is not exact gets an odd last bit, so that one more rounding to a narrower format
// is correct (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
SIMT_HD SIMT_ROUNDING float narrow_to_odd(double v) {
  const float nearest = static_cast<float>(v);
  if (!(v - v == 0.0)) return nearest;
  unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
  const double back = static_cast<double>(nearest);
  if (back == v) return nearest;
  if (bits & 1u) return nearest;
  const bool away = (back > v) == (back > 0.0) && back != 0.0;  // rounded away from zero: step back
  if (!(nearest - nearest == 0.0f)) return __builtin_bit_cast(float, bits - 1u);
  bits = away ? bits - 1u : bits + 1u;
  return __builtin_bit_cast(float, bits);
}
SIMT_HD SIMT_ROUNDING double fused_to_odd(double a, double b, double c) {  // a*b must be exact
  const double product = a * b, sum = product + c;
  if (!(sum - sum == 0.0)) return sum;
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
  if (error == 0.0 || (bits & 1u)) return sum;
  return __builtin_bit_cast(double, (error > 0.0) == (sum > 0.0) ? bits + 1u : bits - 1u);
}

#if defined(__F16C__) || defined(__aarch64__) || defined(__AMDGCN__) || defined(__NVPTX__)
SIMT_HD float half_to_float(_Float16 v) { return static_cast<float>(v); }
SIMT_HD _Float16 float_to_half(float v) { return static_cast<_Float16>(v); }
#else
SIMT_HD float half_to_float(_Float16 v) {
  const unsigned int bits = __builtin_bit_cast(unsigned short, v), sign = (bits & 0x8000u) << 16;
  const unsigned int exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31u) return __builtin_bit_cast(float, sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0u) return __builtin_bit_cast(float, sign | ((exponent + 112u) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -magnitude : magnitude;
}
SIMT_HD _Float16 float_to_half(float v) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, v), sign = (bits >> 16) & 0x8000u;
  const unsigned int magnitude = bits & 0x7fffffffu;
  unsigned int out;
  if (magnitude > 0x7f800000u) {
    out = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {
    out = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // subnormal: let the float adder round at 2^-24
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    out = __builtin_bit_cast(unsigned int, shifted) - 0x3f000000u;
  } else {
    out = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return __builtin_bit_cast(_Float16, static_cast<unsigned short>(out | sign));
}
#endif
SIMT_HD _Float16 double_to_half(double v) { return float_to_half(narrow_to_odd(v)); }

#if SIMT_FOLLOWED_ROUNDING
SIMT_HD float bfloat_to_float(unsigned short v) { return static_cast<float>(__builtin_bit_cast(__bf16, v)); }
SIMT_HD unsigned short float_to_bfloat(float v) { return __builtin_bit_cast(unsigned short, static_cast<__bf16>(v)); }
#else
SIMT_HD float bfloat_to_float(unsigned short v) { return __builtin_bit_cast(float, static_cast<unsigned int>(v) << 16); }
SIMT_HD unsigned short float_to_bfloat(float v) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>((bits >> 16) | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
#endif
SIMT_HD unsigned short double_to_bfloat(double v) { return float_to_bfloat(narrow_to_odd(v)); }
// The neighbours of a 16-bit float, as bits in sign and magnitude.
SIMT_HD unsigned short step_up(unsigned short v) {
  if ((v & 0x7fffu) == 0) return 1;
  return static_cast<unsigned short>((v & 0x8000u) ? v - 1 : v + 1);
}
SIMT_HD unsigned short step_down(unsigned short v) {
  return static_cast<unsigned short>(step_up(static_cast<unsigned short>(v ^ 0x8000u)) ^ 0x8000u);
}
}  // namespace __simt
#undef SIMT_ROUNDING
#undef SIMT_FOLLOWED_ROUNDING
