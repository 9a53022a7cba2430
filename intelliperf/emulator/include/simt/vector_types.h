// char1 … double4, dim3 and make_*. HIP's are one template with arithmetic; CUDA's are plain structures without.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#ifndef SIMT_HDT
#define SIMT_HDT inline
#endif
#ifndef SIMT_HD
#define SIMT_HD static inline
#endif

#define SIMT_ELEMENTS(X)                                                                              \
  X(char, signed char) X(uchar, unsigned char) X(short, short) X(ushort, unsigned short) X(int, int)  \
  X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(longlong, long long)                  \
  X(ulonglong, unsigned long long) X(float, float) X(double, double)

#if defined(__HIP__) || (defined(__HIP_PLATFORM_AMD__) && !defined(__CUDA__))
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

template <class T, unsigned int n>
struct HIP_vector_type;
template <class T>
struct HIP_vector_type<T, 1> {
  using value_type = T;
  T x;
  HIP_vector_type() = default;
  SIMT_HDT constexpr HIP_vector_type(T x_) : x(x_) {}
};
template <class T>
struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
  using value_type = T;
  T x, y;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(T all) : x(all), y(all) {}
  template <class X, class Y>
  SIMT_HDT constexpr HIP_vector_type(X x_, Y y_) : x(static_cast<T>(x_)), y(static_cast<T>(y_)) {}
};
template <class T>
struct HIP_vector_type<T, 3> {
  using value_type = T;
  T x, y, z;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(T all) : x(all), y(all), z(all) {}
  template <class X, class Y, class Z>
  SIMT_HDT constexpr HIP_vector_type(X x_, Y y_, Z z_)
      : x(static_cast<T>(x_)), y(static_cast<T>(y_)), z(static_cast<T>(z_)) {}
};
template <class T>
struct alignas(4 * sizeof(T)) HIP_vector_type<T, 4> {
  using value_type = T;
  T x, y, z, w;
  HIP_vector_type() = default;
  SIMT_HDT explicit constexpr HIP_vector_type(T all) : x(all), y(all), z(all), w(all) {}
  template <class X, class Y, class Z, class W>
  SIMT_HDT constexpr HIP_vector_type(X x_, Y y_, Z z_, W w_)
      : x(static_cast<T>(x_)), y(static_cast<T>(y_)), z(static_cast<T>(z_)), w(static_cast<T>(w_)) {}
};

namespace __simt {
template <class T, unsigned int n, class F>
SIMT_HDT constexpr HIP_vector_type<T, n> map(const HIP_vector_type<T, n>& a, F f) {
  HIP_vector_type<T, n> out{};
  out.x = f(a.x);
  if constexpr (n > 1) out.y = f(a.y);
  if constexpr (n > 2) out.z = f(a.z);
  if constexpr (n > 3) out.w = f(a.w);
  return out;
}
template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n> splat(T value) {
  return map(HIP_vector_type<T, n>{}, [=](T) { return value; });
}
template <class T, class Result>
struct if_scalar {};
#define SIMT_SCALAR(T)             \
  template <class Result>          \
  struct if_scalar<T, Result> {    \
    using type = Result;           \
  };
SIMT_SCALAR(bool) SIMT_SCALAR(char) SIMT_SCALAR(signed char) SIMT_SCALAR(unsigned char) SIMT_SCALAR(short)
SIMT_SCALAR(unsigned short) SIMT_SCALAR(int) SIMT_SCALAR(unsigned int) SIMT_SCALAR(long) SIMT_SCALAR(unsigned long)
SIMT_SCALAR(long long) SIMT_SCALAR(unsigned long long) SIMT_SCALAR(float) SIMT_SCALAR(double)
#undef SIMT_SCALAR
}  // namespace __simt

#define SIMT_VECTOR_OPERATOR(op)                                                                                    \
  template <class T, unsigned int n>                                                                                \
  SIMT_HDT constexpr HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n>& a,                              \
                                                       const HIP_vector_type<T, n>& b) {                            \
    HIP_vector_type<T, n> out{};                                                                                    \
    out.x = static_cast<T>(a.x op b.x);                                                                             \
    if constexpr (n > 1) out.y = static_cast<T>(a.y op b.y);                                                        \
    if constexpr (n > 2) out.z = static_cast<T>(a.z op b.z);                                                        \
    if constexpr (n > 3) out.w = static_cast<T>(a.w op b.w);                                                        \
    return out;                                                                                                     \
  }                                                                                                                 \
  template <class T, unsigned int n, class U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<U, HIP_vector_type<T, n>>::type operator op(                        \
      const HIP_vector_type<T, n>& a, U b) {                                                                        \
    return a op __simt::splat<T, n>(static_cast<T>(b));                                                             \
  }                                                                                                                 \
  template <class T, unsigned int n, class U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<U, HIP_vector_type<T, n>>::type operator op(                        \
      U a, const HIP_vector_type<T, n>& b) {                                                                        \
    return __simt::splat<T, n>(static_cast<T>(a)) op b;                                                             \
  }                                                                                                                 \
  template <class T, unsigned int n>                                                                                \
  SIMT_HDT constexpr HIP_vector_type<T, n>& operator op##=(HIP_vector_type<T, n>& a,                                \
                                                           const HIP_vector_type<T, n>& b) {                        \
    return a = a op b;                                                                                              \
  }                                                                                                                 \
  template <class T, unsigned int n, class U>                                                                       \
  SIMT_HDT constexpr typename __simt::if_scalar<U, HIP_vector_type<T, n>>::type& operator op##=(                    \
      HIP_vector_type<T, n>& a, U b) {                                                                              \
    return a = a op static_cast<T>(b);                                                                              \
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

template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n> operator-(const HIP_vector_type<T, n>& a) {
  return __simt::map(a, [](T v) { return static_cast<T>(-v); });
}
template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n> operator+(const HIP_vector_type<T, n>& a) {
  return a;
}
template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n> operator~(const HIP_vector_type<T, n>& a) {
  return __simt::map(a, [](T v) { return static_cast<T>(~v); });
}
template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n>& operator++(HIP_vector_type<T, n>& a) {
  return a += T(1);
}
template <class T, unsigned int n>
SIMT_HDT constexpr HIP_vector_type<T, n>& operator--(HIP_vector_type<T, n>& a) {
  return a -= T(1);
}
template <class T, unsigned int n>
SIMT_HDT constexpr bool operator==(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  bool same = a.x == b.x;
  if constexpr (n > 1) same = same && a.y == b.y;
  if constexpr (n > 2) same = same && a.z == b.z;
  if constexpr (n > 3) same = same && a.w == b.w;
  return same;
}
template <class T, unsigned int n>
SIMT_HDT constexpr bool operator!=(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  return !(a == b);
}

#define SIMT_DECLARE(name, T)               \
  using name##1 = HIP_vector_type<T, 1>;    \
  using name##2 = HIP_vector_type<T, 2>;    \
  using name##3 = HIP_vector_type<T, 3>;    \
  using name##4 = HIP_vector_type<T, 4>;
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE

#else  // CUDA

#define SIMT_DECLARE(name, T)                                                                          \
  struct name##1 { T x; };                                                                             \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                   \
  struct name##3 { T x, y, z; };                                                                       \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE
#endif

#define SIMT_DECLARE(name, T)                                                                              \
  SIMT_HD constexpr name##1 make_##name##1(T x) { return name##1{x}; }                                     \
  SIMT_HD constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                             \
  SIMT_HD constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                     \
  SIMT_HD constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
SIMT_ELEMENTS(SIMT_DECLARE)
#undef SIMT_DECLARE
#undef SIMT_ELEMENTS

struct dim3 {
  unsigned int x, y, z;
  SIMT_HDT constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  SIMT_HDT constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_HDT constexpr operator uint3() const { return uint3{x, y, z}; }
};
