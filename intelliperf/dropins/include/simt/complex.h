// Complex arithmetic for cuComplex.h and hip_complex.h; SIMT_COMPLEX_PREFIX is cu or hip.
// No include guard: included once per vendor.
#define SIMT_GLUE2(a, b) a##b
#define SIMT_GLUE(a, b) SIMT_GLUE2(a, b)
#define SIMT_C(name) SIMT_GLUE(SIMT_COMPLEX_PREFIX, name)
#if defined(__cplusplus)
#define SIMT_PAIR(_V, a, b) _V{a, b}
#else
#define SIMT_PAIR(_V, a, b) ((_V){a, b})
#endif
#if !defined(SIMT_HD)
#define SIMT_HD static inline
#endif

typedef float2 SIMT_C(FloatComplex);
typedef double2 SIMT_C(DoubleComplex);
typedef float2 SIMT_C(Complex);

#define SIMT_COMPLEX(_T, _V, f, root, magnitude)                                                                    \
  SIMT_HD _T SIMT_C(Creal##f)(_V z) { return z.x; }                                                                 \
  SIMT_HD _T SIMT_C(Cimag##f)(_V z) { return z.y; }                                                                 \
  SIMT_HD _V SIMT_C(Conj##f)(_V z) { return SIMT_PAIR(_V, z.x, -z.y); }                                             \
  SIMT_HD _V SIMT_C(Cadd##f)(_V a, _V b) { return SIMT_PAIR(_V, a.x + b.x, a.y + b.y); }                            \
  SIMT_HD _V SIMT_C(Csub##f)(_V a, _V b) { return SIMT_PAIR(_V, a.x - b.x, a.y - b.y); }                            \
  SIMT_HD _V SIMT_C(Cmul##f)(_V a, _V b) { return SIMT_PAIR(_V, a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }    \
  SIMT_HD _V SIMT_C(Cdiv##f)(_V a, _V b) {                                                                          \
    /* scaled by |re b| + |im b| against overflow, as cuComplex.h documents */                                      \
    const _T scale = (_T)1 / (magnitude(b.x) + magnitude(b.y));                                                     \
    const _T ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale;                                \
    const _T inverse = (_T)1 / (br * br + bi * bi);                                                                 \
    return SIMT_PAIR(_V, (ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse);                             \
  }                                                                                                                 \
  SIMT_HD _T SIMT_C(Cabs##f)(_V z) {                                                                                \
    const _T a = magnitude(z.x), b = magnitude(z.y), big = a > b ? a : b, small = a > b ? b : a;                    \
    if (big == (_T)0 || !(big - big == (_T)0)) return a + b;                                                        \
    const _T ratio = small / big;                                                                                   \
    return big * root((_T)1 + ratio * ratio);                                                                       \
  }                                                                                                                 \
  SIMT_HD _V SIMT_C(Cfma##f)(_V a, _V b, _V c) {                                                                    \
    return SIMT_PAIR(_V, a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);                                 \
  }
SIMT_COMPLEX(double, double2, , __builtin_sqrt, __builtin_fabs)
SIMT_COMPLEX(float, float2, f, __builtin_sqrtf, __builtin_fabsf)
#undef SIMT_COMPLEX

SIMT_HD float2 SIMT_GLUE(make_, SIMT_C(FloatComplex))(float re, float im) { return SIMT_PAIR(float2, re, im); }
SIMT_HD double2 SIMT_GLUE(make_, SIMT_C(DoubleComplex))(double re, double im) { return SIMT_PAIR(double2, re, im); }
SIMT_HD float2 SIMT_GLUE(make_, SIMT_C(Complex))(float re, float im) { return SIMT_PAIR(float2, re, im); }
SIMT_HD double2 SIMT_C(ComplexFloatToDouble)(float2 z) { return SIMT_PAIR(double2, z.x, z.y); }
SIMT_HD float2 SIMT_C(ComplexDoubleToFloat)(double2 z) {
  return SIMT_PAIR(float2, (float)z.x, (float)z.y);
}
#if defined(__HIP__)
SIMT_HD float hipCsqabsf(float2 z) { return z.x * z.x + z.y * z.y; }
SIMT_HD double hipCsqabs(double2 z) { return z.x * z.x + z.y * z.y; }
#endif
#undef SIMT_C
#undef SIMT_PAIR
#undef SIMT_GLUE
#undef SIMT_GLUE2
