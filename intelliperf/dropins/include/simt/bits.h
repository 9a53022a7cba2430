// Integer and bit intrinsics, type punning, conversions with a rounding mode, SIMD within a word.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

// ---- counting and rearranging bits ----------------------------------------------------------------
SIMT_D int __popc(unsigned int v) { return __builtin_popcount(v); }
SIMT_D int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SIMT_D int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned int>(v)) : 32; }
SIMT_D int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
SIMT_D int __ffs(int v) { return __builtin_ffs(v); }
SIMT_D int __ffsll(long long v) { return __builtin_ffsll(v); }
#if defined(__HIP__)  // CUDA has one of each, so that narrower arguments are not ambiguous
SIMT_D int __ffs(unsigned int v) { return __builtin_ffs(static_cast<int>(v)); }
SIMT_D int __ffsll(unsigned long long v) { return __builtin_ffsll(static_cast<long long>(v)); }
SIMT_D int __ffsll(unsigned long v) { return __builtin_ffsll(static_cast<long long>(v)); }
SIMT_D int __ffsll(long v) { return __builtin_ffsll(v); }
#endif
SIMT_D unsigned int __brev(unsigned int v) { return __builtin_bitreverse32(v); }
SIMT_D unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
SIMT_D unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(high) << 32) | low;
  unsigned int out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned int nibble = selector >> (4 * i);
    const unsigned int byte = static_cast<unsigned int>(bytes >> (8 * (nibble & 7u))) & 0xffu;
    out |= ((nibble & 8u) ? ((byte & 0x80u) ? 0xffu : 0u) : byte) << (8 * i);  // bit 3: replicate the sign
  }
  return out;
}
SIMT_D unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u)) >> 32);
}
SIMT_D unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
SIMT_D unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
SIMT_D unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
// Position of the n-th set bit from base (n > 0 upwards, n < 0 downwards); 0xffffffff if there is none.
SIMT_D unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  if (offset == 0) return (mask >> base) & 1u ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at) & 1u)
      if (--left == 0) return static_cast<unsigned int>(at);
  return 0xffffffffu;
}

// ---- multiplication, dot products, averages -------------------------------------------------------
SIMT_D int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
SIMT_D unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMT_D int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
SIMT_D unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) * b) >> 32);
}
SIMT_D long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
SIMT_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
SIMT_D int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
SIMT_D int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
SIMT_D unsigned int __uhadd(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b) >> 1);
}
SIMT_D unsigned int __urhadd(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
SIMT_D unsigned int __sad(int a, int b, unsigned int c) {
  return (a > b ? static_cast<unsigned int>(a) - static_cast<unsigned int>(b)
                : static_cast<unsigned int>(b) - static_cast<unsigned int>(a)) + c;
}
SIMT_D unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return (a > b ? a - b : b - a) + c; }
SIMT_D int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
SIMT_D unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xffu) * ((b >> i) & 0xffu);
  return c;
}
SIMT_D int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
SIMT_D unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return c + static_cast<unsigned int>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
SIMT_D int __dp2a_lo(int a, int b, int c) {
  return c + static_cast<short>(a) * static_cast<signed char>(b) + (a >> 16) * static_cast<signed char>(b >> 8);
}
SIMT_D int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }

// ---- the same bits as another type ----------------------------------------------------------------
SIMT_D int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
SIMT_D unsigned int __float_as_uint(float v) { return __builtin_bit_cast(unsigned int, v); }
SIMT_D float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
SIMT_D float __uint_as_float(unsigned int v) { return __builtin_bit_cast(float, v); }
SIMT_D long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
SIMT_D double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
SIMT_D int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
SIMT_D int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
SIMT_D double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(high) << 32 |
                                                     static_cast<unsigned int>(low)));
}

// ---- floating point to integer: rounds as asked, saturates, NaN gives 0 -----------------------------
namespace __simt {
template <class To, class From>
SIMT_DT To saturate(From v) {
  constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
  constexpr int bits = sizeof(To) * 8 - (is_signed ? 1 : 0);
  constexpr To top = is_signed ? static_cast<To>((static_cast<To>(1) << (bits - 1)) - 1 + (static_cast<To>(1) << (bits - 1)))
                               : static_cast<To>(-1);
  constexpr From limit = static_cast<From>(1ull << (bits - 1)) * From(2);
  if (v != v) return 0;
  if (v >= limit) return top;
  if constexpr (is_signed) {
    if (v < -limit) return static_cast<To>(-top - 1);
  } else {
    if (v <= From(-1)) return 0;
  }
  return static_cast<To>(v);
}
SIMT_D float round_even(float v) { return __builtin_rintf(v); }
SIMT_D double round_even(double v) { return __builtin_rint(v); }
SIMT_D float round_down(float v) { return __builtin_floorf(v); }
SIMT_D double round_down(double v) { return __builtin_floor(v); }
SIMT_D float round_up(float v) { return __builtin_ceilf(v); }
SIMT_D double round_up(double v) { return __builtin_ceil(v); }
}  // namespace __simt

#define SIMT_TO_INTEGER(from, _F, to, _T)                                                                     \
  SIMT_D _T __##from##2##to##_rn(_F v) { return __simt::saturate<_T>(__simt::round_even(v)); }                 \
  SIMT_D _T __##from##2##to##_rz(_F v) { return __simt::saturate<_T>(v); }                                     \
  SIMT_D _T __##from##2##to##_rd(_F v) { return __simt::saturate<_T>(__simt::round_down(v)); }                 \
  SIMT_D _T __##from##2##to##_ru(_F v) { return __simt::saturate<_T>(__simt::round_up(v)); }
SIMT_TO_INTEGER(float, float, int, int)
SIMT_TO_INTEGER(float, float, uint, unsigned int)
SIMT_TO_INTEGER(float, float, ll, long long)
SIMT_TO_INTEGER(float, float, ull, unsigned long long)
SIMT_TO_INTEGER(double, double, int, int)
SIMT_TO_INTEGER(double, double, uint, unsigned int)
SIMT_TO_INTEGER(double, double, ll, long long)
SIMT_TO_INTEGER(double, double, ull, unsigned long long)
#undef SIMT_TO_INTEGER

// ---- integer to floating point, double to float, with a rounding mode --------------------------------
namespace __simt {
template <class _F>
struct float_bits;
template <>
struct float_bits<float> {
  using type = unsigned int;
};
template <>
struct float_bits<double> {
  using type = unsigned long long;
};
template <class _F>
SIMT_DT _F next_up(_F v) {
  using bits_t = typename float_bits<_F>::type;
  const bits_t bits = __builtin_bit_cast(bits_t, v);
  if (v == _F(0)) return __builtin_bit_cast(_F, static_cast<bits_t>(1));
  return __builtin_bit_cast(_F, static_cast<bits_t>(v > _F(0) ? bits + 1 : bits - 1));
}
template <class _F>
SIMT_DT _F next_down(_F v) {
  return -next_up(-v);
}
enum rounding { kNearest, kZero, kDown, kUp };
// nearest: the value rounded to nearest; error: a number with the sign of (exact - nearest).
template <rounding mode, class _F, class _E>
SIMT_DT _F directed(_F nearest, _E error) {
  if constexpr (mode == kDown) return error < _E(0) ? next_down(nearest) : nearest;
  if constexpr (mode == kUp) return error > _E(0) ? next_up(nearest) : nearest;
  if constexpr (mode == kZero) {
    if (nearest > _F(0) && error < _E(0)) return next_down(nearest);
    if (nearest < _F(0) && error > _E(0)) return next_up(nearest);
  }
  return nearest;
}
template <rounding mode, class _F, class _I>
SIMT_DT _F from_integer(_I v) {
  const _F nearest = static_cast<_F>(v);
  if constexpr (mode == kNearest) return nearest;
  return directed<mode>(nearest, static_cast<int>(static_cast<__int128>(v) > static_cast<__int128>(nearest)) -
                                     static_cast<int>(static_cast<__int128>(v) < static_cast<__int128>(nearest)));
}
template <rounding mode>
SIMT_DT float narrow(double v) {
  const float nearest = static_cast<float>(v);
  if (v - v != 0.0) return nearest;  // infinities and NaN
  return directed<mode>(nearest, v - static_cast<double>(nearest));
}
}  // namespace __simt

#define SIMT_FROM_INTEGER(from, _I, to, _F)                                                           \
  SIMT_D _F __##from##2##to##_rn(_I v) { return static_cast<_F>(v); }                                  \
  SIMT_D _F __##from##2##to##_rz(_I v) { return __simt::from_integer<__simt::kZero, _F>(v); }          \
  SIMT_D _F __##from##2##to##_rd(_I v) { return __simt::from_integer<__simt::kDown, _F>(v); }          \
  SIMT_D _F __##from##2##to##_ru(_I v) { return __simt::from_integer<__simt::kUp, _F>(v); }
SIMT_FROM_INTEGER(int, int, float, float)
SIMT_FROM_INTEGER(uint, unsigned int, float, float)
SIMT_FROM_INTEGER(ll, long long, float, float)
SIMT_FROM_INTEGER(ull, unsigned long long, float, float)
SIMT_FROM_INTEGER(ll, long long, double, double)
SIMT_FROM_INTEGER(ull, unsigned long long, double, double)
#undef SIMT_FROM_INTEGER
SIMT_D double __int2double_rn(int v) { return v; }
SIMT_D double __uint2double_rn(unsigned int v) { return v; }
SIMT_D float __double2float_rn(double v) { return static_cast<float>(v); }
SIMT_D float __double2float_rz(double v) { return __simt::narrow<__simt::kZero>(v); }
SIMT_D float __double2float_rd(double v) { return __simt::narrow<__simt::kDown>(v); }
SIMT_D float __double2float_ru(double v) { return __simt::narrow<__simt::kUp>(v); }

// ---- four bytes or two halves of a word at once ------------------------------------------------------
namespace __simt {
template <int width, class _F>
SIMT_DT unsigned int each(unsigned int a, unsigned int b, _F f) {
  constexpr unsigned int mask = width == 8 ? 0xffu : 0xffffu;
  unsigned int out = 0;
  for (int at = 0; at < 32; at += width)
    out |= (static_cast<unsigned int>(f(static_cast<int>((a >> at) & mask), static_cast<int>((b >> at) & mask))) & mask) << at;
  return out;
}
template <int width>
inline constexpr int ones = (1 << width) - 1;
SIMT_D int kept_within(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
template <int width>
SIMT_DT unsigned int sum_of(unsigned int word) {
  unsigned int sum = 0;
  for (int at = 0; at < 32; at += width) sum += (word >> at) & static_cast<unsigned int>(ones<width>);
  return sum;
}
}  // namespace __simt
#define SIMT_IN_WORD(suffix, width, _S)                                                                               \
  SIMT_D unsigned int __vadd##suffix(unsigned int a, unsigned int b) {                                               \
    return __simt::each<width>(a, b, [](int x, int y) { return x + y; });                                            \
  }                                                                                                                  \
  SIMT_D unsigned int __vsub##suffix(unsigned int a, unsigned int b) {                                               \
    return __simt::each<width>(a, b, [](int x, int y) { return x - y; });                                            \
  }                                                                                                                  \
  SIMT_D unsigned int __vabsdiffu##suffix(unsigned int a, unsigned int b) {                                          \
    return __simt::each<width>(a, b, [](int x, int y) { return x > y ? x - y : y - x; });                            \
  }                                                                                                                  \
  SIMT_D unsigned int __vmaxu##suffix(unsigned int a, unsigned int b) {                                              \
    return __simt::each<width>(a, b, [](int x, int y) { return x > y ? x : y; });                                    \
  }                                                                                                                  \
  SIMT_D unsigned int __vminu##suffix(unsigned int a, unsigned int b) {                                              \
    return __simt::each<width>(a, b, [](int x, int y) { return x < y ? x : y; });                                    \
  }                                                                                                                  \
  SIMT_D unsigned int __vmaxs##suffix(unsigned int a, unsigned int b) {                                              \
    return __simt::each<width>(a, b, [](int x, int y) { return _S(x) > _S(y) ? x : y; });                              \
  }                                                                                                                  \
  SIMT_D unsigned int __vmins##suffix(unsigned int a, unsigned int b) {                                              \
    return __simt::each<width>(a, b, [](int x, int y) { return _S(x) < _S(y) ? x : y; });                              \
  }                                                                                                                  \
  SIMT_D unsigned int __vavgu##suffix(unsigned int a, unsigned int b) {                                              \
    return __simt::each<width>(a, b, [](int x, int y) { return (x + y + 1) >> 1; });                                 \
  }                                                                                                                  \
  SIMT_D unsigned int __vcmpeq##suffix(unsigned int a, unsigned int b) {                                             \
    return __simt::each<width>(a, b, [](int x, int y) { return x == y ? -1 : 0; });                                  \
  }                                                                                                                  \
  SIMT_D unsigned int __vcmpne##suffix(unsigned int a, unsigned int b) {                                             \
    return __simt::each<width>(a, b, [](int x, int y) { return x != y ? -1 : 0; });                                  \
  }                                                                                                                  \
  SIMT_D unsigned int __vcmpgtu##suffix(unsigned int a, unsigned int b) {                                            \
    return __simt::each<width>(a, b, [](int x, int y) { return x > y ? -1 : 0; });                                   \
  }                                                                                                                  \
  SIMT_D unsigned int __vcmpgts##suffix(unsigned int a, unsigned int b) {                                            \
    return __simt::each<width>(a, b, [](int x, int y) { return _S(x) > _S(y) ? -1 : 0; });                             \
  }                                                                                                                  \
  SIMT_D unsigned int __vcmpltu##suffix(unsigned int a, unsigned int b) {                                            \
    return __simt::each<width>(a, b, [](int x, int y) { return x < y ? -1 : 0; });                                   \
  }
#define SIMT_MORE_IN_WORD(suffix, width, _S, low, high)                                                               \
  SIMT_IN_WORD_BY(__vaddus##suffix, width, x + y > __simt::ones<width> ? __simt::ones<width> : x + y)                 \
  SIMT_IN_WORD_BY(__vsubus##suffix, width, x > y ? x - y : 0)                                                         \
  SIMT_IN_WORD_BY(__vaddss##suffix, width, __simt::kept_within(_S(x) + _S(y), low, high))                             \
  SIMT_IN_WORD_BY(__vsubss##suffix, width, __simt::kept_within(_S(x) - _S(y), low, high))                             \
  SIMT_IN_WORD_BY(__vabsdiffs##suffix, width, _S(x) > _S(y) ? _S(x) - _S(y) : _S(y) - _S(x))                          \
  SIMT_IN_WORD_BY(__vhaddu##suffix, width, (x + y) >> 1)                                                              \
  SIMT_IN_WORD_BY(__vavgs##suffix, width, (_S(x) + _S(y) + (_S(x) + _S(y) >= 0)) >> 1)                                \
  SIMT_IN_WORD_BY(__vcmpgeu##suffix, width, x >= y ? -1 : 0)                                                          \
  SIMT_IN_WORD_BY(__vcmpges##suffix, width, _S(x) >= _S(y) ? -1 : 0)                                                  \
  SIMT_IN_WORD_BY(__vcmpleu##suffix, width, x <= y ? -1 : 0)                                                          \
  SIMT_IN_WORD_BY(__vcmples##suffix, width, _S(x) <= _S(y) ? -1 : 0)                                                  \
  SIMT_IN_WORD_BY(__vcmplts##suffix, width, _S(x) < _S(y) ? -1 : 0)                                                   \
  SIMT_IN_WORD_BY(__vseteq##suffix, width, x == y)                                                                    \
  SIMT_IN_WORD_BY(__vsetne##suffix, width, x != y)                                                                    \
  SIMT_IN_WORD_BY(__vsetgtu##suffix, width, x > y)                                                                    \
  SIMT_IN_WORD_BY(__vsetgeu##suffix, width, x >= y)                                                                   \
  SIMT_IN_WORD_BY(__vsetltu##suffix, width, x < y)                                                                    \
  SIMT_IN_WORD_BY(__vsetleu##suffix, width, x <= y)                                                                   \
  SIMT_D unsigned int __vneg##suffix(unsigned int a) {                                                                \
    return __simt::each<width>(a, a, [](int x, int) { return -x; });                                                  \
  }                                                                                                                  \
  SIMT_D unsigned int __vabs##suffix(unsigned int a) {                                                                \
    return __simt::each<width>(a, a, [](int x, int) { return _S(x) < 0 ? -x : x; });                                  \
  }                                                                                                                  \
  SIMT_D unsigned int __vsadu##suffix(unsigned int a, unsigned int b) {                                               \
    return __simt::sum_of<width>(__vabsdiffu##suffix(a, b));                                                          \
  }                                                                                                                  \
  SIMT_D unsigned int __vsads##suffix(unsigned int a, unsigned int b) {                                               \
    return __simt::sum_of<width>(__vabsdiffs##suffix(a, b));                                                          \
  }
#define SIMT_IN_WORD_BY(name, width, expression)                                         \
  SIMT_D unsigned int name(unsigned int a, unsigned int b) {                             \
    return __simt::each<width>(a, b, [](int x, int y) { return int(expression); });      \
  }
SIMT_IN_WORD(2, 16, static_cast<short>)
SIMT_IN_WORD(4, 8, static_cast<signed char>)
SIMT_MORE_IN_WORD(2, 16, static_cast<short>, -32768, 32767)
SIMT_MORE_IN_WORD(4, 8, static_cast<signed char>, -128, 127)
#undef SIMT_IN_WORD
#undef SIMT_MORE_IN_WORD
#undef SIMT_IN_WORD_BY
