// Placeholders: `a * _1 + _2` is a function object.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/language.h>

#include <cstddef>
#include <type_traits>

namespace thrust {
namespace detail {
template <size_t i>
struct nth_argument {
  template <class First, class... Rest>
  SIMT_HDT constexpr decltype(auto) operator()(First& first, Rest&... rest) const {
    if constexpr (i == 0) return (first); else return nth_argument<i - 1>()(rest...);
  }
};
template <class _T>
struct fixed_argument {
  _T value;
  template <class... _A>
  SIMT_HDT constexpr const _T& operator()(_A&...) const { return value; }
};
template <class _F>
struct placeholder_expression {
  _F f;
  template <class... _A>
  SIMT_HDT constexpr auto operator()(_A&&... arguments) const { return f(arguments...); }
};
template <class _T>
struct is_placeholder_expression : std::false_type {};
template <class _F>
struct is_placeholder_expression<placeholder_expression<_F>> : std::true_type {};
template <class... _T>
using if_placeholder = std::enable_if_t<(is_placeholder_expression<_T>::value || ...)>;
template <class _T>
SIMT_HDT constexpr auto operand(const _T& value) {
  if constexpr (is_placeholder_expression<_T>::value) return value.f; else return fixed_argument<_T>{value};
}

#define SIMT_PLACEHOLDER_BINARY(name, op)                                                           \
  template <class _L, class _R>                                                                     \
  struct name {                                                                                     \
    _L left;                                                                                        \
    _R right;                                                                                       \
    template <class... _A>                                                                          \
    SIMT_HDT constexpr auto operator()(_A&... a) const { return left(a...) op right(a...); }        \
  };                                                                                                \
  template <class _L, class _R, class = if_placeholder<_L, _R>>                                     \
  SIMT_HDT constexpr auto operator op(const _L& left, const _R& right) {                            \
    using expression = name<decltype(operand(left)), decltype(operand(right))>;                     \
    return placeholder_expression<expression>{expression{operand(left), operand(right)}};           \
  }
SIMT_PLACEHOLDER_BINARY(placeholder_plus, +)
SIMT_PLACEHOLDER_BINARY(placeholder_minus, -)
SIMT_PLACEHOLDER_BINARY(placeholder_times, *)
SIMT_PLACEHOLDER_BINARY(placeholder_over, /)
SIMT_PLACEHOLDER_BINARY(placeholder_modulo, %)
SIMT_PLACEHOLDER_BINARY(placeholder_bit_and, &)
SIMT_PLACEHOLDER_BINARY(placeholder_bit_or, |)
SIMT_PLACEHOLDER_BINARY(placeholder_bit_xor, ^)
SIMT_PLACEHOLDER_BINARY(placeholder_shift_left, <<)
SIMT_PLACEHOLDER_BINARY(placeholder_shift_right, >>)
SIMT_PLACEHOLDER_BINARY(placeholder_and, &&)
SIMT_PLACEHOLDER_BINARY(placeholder_or, ||)
SIMT_PLACEHOLDER_BINARY(placeholder_equal, ==)
SIMT_PLACEHOLDER_BINARY(placeholder_unequal, !=)
SIMT_PLACEHOLDER_BINARY(placeholder_less, <)
SIMT_PLACEHOLDER_BINARY(placeholder_greater, >)
SIMT_PLACEHOLDER_BINARY(placeholder_at_most, <=)
SIMT_PLACEHOLDER_BINARY(placeholder_at_least, >=)
SIMT_PLACEHOLDER_BINARY(placeholder_add, +=)
SIMT_PLACEHOLDER_BINARY(placeholder_subtract, -=)
SIMT_PLACEHOLDER_BINARY(placeholder_multiply, *=)
SIMT_PLACEHOLDER_BINARY(placeholder_divide, /=)
#undef SIMT_PLACEHOLDER_BINARY
#define SIMT_PLACEHOLDER_UNARY(name, op)                                                   \
  template <class _O>                                                                      \
  struct name {                                                                            \
    _O of;                                                                                 \
    template <class... _A>                                                                 \
    SIMT_HDT constexpr auto operator()(_A&... a) const { return op of(a...); }             \
  };                                                                                       \
  template <class _F>                                                                      \
  SIMT_HDT constexpr auto operator op(const placeholder_expression<_F>& of) {              \
    return placeholder_expression<name<_F>>{name<_F>{of.f}};                               \
  }
SIMT_PLACEHOLDER_UNARY(placeholder_negate, -)
SIMT_PLACEHOLDER_UNARY(placeholder_not, !)
SIMT_PLACEHOLDER_UNARY(placeholder_complement, ~)
#undef SIMT_PLACEHOLDER_UNARY
}  // namespace detail

namespace placeholders {
inline constexpr detail::placeholder_expression<detail::nth_argument<0>> _1{};
inline constexpr detail::placeholder_expression<detail::nth_argument<1>> _2{};
inline constexpr detail::placeholder_expression<detail::nth_argument<2>> _3{};
inline constexpr detail::placeholder_expression<detail::nth_argument<3>> _4{};
}  // namespace placeholders
}  // namespace thrust
