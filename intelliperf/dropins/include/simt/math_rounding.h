// Arithmetic with a stated rounding: __fadd_rn … __drcp_ru. The directed results are exact: the rounding error of
// the nearest result is itself computed exactly (two-sum, fused residuals) and its sign decides the last step.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace __simt {
SIMT_D float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SIMT_D double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
SIMT_D float root(float a) { return __builtin_sqrtf(a); }
SIMT_D double root(double a) { return __builtin_sqrt(a); }

template <rounding mode, class _F>
SIMT_DT _F finish(_F nearest, _F error) {
  if (nearest - nearest == _F(0)) return directed<mode>(nearest, error);
  return nearest;  // infinities and NaN
}
template <class _F>
SIMT_DT _F sum_error(_F a, _F b, _F sum) {
  const _F b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}
template <rounding mode, class _F>
SIMT_DT _F add(_F a, _F b) {
#pragma clang fp contract(off) reassociate(off)
  const _F sum = a + b;
  if constexpr (mode == kNearest) return sum;
  if (mode == kDown && sum == _F(0) && (a != _F(0) || __builtin_signbit(a) || __builtin_signbit(b))) return _F(-0.0);
  return finish<mode>(sum, sum_error(a, b, sum));
}
template <rounding mode, class _F>
SIMT_DT _F multiply(_F a, _F b) {
#pragma clang fp contract(off)
  const _F product = a * b;
  if constexpr (mode == kNearest) return product;
  return finish<mode>(product, fused(a, b, -product));
}
template <rounding mode, class _F>
SIMT_DT _F divide(_F a, _F b) {
#pragma clang fp contract(off)
  const _F quotient = a / b;
  if constexpr (mode == kNearest) return quotient;
  if (b - b != _F(0)) return quotient;
  const _F residual = fused(-quotient, b, a);
  return finish<mode>(quotient, b < _F(0) ? -residual : residual);
}
template <rounding mode, class _F>
SIMT_DT _F square_root(_F a) {
  const _F nearest = root(a);
  if constexpr (mode == kNearest) return nearest;
  return finish<mode>(nearest, fused(-nearest, nearest, a));
}
template <rounding mode, class _F>
SIMT_DT _F multiply_add(_F a, _F b, _F c) {
#pragma clang fp contract(off) reassociate(off)
  const _F nearest = fused(a, b, c);
  if constexpr (mode == kNearest) return nearest;
  // Boldo and Muller, "Exact and approximated error of the FMA" (2011): a*b + c - nearest as a sum of two.
  const _F product = a * b, product_error = fused(a, b, -product);
  const _F low = c + product_error, low_error = sum_error(c, product_error, low);
  const _F high = product + low, high_error = sum_error(product, low, high);
  return finish<mode>(nearest, ((high - nearest) + high_error) + low_error);
}
}  // namespace __simt

#define SIMT_ROUNDED(prefix, _F, suffix, mode)                                                                \
  SIMT_D _F __##prefix##add_##suffix(_F a, _F b) { return __simt::add<__simt::mode>(a, b); }                    \
  SIMT_D _F __##prefix##sub_##suffix(_F a, _F b) { return __simt::add<__simt::mode>(a, -b); }                   \
  SIMT_D _F __##prefix##mul_##suffix(_F a, _F b) { return __simt::multiply<__simt::mode>(a, b); }               \
  SIMT_D _F __##prefix##div_##suffix(_F a, _F b) { return __simt::divide<__simt::mode>(a, b); }                 \
  SIMT_D _F __##prefix##rcp_##suffix(_F a) { return __simt::divide<__simt::mode>(_F(1), a); }                   \
  SIMT_D _F __##prefix##sqrt_##suffix(_F a) { return __simt::square_root<__simt::mode>(a); }
#define SIMT_ROUNDED_BOTH(suffix, mode)                                                                      \
  SIMT_ROUNDED(f, float, suffix, mode)                                                                       \
  SIMT_ROUNDED(d, double, suffix, mode)                                                                      \
  SIMT_D float __fmaf_##suffix(float a, float b, float c) { return __simt::multiply_add<__simt::mode>(a, b, c); } \
  SIMT_D double __fma_##suffix(double a, double b, double c) { return __simt::multiply_add<__simt::mode>(a, b, c); }
SIMT_ROUNDED_BOTH(rn, kNearest)
SIMT_ROUNDED_BOTH(rz, kZero)
SIMT_ROUNDED_BOTH(rd, kDown)
SIMT_ROUNDED_BOTH(ru, kUp)
#undef SIMT_ROUNDED_BOTH
#undef SIMT_ROUNDED
SIMT_D float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }
