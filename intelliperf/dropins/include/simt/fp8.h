// The 8-bit floats: e4m3 and e5m2 of OCP (CUDA's and HIP's), and AMD's fnuz forms of them (no negative zero, no
// infinities). Conversion rounds to nearest even and, by default, saturates to the largest finite value.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/half.h>

namespace __simt {
template <int _Mantissa, int _Bias, bool _Fnuz>
struct fp8_format {
  static constexpr int mantissa = _Mantissa, bias = _Bias;
  static constexpr bool fnuz = _Fnuz;
  // OCP's e4m3 has one NaN (0x7f) and no infinity, e5m2 has both as IEEE has; fnuz has NaN as 0x80.
  static constexpr unsigned char largest = fnuz ? 0x7f : mantissa == 3 ? 0x7e : 0x7b;
  static constexpr unsigned char nan = fnuz ? 0x80 : 0x7f;
  static constexpr unsigned char infinity = fnuz ? 0x80 : mantissa == 3 ? 0x7f : 0x7c;
};
template <class _F>
SIMT_HDT float fp8_to_float(unsigned char bits) {
  const unsigned int magnitude = bits & 0x7f, exponent = magnitude >> _F::mantissa;
  const unsigned int fraction = magnitude & ((1u << _F::mantissa) - 1);
  if (_F::fnuz ? bits == 0x80 : magnitude > (_F::mantissa == 3 ? 0x7eu : 0x7cu)) return __builtin_nanf("");
  const float sign = (bits & 0x80) ? -1.0f : 1.0f;
  if (!_F::fnuz && _F::mantissa == 2 && magnitude == 0x7c) return sign * __builtin_inff();
  const unsigned int smallest = static_cast<unsigned int>(127 + 1 - _F::bias - _F::mantissa) << 23;  // the last place of a subnormal
  if (exponent == 0) return sign * static_cast<float>(fraction) * __builtin_bit_cast(float, smallest);
  return sign * __builtin_bit_cast(float, ((exponent + 127 - _F::bias) << 23) | (fraction << (23 - _F::mantissa)));
}
template <class _F>
SIMT_HDT unsigned char float_to_fp8(float value, bool saturate) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, value), magnitude = bits & 0x7fffffffu;
  const unsigned int sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(_F::fnuz ? 0x80u : sign | _F::nan);
  unsigned int out;
  const unsigned int smallest_normal = static_cast<unsigned int>(128 - _F::bias) << 23;
  if (magnitude < smallest_normal) {  // let the float adder round at the last place of a subnormal
    const unsigned int one_place = static_cast<unsigned int>(128 - _F::bias - _F::mantissa + 23) << 23;
    const float shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, one_place);
    out = __builtin_bit_cast(unsigned int, shifted) - one_place;
  } else {
    constexpr int dropped = 23 - _F::mantissa;
    out = (magnitude - (static_cast<unsigned int>(127 - _F::bias) << 23) + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1)) >> dropped;
  }
  if (out > _F::largest) out = saturate ? _F::largest : _F::infinity;
  if (_F::fnuz && (out == 0 || out == 0x80)) return static_cast<unsigned char>(out);
  return static_cast<unsigned char>(out | sign);
}
using e4m3 = fp8_format<3, 7, false>;
using e5m2 = fp8_format<2, 15, false>;
using e4m3_fnuz = fp8_format<3, 8, true>;
using e5m2_fnuz = fp8_format<2, 16, true>;
}  // namespace __simt

#define SIMT_FP8_TYPE(name, format)                                                                            \
  struct name {                                                                                                \
    unsigned char __x;                                                                                         \
    name() = default;                                                                                          \
    SIMT_HDT explicit name(float v) : __x(__simt::float_to_fp8<__simt::format>(v, true)) {}                    \
    SIMT_HDT explicit name(double v) : name(__simt::narrow_to_odd(v)) {}                                       \
    SIMT_HDT explicit name(__half v) : name(static_cast<float>(v)) {}                                          \
    SIMT_HDT explicit name(int v) : name(static_cast<float>(v)) {}                                             \
    SIMT_HDT explicit operator __half() const { return __half(__simt::fp8_to_float<__simt::format>(__x)); }    \
    SIMT_HDT explicit operator double() const { return __simt::fp8_to_float<__simt::format>(__x); }            \
    SIMT_HDT explicit operator int() const { return static_cast<int>(__simt::fp8_to_float<__simt::format>(__x)); } \
    SIMT_HDT explicit operator bool() const { return (__x & 0x7f) != 0; }                                      \
    SIMT_HDT operator float() const { return __simt::fp8_to_float<__simt::format>(__x); }                      \
  };
// Several in one word, converted together.
#define SIMT_FP8_VECTORS(one, two, four, word2, word4)                                                         \
  struct two {                                                                                                 \
    word2 __x;                                                                                                 \
    two() = default;                                                                                           \
    SIMT_HDT explicit two(float2 v) : __x(static_cast<word2>(one(v.x).__x | one(v.y).__x << 8)) {}              \
    SIMT_HDT explicit two(__half2 v) : two(float2{float(v.x), float(v.y)}) {}                                  \
    SIMT_HDT explicit operator __half2() const {                                                               \
      const float2 both = *this;                                                                               \
      return __half2(__half(both.x), __half(both.y));                                                          \
    }                                                                                                          \
    SIMT_HDT operator float2() const {                                                                         \
      one low, high;                                                                                           \
      low.__x = static_cast<unsigned char>(__x), high.__x = static_cast<unsigned char>(__x >> 8);              \
      return float2{float(low), float(high)};                                                                  \
    }                                                                                                          \
  };                                                                                                           \
  struct four {                                                                                                \
    word4 __x;                                                                                                 \
    four() = default;                                                                                          \
    SIMT_HDT explicit four(float4 v) : __x(two(float2{v.x, v.y}).__x | word4(two(float2{v.z, v.w}).__x) << 16) {} \
    SIMT_HDT explicit four(__half2 a, __half2 b) : __x(two(a).__x | word4(two(b).__x) << 16) {}                \
    SIMT_HDT operator float4() const {                                                                         \
      two low, high;                                                                                           \
      low.__x = static_cast<word2>(__x), high.__x = static_cast<word2>(__x >> 16);                             \
      const float2 a = low, b = high;                                                                          \
      return float4{a.x, a.y, b.x, b.y};                                                                       \
    }                                                                                                          \
  };
