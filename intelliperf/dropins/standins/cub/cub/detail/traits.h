// What CUB knows of types: kind, bits as radix digits, limits; and constants as types.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/detail/types.h>

namespace cub {
template <int value>
struct Int2Type {
  enum { VALUE = value };
};
template <int n, int current = n, int count = 0>
struct Log2 {  // rounded up
  enum { VALUE = Log2<n, (current >> 1), count + 1>::VALUE };
};
template <int n, int count>
struct Log2<n, 0, count> {
  enum { VALUE = (1 << (count - 1)) < n ? count : count - 1 };
};
template <int n>
struct PowerOfTwo {
  enum { VALUE = (n & (n - 1)) == 0 };
};
template <class _T, int n>
struct ArrayWrapper {
  _T array[n];
};
template <class _T>
struct Uninitialized {  // memory for a value without its constructor, as in a union in LDS
  alignas(_T) unsigned char storage[sizeof(_T)];
  SIMT_HDT _T& Alias() { return reinterpret_cast<_T&>(storage); }
};
template <class _N, class _D>
SIMT_HDT constexpr _N DivideAndRoundUp(_N n, _D d) {
  return static_cast<_N>(n / d + (n % d != 0 ? 1 : 0));
}

enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
// Programs specialise it for their own floating-point types.
template <class _T>
struct FpLimits {
  static SIMT_HDT _T Max() { return std::numeric_limits<_T>::max(); }
  static SIMT_HDT _T Lowest() { return std::numeric_limits<_T>::lowest(); }
};
template <Category category, bool primitive, bool null_type, class Bits, class _T>
struct BaseTraits {
  static constexpr Category CATEGORY = category;
  enum { PRIMITIVE = primitive, NULL_TYPE = null_type };
  using UnsignedBits = Bits;
  static SIMT_HDT _T Max() {
    if constexpr (category == FLOATING_POINT) return FpLimits<_T>::Max(); else return std::numeric_limits<_T>::max();
  }
  static SIMT_HDT _T Lowest() {
    if constexpr (category == FLOATING_POINT) return FpLimits<_T>::Lowest(); else return std::numeric_limits<_T>::lowest();
  }
  static SIMT_HDT Bits TwiddleIn(Bits key) {
    if constexpr (category == UNSIGNED_INTEGER) return key;
    else if constexpr (category == SIGNED_INTEGER) return static_cast<Bits>(key ^ top);
    else return static_cast<Bits>(key & top ? ~key : key ^ top);
  }
  static SIMT_HDT Bits TwiddleOut(Bits key) {
    if constexpr (category == FLOATING_POINT) return static_cast<Bits>(key & top ? key ^ top : ~key); else return TwiddleIn(key);
  }

 private:
  static constexpr Bits top = static_cast<Bits>(Bits(1) << (sizeof(Bits) * 8 - 1));
};
template <bool primitive, bool null_type, class Bits, class _T>
struct BaseTraits<NOT_A_NUMBER, primitive, null_type, Bits, _T> {
  static constexpr Category CATEGORY = NOT_A_NUMBER;
  enum { PRIMITIVE = primitive, NULL_TYPE = null_type };
};
namespace detail {
template <size_t bytes>
using bits_of_size = std::conditional_t<bytes == 1, unsigned char,
                                        std::conditional_t<bytes == 2, unsigned short,
                                                           std::conditional_t<bytes == 4, unsigned int, unsigned long long>>>;
template <class _T>
inline constexpr Category category_of = std::is_floating_point_v<_T> ? FLOATING_POINT
                                        : !std::is_integral_v<_T>    ? NOT_A_NUMBER
                                        : std::is_signed_v<_T>       ? SIGNED_INTEGER
                                                                     : UNSIGNED_INTEGER;
}  // namespace detail
struct NullType {
  template <class _T>
  SIMT_HDT NullType& operator=(const _T&) { return *this; }
  friend SIMT_HDT bool operator==(const NullType&, const NullType&) { return true; }
  friend SIMT_HDT bool operator!=(const NullType&, const NullType&) { return false; }
};
template <class _T>
struct NumericTraits : BaseTraits<detail::category_of<_T>, detail::category_of<_T> != NOT_A_NUMBER, std::is_same_v<_T, NullType>,
                                  detail::bits_of_size<sizeof(_T)>, _T> {};
template <class _T>
struct Traits : NumericTraits<std::remove_cv_t<_T>> {};
}  // namespace cub
