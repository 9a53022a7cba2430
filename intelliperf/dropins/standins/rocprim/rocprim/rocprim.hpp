// rocPRIM: its calling conventions over the same algorithms as CUB's here.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/cub.cuh>

#define ROCPRIM_VERSION 300200
#define ROCPRIM_HOST __host__
#define ROCPRIM_DEVICE __device__
#define ROCPRIM_HOST_DEVICE __host__ __device__
#define ROCPRIM_KERNEL __global__
#define ROCPRIM_SHARED_MEMORY __shared__
#define ROCPRIM_INLINE inline
#define ROCPRIM_FORCE_INLINE __attribute__((always_inline)) inline

namespace rocprim {
using thrust::constant_iterator;
using thrust::counting_iterator;
using thrust::discard_iterator;
using thrust::equal_to;
using thrust::get;
using thrust::greater;
using thrust::greater_equal;
using thrust::identity;
using thrust::less;
using thrust::less_equal;
using thrust::make_constant_iterator;
using thrust::make_counting_iterator;
using thrust::make_discard_iterator;
using thrust::make_reverse_iterator;
using thrust::make_transform_iterator;
using thrust::make_tuple;
using thrust::make_zip_iterator;
using thrust::maximum;
using thrust::minimum;
using thrust::minus;
using thrust::multiplies;
using thrust::not_equal_to;
using thrust::plus;
using thrust::reverse_iterator;
using thrust::tie;
template <class _T>
SIMT_HDT constexpr const _T& max(const _T& a, const _T& b) {
  return a < b ? b : a;
}
template <class _T>
SIMT_HDT constexpr const _T& min(const _T& a, const _T& b) {
  return b < a ? b : a;
}
template <class _T>
SIMT_HDT void swap(_T& a, _T& b) {
  _T kept = a;
  a = b;
  b = kept;
}
using thrust::tuple;
using thrust::zip_iterator;
template <class It, class _F, class _T = void>
using transform_iterator = thrust::transform_iterator<_F, It>;
using empty_type = cub::NullType;
struct default_config {};

template <class _T>
class double_buffer {
 public:
  SIMT_HDT double_buffer(_T* current, _T* alternate) : both_(current, alternate) {}
  SIMT_HDT _T* current() { return both_.Current(); }
  SIMT_HDT _T* alternate() { return both_.Alternate(); }
  SIMT_HDT void swap() { both_.selector ^= 1; }
  cub::DoubleBuffer<_T>& as_cub() { return both_; }

 private:
  cub::DoubleBuffer<_T> both_;
};

namespace detail {
using stream_t = cub::detail::stream_t;
using status_t = cub::detail::status_t;
template <class It>
using value_t = cub::detail::value_t<It>;
}  // namespace detail

// ---- the device ------------------------------------------------------------------------------------------------
#define SIMT_TWO_CALLS void *storage, size_t &bytes
#define SIMT_WORK return cub::detail::two_calls(storage, bytes, stream, [=](const thrust::device_policy& where)
#define SIMT_MORE detail::stream_t stream = 0, bool = false  // the last is for debugging
template <class Config = default_config, class In, class Out, class _T, class _F = plus<_T>, class = std::enable_if_t<!std::is_integral_v<_F>>>
detail::status_t reduce(SIMT_TWO_CALLS, In in, Out out, _T init, size_t n, _F combine = {}, SIMT_MORE) {
  return cub::DeviceReduce::Reduce(storage, bytes, in, out, static_cast<long>(n), combine, init, stream);
}
template <class Config = default_config, class In, class Out, class _F = plus<detail::value_t<In>>, class = std::enable_if_t<!std::is_integral_v<_F>>>
detail::status_t reduce(SIMT_TWO_CALLS, In in, Out out, size_t n, _F combine = {}, SIMT_MORE) {
  using _T = detail::value_t<In>;  // without an initial value the first element begins
  SIMT_WORK {
    cub::detail::put(where, out, thrust::reduce(where, in + (n ? 1 : 0), in + static_cast<std::ptrdiff_t>(n),
                                                n ? thrust::detail::read_element<_T>(where, in) : _T(), combine));
  });
}
template <class Config = default_config, class In, class Out, class _F = plus<detail::value_t<In>>>
detail::status_t inclusive_scan(SIMT_TWO_CALLS, In in, Out out, size_t n, _F combine = {}, SIMT_MORE) {
  return cub::DeviceScan::InclusiveScan(storage, bytes, in, out, combine, static_cast<long>(n), stream);
}
template <class Config = default_config, class In, class Out, class _T, class _F = plus<detail::value_t<In>>>
detail::status_t exclusive_scan(SIMT_TWO_CALLS, In in, Out out, _T init, size_t n, _F combine = {}, SIMT_MORE) {
  return cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, combine, init, static_cast<long>(n), stream);
}
template <class Config = default_config, class _K, class _V, class Out, class _F = plus<detail::value_t<_V>>, class Same = equal_to<>>
detail::status_t inclusive_scan_by_key(SIMT_TWO_CALLS, _K keys, _V values, Out out, size_t n, _F combine = {}, Same same = {}, SIMT_MORE) {
  SIMT_WORK { thrust::inclusive_scan_by_key(where, keys, keys + static_cast<std::ptrdiff_t>(n), values, out, same, combine); });
}
template <class Config = default_config, class _K, class _V, class Out, class _T, class _F = plus<detail::value_t<_V>>, class Same = equal_to<>>
detail::status_t exclusive_scan_by_key(SIMT_TWO_CALLS, _K keys, _V values, Out out, _T init, size_t n, _F combine = {}, Same same = {}, SIMT_MORE) {
  SIMT_WORK { thrust::exclusive_scan_by_key(where, keys, keys + static_cast<std::ptrdiff_t>(n), values, out, init, same, combine); });
}

#define SIMT_BITS unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(_K), SIMT_MORE
#define SIMT_SORTS(suffix, name)                                                                                         \
  template <class Config = default_config, class _K>                                                                     \
  detail::status_t radix_sort_keys##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, size_t n, SIMT_BITS) {                 \
    return cub::DeviceRadixSort::SortKeys##name(storage, bytes, in, out, static_cast<long>(n), static_cast<int>(begin_bit), \
                                                static_cast<int>(end_bit), stream);                                      \
  }                                                                                                                      \
  template <class Config = default_config, class _K>                                                                     \
  detail::status_t radix_sort_keys##suffix(SIMT_TWO_CALLS, _K* in, _K* out, size_t n, SIMT_BITS) {                       \
    return radix_sort_keys##suffix(storage, bytes, const_cast<const _K*>(in), out, n, begin_bit, end_bit, stream);       \
  }                                                                                                                      \
  template <class Config = default_config, class _K>                                                                     \
  detail::status_t radix_sort_keys##suffix(SIMT_TWO_CALLS, double_buffer<_K>& keys, size_t n, SIMT_BITS) {               \
    return radix_sort_keys##suffix(storage, bytes, keys.current(), keys.current(), n, begin_bit, end_bit, stream);       \
  }                                                                                                                      \
  template <class Config = default_config, class _K, class _V>                                                           \
  detail::status_t radix_sort_pairs##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, const _V* values, _V* values_out,     \
                                            size_t n, SIMT_BITS) {                                                       \
    return cub::DeviceRadixSort::SortPairs##name(storage, bytes, in, out, values, values_out, static_cast<long>(n),      \
                                                 static_cast<int>(begin_bit), static_cast<int>(end_bit), stream);        \
  }                                                                                                                      \
  template <class Config = default_config, class _K, class _V>                                                           \
  detail::status_t radix_sort_pairs##suffix(SIMT_TWO_CALLS, _K* in, _K* out, _V* values, _V* values_out, size_t n, SIMT_BITS) { \
    return radix_sort_pairs##suffix(storage, bytes, const_cast<const _K*>(in), out, const_cast<const _V*>(values),       \
                                    values_out, n, begin_bit, end_bit, stream);                                          \
  }                                                                                                                      \
  template <class Config = default_config, class _K, class _V>                                                           \
  detail::status_t radix_sort_pairs##suffix(SIMT_TWO_CALLS, double_buffer<_K>& keys, double_buffer<_V>& values, size_t n, SIMT_BITS) { \
    return radix_sort_pairs##suffix(storage, bytes, keys.current(), keys.current(), values.current(), values.current(), n, \
                                    begin_bit, end_bit, stream);                                                         \
  }
SIMT_SORTS(, )
SIMT_SORTS(_desc, Descending)
#undef SIMT_SORTS
#undef SIMT_BITS
template <class Config = default_config, class In, class Out, class Less = less<>, class = std::enable_if_t<!std::is_integral_v<Less>>>
detail::status_t merge_sort(SIMT_TWO_CALLS, In in, Out out, size_t n, Less less_than = {}, SIMT_MORE) {
  SIMT_WORK {
    const Out end = thrust::copy(where, in, in + static_cast<std::ptrdiff_t>(n), out);
    thrust::stable_sort(where, out, end, less_than);
  });
}
template <class Config = default_config, class In, class Out, class _V, class VOut, class Less = less<>>
detail::status_t merge_sort(SIMT_TWO_CALLS, In in, Out out, _V values, VOut values_out, size_t n, Less less_than = {}, SIMT_MORE) {
  SIMT_WORK {
    const Out end = thrust::copy(where, in, in + static_cast<std::ptrdiff_t>(n), out);
    thrust::copy(where, values, values + static_cast<std::ptrdiff_t>(n), values_out);
    thrust::stable_sort_by_key(where, out, end, values_out, less_than);
  });
}

// Which order the elements on either side have is left open: here all are sorted.
template <class Config = default_config, class Keys, class Less = less<>, class = std::enable_if_t<!std::is_integral_v<Less>>>
detail::status_t nth_element(SIMT_TWO_CALLS, Keys keys, size_t, size_t n, Less less_than = {}, SIMT_MORE) {
  return merge_sort<Config>(storage, bytes, keys, keys, n, less_than, stream);
}
template <class Config = default_config, class In, class Out, class Less = less<>, class = std::enable_if_t<!std::is_integral_v<Out>>>
detail::status_t nth_element(SIMT_TWO_CALLS, In in, Out out, size_t, size_t n, Less less_than = {}, SIMT_MORE) {
  return merge_sort<Config>(storage, bytes, in, out, n, less_than, stream);
}
template <class Config = default_config, class Keys, class Less = less<>, class = std::enable_if_t<!std::is_integral_v<Less>>>
detail::status_t partial_sort(SIMT_TWO_CALLS, Keys keys, size_t, size_t n, Less less_than = {}, SIMT_MORE) {
  return merge_sort<Config>(storage, bytes, keys, keys, n, less_than, stream);
}

template <class Config = default_config, class In, class Flags, class Out, class Count, class = std::enable_if_t<!std::is_integral_v<Count>>>
detail::status_t select(SIMT_TWO_CALLS, In in, Flags flags, Out out, Count count, size_t n, SIMT_MORE) {
  return cub::DeviceSelect::Flagged(storage, bytes, in, flags, out, count, static_cast<long>(n), stream);
}
template <class Config = default_config, class In, class Out, class Count, class Predicate, class = std::enable_if_t<!std::is_arithmetic_v<Predicate>>>
detail::status_t select(SIMT_TWO_CALLS, In in, Out out, Count count, size_t n, Predicate wanted, SIMT_MORE) {
  return cub::DeviceSelect::If(storage, bytes, in, out, count, static_cast<long>(n), wanted, stream);
}
template <class Config = default_config, class In, class Flags, class Out, class Count, class = std::enable_if_t<!std::is_integral_v<Count>>>
detail::status_t partition(SIMT_TWO_CALLS, In in, Flags flags, Out out, Count count, size_t n, SIMT_MORE) {
  return cub::DevicePartition::Flagged(storage, bytes, in, flags, out, count, static_cast<long>(n), stream);
}
template <class Config = default_config, class In, class Out, class Count, class Predicate, class = std::enable_if_t<!std::is_arithmetic_v<Predicate>>>
detail::status_t partition(SIMT_TWO_CALLS, In in, Out out, Count count, size_t n, Predicate wanted, SIMT_MORE) {
  return cub::DevicePartition::If(storage, bytes, in, out, count, static_cast<long>(n), wanted, stream);
}
template <class Config = default_config, class In, class Out, class Count, class Same = equal_to<>>
detail::status_t unique(SIMT_TWO_CALLS, In in, Out out, Count count, size_t n, Same same = {}, SIMT_MORE) {
  SIMT_WORK {
    const auto end = thrust::unique_copy(where, in, in + static_cast<std::ptrdiff_t>(n), out, same);
    cub::detail::put(where, count, static_cast<detail::value_t<Count>>(end - out));
  });
}
template <class Config = default_config, class In, class Out, class Lengths, class Runs>
detail::status_t run_length_encode(SIMT_TWO_CALLS, In in, size_t n, Out out, Lengths lengths, Runs runs, SIMT_MORE) {
  return cub::DeviceRunLengthEncode::Encode(storage, bytes, in, out, lengths, runs, static_cast<long>(n), stream);
}
template <class Config = default_config, class _K, class _V, class KOut, class VOut, class Count, class _F = plus<detail::value_t<_V>>, class Same = equal_to<>>
detail::status_t reduce_by_key(SIMT_TWO_CALLS, _K keys, _V values, size_t n, KOut keys_out, VOut values_out, Count count, _F combine = {},
                               Same same = {}, SIMT_MORE) {
  SIMT_WORK {
    const auto end = thrust::reduce_by_key(where, keys, keys + static_cast<std::ptrdiff_t>(n), values, keys_out, values_out, same, combine);
    cub::detail::put(where, count, static_cast<detail::value_t<Count>>(end.first - keys_out));
  });
}
template <class Config = default_config, class In, class Out, class Begin, class End, class _F = plus<detail::value_t<In>>, class _T = detail::value_t<In>>
detail::status_t segmented_reduce(SIMT_TWO_CALLS, In in, Out out, unsigned int segments, Begin begin, End end, _F combine = {}, _T init = {}, SIMT_MORE) {
  return cub::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, static_cast<int>(segments), begin, end, combine, init, stream);
}
#define SIMT_SORTS(suffix, name)                                                                                         \
  template <class Config = default_config, class _K, class Begin, class End>                                             \
  detail::status_t segmented_radix_sort_keys##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, unsigned int n, unsigned int segments, \
                                                     Begin begin, End end, unsigned int begin_bit = 0,                   \
                                                     unsigned int end_bit = 8 * sizeof(_K), SIMT_MORE) {                 \
    return cub::DeviceSegmentedRadixSort::SortKeys##name(storage, bytes, in, out, static_cast<int>(n), static_cast<int>(segments), \
                                                         begin, end, static_cast<int>(begin_bit), static_cast<int>(end_bit), stream); \
  }                                                                                                                      \
  template <class Config = default_config, class _K, class _V, class Begin, class End>                                   \
  detail::status_t segmented_radix_sort_pairs##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, const _V* values, _V* values_out, \
                                                      unsigned int n, unsigned int segments, Begin begin, End end,       \
                                                      unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(_K), SIMT_MORE) { \
    return cub::DeviceSegmentedRadixSort::SortPairs##name(storage, bytes, in, out, values, values_out, static_cast<int>(n), \
                                                          static_cast<int>(segments), begin, end, static_cast<int>(begin_bit), \
                                                          static_cast<int>(end_bit), stream);                            \
  }
SIMT_SORTS(, )
SIMT_SORTS(_desc, Descending)
#undef SIMT_SORTS

// ---- sorted ranges and neighbours ------------------------------------------------------------------------------
template <class Config = default_config, class _A, class _B, class Out, class Less = less<>>
detail::status_t merge(SIMT_TWO_CALLS, _A a, _B b, Out out, size_t a_size, size_t b_size, Less less_than = {}, SIMT_MORE) {
  SIMT_WORK {
    thrust::merge(where, a, a + static_cast<std::ptrdiff_t>(a_size), b, b + static_cast<std::ptrdiff_t>(b_size), out, less_than);
  });
}
#define SIMT_SEARCH(name, found)                                                                                         \
  template <class Config = default_config, class In, class Wanted, class Out, class Less = less<>>                       \
  detail::status_t name(SIMT_TWO_CALLS, In in, Wanted wanted, Out out, size_t n, size_t wanted_size, Less less_than = {}, SIMT_MORE) { \
    SIMT_WORK {                                                                                                          \
      const long size = static_cast<long>(n);                                                                            \
      thrust::detail::for_each_index(where, static_cast<long>(wanted_size), [=] __host__ __device__(long i) mutable {    \
        const detail::value_t<Wanted> key = wanted[i];                                                                   \
        out[i] = found;                                                                                                  \
      });                                                                                                                \
    });                                                                                                                  \
  }
SIMT_SEARCH(lower_bound, thrust::detail::rank_of(in, size, key, less_than, false))
SIMT_SEARCH(upper_bound, thrust::detail::rank_of(in, size, key, less_than, true))
SIMT_SEARCH(binary_search, thrust::detail::rank_of(in, size, key, less_than, true) > thrust::detail::rank_of(in, size, key, less_than, false))
#undef SIMT_SEARCH
template <class Config = default_config, class In, class Out, class _F = minus<>, class = std::enable_if_t<!std::is_arithmetic_v<_F>>>
detail::status_t adjacent_difference(SIMT_TWO_CALLS, In in, Out out, size_t n, _F f = {}, SIMT_MORE) {
  SIMT_WORK { thrust::adjacent_difference(where, in, in + static_cast<std::ptrdiff_t>(n), out, f); });
}
template <class Config = default_config, class In, class Count, class Level>
detail::status_t histogram_even(SIMT_TWO_CALLS, In in, unsigned int n, Count* histogram, unsigned int levels, Level lower, Level upper, SIMT_MORE) {
  return cub::DeviceHistogram::HistogramEven(storage, bytes, in, histogram, static_cast<int>(levels), lower, upper, static_cast<long>(n), stream);
}
template <class Config = default_config, class In, class Out, class _F, class = std::enable_if_t<!std::is_arithmetic_v<_F>>>
detail::status_t transform(In in, Out out, size_t n, _F f, SIMT_MORE) {
  thrust::transform(thrust::device.on(stream), in, in + static_cast<std::ptrdiff_t>(n), out, f);
  return SIMT_GPU(Success);
}
template <class Config = default_config, class In1, class In2, class Out, class _F, class = std::enable_if_t<!std::is_arithmetic_v<_F>>>
detail::status_t transform(In1 first, In2 second, Out out, size_t n, _F f, SIMT_MORE) {
  thrust::transform(thrust::device.on(stream), first, first + static_cast<std::ptrdiff_t>(n), second, out, f);
  return SIMT_GPU(Success);
}
#undef SIMT_MORE
#undef SIMT_WORK
#undef SIMT_TWO_CALLS
}  // namespace rocprim

#include <rocprim/detail/block.h>
