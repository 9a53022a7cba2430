// The functions that CUDA and HIP add to the C library, and the fast approximations. The emulator computes an
// approximation exactly: it promises the accuracy that the documentation allows, not the same bits.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

// Tells what GPUs approximate from accurate functions, which take more instructions; values are the same.
#define SIMT_FAST _Pragma("clang fp reciprocal(on)")

// ---- roots, quotients, norms ----------------------------------------------------------------------------
namespace __simt {
SIMT_D float quick_root(float x) { SIMT_FAST return __builtin_sqrtf(x); }
}  // namespace __simt
SIMT_D double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
SIMT_D float rsqrt(float x) { return 1.0f / __simt::quick_root(x); }
SIMT_D float rsqrtf(float x) { return 1.0f / __simt::quick_root(x); }
SIMT_D double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_D float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMT_D float fdividef(float x, float y) { return x / y; }
SIMT_D float fdivide(float x, float y) { return x / y; }
SIMT_D double fdivide(double x, double y) { return x / y; }
SIMT_D double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
SIMT_D float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SIMT_D double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
SIMT_D float norm3df(float a, float b, float c) { return __builtin_sqrtf(a * a + b * b + c * c); }
SIMT_D double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
SIMT_D float norm4df(float a, float b, float c, float d) { return __builtin_sqrtf(a * a + b * b + c * c + d * d); }
SIMT_D double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
SIMT_D float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
SIMT_D double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
SIMT_D float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
SIMT_D double norm(int n, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += v[i] * v[i];
  return __builtin_sqrt(sum);
}
SIMT_D float normf(int n, const float* v) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += v[i] * v[i];
  return __builtin_sqrtf(sum);
}
SIMT_D double rnorm(int n, const double* v) { return 1.0 / norm(n, v); }
SIMT_D float rnormf(int n, const float* v) { return 1.0f / normf(n, v); }

// ---- exponentials and trigonometry ------------------------------------------------------------------------
SIMT_D double exp10(double x) { return SIMT_DOUBLE(exp10)(x); }
SIMT_D float exp10(float x) { return SIMT_FLOAT(exp10)(x); }
SIMT_D float exp10f(float x) { return SIMT_FLOAT(exp10)(x); }
SIMT_D void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
SIMT_D void sincos(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
SIMT_D void sincosf(float x, float* sine, float* cosine) { sincos(x, sine, cosine); }

namespace __simt {
// sin(pi x + quarter pi/2): x less the nearest multiple of 1/2 is exact, so only the remainder is rounded.
template <class _T>
SIMT_HDT _T sine_of_pi(_T x, int quarter) {
  if (!(__builtin_fabs(static_cast<double>(x)) < 4503599627370496.0))
    return x - x + static_cast<_T>(quarter & 1);  // even integers; NaN for infinities
  const double wide = static_cast<double>(x);
  const double halves = __builtin_rint(wide * 2.0);
  const double rest = (wide - halves * 0.5) * 3.14159265358979323846;
  const long long turn = (static_cast<long long>(halves) + quarter) & 3;
  const double value = (turn & 1) ? SIMT_DOUBLE(cos)(rest) : SIMT_DOUBLE(sin)(rest);
  return static_cast<_T>((turn & 2) ? -value : value);
}
}  // namespace __simt
SIMT_D double sinpi(double x) { return __simt::sine_of_pi(x, 0); }
SIMT_D float sinpif(float x) { return __simt::sine_of_pi(x, 0); }
SIMT_D float sinpi(float x) { return __simt::sine_of_pi(x, 0); }
SIMT_D double cospi(double x) { return __simt::sine_of_pi(x, 1); }
SIMT_D float cospif(float x) { return __simt::sine_of_pi(x, 1); }
SIMT_D float cospi(float x) { return __simt::sine_of_pi(x, 1); }
SIMT_D void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
SIMT_D void sincospi(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
SIMT_D void sincospif(float x, float* sine, float* cosine) { sincospi(x, sine, cosine); }

// ---- error function and normal distribution -----------------------------------------------------------------
namespace __simt {
// y with erfc(y) = x for 0 < x <= 1, by Newton steps with the second-order correction; from the leading
// asymptotic term for small x and the tangent at 0 otherwise.
__host__ __device__ inline double erfc_inverse_upper(double x) {
  constexpr double root_pi = 1.77245385090551602730;
  double y;
  if (x < 0.25) {
    const double log_term = -SIMT_DOUBLE(log)(x * root_pi);
    y = __builtin_sqrt(__builtin_fmax(log_term - 0.5 * SIMT_DOUBLE(log)(__builtin_fmax(log_term, 0.3)), 0.1));
  } else {
    y = (1.0 - x) * (root_pi / 2.0);
  }
  for (int step = 0; step < 8; ++step) {
    const double newton = (SIMT_DOUBLE(erfc)(y) - x) * (root_pi / 2.0) * SIMT_DOUBLE(exp)(y * y);
    y += newton / (1.0 - newton * y);
  }
  return y;
}
__host__ __device__ inline double erfc_inverse(double x) {
  if (!(x >= 0.0 && x <= 2.0)) return __builtin_nan("");
  if (x == 0.0) return __builtin_inf();
  if (x == 2.0) return -__builtin_inf();
  return x <= 1.0 ? erfc_inverse_upper(x) : -erfc_inverse_upper(2.0 - x);
}
__host__ __device__ inline double erf_inverse(double x) {
  const double magnitude = __builtin_fabs(x);
  if (magnitude < 1e-9) return x * 0.88622692545275801365;
  if (magnitude > 0.5) return __builtin_copysign(erfc_inverse(1.0 - magnitude), x);
  double y = magnitude * 0.88622692545275801365;
  for (int step = 0; step < 5; ++step) {
    const double newton = (SIMT_DOUBLE(erf)(y) - magnitude) * 0.88622692545275801365 * SIMT_DOUBLE(exp)(y * y);
    y -= newton / (1.0 + newton * y);
  }
  return __builtin_copysign(y, x);
}
// exp(x*x) erfc(x); x*x is split so that its rounding error does not grow in the exponential.
__host__ __device__ inline double scaled_erfc(double x) {
  if (x < 25.0) {
    const double head = static_cast<double>(static_cast<float>(x));
    return SIMT_DOUBLE(exp)(head * head) * SIMT_DOUBLE(exp)((x - head) * (x + head)) * SIMT_DOUBLE(erfc)(x);
  }
  const double inverse = 1.0 / (x * x);
  double series = 1.0;
  for (double odd = 8.5; odd > 0.0; odd -= 1.0) series = 1.0 - odd * inverse * series;
  return 0.56418958354775628695 / x * series;
}
// Modified Bessel functions of the first kind: power series, asymptotic series from 30 on.
__host__ __device__ inline double bessel_i(int order, double x) {
  const double magnitude = __builtin_fabs(x);
  double sum, term;
  if (magnitude < 30.0) {
    const double quarter = 0.25 * x * x;
    term = order == 0 ? 1.0 : 0.5 * magnitude;
    sum = term;
    for (int k = 1; k < 200 && term > sum * 1e-17; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + order));
      sum += term;
    }
  } else {
    term = 1.0;
    sum = 1.0;
    for (int k = 1; k < 30; ++k) {
      const double odd = 2.0 * k - 1.0;
      term *= -(4.0 * order * order - odd * odd) / (8.0 * magnitude * k);
      sum += term;
    }
    sum *= SIMT_DOUBLE(exp)(magnitude) / __builtin_sqrt(6.28318530717958647693 * magnitude);
  }
  return order == 1 && x < 0.0 ? -sum : sum;
}
}  // namespace __simt
#define SIMT_THROUGH_DOUBLE(name, expression)                                          \
  SIMT_D double name(double x) { return expression; }                                  \
  SIMT_D float name##f(float narrow) {                                                 \
    const double x = static_cast<double>(narrow);                                      \
    return static_cast<float>(expression);                                             \
  }                                                                                    \
  SIMT_D float name(float x) { return name##f(x); }
SIMT_THROUGH_DOUBLE(erfinv, __simt::erf_inverse(x))
SIMT_THROUGH_DOUBLE(erfcinv, __simt::erfc_inverse(x))
SIMT_THROUGH_DOUBLE(erfcx, __simt::scaled_erfc(x))
SIMT_THROUGH_DOUBLE(normcdf, 0.5 * SIMT_DOUBLE(erfc)(x * -0.70710678118654752440))
SIMT_THROUGH_DOUBLE(normcdfinv, -1.41421356237309504880 * __simt::erfc_inverse(2.0 * x))
SIMT_THROUGH_DOUBLE(cyl_bessel_i0, __simt::bessel_i(0, x))
SIMT_THROUGH_DOUBLE(cyl_bessel_i1, __simt::bessel_i(1, x))
#undef SIMT_THROUGH_DOUBLE

// The same on the host, where nvcc has them too. Templates, because newer C libraries declare some of the names.
#if !defined(__HIP__)
#define SIMT_ON_HOST(name, expression)                                                                   \
  template <class _T, class = __simt::enable_if_t<__is_arithmetic(_T)>>                                  \
  inline __attribute__((host)) auto name(_T argument) -> decltype(argument + 0.0f) {                     \
    const double x = static_cast<double>(argument);                                                      \
    return static_cast<decltype(argument + 0.0f)>(expression);                                           \
  }                                                                                                      \
  template <class _T, class = __simt::enable_if_t<__is_arithmetic(_T)>>                                  \
  inline __attribute__((host)) float name##f(_T argument) {                                              \
    const double x = static_cast<double>(static_cast<float>(argument));                                  \
    return static_cast<float>(expression);                                                               \
  }
SIMT_ON_HOST(rsqrt, 1.0 / __builtin_sqrt(x))
SIMT_ON_HOST(rcbrt, 1.0 / __builtin_cbrt(x))
SIMT_ON_HOST(sinpi, __simt::sine_of_pi(x, 0))
SIMT_ON_HOST(cospi, __simt::sine_of_pi(x, 1))
SIMT_ON_HOST(erfinv, __simt::erf_inverse(x))
SIMT_ON_HOST(erfcinv, __simt::erfc_inverse(x))
SIMT_ON_HOST(erfcx, __simt::scaled_erfc(x))
SIMT_ON_HOST(normcdf, 0.5 * __builtin_erfc(x * -0.70710678118654752440))
SIMT_ON_HOST(normcdfinv, -1.41421356237309504880 * __simt::erfc_inverse(2.0 * x))
SIMT_ON_HOST(cyl_bessel_i0, __simt::bessel_i(0, x))
SIMT_ON_HOST(cyl_bessel_i1, __simt::bessel_i(1, x))
#undef SIMT_ON_HOST
template <class _T, class = __simt::enable_if_t<__is_arithmetic(_T)>>
inline __attribute__((host)) float fdividef(_T x, _T y) {
  return static_cast<float>(x) / static_cast<float>(y);
}
#endif

#if !defined(__AMDGCN__) && !defined(__NVPTX__)
// The host's libm, under names that no declaration of the host's can contradict.
#define SIMT_BESSEL(name)                                                                       \
  extern "C" __device__ double __simt_libm_##name(double) __asm__(#name);                       \
  extern "C" __device__ float __simt_libm_##name##f(float) __asm__(#name "f");                  \
  SIMT_D double name(double x) { return __simt_libm_##name(x); }                                \
  SIMT_D float name##f(float x) { return __simt_libm_##name##f(x); }
SIMT_BESSEL(j0)
SIMT_BESSEL(j1)
SIMT_BESSEL(y0)
SIMT_BESSEL(y1)
#undef SIMT_BESSEL
#define SIMT_BESSEL(name)                                                                       \
  extern "C" __device__ double __simt_libm_##name(int, double) __asm__(#name);                  \
  extern "C" __device__ float __simt_libm_##name##f(int, float) __asm__(#name "f");             \
  SIMT_D double name(int n, double x) { return __simt_libm_##name(n, x); }                      \
  SIMT_D float name##f(int n, float x) { return __simt_libm_##name##f(n, x); }
SIMT_BESSEL(jn)
SIMT_BESSEL(yn)
#undef SIMT_BESSEL
#else
// Hankel's leading term: of the right size for register counts, as in math_real_target.h.
#define SIMT_BESSEL(name, phase)                                                                \
  SIMT_D double name(double x) { return __builtin_sqrt(0.63661977236758134308 / x) * cos(x - (phase)); }       \
  SIMT_D float name##f(float x) { return __builtin_sqrtf(0.636619772f / x) * cosf(x - float(phase)); }
SIMT_BESSEL(j0, 0.78539816339744830962)
SIMT_BESSEL(j1, 2.35619449019234492885)
SIMT_BESSEL(y0, 2.35619449019234492885)
SIMT_BESSEL(y1, 3.92699081698724154808)
#undef SIMT_BESSEL
#endif

// ---- fast approximations --------------------------------------------------------------------------------------
SIMT_D float __expf(float x) { SIMT_FAST return SIMT_FLOAT(exp)(x); }
SIMT_D float __exp10f(float x) { SIMT_FAST return SIMT_FLOAT(exp10)(x); }
SIMT_D float __logf(float x) { SIMT_FAST return SIMT_FLOAT(log)(x); }
SIMT_D float __log2f(float x) { SIMT_FAST return SIMT_FLOAT(log2)(x); }
SIMT_D float __log10f(float x) { SIMT_FAST return SIMT_FLOAT(log10)(x); }
SIMT_D float __sinf(float x) { SIMT_FAST return SIMT_FLOAT(sin)(x); }
SIMT_D float __cosf(float x) { SIMT_FAST return SIMT_FLOAT(cos)(x); }
SIMT_D float __tanf(float x) { SIMT_FAST return SIMT_FLOAT(tan)(x); }
SIMT_D float __tanhf(float x) { SIMT_FAST return SIMT_FLOAT(tanh)(x); }
SIMT_D float __powf(float x, float y) { SIMT_FAST return SIMT_FLOAT(pow)(x, y); }
SIMT_D void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
SIMT_D float __fdividef(float x, float y) { SIMT_FAST return x / y; }
#undef SIMT_FAST
SIMT_D float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
