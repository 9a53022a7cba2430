// Function objects and placeholders' plain relatives: arithmetic, comparison, logic, identity, projection.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/placeholders.h>
#include <thrust/detail/tuple.h>

namespace thrust {
template <class _T>
SIMT_HDT constexpr _T(min)(const _T& a, const _T& b) { return b < a ? b : a; }
template <class _T, class Less>
SIMT_HDT constexpr _T(min)(const _T& a, const _T& b, Less less_than) { return less_than(b, a) ? b : a; }
template <class _T>
SIMT_HDT constexpr _T(max)(const _T& a, const _T& b) { return a < b ? b : a; }
template <class _T, class Less>
SIMT_HDT constexpr _T(max)(const _T& a, const _T& b, Less less_than) { return less_than(a, b) ? b : a; }
#define SIMT_BINARY_FUNCTION(name, _R, expression)                        \
  template <class _T = void>                                             \
  struct name {                                                         \
    using first_argument_type = _T;                                      \
    using second_argument_type = _T;                                     \
    using result_type = _R;                                              \
    SIMT_HDT constexpr _R operator()(const _T& a, const _T& b) const {     \
      return expression;                                                \
    }                                                                   \
  };                                                                    \
  template <>                                                           \
  struct name<void> {                                                   \
    template <class _A, class _B>                                         \
    SIMT_HDT constexpr auto operator()(const _A& a, const _B& b) const {  \
      return expression;                                                \
    }                                                                   \
  };
SIMT_BINARY_FUNCTION(plus, _T, a + b)
SIMT_BINARY_FUNCTION(minus, _T, a - b)
SIMT_BINARY_FUNCTION(multiplies, _T, a * b)
SIMT_BINARY_FUNCTION(divides, _T, a / b)
SIMT_BINARY_FUNCTION(modulus, _T, a % b)
SIMT_BINARY_FUNCTION(bit_and, _T, a & b)
SIMT_BINARY_FUNCTION(bit_or, _T, a | b)
SIMT_BINARY_FUNCTION(bit_xor, _T, a ^ b)
SIMT_BINARY_FUNCTION(maximum, _T, a < b ? b : a)
SIMT_BINARY_FUNCTION(minimum, _T, b < a ? b : a)
SIMT_BINARY_FUNCTION(equal_to, bool, a == b)
SIMT_BINARY_FUNCTION(not_equal_to, bool, !(a == b))
SIMT_BINARY_FUNCTION(greater, bool, b < a)
SIMT_BINARY_FUNCTION(less, bool, a < b)
SIMT_BINARY_FUNCTION(greater_equal, bool, !(a < b))
SIMT_BINARY_FUNCTION(less_equal, bool, !(b < a))
SIMT_BINARY_FUNCTION(logical_and, bool, a && b)
SIMT_BINARY_FUNCTION(logical_or, bool, a || b)
#undef SIMT_BINARY_FUNCTION
#define SIMT_UNARY_FUNCTION(name, _R, expression)         \
  template <class _T = void>                              \
  struct name {                                          \
    using argument_type = _T;                             \
    using result_type = _R;                               \
    SIMT_HDT constexpr _R operator()(const _T& a) const {  \
      return expression;                                 \
    }                                                    \
  };                                                     \
  template <>                                            \
  struct name<void> {                                    \
    template <class _A>                                   \
    SIMT_HDT constexpr auto operator()(const _A& a) const { \
      return expression;                                 \
    }                                                    \
  };
SIMT_UNARY_FUNCTION(identity, _T, a)
SIMT_UNARY_FUNCTION(negate, _T, -a)
SIMT_UNARY_FUNCTION(square, _T, a* a)
SIMT_UNARY_FUNCTION(logical_not, bool, !a)
#undef SIMT_UNARY_FUNCTION
template <class _A = void, class _B = void>
struct project1st {
  template <class _X, class _Y>
  SIMT_HDT constexpr _X operator()(const _X& a, const _Y&) const { return a; }
};
template <class _A = void, class _B = void>
struct project2nd {
  template <class _X, class _Y>
  SIMT_HDT constexpr _Y operator()(const _X&, const _Y& b) const { return b; }
};
template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};
template <class _F>
struct negated {
  mutable _F f;  // its operator() need not be const
  template <class... _A>
  SIMT_HDT constexpr bool operator()(const _A&... a) const { return !f(a...); }
};
template <class _F>
SIMT_HDT constexpr negated<_F> not_fn(_F f) { return {f}; }
template <class _F>
SIMT_HDT constexpr negated<_F> not1(_F f) { return {f}; }
template <class _F>
SIMT_HDT constexpr negated<_F> not2(_F f) { return {f}; }
}  // namespace thrust
