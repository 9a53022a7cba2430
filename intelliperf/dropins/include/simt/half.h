// __half and __half2, for cuda_fp16.h and hip_fp16.h.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/small_formats.h>

struct __half_raw {
  unsigned short x;
};

struct __half {
  union {
    _Float16 data;
    unsigned short __x;  // CUDA's name for the bits: libcu++ makes half values of them
  };
  __half() = default;
  SIMT_HDT __half(_Float16 v) : data(v) {}
  SIMT_HDT __half(__half_raw raw) : data(__builtin_bit_cast(_Float16, raw.x)) {}
  SIMT_HDT __half(float v) : data(__simt::float_to_half(v)) {}
  SIMT_HDT __half(double v) : data(__simt::double_to_half(v)) {}
  SIMT_HDT __half(int v) : data(__simt::double_to_half(v)) {}
  SIMT_HDT __half(unsigned int v) : data(__simt::double_to_half(v)) {}
  SIMT_HDT __half(short v) : data(__simt::float_to_half(v)) {}
  SIMT_HDT __half(unsigned short v) : data(__simt::float_to_half(v)) {}
  SIMT_HDT __half(long v) : __half(static_cast<long long>(v)) {}
  SIMT_HDT __half(unsigned long v) : __half(static_cast<unsigned long long>(v)) {}
  SIMT_HDT __half(long long v)
      : data(__simt::float_to_half(v > 100000 ? 100000.0f : v < -100000 ? -100000.0f : static_cast<float>(v))) {}
  SIMT_HDT __half(unsigned long long v) : data(__simt::float_to_half(v > 100000 ? 100000.0f : static_cast<float>(v))) {}

  SIMT_HDT operator float() const { return __simt::half_to_float(data); }
  SIMT_HDT operator __half_raw() const { return __half_raw{__builtin_bit_cast(unsigned short, data)}; }
  SIMT_HDT explicit operator _Float16() const { return data; }
  SIMT_HDT explicit operator bool() const { return __simt::half_to_float(data) != 0.0f; }
  SIMT_HDT explicit operator double() const { return __simt::half_to_float(data); }
  SIMT_HDT explicit operator int() const { return static_cast<int>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator unsigned int() const { return static_cast<unsigned int>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator short() const { return static_cast<short>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator unsigned short() const { return static_cast<unsigned short>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator char() const { return static_cast<char>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator signed char() const { return static_cast<signed char>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator unsigned char() const { return static_cast<unsigned char>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator long() const { return static_cast<long>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator long long() const { return static_cast<long long>(__simt::half_to_float(data)); }
  SIMT_HDT explicit operator unsigned long long() const {
    return static_cast<unsigned long long>(__simt::half_to_float(data));
  }
  template <class _T>
  SIMT_HDT __simt::enable_if_t<__is_arithmetic(_T), __half&> operator=(_T v) {
    return *this = __half(v);
  }
};
struct __half2_raw {
  unsigned short x, y;
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  SIMT_HDT __half2(const __half& low, const __half& high) : x(low), y(high) {}
  SIMT_HDT __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  SIMT_HDT operator __half2_raw() const { return __half2_raw{__half_raw(x).x, __half_raw(y).x}; }
#if defined(__HIP__)
  SIMT_HDT explicit __half2(const __half& both) : x(both), y(both) {}
#endif
};
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

// ---- the same bits -----------------------------------------------------------------------------------
SIMT_HD unsigned short __half_as_ushort(__half v) { return __builtin_bit_cast(unsigned short, v.data); }
SIMT_HD short __half_as_short(__half v) { return __builtin_bit_cast(short, v.data); }
SIMT_HD __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
SIMT_HD __half __short_as_half(short v) { return __half(__half_raw{static_cast<unsigned short>(v)}); }

// ---- float, double, integers -------------------------------------------------------------------------
SIMT_HD float __half2float(__half v) { return __simt::half_to_float(v.data); }
SIMT_HD __half __float2half(float v) { return __half(v); }
SIMT_HD __half __float2half_rn(float v) { return __half(v); }
SIMT_HD __half __double2half(double v) { return __half(v); }
namespace __simt {
SIMT_HD unsigned short half_down(float v) {
  const __half nearest(v);
  const unsigned short bits = __half_as_ushort(nearest);
  return v - v == 0.0f && __half2float(nearest) > v ? step_down(bits) : bits;
}
SIMT_HD unsigned short half_up(float v) {
  const __half nearest(v);
  const unsigned short bits = __half_as_ushort(nearest);
  return v - v == 0.0f && __half2float(nearest) < v ? step_up(bits) : bits;
}
}  // namespace __simt
SIMT_HD __half __float2half_rd(float v) { return __ushort_as_half(__simt::half_down(v)); }
SIMT_HD __half __float2half_ru(float v) { return __ushort_as_half(__simt::half_up(v)); }
SIMT_HD __half __float2half_rz(float v) { return v < 0.0f ? __float2half_ru(v) : __float2half_rd(v); }
#define SIMT_INTEGER(name, _T)                                                                            \
  SIMT_HD __half __##name##2half_rn(_T v) { return __half(v); }                                           \
  SIMT_HD __half __##name##2half_rd(_T v) { return __float2half_rd(static_cast<float>(v)); }              \
  SIMT_HD __half __##name##2half_ru(_T v) { return __float2half_ru(static_cast<float>(v)); }              \
  SIMT_HD __half __##name##2half_rz(_T v) { return __float2half_rz(static_cast<float>(v)); }              \
  SIMT_D _T __half2##name##_rn(__half v) { return __simt::saturate<_T>(__builtin_rintf(__half2float(v))); } \
  SIMT_D _T __half2##name##_rz(__half v) { return __simt::saturate<_T>(__half2float(v)); }                 \
  SIMT_D _T __half2##name##_rd(__half v) { return __simt::saturate<_T>(__builtin_floorf(__half2float(v))); } \
  SIMT_D _T __half2##name##_ru(__half v) { return __simt::saturate<_T>(__builtin_ceilf(__half2float(v))); }
SIMT_INTEGER(int, int)
SIMT_INTEGER(uint, unsigned int)
SIMT_INTEGER(short, short)
SIMT_INTEGER(ushort, unsigned short)
SIMT_INTEGER(ll, long long)
SIMT_INTEGER(ull, unsigned long long)
#undef SIMT_INTEGER

#define SIMT_H __half
#define SIMT_H2 __half2
#define SIMT_FROM(v) __half(v)
#define SIMT_FROM_DOUBLE(v) __half(v)
#define SIMT_TO(v) __half2float(v)
#define SIMT_BITS(v) __half_as_ushort(v)
#define SIMT_FROM_BITS(v) __ushort_as_half(v)
#include <simt/small_float.h>
#undef SIMT_H
#undef SIMT_H2
#undef SIMT_FROM
#undef SIMT_FROM_DOUBLE
#undef SIMT_TO
#undef SIMT_BITS
#undef SIMT_FROM_BITS

// ---- building and taking apart pairs -------------------------------------------------------------------
SIMT_HD __half2 make_half2(__half low, __half high) { return __half2(low, high); }
SIMT_HD __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
SIMT_HD __half2 __half2half2(__half both) { return __half2(both, both); }
SIMT_HD __half2 __float2half2_rn(float both) { return __half2(__half(both), __half(both)); }
SIMT_HD __half2 __floats2half2_rn(float low, float high) { return __half2(__half(low), __half(high)); }
SIMT_HD __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
SIMT_HD float2 __half22float2(__half2 v) { return make_float2(__half2float(v.x), __half2float(v.y)); }
SIMT_HD __half __low2half(__half2 v) { return v.x; }
SIMT_HD __half __high2half(__half2 v) { return v.y; }
SIMT_HD float __low2float(__half2 v) { return __half2float(v.x); }
SIMT_HD float __high2float(__half2 v) { return __half2float(v.y); }
SIMT_HD __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
SIMT_HD __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
SIMT_HD __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
SIMT_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
SIMT_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
