// 16-bit floats of cuda_fp16.h, cuda_bf16.h and HIP's headers, for a host compiler without device code. Such a compiler
// may lack _Float16, so that conversions are made from the bits.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <stdint.h>
#include <string.h>

#if defined(__cplusplus)
namespace __simt {
inline uint32_t bits_of(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
// Rounded to odd, so that a second rounding to fewer bits is the only one that counts.
inline float float_to_odd(double v) {
  const float near = static_cast<float>(v);
  if (static_cast<double>(near) == v || v != v) return near;
  uint32_t bits = bits_of(near);
  if ((v < 0 ? -static_cast<double>(near) : static_cast<double>(near)) > (v < 0 ? -v : v)) bits -= 1;
  return float_of(bits | 1);
}

struct HalfFormat {
  static const unsigned short infinity = 0x7c00;
  static float value(unsigned short bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= infinity) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest < 0x400) return (sign ? -1.0f : 1.0f) * static_cast<float>(rest) * 5.9604644775390625e-8f;
    return float_of(sign | ((rest << 13) + 0x38000000));
  }
  static unsigned short nearest(float v) {
    uint32_t rest = bits_of(v) & 0x7fffffff;
    const uint32_t sign = bits_of(v) >> 16 & 0x8000;
    if (rest > 0x7f800000) return 0x7fff;
    if (rest >= 0x477ff000) return static_cast<unsigned short>(sign | infinity);
    if (rest < 0x38800000)  // adding 0.5 rounds to multiples of 2^-24
      return static_cast<unsigned short>(sign | (bits_of(float_of(rest) + 0.5f) - 0x3f000000));
    rest += 0xfff + (rest >> 13 & 1);
    return static_cast<unsigned short>(sign | (rest - 0x38000000) >> 13);
  }
};
struct BfloatFormat {
  static const unsigned short infinity = 0x7f80;
  static float value(unsigned short bits) { return float_of(static_cast<uint32_t>(bits) << 16); }
  static unsigned short nearest(float v) {
    const uint32_t bits = bits_of(v);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

template <class _F>
unsigned short towards_zero(float v) {
  const unsigned short bits = _F::nearest(v);
  const float got = _F::value(bits);
  return v == v && (v < 0 ? -got : got) > (v < 0 ? -v : v) ? static_cast<unsigned short>(bits - 1) : bits;
}
template <class _F>
unsigned short downwards(float v) {
  const unsigned short bits = towards_zero<_F>(v);
  return v < 0 && _F::value(bits) > v ? static_cast<unsigned short>(bits + 1) : bits;
}
template <class _F>
unsigned short upwards(float v) {
  const unsigned short bits = towards_zero<_F>(v);
  return v > 0 && _F::value(bits) < v ? static_cast<unsigned short>(bits + 1) : bits;
}

template <class _F>
struct Small {
  unsigned short __x;
  Small() = default;
  Small(float v) : __x(_F::nearest(v)) {}
  Small(double v) : __x(_F::nearest(float_to_odd(v))) {}
  Small(int v) : __x(_F::nearest(float_to_odd(v))) {}
  Small(unsigned int v) : __x(_F::nearest(float_to_odd(v))) {}
  Small(long v) : __x(_F::nearest(static_cast<float>(v))) {}
  Small(unsigned long v) : __x(_F::nearest(static_cast<float>(v))) {}
  Small(long long v) : __x(_F::nearest(static_cast<float>(v))) {}
  Small(unsigned long long v) : __x(_F::nearest(static_cast<float>(v))) {}
  operator float() const { return _F::value(__x); }
  Small& operator+=(Small v) { return *this = Small(float(*this) + float(v)); }
  Small& operator-=(Small v) { return *this = Small(float(*this) - float(v)); }
  Small& operator*=(Small v) { return *this = Small(float(*this) * float(v)); }
  Small& operator/=(Small v) { return *this = Small(float(*this) / float(v)); }
};
}  // namespace __simt

// Types of their own names: functions of other files that take them must link.
#define SIMT_SMALL(type, pair, tag, format)                                                                     \
  struct type##_raw {                                                                                           \
    unsigned short x;                                                                                           \
  };                                                                                                            \
  struct pair##_raw {                                                                                           \
    unsigned short x, y;                                                                                        \
  };                                                                                                            \
  struct type : __simt::Small<__simt::format> {                                                                 \
    using __simt::Small<__simt::format>::Small;                                                                 \
    type() = default;                                                                                           \
    type(type##_raw raw) { __x = raw.x; }                                                                       \
    operator type##_raw() const { return type##_raw{__x}; }                                                     \
  };                                                                                                            \
  struct alignas(4) pair {                                                                                      \
    type x, y;                                                                                                  \
    pair() = default;                                                                                           \
    pair(type low, type high) : x(low), y(high) {}                                                              \
    pair(pair##_raw raw) : x(type##_raw{raw.x}), y(type##_raw{raw.y}) {}                                        \
    operator pair##_raw() const { return pair##_raw{x.__x, y.__x}; }                                            \
  };                                                                                                            \
  inline type __ushort_as_##tag(unsigned short v) { return type(type##_raw{v}); }                               \
  inline type __short_as_##tag(short v) { return __ushort_as_##tag(static_cast<unsigned short>(v)); }           \
  inline unsigned short __##tag##_as_ushort(type v) { return v.__x; }                                           \
  inline short __##tag##_as_short(type v) { return static_cast<short>(v.__x); }                                 \
  inline float __##tag##2float(type v) { return float(v); }                                                     \
  inline type __float2##tag(float v) { return type(v); }                                                        \
  inline type __double2##tag(double v) { return type(v); }                                                      \
  inline type __float2##tag##_rn(float v) { return type(v); }                                                   \
  inline type __float2##tag##_rz(float v) { return __ushort_as_##tag(__simt::towards_zero<__simt::format>(v)); } \
  inline type __float2##tag##_rd(float v) { return __ushort_as_##tag(__simt::downwards<__simt::format>(v)); }    \
  inline type __float2##tag##_ru(float v) { return __ushort_as_##tag(__simt::upwards<__simt::format>(v)); }      \
  inline type __int2##tag##_rn(int v) { return type(v); }                                                       \
  inline type __uint2##tag##_rn(unsigned int v) { return type(v); }                                             \
  inline type __short2##tag##_rn(short v) { return type(static_cast<int>(v)); }                                 \
  inline type __ushort2##tag##_rn(unsigned short v) { return type(static_cast<int>(v)); }                       \
  inline type __ll2##tag##_rn(long long v) { return type(v); }                                                  \
  inline type __ull2##tag##_rn(unsigned long long v) { return type(v); }                                        \
  inline int __##tag##2int_rz(type v) { return static_cast<int>(float(v)); }                                    \
  inline unsigned int __##tag##2uint_rz(type v) { return static_cast<unsigned int>(float(v)); }                 \
  inline pair make_##tag##2(type x, type y) { return pair(x, y); }                                              \
  inline pair __halves2##tag##2(type x, type y) { return pair(x, y); }                                          \
  inline pair __##tag##2##tag##2(type v) { return pair(v, v); }                                                 \
  inline pair __float2##tag##2_rn(float v) { return pair(type(v), type(v)); }                                   \
  inline pair __floats2##tag##2_rn(float x, float y) { return pair(type(x), type(y)); }                         \
  inline pair __float22##tag##2_rn(float2 v) { return pair(type(v.x), type(v.y)); }                             \
  inline float2 __##tag##22float2(pair v) { return make_float2(float(v.x), float(v.y)); }                       \
  inline float __low2float(pair v) { return float(v.x); }                                                       \
  inline float __high2float(pair v) { return float(v.y); }                                                      \
  inline type __low2##tag(pair v) { return v.x; }                                                               \
  inline type __high2##tag(pair v) { return v.y; }                                                              \
  inline type __hadd(type a, type b) { return type(float(a) + float(b)); }                                      \
  inline type __hsub(type a, type b) { return type(float(a) - float(b)); }                                      \
  inline type __hmul(type a, type b) { return type(float(a) * float(b)); }                                      \
  inline type __hdiv(type a, type b) { return type(float(a) / float(b)); }                                      \
  inline type __hneg(type a) { return __ushort_as_##tag(static_cast<unsigned short>(a.__x ^ 0x8000)); }                                   \
  inline type __habs(type a) { return __ushort_as_##tag(static_cast<unsigned short>(a.__x & 0x7fff)); }                                   \
  inline bool __heq(type a, type b) { return float(a) == float(b); }                                            \
  inline bool __hne(type a, type b) { return float(a) != float(b); }                                            \
  inline bool __hlt(type a, type b) { return float(a) < float(b); }                                             \
  inline bool __hle(type a, type b) { return float(a) <= float(b); }                                            \
  inline bool __hgt(type a, type b) { return float(a) > float(b); }                                             \
  inline bool __hge(type a, type b) { return float(a) >= float(b); }                                            \
  inline bool __hisnan(type a) { return (a.__x & 0x7fff) > __simt::format::infinity; }                          \
  inline int __hisinf(type a) {                                                                                 \
    return (a.__x & 0x7fff) != __simt::format::infinity ? 0 : a.__x & 0x8000 ? -1 : 1;                          \
  }
#endif
