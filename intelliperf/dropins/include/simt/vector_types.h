// char1 … double4, dim3 and make_*. HIP's are one template with arithmetic; CUDA's are plain structures without.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#ifndef SIMT_HDT
#define SIMT_HDT inline
#endif
#ifndef SIMT_HD
#define SIMT_HD static inline
#endif

#define SIMT_ELEMENTS(_X)                                                                              \
  _X(char, signed char) _X(uchar, unsigned char) _X(short, short) _X(ushort, unsigned short) _X(int, int)  \
  _X(uint, unsigned int) _X(long, long) _X(ulong, unsigned long) _X(longlong, long long)                  \
  _X(ulonglong, unsigned long long) _X(float, float) _X(double, double)

#if defined(__HIP__) || (defined(__HIP_PLATFORM_AMD__) && !defined(__SIMT_CUDA__))
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

template <class _T, unsigned int n>
struct HIP_vector_type;
template <class _T>
struct HIP_vector_type<_T, 1> {
  using value_type = _T;
  _T x;
  HIP_vector_type() = default;
  SIMT_HDT constexpr HIP_vector_type(_T x_) : x(x_) {}
};
template <class _T>
struct alignas(2 * sizeof(_T)) HIP_vector_type<_T, 2> {
  using value_type = _T;
  _T x, y;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(_T all) : x(all), y(all) {}
  template <class _X, class _Y>
  SIMT_HDT constexpr HIP_vector_type(_X x_, _Y y_) : x(static_cast<_T>(x_)), y(static_cast<_T>(y_)) {}
};
template <class _T>
struct HIP_vector_type<_T, 3> {
  using value_type = _T;
  _T x, y, z;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(_T all) : x(all), y(all), z(all) {}
  template <class _X, class _Y, class _Z>
  SIMT_HDT constexpr HIP_vector_type(_X x_, _Y y_, _Z z_)
      : x(static_cast<_T>(x_)), y(static_cast<_T>(y_)), z(static_cast<_T>(z_)) {}
};
template <class _T>
struct alignas(4 * sizeof(_T)) HIP_vector_type<_T, 4> {
  using value_type = _T;
  _T x, y, z, w;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(_T all) : x(all), y(all), z(all), w(all) {}
  template <class _X, class _Y, class _Z, class _W>
  SIMT_HDT constexpr HIP_vector_type(_X x_, _Y y_, _Z z_, _W w_)
      : x(static_cast<_T>(x_)), y(static_cast<_T>(y_)), z(static_cast<_T>(z_)), w(static_cast<_T>(w_)) {}
};

namespace __simt {
template <class _T, unsigned int n, class _F>
SIMT_HDT constexpr HIP_vector_type<_T, n> map(const HIP_vector_type<_T, n>& a, _F f) {
  HIP_vector_type<_T, n> out{};
  out.x = f(a.x);
  if constexpr (n > 1) out.y = f(a.y);
  if constexpr (n > 2) out.z = f(a.z);
  if constexpr (n > 3) out.w = f(a.w);
  return out;
}
template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n> splat(_T value) {
  return map(HIP_vector_type<_T, n>{}, [=](_T) { return value; });
}
template <class _T, class Result>
struct if_scalar {};
#define SIMT_SCALAR(_T)             \
  template <class Result>          \
  struct if_scalar<_T, Result> {    \
    using type = Result;           \
  };
SIMT_SCALAR(bool) SIMT_SCALAR(char) SIMT_SCALAR(signed char) SIMT_SCALAR(unsigned char) SIMT_SCALAR(short)
SIMT_SCALAR(unsigned short) SIMT_SCALAR(int) SIMT_SCALAR(unsigned int) SIMT_SCALAR(long) SIMT_SCALAR(unsigned long)
SIMT_SCALAR(long long) SIMT_SCALAR(unsigned long long) SIMT_SCALAR(float) SIMT_SCALAR(double)
#undef SIMT_SCALAR
}  // namespace __simt

#define SIMT_VECTOR_OPERATOR(op)                                                                                    \
  template <class _T, unsigned int n>                                                                                \
  SIMT_HDT constexpr HIP_vector_type<_T, n> operator op(const HIP_vector_type<_T, n>& a,                              \
                                                       const HIP_vector_type<_T, n>& b) {                            \
    HIP_vector_type<_T, n> out{};                                                                                    \
    out.x = static_cast<_T>(a.x op b.x);                                                                             \
    if constexpr (n > 1) out.y = static_cast<_T>(a.y op b.y);                                                        \
    if constexpr (n > 2) out.z = static_cast<_T>(a.z op b.z);                                                        \
    if constexpr (n > 3) out.w = static_cast<_T>(a.w op b.w);                                                        \
    return out;                                                                                                     \
  }                                                                                                                 \
  template <class _T, unsigned int n, class _U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<_U, HIP_vector_type<_T, n>>::type operator op(                        \
      const HIP_vector_type<_T, n>& a, _U b) {                                                                        \
    return a op __simt::splat<_T, n>(static_cast<_T>(b));                                                             \
  }                                                                                                                 \
  template <class _T, unsigned int n, class _U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<_U, HIP_vector_type<_T, n>>::type operator op(                        \
      _U a, const HIP_vector_type<_T, n>& b) {                                                                        \
    return __simt::splat<_T, n>(static_cast<_T>(a)) op b;                                                             \
  }                                                                                                                 \
  template <class _T, unsigned int n>                                                                                \
  SIMT_HDT constexpr HIP_vector_type<_T, n>& operator op##=(HIP_vector_type<_T, n>& a,                                \
                                                           const HIP_vector_type<_T, n>& b) {                        \
    return a = a op b;                                                                                              \
  }                                                                                                                 \
  template <class _T, unsigned int n, class _U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<_U, HIP_vector_type<_T, n>>::type& operator op##=(                    \
      HIP_vector_type<_T, n>& a, _U b) {                                                                              \
    return a = a op static_cast<_T>(b);                                                                              \
  }
SIMT_VECTOR_OPERATOR(+)
SIMT_VECTOR_OPERATOR(-)
SIMT_VECTOR_OPERATOR(*)
SIMT_VECTOR_OPERATOR(/)
SIMT_VECTOR_OPERATOR(%)
SIMT_VECTOR_OPERATOR(&)
SIMT_VECTOR_OPERATOR(|)
SIMT_VECTOR_OPERATOR(^)
SIMT_VECTOR_OPERATOR(<<)
SIMT_VECTOR_OPERATOR(>>)
#undef SIMT_VECTOR_OPERATOR

template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n> operator-(const HIP_vector_type<_T, n>& a) {
  return __simt::map(a, [](_T v) { return static_cast<_T>(-v); });
}
template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n> operator+(const HIP_vector_type<_T, n>& a) {
  return a;
}
template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n> operator~(const HIP_vector_type<_T, n>& a) {
  return __simt::map(a, [](_T v) { return static_cast<_T>(~v); });
}
template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n>& operator++(HIP_vector_type<_T, n>& a) {
  return a += _T(1);
}
template <class _T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<_T, n>& operator--(HIP_vector_type<_T, n>& a) {
  return a -= _T(1);
}
template <class _T, unsigned int n>
SIMT_HDT constexpr bool operator==(const HIP_vector_type<_T, n>& a, const HIP_vector_type<_T, n>& b) {
  bool same = a.x == b.x;
  if constexpr (n > 1) same = same && a.y == b.y;
  if constexpr (n > 2) same = same && a.z == b.z;
  if constexpr (n > 3) same = same && a.w == b.w;
  return same;
}
template <class _T, unsigned int n>
SIMT_HDT constexpr bool operator!=(const HIP_vector_type<_T, n>& a, const HIP_vector_type<_T, n>& b) {
  return !(a == b);
}

#define SIMT_DECLARE(name, _T)               \
  using name##1 = HIP_vector_type<_T, 1>;    \
  using name##2 = HIP_vector_type<_T, 2>;    \
  using name##3 = HIP_vector_type<_T, 3>;    \
  using name##4 = HIP_vector_type<_T, 4>;
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE

#else  // CUDA

#define SIMT_DECLARE(name, _T)                                                                          \
  struct name##1 { _T x; };                                                                             \
  struct alignas(2 * sizeof(_T)) name##2 { _T x, y; };                                                   \
  struct name##3 { _T x, y, z; };                                                                       \
  struct alignas(4 * sizeof(_T) < 16 ? 4 * sizeof(_T) : 16) name##4 { _T x, y, z, w; };
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE
// CUDA 13's four elements of 8 bytes, with the alignment in their name.
#define SIMT_ALIGNED(type, _T, bytes)           \
  struct alignas(bytes) type { _T x, y, z, w; }; \
  SIMT_HD constexpr type make_##type(_T x, _T y, _T z, _T w) { return type{x, y, z, w}; }
#define SIMT_DECLARE(name, _T) SIMT_ALIGNED(name##4_16a, _T, 16) SIMT_ALIGNED(name##4_32a, _T, 32)
SIMT_DECLARE(long, long) SIMT_DECLARE(ulong, unsigned long)
SIMT_DECLARE(longlong, long long) SIMT_DECLARE(ulonglong, unsigned long long)
SIMT_DECLARE(double, double)
#undef SIMT_DECLARE
#undef SIMT_ALIGNED
#endif

#define SIMT_DECLARE(name, _T)                                                                              \
  SIMT_HD constexpr name##1 make_##name##1(_T x) { return name##1{x}; }                                     \
  SIMT_HD constexpr name##2 make_##name##2(_T x, _T y) { return name##2{x, y}; }                             \
  SIMT_HD constexpr name##3 make_##name##3(_T x, _T y, _T z) { return name##3{x, y, z}; }                     \
  SIMT_HD constexpr name##4 make_##name##4(_T x, _T y, _T z, _T w) { return name##4{x, y, z, w}; }
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE
#undef SIMT_ELEMENTS

struct dim3 {
  unsigned int x, y, z;
  SIMT_HDT constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  SIMT_HDT constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_HDT constexpr operator uint3() const { return uint3{x, y, z}; }
};
