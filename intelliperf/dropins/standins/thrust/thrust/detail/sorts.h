// Sorting and searching. Many numbers in their usual order are sorted by digits, anything else by a merge sort in
// which every element finds its own place: its rank in its own run plus its rank in the neighbouring run. Both are
// stable, and neither is what a GPU's library does: the digits take a third of the emulator's time for a million
// integers and three times the modelled time, which is several times that of a real one.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
// How many elements of [first, first + n) come before the value (or, for upper, not after it).
template <class It, class _T, class Less>
SIMT_HDT long rank_of(It first, long n, const _T& value, Less less_than, bool upper) {
  long low = 0, high = n;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    const bool right = upper ? !less_than(value, first[middle]) : static_cast<bool>(less_than(first[middle], value));
    if (right) low = middle + 1; else high = middle;
  }
  return low;
}

// How keys are sorted by digits: `bits` orders as `Less` does, and the lowest `bit_count` of them tell. Only where known.
template <class Less, class _K>
struct digit_order {
  static constexpr bool known = false;
};
template <class _K, bool fits, bool descending>
struct number_order {
  static constexpr bool known = fits && std::is_arithmetic_v<_K> && sizeof(_K) <= 8;
  template <class Less>
  SIMT_HDT static int bit_count(const Less&) { return 8 * static_cast<int>(sizeof(_K)); }
  template <class Less>
  SIMT_HDT static unsigned long long bits(const Less&, _K key) {
    const unsigned long long top = 1ull << (8 * sizeof(_K) - 1), all = top | (top - 1);
    unsigned long long raw = 0;
    if (key != _K(0)) __builtin_memcpy(&raw, &key, sizeof key);  // both zeros of a float are one number
    if constexpr (std::is_floating_point_v<_K>) raw = raw & top ? ~raw & all : raw | top;
    else if constexpr (std::is_signed_v<_K>) raw ^= top;
    return descending ? ~raw & all : raw;
  }
};
template <class _T, class _K>
struct digit_order<less<_T>, _K> : number_order<_K, std::is_void_v<_T> || std::is_same_v<_T, _K>, false> {};
template <class _T, class _K>
struct digit_order<greater<_T>, _K> : number_order<_K, std::is_void_v<_T> || std::is_same_v<_T, _K>, true> {};

// Sums of all before each count. In levels of 64, so that no thread has long to walk.
template <class _P>
void begins_of(const _P& where, const long* counts, long n, long* begins) {
  constexpr long length = 64;
  const long parts = (n + length - 1) / length;
  scratch<long, _P> summed(where, parts), begun(where, parts);
  long *sums = summed.data(), *starts = begun.data();
  if (parts > 1) {
    for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
      long sum = 0;
      for (long i = part * length; i < n && i < (part + 1) * length; ++i) sum += counts[i];
      sums[part] = sum;
    });
    begins_of(where, sums, parts, starts);
  }
  for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
    long sum = parts > 1 ? starts[part] : 0;
    for (long i = part * length; i < n && i < (part + 1) * length; ++i) {
      begins[i] = sum;
      sum += counts[i];
    }
  });
}

// Four bits at a time from the lowest: counts per part and digit, where each part's digits begin, and the move.
template <class _D, class _P, class Keys, class Less>
long* index_by_digits(const _P& where, Keys keys, long n, long* index, long* other, Less less_than) {
  using order = digit_order<Less, value_t<Keys>>;
  constexpr int digit_bits = 4, digits = 1 << digit_bits;
  constexpr long length = 32;
  const long parts = (n + length - 1) / length;
  scratch<_D, _P> a(where, n), b(where, n);
  scratch<long, _P> counted(where, digits * parts), begun(where, digits * parts);
  _D *bits = a.data(), *bits_other = b.data();
  long *counts = counted.data(), *begins = begun.data();
  for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    bits[i] = static_cast<_D>(order::bits(less_than, keys[i]));
    index[i] = i;
  });
  const int bit_count = order::bit_count(less_than);
  for (int shift = 0; shift < bit_count; shift += digit_bits) {
    for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
      long found[digits] = {};
      const long begin = part * length, end = begin + length < n ? begin + length : n;
      for (long i = begin; i < end; ++i) ++found[bits[i] >> shift & (digits - 1)];
      for (int digit = 0; digit < digits; ++digit) counts[digit * parts + part] = found[digit];
    });
    begins_of(where, counts, digits * parts, begins);
    for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
      long next[digits];
      for (int digit = 0; digit < digits; ++digit) next[digit] = begins[digit * parts + part];
      const long begin = part * length, end = begin + length < n ? begin + length : n;
      for (long i = begin; i < end; ++i) {
        const long to = next[bits[i] >> shift & (digits - 1)]++;
        bits_other[to] = bits[i];
        other[to] = index[i];
      }
    });
    _D* const kept_bits = bits;
    bits = bits_other;
    bits_other = kept_bits;
    long* const kept = index;
    index = other;
    other = kept;
  }
  return index;
}

template <class _P, class Keys, class Less>
long* index_by_ranks(const _P& where, Keys keys, long n, long* index, long* other, Less less_than) {
  constexpr long run = 16;
  for_each_index(where, (n + run - 1) / run, [=] __host__ __device__(long part) mutable {
    const long begin = part * run, end = begin + run < n ? begin + run : n;
    for (long i = begin; i < end; ++i) {
      long at = i;
      for (; at > begin && less_than(keys[i], keys[index[at - 1]]); --at) index[at] = index[at - 1];
      index[at] = i;
    }
  });
  for (long width = run; width < n; width *= 2) {
    for_each_index(where, n, [=] __host__ __device__(long i) mutable {
      const long pair_begin = i / (2 * width) * (2 * width);
      const bool in_left = i < pair_begin + width;
      const long begin = in_left ? pair_begin : pair_begin + width;
      const long sibling = in_left ? pair_begin + width : pair_begin;
      long length = n - sibling;
      if (length < 0) length = 0;
      if (length > width) length = width;
      const long self = index[i];
      long low = 0, high = length;  // among equals the left run goes first
      while (low < high) {
        const long middle = low + (high - low) / 2, there = index[sibling + middle];
        const bool right = in_left ? static_cast<bool>(less_than(keys[there], keys[self])) : !less_than(keys[self], keys[there]);
        if (right) low = middle + 1; else high = middle;
      }
      other[pair_begin + (i - begin) + low] = self;
    });
    long* kept = index;
    index = other;
    other = kept;
  }
  return index;
}

// Sorts an index by the keys, so that keys and values are moved once each.
template <class _P, class Keys, class Less>
long* sorted_index(const _P& where, Keys keys, long n, long* index, long* other, Less less_than) {
  constexpr long many = 1 << 19;  // fewer do not take the emulator long
  if constexpr (digit_order<Less, value_t<Keys>>::known) {
    using _D = std::conditional_t<sizeof(value_t<Keys>) <= 4, unsigned, unsigned long long>;
    if (n >= many) return index_by_digits<_D>(where, keys, n, index, other, less_than);
  }
  return index_by_ranks(where, keys, n, index, other, less_than);
}
template <class _P, class It>
void permute(const _P& where, It first, long n, const long* index) {
  using _T = value_t<It>;
  scratch<_T, _P> kept(where, n);
  _T* copy_of = kept.data();
  for_each_index(where, n, [=] __host__ __device__(long i) mutable { new (copy_of + i) _T(first[index[i]]); });
  for_each_index(where, n, [=] __host__ __device__(long i) mutable { first[i] = copy_of[i]; });
}
}  // namespace detail

SIMT_IF_POLICY class It, class Less>
void stable_sort(const _P& where, It first, It last, Less less_than) {
  const long n = last - first;
  if (n <= 1) return;
  detail::scratch<long, _P> a(where, n), b(where, n);
  detail::permute(where, first, n, detail::sorted_index(where, first, n, a.data(), b.data(), less_than));
}
SIMT_IF_POLICY class It>
void stable_sort(const _P& where, It first, It last) { thrust::stable_sort(where, first, last, less<>()); }
SIMT_IF_POLICY class It, class... Less>
void sort(const _P& where, It first, It last, Less... less_than) { thrust::stable_sort(where, first, last, less_than...); }
SIMT_IF_POLICY class _K, class _V, class Less>
void stable_sort_by_key(const _P& where, _K first, _K last, _V values, Less less_than) {
  const long n = last - first;
  if (n <= 1) return;
  detail::scratch<long, _P> a(where, n), b(where, n);
  const long* index = detail::sorted_index(where, first, n, a.data(), b.data(), less_than);
  detail::permute(where, values, n, index);
  detail::permute(where, first, n, index);
}
SIMT_IF_POLICY class _K, class _V>
void stable_sort_by_key(const _P& where, _K first, _K last, _V values) {
  thrust::stable_sort_by_key(where, first, last, values, less<>());
}
SIMT_IF_POLICY class _K, class _V, class... Less>
void sort_by_key(const _P& where, _K first, _K last, _V values, Less... less_than) {
  thrust::stable_sort_by_key(where, first, last, values, less_than...);
}
SIMT_DEFAULT(stable_sort, void)
SIMT_DEFAULT(sort, void)
SIMT_DEFAULT_OUT(stable_sort_by_key)
SIMT_DEFAULT_OUT(sort_by_key)

// ---- searching ----------------------------------------------------------------------------------------------
SIMT_IF_POLICY class It, class Values, class Out, class Less = less<>>
Out lower_bound(const _P& where, It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  const long n = last - first;
  detail::for_each_index(where, values_last - values, [=] __host__ __device__(long i) mutable {
    out[i] = detail::rank_of(first, n, values[i], less_than, false);
  });
  return out + (values_last - values);
}
SIMT_IF_POLICY class It, class Values, class Out, class Less = less<>>
Out upper_bound(const _P& where, It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  const long n = last - first;
  detail::for_each_index(where, values_last - values, [=] __host__ __device__(long i) mutable {
    out[i] = detail::rank_of(first, n, values[i], less_than, true);
  });
  return out + (values_last - values);
}
SIMT_IF_POLICY class It, class Values, class Out, class Less = less<>>
Out binary_search(const _P& where, It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  const long n = last - first;
  detail::for_each_index(where, values_last - values, [=] __host__ __device__(long i) mutable {
    const long at = detail::rank_of(first, n, values[i], less_than, false);
    out[i] = at < n && !less_than(values[i], first[at]);
  });
  return out + (values_last - values);
}
template <class It, class Values, class Out, class Less = less<>, SIMT_IF_NO_POLICY(It)>
Out lower_bound(It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  return thrust::lower_bound(detail::choose(first, values, out), first, last, values, values_last, out, less_than);
}
template <class It, class Values, class Out, class Less = less<>, SIMT_IF_NO_POLICY(It)>
Out upper_bound(It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  return thrust::upper_bound(detail::choose(first, values, out), first, last, values, values_last, out, less_than);
}
template <class It, class Values, class Out, class Less = less<>, SIMT_IF_NO_POLICY(It)>
Out binary_search(It first, It last, Values values, Values values_last, Out out, Less less_than = {}) {
  return thrust::binary_search(detail::choose(first, values, out), first, last, values, values_last, out, less_than);
}
// Of one value.
namespace detail {
template <class _P, class It, class _T, class Less>
long one_rank(const _P& where, It first, It last, const _T& value, Less less_than, bool upper) {
  const long n = last - first;
  scratch<long, _P> found(where, 1);
  long* to = found.data();
  for_each_index(where, 1, [=] __host__ __device__(long) mutable { *to = rank_of(first, n, value, less_than, upper); });
  return found.read(0);
}
}  // namespace detail
SIMT_IF_POLICY class It, class _T, class Less = less<>>
It lower_bound(const _P& where, It first, It last, const _T& value, Less less_than = {}) {
  return first + detail::one_rank(where, first, last, value, less_than, false);
}
SIMT_IF_POLICY class It, class _T, class Less = less<>>
It upper_bound(const _P& where, It first, It last, const _T& value, Less less_than = {}) {
  return first + detail::one_rank(where, first, last, value, less_than, true);
}
SIMT_IF_POLICY class It, class _T, class Less = less<>>
bool binary_search(const _P& where, It first, It last, const _T& value, Less less_than = {}) {
  return thrust::lower_bound(where, first, last, value, less_than) != thrust::upper_bound(where, first, last, value, less_than);
}
SIMT_IF_POLICY class It, class _T, class Less = less<>>
pair<It, It> equal_range(const _P& where, It first, It last, const _T& value, Less less_than = {}) {
  return {thrust::lower_bound(where, first, last, value, less_than), thrust::upper_bound(where, first, last, value, less_than)};
}
#define SIMT_ONE_VALUE(name, _R)                                                               \
  template <class It, class _T, class Less = less<>, SIMT_IF_NO_POLICY(It)>                     \
  _R name(It first, It last, const _T& value, Less less_than = {}) {                            \
    return thrust::name(detail::choose(first), first, last, value, less_than);                 \
  }
SIMT_ONE_VALUE(lower_bound, It)
SIMT_ONE_VALUE(upper_bound, It)
SIMT_ONE_VALUE(binary_search, bool)
#undef SIMT_ONE_VALUE
template <class It, class _T, class Less = less<>, SIMT_IF_NO_POLICY(It)>
pair<It, It> equal_range(It first, It last, const _T& value, Less less_than = {}) {
  return thrust::equal_range(detail::choose(first), first, last, value, less_than);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
