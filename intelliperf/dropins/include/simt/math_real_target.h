// Elementary functions for the real targets, which have no libm here: the usual reductions and polynomials, of the
// length that vendors' libraries have, so that register counts are of the right size. Never run, hence not tuned.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace __simt {
namespace real {
#define SIMT_PLAIN(name)                                          \
  SIMT_D double name(double x) { return __builtin_##name(x); }    \
  SIMT_D float name(float x) { return __builtin_##name##f(x); }
SIMT_PLAIN(ceil)
SIMT_PLAIN(fabs)
SIMT_PLAIN(floor)
SIMT_PLAIN(nearbyint)
SIMT_PLAIN(rint)
SIMT_PLAIN(sqrt)
SIMT_PLAIN(trunc)
SIMT_PLAIN(round)
#undef SIMT_PLAIN
#define SIMT_PLAIN(name)                                                       \
  SIMT_D double name(double x, double y) { return __builtin_##name(x, y); }    \
  SIMT_D float name(float x, float y) { return __builtin_##name##f(x, y); }
SIMT_PLAIN(copysign)
SIMT_PLAIN(fmax)
SIMT_PLAIN(fmin)
#undef SIMT_PLAIN

SIMT_D float ldexp(float x, int n) { return x * __builtin_bit_cast(float, (n + 127) << 23); }
SIMT_D double ldexp(double x, int n) { return x * __builtin_bit_cast(double, static_cast<long long>(n + 1023) << 52); }
SIMT_D float frexp(float x, int* n) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, x);
  *n = static_cast<int>((bits >> 23) & 255u) - 126;
  return __builtin_bit_cast(float, (bits & 0x807fffffu) | 0x3f000000u);
}
SIMT_D double frexp(double x, int* n) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  *n = static_cast<int>((bits >> 52) & 2047u) - 1022;
  return __builtin_bit_cast(double, (bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
template <class _T, int n>
SIMT_DT _T horner(_T x, const double (&c)[n]) {
  _T sum = static_cast<_T>(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = sum * x + static_cast<_T>(c[i]);
  return sum;
}

// ---- float: the hardware's approximations ----------------------------------------------------------------
SIMT_D float sin(float x) { return fast_sin(x); }
SIMT_D float cos(float x) { return fast_cos(x); }
SIMT_D float exp2(float x) { return fast_exp2(x); }
SIMT_D float log2(float x) { return fast_log2(x); }
SIMT_D float exp(float x) { return fast_exp2(x * 1.44269504088896340736f); }
SIMT_D float exp10(float x) { return fast_exp2(x * 3.32192809488736234787f); }
SIMT_D float log(float x) { return fast_log2(x) * 0.69314718055994530942f; }
SIMT_D float log10(float x) { return fast_log2(x) * 0.30102999566398119521f; }

// ---- double: argument reduction and polynomials ------------------------------------------------------------
SIMT_D double exp(double x) {
  const double n = __builtin_rint(x * 1.44269504088896340736);
  const double r = __builtin_fma(n, -1.90821492927058770002e-10, __builtin_fma(n, -6.93147180369123816490e-01, x));
  constexpr double c[] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                          1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800};
  return ldexp(horner(r, c), static_cast<int>(n));
}
SIMT_D double log(double x) {
  int n;
  double m = frexp(x, &n);
  const bool low = m < 0.70710678118654752440;
  m = low ? m + m : m;
  n = low ? n - 1 : n;
  const double s = (m - 1.0) / (m + 1.0);
  constexpr double c[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17};
  return __builtin_fma(static_cast<double>(n), 0.69314718055994530942, s * horner(s * s, c));
}
SIMT_D double turn(double x, int quarter) {
  const double n = __builtin_rint(x * 0.63661977236758134308);
  double r = __builtin_fma(n, -1.57079632673412561417e+00, x);
  r = __builtin_fma(n, -6.07710050630396597660e-11, r);
  r = __builtin_fma(n, -2.02226624879595063154e-21, r);
  constexpr double s[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0};
  constexpr double c[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0};
  const double square = r * r;
  const double sine = r * horner(square, s), cosine = horner(square, c);
  const int at = static_cast<int>(n) + quarter;
  const double value = (at & 1) ? cosine : sine;
  return (at & 2) ? -value : value;
}
SIMT_D double sin(double x) { return turn(x, 0); }
SIMT_D double cos(double x) { return turn(x, 1); }
SIMT_D double exp2(double x) { return exp(x * 0.69314718055994530942); }
SIMT_D double exp10(double x) { return exp(x * 2.30258509299404568402); }
SIMT_D double log2(double x) { return log(x) * 1.44269504088896340736; }
SIMT_D double log10(double x) { return log(x) * 0.43429448190325182765; }

// ---- the rest from these, for both types ---------------------------------------------------------------------
#define SIMT_BOTH(name, expression)                        \
  SIMT_D float name(float x) {                             \
    using _T = float;                                       \
    return expression;                                     \
  }                                                        \
  SIMT_D double name(double x) {                           \
    using _T = double;                                      \
    return expression;                                     \
  }
template <class _T>
SIMT_DT _T arc_tangent(_T x) {
  const _T magnitude = fabs(x);
  const bool swap = magnitude > _T(1);
  const _T t = swap ? _T(1) / magnitude : magnitude;
  constexpr double c[] = {1.0, -0.333333333, 0.199999, -0.142842, 0.110908, -0.0897, 0.0731, -0.0560, 0.0372, -0.0171, 0.0037};
  const _T p = t * horner(t * t, c);
  return copysign(swap ? _T(1.57079632679489661923) - p : p, x);
}
template <class _T>
SIMT_DT _T error_function(_T x) {
  constexpr double c[] = {1.128379167, -0.376126389, 0.112837917, -0.0268661, 0.00522397, -0.000854832, 0.000120553,
                          -0.0000149256, 0.00000164621};
  const _T tail = _T(1) - exp(-x * x) * horner(_T(1) / (_T(1) + _T(0.3275911) * fabs(x)), c);
  return fabs(x) < _T(1) ? x * horner(x * x, c) : copysign(tail, x);
}
template <class _T>
SIMT_DT _T log_gamma(_T x) {
  constexpr double c[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
  const _T shifted = x + _T(7), inverse = _T(1) / shifted;
  const _T product = x * (x + _T(1)) * (x + _T(2)) * (x + _T(3)) * (x + _T(4)) * (x + _T(5)) * (x + _T(6));
  return (shifted - _T(0.5)) * log(shifted) - shifted + _T(0.91893853320467274178) +
         inverse * horner(inverse * inverse, c) - log(fabs(product));
}
SIMT_BOTH(tan, sin(x) / cos(x))
SIMT_BOTH(atan, arc_tangent<_T>(x))
SIMT_BOTH(asin, arc_tangent<_T>(x / sqrt(_T(1) - x * x)))
SIMT_BOTH(acos, _T(1.57079632679489661923) - asin(x))
SIMT_BOTH(expm1, fabs(x) < _T(0.1) ? x * (_T(1) + x * (_T(0.5) + x * _T(1.0 / 6))) : exp(x) - _T(1))
SIMT_BOTH(log1p, fabs(x) < _T(0.1) ? x * (_T(1) - x * (_T(0.5) - x * _T(1.0 / 3))) : log(_T(1) + x))
SIMT_BOTH(sinh, _T(0.5) * (exp(x) - exp(-x)))
SIMT_BOTH(cosh, _T(0.5) * (exp(x) + exp(-x)))
SIMT_BOTH(tanh, _T(1) - _T(2) / (exp(x + x) + _T(1)))
SIMT_BOTH(asinh, copysign(log(fabs(x) + sqrt(x * x + _T(1))), x))
SIMT_BOTH(acosh, log(x + sqrt(x * x - _T(1))))
SIMT_BOTH(atanh, _T(0.5) * log((_T(1) + x) / (_T(1) - x)))
SIMT_BOTH(cbrt, copysign(exp2(log2(fabs(x)) * _T(1.0 / 3)), x))
SIMT_BOTH(erf, error_function<_T>(x))
SIMT_BOTH(erfc, _T(1) - error_function<_T>(x))
SIMT_BOTH(lgamma, log_gamma<_T>(x))
SIMT_BOTH(tgamma, exp(log_gamma<_T>(x)))
#undef SIMT_BOTH
#define SIMT_BOTH(name, expression)                        \
  SIMT_D float name(float x, float y) {                    \
    using _T = float;                                       \
    return expression;                                     \
  }                                                        \
  SIMT_D double name(double x, double y) {                 \
    using _T = double;                                      \
    return expression;                                     \
  }
template <class _T>
SIMT_DT _T power(_T x, _T y) {
  const _T magnitude = exp2(y * log2(fabs(x)));
  const bool odd = y == trunc(y) && trunc(y * _T(0.5)) * _T(2) != y;
  return x < _T(0) && odd ? -magnitude : magnitude;
}
SIMT_BOTH(atan2, arc_tangent<_T>(y / x) + (x < _T(0) ? copysign(_T(3.14159265358979323846), y) : _T(0)))
SIMT_BOTH(fdim, x > y ? x - y : _T(0))
SIMT_BOTH(fmod, x - trunc(x / y) * y)
SIMT_BOTH(hypot, sqrt(x * x + y * y))
SIMT_BOTH(pow, power<_T>(x, y))
SIMT_BOTH(remainder, x - rint(x / y) * y)
#undef SIMT_BOTH
SIMT_D float nextafter(float x, float y) {
  const int bits = __builtin_bit_cast(int, x);
  return x == y ? y : __builtin_bit_cast(float, (y > x) == (x > 0.0f) ? bits + 1 : bits - 1);
}
SIMT_D double nextafter(double x, double y) {
  const long long bits = __builtin_bit_cast(long long, x);
  return x == y ? y : __builtin_bit_cast(double, (y > x) == (x > 0.0) ? bits + 1 : bits - 1);
}
template <class _T>
SIMT_DT int ilogb(_T x) {
  int n;
  (void)frexp(x, &n);
  return n - 1;
}
SIMT_D float logb(float x) { return static_cast<float>(ilogb(x)); }
SIMT_D double logb(double x) { return static_cast<double>(ilogb(x)); }
template <class _T>
SIMT_DT _T remquo(_T x, _T y, int* quotient) {
  *quotient = static_cast<int>(rint(x / y));
  return remainder(x, y);
}
}  // namespace real
}  // namespace __simt
