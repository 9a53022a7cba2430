// bfloat16 and its pair, for cuda_bf16.h and hip_bf16.h; the vendor's names are SIMT_BF16 and SIMT_BF162.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/small_formats.h>

#if defined(__HIP__)
#define SIMT_BF16 __hip_bfloat16
#define SIMT_BF162 __hip_bfloat162
#define SIMT_BF16_RAW __hip_bfloat16_raw
#define SIMT_BF162_RAW __hip_bfloat162_raw
#else
#define SIMT_BF16 __nv_bfloat16
#define SIMT_BF162 __nv_bfloat162
#define SIMT_BF16_RAW __nv_bfloat16_raw
#define SIMT_BF162_RAW __nv_bfloat162_raw
#endif

struct SIMT_BF16_RAW {
  unsigned short x;
};
struct SIMT_BF16 {
  union {
    unsigned short data;
    unsigned short __x;  // CUDA's name for the bits
  };
  SIMT_BF16() = default;
  SIMT_HDT SIMT_BF16(SIMT_BF16_RAW raw) : data(raw.x) {}
  SIMT_HDT SIMT_BF16(float v) : data(__simt::float_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(double v) : data(__simt::double_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(int v) : data(__simt::double_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(unsigned int v) : data(__simt::double_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(short v) : data(__simt::float_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(unsigned short v) : data(__simt::float_to_bfloat(v)) {}
  SIMT_HDT SIMT_BF16(long v) : SIMT_BF16(static_cast<long long>(v)) {}
  SIMT_HDT SIMT_BF16(unsigned long v) : SIMT_BF16(static_cast<unsigned long long>(v)) {}
  SIMT_HDT SIMT_BF16(long long v) : data(__simt::double_to_bfloat(static_cast<double>(v))) {}
  SIMT_HDT SIMT_BF16(unsigned long long v) : data(__simt::double_to_bfloat(static_cast<double>(v))) {}

  SIMT_HDT operator float() const { return __simt::bfloat_to_float(data); }
  SIMT_HDT operator SIMT_BF16_RAW() const { return SIMT_BF16_RAW{data}; }
  SIMT_HDT explicit operator bool() const { return (data & 0x7fffu) != 0; }
  SIMT_HDT explicit operator double() const { return __simt::bfloat_to_float(data); }
  SIMT_HDT explicit operator int() const { return static_cast<int>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator unsigned int() const { return static_cast<unsigned int>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator short() const { return static_cast<short>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator unsigned short() const { return static_cast<unsigned short>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator long() const { return static_cast<long>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator long long() const { return static_cast<long long>(__simt::bfloat_to_float(data)); }
  SIMT_HDT explicit operator unsigned long long() const {
    return static_cast<unsigned long long>(__simt::bfloat_to_float(data));
  }
  template <class _T>
  SIMT_HDT __simt::enable_if_t<__is_arithmetic(_T), SIMT_BF16&> operator=(_T v) {
    return *this = SIMT_BF16(v);
  }
};
struct SIMT_BF162_RAW {
  unsigned short x, y;
};
struct alignas(4) SIMT_BF162 {
  SIMT_BF16 x, y;
  SIMT_BF162() = default;
  SIMT_HDT SIMT_BF162(const SIMT_BF162_RAW& raw) : x(SIMT_BF16_RAW{raw.x}), y(SIMT_BF16_RAW{raw.y}) {}
  SIMT_HDT operator SIMT_BF162_RAW() const { return SIMT_BF162_RAW{x.data, y.data}; }
  SIMT_HDT SIMT_BF162(const SIMT_BF16& low, const SIMT_BF16& high) : x(low), y(high) {}
};

SIMT_HD unsigned short __bfloat16_as_ushort(SIMT_BF16 v) { return v.data; }
SIMT_HD short __bfloat16_as_short(SIMT_BF16 v) { return static_cast<short>(v.data); }
SIMT_HD SIMT_BF16 __ushort_as_bfloat16(unsigned short v) { return SIMT_BF16(SIMT_BF16_RAW{v}); }
SIMT_HD SIMT_BF16 __short_as_bfloat16(short v) { return __ushort_as_bfloat16(static_cast<unsigned short>(v)); }
SIMT_HD float __bfloat162float(SIMT_BF16 v) { return __simt::bfloat_to_float(v.data); }
SIMT_HD SIMT_BF16 __float2bfloat16(float v) { return SIMT_BF16(v); }
SIMT_HD SIMT_BF16 __float2bfloat16_rn(float v) { return SIMT_BF16(v); }
SIMT_HD SIMT_BF16 __double2bfloat16(double v) { return SIMT_BF16(v); }
SIMT_HD SIMT_BF16 __float2bfloat16_rz(float v) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, v);
  return v == v ? __ushort_as_bfloat16(static_cast<unsigned short>(bits >> 16)) : SIMT_BF16(v);
}
SIMT_HD SIMT_BF16 __float2bfloat16_rd(float v) {
  const SIMT_BF16 zero = __float2bfloat16_rz(v);
  return __bfloat162float(zero) > v ? __ushort_as_bfloat16(__simt::step_down(zero.data)) : zero;
}
SIMT_HD SIMT_BF16 __float2bfloat16_ru(float v) {
  const SIMT_BF16 zero = __float2bfloat16_rz(v);
  return __bfloat162float(zero) < v ? __ushort_as_bfloat16(__simt::step_up(zero.data)) : zero;
}
#define SIMT_INTEGER(name, _T)                                                                                   \
  SIMT_HD SIMT_BF16 __##name##2bfloat16_rn(_T v) { return SIMT_BF16(v); }                                        \
  SIMT_D _T __bfloat162##name##_rn(SIMT_BF16 v) { return __simt::saturate<_T>(__builtin_rintf(__bfloat162float(v))); } \
  SIMT_D _T __bfloat162##name##_rz(SIMT_BF16 v) { return __simt::saturate<_T>(__bfloat162float(v)); }
SIMT_INTEGER(int, int)
SIMT_INTEGER(uint, unsigned int)
SIMT_INTEGER(short, short)
SIMT_INTEGER(ushort, unsigned short)
SIMT_INTEGER(ll, long long)
SIMT_INTEGER(ull, unsigned long long)
#undef SIMT_INTEGER

#define SIMT_H SIMT_BF16
#define SIMT_H2 SIMT_BF162
#define SIMT_FROM(v) SIMT_BF16(v)
#define SIMT_FROM_DOUBLE(v) SIMT_BF16(v)
#define SIMT_TO(v) __bfloat162float(v)
#define SIMT_BITS(v) __bfloat16_as_ushort(v)
#define SIMT_FROM_BITS(v) __ushort_as_bfloat16(v)
#include <simt/small_float.h>
#undef SIMT_H
#undef SIMT_H2
#undef SIMT_FROM
#undef SIMT_FROM_DOUBLE
#undef SIMT_TO
#undef SIMT_BITS
#undef SIMT_FROM_BITS

SIMT_HD SIMT_BF162 make_bfloat162(SIMT_BF16 low, SIMT_BF16 high) { return SIMT_BF162(low, high); }
SIMT_HD SIMT_BF162 __halves2bfloat162(SIMT_BF16 low, SIMT_BF16 high) { return SIMT_BF162(low, high); }
SIMT_HD SIMT_BF162 __bfloat162bfloat162(SIMT_BF16 both) { return SIMT_BF162(both, both); }
SIMT_HD SIMT_BF162 __float2bfloat162_rn(float both) { return SIMT_BF162(SIMT_BF16(both), SIMT_BF16(both)); }
SIMT_HD SIMT_BF162 __floats2bfloat162_rn(float low, float high) { return SIMT_BF162(SIMT_BF16(low), SIMT_BF16(high)); }
SIMT_HD SIMT_BF162 __float22bfloat162_rn(float2 v) { return SIMT_BF162(SIMT_BF16(v.x), SIMT_BF16(v.y)); }
SIMT_HD float2 __bfloat1622float2(SIMT_BF162 v) { return make_float2(__bfloat162float(v.x), __bfloat162float(v.y)); }
SIMT_HD SIMT_BF16 __low2bfloat16(SIMT_BF162 v) { return v.x; }
SIMT_HD SIMT_BF16 __high2bfloat16(SIMT_BF162 v) { return v.y; }
SIMT_HD float __low2float(SIMT_BF162 v) { return __bfloat162float(v.x); }
SIMT_HD float __high2float(SIMT_BF162 v) { return __bfloat162float(v.y); }
SIMT_HD SIMT_BF162 __low2bfloat162(SIMT_BF162 v) { return SIMT_BF162(v.x, v.x); }
SIMT_HD SIMT_BF162 __high2bfloat162(SIMT_BF162 v) { return SIMT_BF162(v.y, v.y); }
SIMT_HD SIMT_BF162 __lowhigh2highlow(SIMT_BF162 v) { return SIMT_BF162(v.y, v.x); }
#if !defined(__HIP__)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#endif
