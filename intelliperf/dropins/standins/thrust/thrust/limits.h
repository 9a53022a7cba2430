// Part of the one implementation of thrust here.
#pragma once
#include <thrust/detail/vectors.h>

#include <limits>

namespace thrust {
template <class _T>
struct numeric_limits : std::numeric_limits<_T> {};
}  // namespace thrust
