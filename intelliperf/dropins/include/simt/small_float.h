// Arithmetic of one 16-bit float and its pair, for __half and for the bfloat16 types alike. Every operation
// computes in float and rounds once: float's 24 bits make that correct for + - * / and the square root.
// No include guard. The includer defines SIMT_H (the scalar), SIMT_H2 (the pair with members x and y), and
// SIMT_FROM(float), SIMT_FROM_DOUBLE(double), SIMT_TO(scalar), SIMT_BITS(scalar), SIMT_FROM_BITS(bits).

SIMT_HD SIMT_H __hadd(SIMT_H a, SIMT_H b) { return SIMT_FROM(SIMT_TO(a) + SIMT_TO(b)); }
SIMT_HD SIMT_H __hsub(SIMT_H a, SIMT_H b) { return SIMT_FROM(SIMT_TO(a) - SIMT_TO(b)); }
SIMT_HD SIMT_H __hmul(SIMT_H a, SIMT_H b) { return SIMT_FROM(SIMT_TO(a) * SIMT_TO(b)); }
SIMT_HD SIMT_H __hdiv(SIMT_H a, SIMT_H b) { return SIMT_FROM(SIMT_TO(a) / SIMT_TO(b)); }
SIMT_HD SIMT_H __hadd_rn(SIMT_H a, SIMT_H b) { return __hadd(a, b); }
SIMT_HD SIMT_H __hsub_rn(SIMT_H a, SIMT_H b) { return __hsub(a, b); }
SIMT_HD SIMT_H __hmul_rn(SIMT_H a, SIMT_H b) { return __hmul(a, b); }
SIMT_HD SIMT_H __hfma(SIMT_H a, SIMT_H b, SIMT_H c) {
  return SIMT_FROM_DOUBLE(__simt::fused_to_odd(static_cast<double>(SIMT_TO(a)), static_cast<double>(SIMT_TO(b)),
                                               static_cast<double>(SIMT_TO(c))));
}
SIMT_HD SIMT_H __hneg(SIMT_H a) { return SIMT_FROM_BITS(static_cast<unsigned short>(SIMT_BITS(a) ^ 0x8000u)); }
SIMT_HD SIMT_H __habs(SIMT_H a) { return SIMT_FROM_BITS(static_cast<unsigned short>(SIMT_BITS(a) & 0x7fffu)); }
SIMT_HD SIMT_H __hadd_sat(SIMT_H a, SIMT_H b) {
  return SIMT_FROM(__builtin_fminf(__builtin_fmaxf(SIMT_TO(a) + SIMT_TO(b), 0.0f), 1.0f));
}
SIMT_HD SIMT_H __hsub_sat(SIMT_H a, SIMT_H b) {
  return SIMT_FROM(__builtin_fminf(__builtin_fmaxf(SIMT_TO(a) - SIMT_TO(b), 0.0f), 1.0f));
}
SIMT_HD SIMT_H __hmul_sat(SIMT_H a, SIMT_H b) {
  return SIMT_FROM(__builtin_fminf(__builtin_fmaxf(SIMT_TO(a) * SIMT_TO(b), 0.0f), 1.0f));
}
SIMT_HD SIMT_H __hfma_sat(SIMT_H a, SIMT_H b, SIMT_H c) {
  return SIMT_FROM(__builtin_fminf(__builtin_fmaxf(SIMT_TO(__hfma(a, b, c)), 0.0f), 1.0f));
}
SIMT_HD SIMT_H __hfma_relu(SIMT_H a, SIMT_H b, SIMT_H c) {
  return SIMT_FROM(__builtin_fmaxf(SIMT_TO(__hfma(a, b, c)), 0.0f));
}
SIMT_HD bool __hisnan(SIMT_H a) { return SIMT_TO(a) != SIMT_TO(a); }
SIMT_HD int __hisinf(SIMT_H a) {
  return SIMT_TO(a) == __builtin_inff() ? 1 : SIMT_TO(a) == -__builtin_inff() ? -1 : 0;
}
SIMT_HD SIMT_H __hmax(SIMT_H a, SIMT_H b) { return SIMT_FROM(__builtin_fmaxf(SIMT_TO(a), SIMT_TO(b))); }
SIMT_HD SIMT_H __hmin(SIMT_H a, SIMT_H b) { return SIMT_FROM(__builtin_fminf(SIMT_TO(a), SIMT_TO(b))); }
SIMT_HD SIMT_H __hmax_nan(SIMT_H a, SIMT_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
SIMT_HD SIMT_H __hmin_nan(SIMT_H a, SIMT_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }

// Ordered comparisons are false with a NaN, the unordered ones (…u) true.
#define SIMT_COMPARISON(name, op)                                                                               \
  SIMT_HD bool __h##name(SIMT_H a, SIMT_H b) { return SIMT_TO(a) op SIMT_TO(b); }                               \
  SIMT_HD bool __h##name##u(SIMT_H a, SIMT_H b) {                                                               \
    return __hisnan(a) || __hisnan(b) || SIMT_TO(a) op SIMT_TO(b);                                              \
  }                                                                                                             \
  SIMT_HD SIMT_H2 __h##name##2(SIMT_H2 a, SIMT_H2 b) {                                                          \
    return SIMT_H2{SIMT_FROM(__h##name(a.x, b.x) ? 1.0f : 0.0f), SIMT_FROM(__h##name(a.y, b.y) ? 1.0f : 0.0f)}; \
  }                                                                                                             \
  SIMT_HD bool __hb##name##2(SIMT_H2 a, SIMT_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
SIMT_COMPARISON(eq, ==)
SIMT_COMPARISON(lt, <)
SIMT_COMPARISON(le, <=)
SIMT_COMPARISON(gt, >)
SIMT_COMPARISON(ge, >=)
#undef SIMT_COMPARISON
SIMT_HD bool __hne(SIMT_H a, SIMT_H b) { return SIMT_TO(a) < SIMT_TO(b) || SIMT_TO(a) > SIMT_TO(b); }
SIMT_HD bool __hneu(SIMT_H a, SIMT_H b) { return SIMT_TO(a) != SIMT_TO(b); }
SIMT_HD SIMT_H2 __hne2(SIMT_H2 a, SIMT_H2 b) {
  return SIMT_H2{SIMT_FROM(__hne(a.x, b.x) ? 1.0f : 0.0f), SIMT_FROM(__hne(a.y, b.y) ? 1.0f : 0.0f)};
}
SIMT_HD bool __hbne2(SIMT_H2 a, SIMT_H2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }

#define SIMT_PAIRWISE(name)                                                                                     \
  SIMT_HD SIMT_H2 __h##name##2(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2{__h##name(a.x, b.x), __h##name(a.y, b.y)}; }
SIMT_PAIRWISE(add)
SIMT_PAIRWISE(sub)
SIMT_PAIRWISE(mul)
SIMT_PAIRWISE(max)
SIMT_PAIRWISE(min)
#undef SIMT_PAIRWISE
SIMT_HD SIMT_H2 __h2div(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2{__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
SIMT_HD SIMT_H2 __hadd2_rn(SIMT_H2 a, SIMT_H2 b) { return __hadd2(a, b); }
SIMT_HD SIMT_H2 __hmul2_rn(SIMT_H2 a, SIMT_H2 b) { return __hmul2(a, b); }
SIMT_HD SIMT_H2 __hadd2_sat(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2{__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }
SIMT_HD SIMT_H2 __hfma2(SIMT_H2 a, SIMT_H2 b, SIMT_H2 c) { return SIMT_H2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
SIMT_HD SIMT_H2 __hneg2(SIMT_H2 a) { return SIMT_H2{__hneg(a.x), __hneg(a.y)}; }
SIMT_HD SIMT_H2 __habs2(SIMT_H2 a) { return SIMT_H2{__habs(a.x), __habs(a.y)}; }
SIMT_HD SIMT_H2 __hisnan2(SIMT_H2 a) {
  return SIMT_H2{SIMT_FROM(__hisnan(a.x) ? 1.0f : 0.0f), SIMT_FROM(__hisnan(a.y) ? 1.0f : 0.0f)};
}

#define SIMT_OPERATOR(op, name, name2)                                                        \
  SIMT_HD SIMT_H operator op(const SIMT_H& a, const SIMT_H& b) { return name(a, b); }         \
  SIMT_HD SIMT_H& operator op##=(SIMT_H& a, const SIMT_H& b) { return a = name(a, b); }       \
  SIMT_HD SIMT_H2 operator op(const SIMT_H2& a, const SIMT_H2& b) { return name2(a, b); }     \
  SIMT_HD SIMT_H2& operator op##=(SIMT_H2& a, const SIMT_H2& b) { return a = name2(a, b); }
SIMT_OPERATOR(+, __hadd, __hadd2)
SIMT_OPERATOR(-, __hsub, __hsub2)
SIMT_OPERATOR(*, __hmul, __hmul2)
SIMT_OPERATOR(/, __hdiv, __h2div)
#undef SIMT_OPERATOR
SIMT_HD SIMT_H operator-(const SIMT_H& a) { return __hneg(a); }
SIMT_HD SIMT_H operator+(const SIMT_H& a) { return a; }
SIMT_HD SIMT_H2 operator-(const SIMT_H2& a) { return __hneg2(a); }
SIMT_HD SIMT_H& operator++(SIMT_H& a) { return a = SIMT_FROM(SIMT_TO(a) + 1.0f); }
SIMT_HD SIMT_H& operator--(SIMT_H& a) { return a = SIMT_FROM(SIMT_TO(a) - 1.0f); }
SIMT_HD bool operator==(const SIMT_H& a, const SIMT_H& b) { return __heq(a, b); }
SIMT_HD bool operator!=(const SIMT_H& a, const SIMT_H& b) { return __hneu(a, b); }
SIMT_HD bool operator<(const SIMT_H& a, const SIMT_H& b) { return __hlt(a, b); }
SIMT_HD bool operator<=(const SIMT_H& a, const SIMT_H& b) { return __hle(a, b); }
SIMT_HD bool operator>(const SIMT_H& a, const SIMT_H& b) { return __hgt(a, b); }
SIMT_HD bool operator>=(const SIMT_H& a, const SIMT_H& b) { return __hge(a, b); }
SIMT_HD bool operator==(const SIMT_H2& a, const SIMT_H2& b) { return __hbeq2(a, b); }
SIMT_HD bool operator!=(const SIMT_H2& a, const SIMT_H2& b) { return !__hbeq2(a, b); }

// Elementary functions: in float, rounded once.
#define SIMT_FUNCTION(name, expression)                                                       \
  SIMT_D SIMT_H h##name(SIMT_H a) {                                                           \
    const float v = SIMT_TO(a);                                                               \
    return SIMT_FROM(expression);                                                             \
  }                                                                                           \
  SIMT_D SIMT_H2 h2##name(SIMT_H2 a) { return SIMT_H2{h##name(a.x), h##name(a.y)}; }
SIMT_FUNCTION(sqrt, __builtin_sqrtf(v))
SIMT_FUNCTION(rsqrt, 1.0f / __builtin_sqrtf(v))
SIMT_FUNCTION(rcp, 1.0f / v)
SIMT_FUNCTION(exp, ::expf(v))
SIMT_FUNCTION(exp2, ::exp2f(v))
SIMT_FUNCTION(exp10, ::exp10f(v))
SIMT_FUNCTION(log, ::logf(v))
SIMT_FUNCTION(log2, ::log2f(v))
SIMT_FUNCTION(log10, ::log10f(v))
SIMT_FUNCTION(sin, ::sinf(v))
SIMT_FUNCTION(cos, ::cosf(v))
SIMT_FUNCTION(tanh, ::tanhf(v))
SIMT_FUNCTION(floor, __builtin_floorf(v))
SIMT_FUNCTION(ceil, __builtin_ceilf(v))
SIMT_FUNCTION(trunc, __builtin_truncf(v))
SIMT_FUNCTION(rint, __builtin_rintf(v))
#undef SIMT_FUNCTION

// No processor has these as one operation: the word around the value is exchanged.
SIMT_D SIMT_H atomicAdd(SIMT_H* address, SIMT_H value) {
  return __simt::update<unsigned short>(address, [=](SIMT_H seen) { return __hadd(seen, value); });
}
SIMT_D SIMT_H2 atomicAdd(SIMT_H2* address, SIMT_H2 value) {
  return __simt::update<unsigned int>(address, [=](SIMT_H2 seen) { return __hadd2(seen, value); });
}
#if defined(__HIP__)
SIMT_D SIMT_H unsafeAtomicAdd(SIMT_H* address, SIMT_H value) { return atomicAdd(address, value); }
SIMT_D SIMT_H2 unsafeAtomicAdd(SIMT_H2* address, SIMT_H2 value) { return atomicAdd(address, value); }
#endif
