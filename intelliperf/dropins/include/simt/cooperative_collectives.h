// Cooperative groups' reductions and scans. Apart from the groups, as programs have a `reduce` of their own.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include "../cooperative_groups.h"

namespace cooperative_groups {
template <class _T = void>
struct plus {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return a + b; }
};
template <class _T = void>
struct less {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return b < a ? b : a; }
};
template <class _T = void>
struct greater {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return a < b ? b : a; }
};
template <class _T = void>
struct bit_and {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return a & b; }
};
template <class _T = void>
struct bit_or {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return a | b; }
};
template <class _T = void>
struct bit_xor {
  SIMT_HDT _T operator()(const _T& a, const _T& b) const { return a ^ b; }
};

template <unsigned int n, class Parent, class _T, class _F>
SIMT_DT _T reduce(const thread_block_tile<n, Parent>& group, _T value, _F&& combine) {
  if constexpr (n > SIMT_WAVE_SIZE) return group.reduce(value, combine);
  else {
    for (unsigned int distance = n / 2; distance != 0; distance /= 2)
      value = combine(value, group.shfl_xor(value, distance));
    return value;
  }
}
template <class _T, class _F>
SIMT_DT _T reduce(const coalesced_group& group, _T value, _F&& combine) {
  _T total = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank) total = combine(total, group.shfl(value, rank));
  return total;
}
template <class Group, class _T, class _F>
SIMT_DT _T inclusive_scan(const Group& group, _T value, _F&& combine) {
  const auto rank = group.thread_rank();
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const _T below = group.shfl_up(value, distance);
    if (rank >= distance) value = combine(below, value);
  }
  return value;
}
template <class Group, class _T>
SIMT_DT _T inclusive_scan(const Group& group, _T value) {
  return inclusive_scan(group, value, plus<_T>());
}
template <class Group, class _T, class _F>
SIMT_DT _T exclusive_scan(const Group& group, _T value, _F&& combine) {
  const _T below = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? _T() : below;
}
template <class Group, class _T>
SIMT_DT _T exclusive_scan(const Group& group, _T value) {
  return exclusive_scan(group, value, plus<_T>());
}
}  // namespace cooperative_groups
