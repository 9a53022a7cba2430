// HIP's earlier bfloat16: hip_bfloat16, with explicit conversion from float.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <hip/hip_runtime.h>
#include <simt/small_formats.h>

#include <iosfwd>

struct hip_bfloat16 {
  uint16_t data;
  enum truncate_t { truncate };
  hip_bfloat16() = default;
  SIMT_HDT explicit hip_bfloat16(float v) : data(__simt::float_to_bfloat(v)) {}
  SIMT_HDT hip_bfloat16(float v, truncate_t)
      : data(v == v ? static_cast<uint16_t>(__builtin_bit_cast(uint32_t, v) >> 16) : __simt::float_to_bfloat(v)) {}
  SIMT_HDT operator float() const { return __simt::bfloat_to_float(data); }
  static SIMT_HDT hip_bfloat16 round_to_bfloat16(float v) { return hip_bfloat16(v); }
};
#define SIMT_OPERATOR(op)                                                                            \
  SIMT_HD hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) {                                 \
    return hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                             \
  }                                                                                                  \
  SIMT_HD hip_bfloat16& operator op##=(hip_bfloat16& a, hip_bfloat16 b) { return a = a op b; }
SIMT_OPERATOR(+)
SIMT_OPERATOR(-)
SIMT_OPERATOR(*)
SIMT_OPERATOR(/)
#undef SIMT_OPERATOR
#define SIMT_OPERATOR(op)                                                                            \
  SIMT_HD bool operator op(hip_bfloat16 a, hip_bfloat16 b) {                                         \
    return static_cast<float>(a) op static_cast<float>(b);                                           \
  }
SIMT_OPERATOR(==)
SIMT_OPERATOR(!=)
SIMT_OPERATOR(<)
SIMT_OPERATOR(<=)
SIMT_OPERATOR(>)
SIMT_OPERATOR(>=)
#undef SIMT_OPERATOR
SIMT_HD hip_bfloat16 operator-(hip_bfloat16 a) {
  a.data ^= 0x8000u;
  return a;
}
template <class _Traits>
std::basic_ostream<char, _Traits>& operator<<(std::basic_ostream<char, _Traits>& out, const hip_bfloat16& value) {
  return out << static_cast<float>(value);
}
