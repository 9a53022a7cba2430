// Complex arithmetic for cuComplex.h and hip_complex.h; SIMT_COMPLEX_PREFIX is cu or hip.
// No include guard: included once per vendor.
#define SIMT_GLUE2(a, b) a##b
#define SIMT_GLUE(a, b) SIMT_GLUE2(a, b)
#define SIMT_C(name) SIMT_GLUE(SIMT_COMPLEX_PREFIX, name)

typedef float2 SIMT_C(FloatComplex);
typedef double2 SIMT_C(DoubleComplex);
typedef float2 SIMT_C(Complex);

#define SIMT_COMPLEX(T, V, f, root, magnitude)                                                      \
  SIMT_HD T SIMT_C(Creal##f)(V z) { return z.x; }                                                   \
  SIMT_HD T SIMT_C(Cimag##f)(V z) { return z.y; }                                                   \
  SIMT_HD V SIMT_C(Conj##f)(V z) { return V{z.x, -z.y}; }                                           \
  SIMT_HD V SIMT_C(Cadd##f)(V a, V b) { return V{a.x + b.x, a.y + b.y}; }                           \
  SIMT_HD V SIMT_C(Csub##f)(V a, V b) { return V{a.x - b.x, a.y - b.y}; }                           \
  SIMT_HD V SIMT_C(Cmul##f)(V a, V b) { return V{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }   \
  SIMT_HD V SIMT_C(Cdiv##f)(V a, V b) {                                                             \
    /* scaled by |re b| + |im b| against overflow, as cuComplex.h documents */                      \
    const T scale = T(1) / (magnitude(b.x) + magnitude(b.y));                                       \
    const T ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale;                 \
    const T inverse = T(1) / (br * br + bi * bi);                                                   \
    return V{(ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse};                         \
  }                                                                                                 \
  SIMT_HD T SIMT_C(Cabs##f)(V z) {                                                                  \
    const T a = magnitude(z.x), b = magnitude(z.y), big = a > b ? a : b, small = a > b ? b : a;     \
    if (big == T(0) || !(big - big == T(0))) return a + b;                                          \
    const T ratio = small / big;                                                                    \
    return big * root(T(1) + ratio * ratio);                                                        \
  }                                                                                                 \
  SIMT_HD V SIMT_C(Cfma##f)(V a, V b, V c) {                                                        \
    return V{a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};                             \
  }
SIMT_COMPLEX(double, double2, , __builtin_sqrt, __builtin_fabs)
SIMT_COMPLEX(float, float2, f, __builtin_sqrtf, __builtin_fabsf)
#undef SIMT_COMPLEX

SIMT_HD float2 SIMT_GLUE(make_, SIMT_C(FloatComplex))(float re, float im) { return float2{re, im}; }
SIMT_HD double2 SIMT_GLUE(make_, SIMT_C(DoubleComplex))(double re, double im) { return double2{re, im}; }
SIMT_HD float2 SIMT_GLUE(make_, SIMT_C(Complex))(float re, float im) { return float2{re, im}; }
SIMT_HD double2 SIMT_C(ComplexFloatToDouble)(float2 z) { return double2{z.x, z.y}; }
SIMT_HD float2 SIMT_C(ComplexDoubleToFloat)(double2 z) {
  return float2{static_cast<float>(z.x), static_cast<float>(z.y)};
}
#if defined(__HIP__)
SIMT_HD float hipCsqabsf(float2 z) { return z.x * z.x + z.y * z.y; }
SIMT_HD double hipCsqabs(double2 z) { return z.x * z.x + z.y * z.y; }
#endif
#undef SIMT_C
#undef SIMT_GLUE
#undef SIMT_GLUE2
