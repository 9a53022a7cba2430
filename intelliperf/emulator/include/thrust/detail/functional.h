// Function objects and placeholders' plain relatives: arithmetic, comparison, logic, identity, projection.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/tuple.h>

namespace thrust {
#define SIMT_BINARY_FUNCTION(name, R, expression)                        \
  template <class T = void>                                             \
  struct name {                                                         \
    using first_argument_type = T;                                      \
    using second_argument_type = T;                                     \
    using result_type = R;                                              \
    SIMT_HDT constexpr R operator()(const T& a, const T& b) const {     \
      return expression;                                                \
    }                                                                   \
  };                                                                    \
  template <>                                                           \
  struct name<void> {                                                   \
    template <class A, class B>                                         \
    SIMT_HDT constexpr auto operator()(const A& a, const B& b) const {  \
      return expression;                                                \
    }                                                                   \
  };
SIMT_BINARY_FUNCTION(plus, T, a + b)
SIMT_BINARY_FUNCTION(minus, T, a - b)
SIMT_BINARY_FUNCTION(multiplies, T, a * b)
SIMT_BINARY_FUNCTION(divides, T, a / b)
SIMT_BINARY_FUNCTION(modulus, T, a % b)
SIMT_BINARY_FUNCTION(bit_and, T, a & b)
SIMT_BINARY_FUNCTION(bit_or, T, a | b)
SIMT_BINARY_FUNCTION(bit_xor, T, a ^ b)
SIMT_BINARY_FUNCTION(maximum, T, a < b ? b : a)
SIMT_BINARY_FUNCTION(minimum, T, b < a ? b : a)
SIMT_BINARY_FUNCTION(equal_to, bool, a == b)
SIMT_BINARY_FUNCTION(not_equal_to, bool, !(a == b))
SIMT_BINARY_FUNCTION(greater, bool, b < a)
SIMT_BINARY_FUNCTION(less, bool, a < b)
SIMT_BINARY_FUNCTION(greater_equal, bool, !(a < b))
SIMT_BINARY_FUNCTION(less_equal, bool, !(b < a))
SIMT_BINARY_FUNCTION(logical_and, bool, a && b)
SIMT_BINARY_FUNCTION(logical_or, bool, a || b)
#undef SIMT_BINARY_FUNCTION
#define SIMT_UNARY_FUNCTION(name, R, expression)         \
  template <class T = void>                              \
  struct name {                                          \
    using argument_type = T;                             \
    using result_type = R;                               \
    SIMT_HDT constexpr R operator()(const T& a) const {  \
      return expression;                                 \
    }                                                    \
  };                                                     \
  template <>                                            \
  struct name<void> {                                    \
    template <class A>                                   \
    SIMT_HDT constexpr auto operator()(const A& a) const { \
      return expression;                                 \
    }                                                    \
  };
SIMT_UNARY_FUNCTION(identity, T, a)
SIMT_UNARY_FUNCTION(negate, T, -a)
SIMT_UNARY_FUNCTION(square, T, a* a)
SIMT_UNARY_FUNCTION(logical_not, bool, !a)
#undef SIMT_UNARY_FUNCTION
template <class A = void, class B = void>
struct project1st {
  template <class X, class Y>
  SIMT_HDT constexpr X operator()(const X& a, const Y&) const { return a; }
};
template <class A = void, class B = void>
struct project2nd {
  template <class X, class Y>
  SIMT_HDT constexpr Y operator()(const X&, const Y& b) const { return b; }
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
template <class F>
struct negated {
  F f;
  template <class... A>
  SIMT_HDT constexpr bool operator()(const A&... a) const { return !f(a...); }
};
template <class F>
SIMT_HDT constexpr negated<F> not_fn(F f) { return {f}; }
template <class F>
SIMT_HDT constexpr negated<F> not1(F f) { return {f}; }
template <class F>
SIMT_HDT constexpr negated<F> not2(F f) { return {f}; }
}  // namespace thrust
