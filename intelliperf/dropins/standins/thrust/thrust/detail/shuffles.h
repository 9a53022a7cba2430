// Random orders: sorted by keys that the generator draws, one after another.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/vectors.h>

namespace thrust {
namespace detail {
template <class Generator>
host_vector<unsigned long long> drawn_keys(long n, Generator&& generator) {
  host_vector<unsigned long long> keys;
  for (long i = 0; i < n; ++i) {
    const auto high = static_cast<unsigned long long>(generator());
    keys.push_back(high << 32 ^ static_cast<unsigned long long>(generator()));
  }
  return keys;
}
}  // namespace detail
template <class It, class Generator, SIMT_IF_NO_POLICY(It)>
void shuffle(It first, It last, Generator&& generator) {
  const auto drawn = detail::drawn_keys(last - first, generator);
  if constexpr (detail::is_device_memory<It>) {
    device_vector<unsigned long long> keys = drawn;
    thrust::sort_by_key(keys.begin(), keys.end(), first);
  } else {
    host_vector<unsigned long long> keys = drawn;
    thrust::sort_by_key(host, keys.begin(), keys.end(), first);
  }
}
SIMT_IF_POLICY class It, class Generator>
void shuffle(const _P&, It first, It last, Generator&& generator) {
  thrust::shuffle(first, last, generator);
}
template <class In, class Out, class Generator, SIMT_IF_NO_POLICY(In)>
void shuffle_copy(In first, In last, Out out, Generator&& generator) {
  thrust::copy(first, last, out);
  thrust::shuffle(out, out + (last - first), generator);
}
}  // namespace thrust
