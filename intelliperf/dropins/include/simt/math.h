// The mathematical functions of device code, as explicit device overloads of the host's names, in the global
// namespace and in std. They are declared before any host header, and work with libc++ and with libstdc++.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#if defined(__AMDGCN__) || defined(__NVPTX__)
#include <simt/math_real_target.h>  // no libm to link there
#define SIMT_DOUBLE(name) __simt::real::name
#define SIMT_FLOAT(name) __simt::real::name
#else
#define SIMT_DOUBLE(name) __builtin_##name
#define SIMT_FLOAT(name) __builtin_##name##f
#endif

namespace __simt {
template <class _T>
inline constexpr bool is_integer = __is_integral(_T);
template <class _A, class _B>
using promoted = enable_if_t<__is_arithmetic(_A) && __is_arithmetic(_B) &&
                                 !(is_same<_A, _B> && __is_floating_point(_A)), double>;
}  // namespace __simt

// ---- one, two and three arguments: f(double), f(float), ff(float), integers as double -------------------
#define SIMT_UNARY(name)                                                                          \
  SIMT_D double name(double x) { return SIMT_DOUBLE(name)(x); }                                   \
  SIMT_D float name(float x) { return SIMT_FLOAT(name)(x); }                                      \
  SIMT_D float name##f(float x) { return SIMT_FLOAT(name)(x); }                                   \
  template <class _T, class = __simt::enable_if_t<__simt::is_integer<_T>>>                          \
  SIMT_DT double name(_T x) {                                                                      \
    return SIMT_DOUBLE(name)(static_cast<double>(x));                                             \
  }                                                                                               \
  namespace std {                                                                                 \
  using ::name;                                                                                   \
  using ::name##f;                                                                                \
  }
#define SIMT_BINARY(name)                                                                         \
  SIMT_D double name(double x, double y) { return SIMT_DOUBLE(name)(x, y); }                      \
  SIMT_D float name(float x, float y) { return SIMT_FLOAT(name)(x, y); }                          \
  SIMT_D float name##f(float x, float y) { return SIMT_FLOAT(name)(x, y); }                       \
  template <class _A, class _B>                                                                     \
  SIMT_DT __simt::promoted<_A, _B> name(_A x, _B y) {                                                 \
    return SIMT_DOUBLE(name)(static_cast<double>(x), static_cast<double>(y));                     \
  }                                                                                               \
  namespace std {                                                                                 \
  using ::name;                                                                                   \
  using ::name##f;                                                                                \
  }
SIMT_UNARY(acos)
SIMT_UNARY(acosh)
SIMT_UNARY(asin)
SIMT_UNARY(asinh)
SIMT_UNARY(atan)
SIMT_UNARY(atanh)
SIMT_UNARY(cbrt)
SIMT_UNARY(ceil)
SIMT_UNARY(cos)
SIMT_UNARY(cosh)
SIMT_UNARY(erf)
SIMT_UNARY(erfc)
SIMT_UNARY(exp)
SIMT_UNARY(exp2)
SIMT_UNARY(expm1)
SIMT_UNARY(fabs)
SIMT_UNARY(floor)
SIMT_UNARY(lgamma)
SIMT_UNARY(log)
SIMT_UNARY(log10)
SIMT_UNARY(log1p)
SIMT_UNARY(log2)
SIMT_UNARY(logb)
SIMT_UNARY(nearbyint)
SIMT_UNARY(rint)
SIMT_UNARY(round)
SIMT_UNARY(sin)
SIMT_UNARY(sinh)
SIMT_UNARY(sqrt)
SIMT_UNARY(tan)
SIMT_UNARY(tanh)
SIMT_UNARY(tgamma)
SIMT_UNARY(trunc)
SIMT_BINARY(atan2)
SIMT_BINARY(copysign)
SIMT_BINARY(fdim)
SIMT_BINARY(fmax)
SIMT_BINARY(fmin)
SIMT_BINARY(fmod)
SIMT_BINARY(hypot)
SIMT_BINARY(nextafter)
SIMT_BINARY(pow)
SIMT_BINARY(remainder)
#undef SIMT_UNARY
#undef SIMT_BINARY

SIMT_D float pow(float x, int n) { return SIMT_FLOAT(pow)(x, static_cast<float>(n)); }
SIMT_D double pow(double x, int n) { return SIMT_DOUBLE(pow)(x, static_cast<double>(n)); }
SIMT_D float powif(float x, int n) { return pow(x, n); }
SIMT_D double powi(double x, int n) { return pow(x, n); }
SIMT_D double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
SIMT_D float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMT_D float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMT_D double ldexp(double x, int n) { return SIMT_DOUBLE(ldexp)(x, n); }
SIMT_D float ldexp(float x, int n) { return SIMT_FLOAT(ldexp)(x, n); }
SIMT_D float ldexpf(float x, int n) { return SIMT_FLOAT(ldexp)(x, n); }
SIMT_D double scalbn(double x, int n) { return SIMT_DOUBLE(ldexp)(x, n); }
SIMT_D float scalbn(float x, int n) { return SIMT_FLOAT(ldexp)(x, n); }
SIMT_D float scalbnf(float x, int n) { return SIMT_FLOAT(ldexp)(x, n); }
SIMT_D double scalbln(double x, long n) { return SIMT_DOUBLE(ldexp)(x, static_cast<int>(n)); }
SIMT_D float scalbln(float x, long n) { return SIMT_FLOAT(ldexp)(x, static_cast<int>(n)); }
SIMT_D double frexp(double x, int* n) { return SIMT_DOUBLE(frexp)(x, n); }
SIMT_D float frexp(float x, int* n) { return SIMT_FLOAT(frexp)(x, n); }
SIMT_D float frexpf(float x, int* n) { return SIMT_FLOAT(frexp)(x, n); }
SIMT_D double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
SIMT_D float modf(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
SIMT_D float modff(float x, float* whole) { return modf(x, whole); }
SIMT_D double remquo(double x, double y, int* quotient) { return SIMT_DOUBLE(remquo)(x, y, quotient); }
SIMT_D float remquo(float x, float y, int* quotient) { return SIMT_FLOAT(remquo)(x, y, quotient); }
SIMT_D float remquof(float x, float y, int* quotient) { return SIMT_FLOAT(remquo)(x, y, quotient); }
SIMT_D int ilogb(double x) { return SIMT_DOUBLE(ilogb)(x); }
SIMT_D int ilogb(float x) { return SIMT_FLOAT(ilogb)(x); }
SIMT_D int ilogbf(float x) { return SIMT_FLOAT(ilogb)(x); }
SIMT_D long lrint(double x) { return static_cast<long>(__builtin_rint(x)); }
SIMT_D long lrint(float x) { return static_cast<long>(__builtin_rintf(x)); }
SIMT_D long lrintf(float x) { return static_cast<long>(__builtin_rintf(x)); }
SIMT_D long lround(double x) { return static_cast<long>(__builtin_round(x)); }
SIMT_D long lround(float x) { return static_cast<long>(__builtin_roundf(x)); }
SIMT_D long lroundf(float x) { return static_cast<long>(__builtin_roundf(x)); }
SIMT_D long long llrint(double x) { return static_cast<long long>(__builtin_rint(x)); }
SIMT_D long long llrint(float x) { return static_cast<long long>(__builtin_rintf(x)); }
SIMT_D long long llrintf(float x) { return static_cast<long long>(__builtin_rintf(x)); }
SIMT_D long long llround(double x) { return static_cast<long long>(__builtin_round(x)); }
SIMT_D long long llround(float x) { return static_cast<long long>(__builtin_roundf(x)); }
SIMT_D long long llroundf(float x) { return static_cast<long long>(__builtin_roundf(x)); }
SIMT_D double nan(const char*) { return __builtin_nan(""); }
SIMT_D float nanf(const char*) { return __builtin_nanf(""); }
SIMT_D int abs(int x) { return x < 0 ? -x : x; }
SIMT_D long abs(long x) { return x < 0 ? -x : x; }
SIMT_D long long abs(long long x) { return x < 0 ? -x : x; }
SIMT_D double abs(double x) { return __builtin_fabs(x); }
SIMT_D float abs(float x) { return __builtin_fabsf(x); }
SIMT_D long labs(long x) { return x < 0 ? -x : x; }
SIMT_D long long llabs(long long x) { return x < 0 ? -x : x; }

#define SIMT_CLASSIFY(name, builtin)                                                              \
  SIMT_D bool name(double x) { return builtin(x); }                                               \
  SIMT_D bool name(float x) { return builtin(x); }                                                \
  template <class _T, class = __simt::enable_if_t<__simt::is_integer<_T>>>                          \
  SIMT_DT bool name(_T x) {                                                                        \
    return builtin(static_cast<double>(x));                                                       \
  }                                                                                               \
  namespace std {                                                                                 \
  using ::name;                                                                                   \
  }
// Before C++23, whose standard libraries make these constexpr and thereby callable on the device.
#if __cplusplus <= 202002L
SIMT_CLASSIFY(isfinite, __builtin_isfinite)
SIMT_CLASSIFY(isinf, __builtin_isinf)
SIMT_CLASSIFY(isnan, __builtin_isnan)
SIMT_CLASSIFY(isnormal, __builtin_isnormal)
SIMT_CLASSIFY(signbit, __builtin_signbit)
#endif
#undef SIMT_CLASSIFY
SIMT_D int __isnan(double x) { return __builtin_isnan(x); }
SIMT_D int __isnanf(float x) { return __builtin_isnan(x); }
SIMT_D int __isinf(double x) { return __builtin_isinf(x); }
SIMT_D int __isinff(float x) { return __builtin_isinf(x); }
SIMT_D int __finite(double x) { return __builtin_isfinite(x); }
SIMT_D int __finitef(float x) { return __builtin_isfinite(x); }
SIMT_D int __signbit(double x) { return __builtin_signbit(x); }
SIMT_D int __signbitf(float x) { return __builtin_signbit(x); }

namespace std {
using ::abs;
using ::fma;
using ::fmaf;
using ::frexp;
using ::ilogb;
using ::labs;
using ::ldexp;
using ::llabs;
using ::llrint;
using ::llround;
using ::lrint;
using ::lround;
using ::modf;
using ::nan;
using ::nanf;
using ::pow;
using ::remquo;
using ::scalbln;
using ::scalbn;
}  // namespace std

// ---- min and max, also on the host: both vendors have them in the global namespace -----------------------
#define SIMT_ORDERED(_T)                                          \
  SIMT_HD constexpr _T min(_T a, _T b) { return b < a ? b : a; }    \
  SIMT_HD constexpr _T max(_T a, _T b) { return a < b ? b : a; }
SIMT_ORDERED(int)
SIMT_ORDERED(unsigned int)
SIMT_ORDERED(long)
SIMT_ORDERED(unsigned long)
SIMT_ORDERED(long long)
SIMT_ORDERED(unsigned long long)
#undef SIMT_ORDERED
SIMT_HD float min(float a, float b) { return __builtin_fminf(a, b); }
SIMT_HD float max(float a, float b) { return __builtin_fmaxf(a, b); }
SIMT_HD double min(double a, double b) { return __builtin_fmin(a, b); }
SIMT_HD double max(double a, double b) { return __builtin_fmax(a, b); }
namespace __simt {
// The usual arithmetic conversions decide for operands of two types.
template <class _A, class _B>
using common = enable_if_t<__is_arithmetic(_A) && __is_arithmetic(_B) && !is_same<_A, _B>, decltype(_A() + _B())>;
}  // namespace __simt
template <class _A, class _B>
SIMT_HDT constexpr __simt::common<_A, _B> min(_A a, _B b) {
  return min(static_cast<__simt::common<_A, _B>>(a), static_cast<__simt::common<_A, _B>>(b));
}
template <class _A, class _B>
SIMT_HDT constexpr __simt::common<_A, _B> max(_A a, _B b) {
  return max(static_cast<__simt::common<_A, _B>>(a), static_cast<__simt::common<_A, _B>>(b));
}
SIMT_D int __mad24(int a, int b, int c) { return __mul24(a, b) + c; }
#if !defined(__HIP__)
SIMT_D unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
SIMT_D unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
SIMT_D long long llmin(long long a, long long b) { return min(a, b); }
SIMT_D long long llmax(long long a, long long b) { return max(a, b); }
SIMT_D unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
SIMT_D unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
#endif

#include <simt/math_extra.h>
#include <simt/math_rounding.h>
