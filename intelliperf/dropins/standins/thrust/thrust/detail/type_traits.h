// What programs ask of types.
#pragma once
#include <thrust/detail/vectors.h>

namespace thrust {
template <class _T>
using remove_cvref = std::remove_cv<std::remove_reference_t<_T>>;
template <class _T>
using remove_cvref_t = typename remove_cvref<_T>::type;
template <class...>
using void_t = void;
template <class It>
using is_contiguous_iterator = detail::contiguous<It>;
}  // namespace thrust
