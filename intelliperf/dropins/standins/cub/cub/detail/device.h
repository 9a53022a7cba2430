// Algorithms over device memory with the two-call protocol: without storage a call only says how much it needs.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/detail/types.h>
#include <cuda/std/tuple>

namespace cub {
namespace detail {
using status_t = SIMT_GPU(Error_t);
using stream_t = SIMT_GPU(Stream_t);

// Runs the work, whose own memory comes from the device's allocator, and turns failures into error codes.
template <class Work>
status_t two_calls(void* storage, size_t& bytes, stream_t stream, Work work) {
  if (storage == nullptr) {
    bytes = 256;  // never zero: programs allocate what they are told
    return SIMT_GPU(Success);
  }
  try {
    work(thrust::device.on(stream));
  } catch (const thrust::system_error& error) {
    (void)SIMT_GPU(GetLastError)();
    return static_cast<status_t>(error.code().value());
  } catch (const std::bad_alloc&) {
    (void)SIMT_GPU(GetLastError)();
    return SIMT_GPU(ErrorMemoryAllocation);
  }
  return SIMT_GPU(Success);
}
template <class Out, class _T>
void put(const thrust::device_policy& where, Out out, _T value) {
  thrust::detail::for_each_index(where, 1, [=] __host__ __device__(long) mutable { *out = value; });
}
template <class It>
using value_t = thrust::detail::value_t<It>;
template <class _T>
_T lowest() {
  if constexpr (std::is_floating_point_v<_T>) return -std::numeric_limits<_T>::infinity();
  else return std::numeric_limits<_T>::lowest();
}
template <class _T>
_T highest() {
  if constexpr (std::is_floating_point_v<_T>) return std::numeric_limits<_T>::infinity();
  else return std::numeric_limits<_T>::max();
}
}  // namespace detail
#define SIMT_TWO_CALLS void *storage, size_t &bytes
#define SIMT_WORK return detail::two_calls(storage, bytes, stream, [=](const thrust::device_policy& where)

struct DeviceReduce {
  template <class In, class Out, class Size, class _F, class _T>
  static detail::status_t Reduce(SIMT_TWO_CALLS, In in, Out out, Size n, _F combine, _T init, detail::stream_t stream = 0) {
    SIMT_WORK { detail::put(where, out, thrust::reduce(where, in, in + n, init, combine)); });
  }
  template <class In, class Out, class Size, class _F, class _G, class _T>
  static detail::status_t TransformReduce(SIMT_TWO_CALLS, In in, Out out, Size n, _F combine, _G map, _T init, detail::stream_t stream = 0) {
    SIMT_WORK { detail::put(where, out, thrust::transform_reduce(where, in, in + n, map, init, combine)); });
  }
  template <class In, class Out, class Size>
  static detail::status_t Sum(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    using Result = std::conditional_t<std::is_void_v<detail::value_t<Out>>, detail::value_t<In>, detail::value_t<Out>>;
    return Reduce(storage, bytes, in, out, n, cub::Sum(), Result(), stream);  // a sum of flags is a count
  }
  template <class In, class Out, class Size>
  static detail::status_t Min(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return Reduce(storage, bytes, in, out, n, cub::Min(), detail::highest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Size>
  static detail::status_t Max(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return Reduce(storage, bytes, in, out, n, cub::Max(), detail::lowest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Size>
  static detail::status_t ArgMin(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return arg(storage, bytes, in, out, n, cub::ArgMin(), detail::highest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Size>
  static detail::status_t ArgMax(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return arg(storage, bytes, in, out, n, cub::ArgMax(), detail::lowest<detail::value_t<In>>(), stream);
  }
  template <class _K, class KOut, class _V, class VOut, class Runs, class _F, class Size>
  static detail::status_t ReduceByKey(SIMT_TWO_CALLS, _K keys, KOut keys_out, _V values, VOut values_out, Runs runs, _F combine, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      const auto end = thrust::reduce_by_key(where, keys, keys + n, values, keys_out, values_out, thrust::equal_to<>(), combine);
      detail::put(where, runs, static_cast<detail::value_t<Runs>>(end.first - keys_out));
    });
  }

 private:
  template <class In, class Out, class Size, class _F, class _T>
  static detail::status_t arg(SIMT_TWO_CALLS, In in, Out out, Size n, _F combine, _T init, detail::stream_t stream) {
    using Pair = KeyValuePair<int, _T>;
    SIMT_WORK {
      const Pair best = thrust::transform_reduce(
          where, thrust::counting_iterator<long>(0), thrust::counting_iterator<long>(static_cast<long>(n)),
          [=] __host__ __device__(long i) { return Pair(static_cast<int>(i), in[i]); }, Pair(n > 0 ? 0x7fffffff : 1, init), combine);
      detail::put(where, out, best);
    });
  }
};

struct DeviceScan {
  template <class In, class Out, class _F, class _T, class Size>
  static detail::status_t ExclusiveScan(SIMT_TWO_CALLS, In in, Out out, _F combine, _T init, Size n, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::exclusive_scan(where, in, in + n, out, init, combine); });
  }
  template <class In, class Out, class _F, class Size>
  static detail::status_t InclusiveScan(SIMT_TWO_CALLS, In in, Out out, _F combine, Size n, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::inclusive_scan(where, in, in + n, out, combine); });
  }
  template <class In, class Out, class Size>
  static detail::status_t ExclusiveSum(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return ExclusiveScan(storage, bytes, in, out, cub::Sum(), detail::value_t<In>(), n, stream);
  }
  template <class In, class Out, class Size>
  static detail::status_t InclusiveSum(SIMT_TWO_CALLS, In in, Out out, Size n, detail::stream_t stream = 0) {
    return InclusiveScan(storage, bytes, in, out, cub::Sum(), n, stream);
  }
  template <class In, class Out, class _F, class _T, class Size>
  static detail::status_t InclusiveScanInit(SIMT_TWO_CALLS, In in, Out out, _F combine, _T init, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::detail::scan<_T>(where, in, static_cast<long>(n), out, thrust::identity<>(), &init, true, combine);
    });
  }
  // In place.
  template <class It, class _F, class _T, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static detail::status_t ExclusiveScan(SIMT_TWO_CALLS, It both, _F combine, _T init, Size n, detail::stream_t stream = 0) {
    return ExclusiveScan(storage, bytes, both, both, combine, init, n, stream);
  }
  template <class It, class _F, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static detail::status_t InclusiveScan(SIMT_TWO_CALLS, It both, _F combine, Size n, detail::stream_t stream = 0) {
    return InclusiveScan(storage, bytes, both, both, combine, n, stream);
  }
  template <class It, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static detail::status_t ExclusiveSum(SIMT_TWO_CALLS, It both, Size n, detail::stream_t stream = 0) {
    return ExclusiveSum(storage, bytes, both, both, n, stream);
  }
  template <class It, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static detail::status_t InclusiveSum(SIMT_TWO_CALLS, It both, Size n, detail::stream_t stream = 0) {
    return InclusiveSum(storage, bytes, both, both, n, stream);
  }
  template <class _K, class _V, class Out, class _F, class _T, class Size, class Same = cub::Equality>
  static detail::status_t ExclusiveScanByKey(SIMT_TWO_CALLS, _K keys, _V in, Out out, _F combine, _T init, Size n, Same same = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::exclusive_scan_by_key(where, keys, keys + n, in, out, init, same, combine); });
  }
  template <class _K, class _V, class Out, class _F, class Size, class Same = cub::Equality>
  static detail::status_t InclusiveScanByKey(SIMT_TWO_CALLS, _K keys, _V in, Out out, _F combine, Size n, Same same = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::inclusive_scan_by_key(where, keys, keys + n, in, out, same, combine); });
  }
  template <class _K, class _V, class Out, class Size>
  static detail::status_t ExclusiveSumByKey(SIMT_TWO_CALLS, _K keys, _V in, Out out, Size n, cub::Equality = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::exclusive_scan_by_key(where, keys, keys + n, in, out); });
  }
  template <class _K, class _V, class Out, class Size>
  static detail::status_t InclusiveSumByKey(SIMT_TWO_CALLS, _K keys, _V in, Out out, Size n, cub::Equality = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::inclusive_scan_by_key(where, keys, keys + n, in, out); });
  }
};

namespace detail {
template <class _K>
struct radix_less {
  int begin_bit, end_bit;
  bool descending;
  SIMT_HDT bool operator()(const _K& a, const _K& b) const {
    const auto x = radix_digits(a, begin_bit, end_bit), y = radix_digits(b, begin_bit, end_bit);
    return descending ? y < x : x < y;
  }
};
}  // namespace detail
}  // namespace cub
namespace thrust::detail {
template <class _K>
struct digit_order<cub::detail::radix_less<_K>, _K> {
  static constexpr bool known = sizeof(_K) <= 8;
  SIMT_HDT static int bit_count(const cub::detail::radix_less<_K>& order) { return order.end_bit - order.begin_bit; }
  SIMT_HDT static unsigned long long bits(const cub::detail::radix_less<_K>& order, const _K& key) {
    const auto digits = cub::detail::radix_digits(key, order.begin_bit, order.end_bit);
    return order.descending ? ~digits : digits;
  }
};
}  // namespace thrust::detail
namespace cub {
namespace detail {
template <class _K>
void sort_copy(const thrust::device_policy& where, const _K* in, _K* out, long n, radix_less<_K> order) {
  if (in != out) thrust::copy(where, in, in + n, out);
  thrust::stable_sort(where, out, out + n, order);
}
template <class _K, class _V>
void sort_copy(const thrust::device_policy& where, const _K* in, _K* out, const _V* values, _V* values_out, long n, radix_less<_K> order) {
  if (in != out) thrust::copy(where, in, in + n, out);
  if (values != values_out) thrust::copy(where, values, values + n, values_out);
  thrust::stable_sort_by_key(where, out, out + n, values_out, order);
}
}  // namespace detail
struct DeviceRadixSort {
#define SIMT_BITS int begin_bit = 0, int end_bit = 8 * sizeof(_K), detail::stream_t stream = 0
#define SIMT_SORTS(suffix, descending)                                                                               \
  template <class _K, class Size>                                                                                     \
  static detail::status_t SortKeys##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, Size n, SIMT_BITS) {                 \
    SIMT_WORK { detail::sort_copy(where, in, out, static_cast<long>(n), detail::radix_less<_K>{begin_bit, end_bit, descending}); }); \
  }                                                                                                                  \
  template <class _K, class Size>                                                                                     \
  static detail::status_t SortKeys##suffix(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, Size n, SIMT_BITS) {               \
    _K* data = keys.Current();                                                                                        \
    return SortKeys##suffix(storage, bytes, const_cast<const _K*>(data), data, n, begin_bit, end_bit, stream);        \
  }                                                                                                                  \
  template <class _K, class _V, class Size>                                                                            \
  static detail::status_t SortPairs##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, const _V* values, _V* values_out, Size n, SIMT_BITS) { \
    SIMT_WORK {                                                                                                      \
      detail::sort_copy(where, in, out, values, values_out, static_cast<long>(n), detail::radix_less<_K>{begin_bit, end_bit, descending}); \
    });                                                                                                              \
  }                                                                                                                  \
  template <class _K, class _V, class Size>                                                                            \
  static detail::status_t SortPairs##suffix(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, DoubleBuffer<_V>& values, Size n, SIMT_BITS) { \
    _K* data = keys.Current();                                                                                        \
    _V* with = values.Current();                                                                                      \
    return SortPairs##suffix(storage, bytes, const_cast<const _K*>(data), data, const_cast<const _V*>(with), with, n, begin_bit, end_bit, stream); \
  }
  SIMT_SORTS(, false)
  SIMT_SORTS(Descending, true)
#undef SIMT_SORTS
};
struct DeviceMergeSort {
  template <class _K, class Size, class Less>
  static detail::status_t SortKeys(SIMT_TWO_CALLS, _K keys, Size n, Less less_than, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::stable_sort(where, keys, keys + n, less_than); });
  }
  template <class _K, class _V, class Size, class Less>
  static detail::status_t SortPairs(SIMT_TWO_CALLS, _K keys, _V values, Size n, Less less_than, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::stable_sort_by_key(where, keys, keys + n, values, less_than); });
  }
  template <class _K, class Size, class Less>
  static detail::status_t StableSortKeys(SIMT_TWO_CALLS, _K keys, Size n, Less less_than, detail::stream_t stream = 0) {
    return SortKeys(storage, bytes, keys, n, less_than, stream);
  }
  template <class _K, class _V, class Size, class Less>
  static detail::status_t StableSortPairs(SIMT_TWO_CALLS, _K keys, _V values, Size n, Less less_than, detail::stream_t stream = 0) {
    return SortPairs(storage, bytes, keys, values, n, less_than, stream);
  }
  template <class In, class Out, class Size, class Less>
  static detail::status_t SortKeysCopy(SIMT_TWO_CALLS, In in, Out out, Size n, Less less_than, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::copy(where, in, in + n, out);
      thrust::stable_sort(where, out, out + n, less_than);
    });
  }
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count, class Size>
  static detail::status_t Flagged(SIMT_TWO_CALLS, In in, Flags flags, Out out, Count count, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      detail::put(where, count, static_cast<detail::value_t<Count>>(thrust::copy_if(where, in, in + n, flags, out, thrust::identity<>()) - out));
    });
  }
  template <class In, class Out, class Count, class Size, class Predicate>
  static detail::status_t If(SIMT_TWO_CALLS, In in, Out out, Count count, Size n, Predicate wanted, detail::stream_t stream = 0) {
    SIMT_WORK { detail::put(where, count, static_cast<detail::value_t<Count>>(thrust::copy_if(where, in, in + n, out, wanted) - out)); });
  }
  template <class In, class Out, class Count, class Size>
  static detail::status_t Unique(SIMT_TWO_CALLS, In in, Out out, Count count, Size n, detail::stream_t stream = 0) {
    SIMT_WORK { detail::put(where, count, static_cast<detail::value_t<Count>>(thrust::unique_copy(where, in, in + n, out) - out)); });
  }
  template <class _K, class _V, class KOut, class VOut, class Count, class Size>
  static detail::status_t UniqueByKey(SIMT_TWO_CALLS, _K keys, _V values, KOut keys_out, VOut values_out, Count count, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      const long found = thrust::detail::compact(
          where, static_cast<long>(n), [=] __host__ __device__(long i) { return i == 0 || !(keys[i] == keys[i - 1]); },
          [=] __host__ __device__(long i, long to) mutable { keys_out[to] = keys[i], values_out[to] = values[i]; });
      detail::put(where, count, static_cast<detail::value_t<Count>>(found));
    });
  }
  template <class In, class Flags, class Out, class Count, class Size, class Predicate>
  static detail::status_t FlaggedIf(SIMT_TWO_CALLS, In in, Flags flags, Out out, Count count, Size n, Predicate wanted, detail::stream_t stream = 0) {
    SIMT_WORK { detail::put(where, count, static_cast<detail::value_t<Count>>(thrust::copy_if(where, in, in + n, flags, out, wanted) - out)); });
  }
  // In place.
  template <class It, class Count, class Size, class Predicate, class = std::enable_if_t<std::is_integral_v<Size>>>
  static detail::status_t If(SIMT_TWO_CALLS, It both, Count count, Size n, Predicate wanted, detail::stream_t stream = 0) {
    SIMT_WORK {
      const auto end = thrust::remove_if(where, both, both + n, [=] __host__ __device__(const auto& v) { return !wanted(v); });
      detail::put(where, count, static_cast<detail::value_t<Count>>(end - both));
    });
  }
};
namespace detail {
// Three parts: two that are asked for, in order, and the rest.
template <class In, class First, class Second, class Rest, class Count, class _F, class _G>
void split(const thrust::device_policy& where, In in, First first, Second second, Rest rest, Count count, long n, _F is_first, _G is_second) {
  const auto in_second = [=] __host__ __device__(const auto& v) { return !is_first(v) && is_second(v); };
  const auto in_rest = [=] __host__ __device__(const auto& v) { return !is_first(v) && !is_second(v); };
  put(where, count, static_cast<value_t<Count>>(thrust::copy_if(where, in, in + n, first, is_first) - first));
  put(where, count + 1, static_cast<value_t<Count>>(thrust::copy_if(where, in, in + n, second, in_second) - second));
  thrust::copy_if(where, in, in + n, rest, in_rest);
}
}  // namespace detail
struct DevicePartition {  // the rest follows the selected in reverse order
  template <class In, class Flags, class Out, class Count, class Size>
  static detail::status_t Flagged(SIMT_TWO_CALLS, In in, Flags flags, Out out, Count count, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      const long yes = thrust::copy_if(where, in, in + n, flags, out, thrust::identity<>()) - out;
      thrust::copy_if(where, in, in + n, flags, thrust::make_reverse_iterator(out + n), thrust::logical_not<>());
      detail::put(where, count, static_cast<detail::value_t<Count>>(yes));
    });
  }
  template <class In, class Out, class Count, class Size, class Predicate>
  static detail::status_t If(SIMT_TWO_CALLS, In in, Out out, Count count, Size n, Predicate wanted, detail::stream_t stream = 0) {
    SIMT_WORK {
      const long yes = thrust::copy_if(where, in, in + n, out, wanted) - out;
      thrust::remove_copy_if(where, in, in + n, thrust::make_reverse_iterator(out + n), wanted);
      detail::put(where, count, static_cast<detail::value_t<Count>>(yes));
    });
  }
  template <class In, class First, class Second, class Rest, class Count, class Size, class _F, class _G>
  static detail::status_t If(SIMT_TWO_CALLS, In in, First first, Second second, Rest rest, Count count, Size n, _F is_first, _G is_second, detail::stream_t stream = 0) {
    SIMT_WORK { detail::split(where, in, first, second, rest, count, static_cast<long>(n), is_first, is_second); });
  }
};
struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Runs, class Size>
  static detail::status_t Encode(SIMT_TWO_CALLS, In in, Out out, Lengths lengths, Runs runs, Size n, detail::stream_t stream = 0) {
    using _L = detail::value_t<Lengths>;
    SIMT_WORK {
      const auto end = thrust::reduce_by_key(where, in, in + n, thrust::constant_iterator<_L>(_L(1)), out, lengths);
      detail::put(where, runs, static_cast<detail::value_t<Runs>>(end.first - out));
    });
  }
  template <class In, class Offsets, class Lengths, class Runs, class Size>
  static detail::status_t NonTrivialRuns(SIMT_TWO_CALLS, In in, Offsets offsets, Lengths lengths, Runs runs, Size n, detail::stream_t stream = 0) {
    const long size = static_cast<long>(n);
    SIMT_WORK {
      const thrust::counting_iterator<long> first(0);
      const auto end = thrust::copy_if(where, first, first + size, offsets, [=] __host__ __device__(long i) {
        return i + 1 < size && in[i] == in[i + 1] && (i == 0 || !(in[i - 1] == in[i]));
      });
      const long found = end - offsets;
      thrust::detail::for_each_index(where, found, [=] __host__ __device__(long i) mutable {
        const long from = static_cast<long>(offsets[i]);
        long to = from + 1;
        while (to < size && in[to] == in[from]) ++to;
        lengths[i] = static_cast<detail::value_t<Lengths>>(to - from);
      });
      detail::put(where, runs, static_cast<detail::value_t<Runs>>(found));
    });
  }
};
struct DeviceHistogram {
  template <class In, class Count, class Level, class Size>
  static detail::status_t HistogramEven(SIMT_TWO_CALLS, In in, Count* histogram, int levels, Level lower, Level upper, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      const int bins = levels - 1;
      thrust::fill(where, histogram, histogram + bins, Count(0));
      thrust::detail::for_each_index(where, static_cast<long>(n), [=] __host__ __device__(long i) {
        const Level value = static_cast<Level>(in[i]);
        if (value >= lower && value < upper) add(&histogram[static_cast<int>((value - lower) * bins / (upper - lower))]);
      });
    });
  }
  template <class In, class Count, class Level, class Size>
  static detail::status_t HistogramRange(SIMT_TWO_CALLS, In in, Count* histogram, int levels, const Level* edges, Size n, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::fill(where, histogram, histogram + (levels - 1), Count(0));
      thrust::detail::for_each_index(where, static_cast<long>(n), [=] __host__ __device__(long i) {
        const long bin = thrust::detail::rank_of(edges, levels, static_cast<Level>(in[i]), thrust::less<>(), true) - 1;
        if (bin >= 0 && bin < levels - 1) add(&histogram[bin]);
      });
    });
  }

 private:
  template <class Count>
  static SIMT_HDT void add(Count* bin) { __atomic_fetch_add(bin, Count(1), __ATOMIC_RELAXED); }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class _F, class _T>
  static detail::status_t Reduce(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, _F combine, _T init, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::detail::for_each_index(where, segments, [=] __host__ __device__(long s) mutable {
        _T sum = init;
        for (auto i = begin[s]; i < end[s]; ++i) sum = combine(sum, in[i]);
        out[s] = sum;
      });
    });
  }
  template <class In, class Out, class Begin, class End>
  static detail::status_t Sum(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, detail::stream_t stream = 0) {
    return Reduce(storage, bytes, in, out, segments, begin, end, cub::Sum(), detail::value_t<In>(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static detail::status_t Min(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, detail::stream_t stream = 0) {
    return Reduce(storage, bytes, in, out, segments, begin, end, cub::Min(), detail::highest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static detail::status_t Max(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, detail::stream_t stream = 0) {
    return Reduce(storage, bytes, in, out, segments, begin, end, cub::Max(), detail::lowest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static detail::status_t ArgMin(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, detail::stream_t stream = 0) {
    return arg(storage, bytes, in, out, segments, begin, end, cub::ArgMin(), detail::highest<detail::value_t<In>>(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static detail::status_t ArgMax(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, detail::stream_t stream = 0) {
    return arg(storage, bytes, in, out, segments, begin, end, cub::ArgMax(), detail::lowest<detail::value_t<In>>(), stream);
  }

 private:
  // An empty segment has index 1 and the value that no other is worse than.
  template <class In, class Out, class Begin, class End, class _F, class _T>
  static detail::status_t arg(SIMT_TWO_CALLS, In in, Out out, int segments, Begin begin, End end, _F combine, _T none, detail::stream_t stream) {
    using Pair = KeyValuePair<int, _T>;
    SIMT_WORK {
      thrust::detail::for_each_index(where, segments, [=] __host__ __device__(long s) mutable {
        const auto first = begin[s], last = end[s];
        Pair best(1, none);
        for (auto i = first; i < last; ++i) {
          const Pair next(static_cast<int>(i - first), in[i]);
          best = i == first ? next : combine(best, next);
        }
        out[s] = best;
      });
    });
  }
};
namespace detail {
// Sorts all segments at once: by segment first, then by key.
template <class _K>
struct segment_less {
  const _K* keys;
  const long* segment;
  radix_less<_K> order;
  SIMT_HDT bool operator()(long a, long b) const {
    return segment[a] != segment[b] ? segment[a] < segment[b] : order(keys[a], keys[b]);
  }
};
template <class _K, class _V, class Begin, class End>
void sort_segments(const thrust::device_policy& where, const _K* in, _K* out, const _V* values, _V* values_out, long n,
                   int segments, Begin begin, End end, radix_less<_K> order) {
  thrust::detail::scratch<long, thrust::device_policy> a(where, n), b(where, n), c(where, n);
  long *segment = a.data(), *index = b.data();
  thrust::fill(where, segment, segment + n, -1l);
  thrust::detail::for_each_index(where, segments, [=] __host__ __device__(long s) {
    for (long i = begin[s]; i < end[s]; ++i) segment[i] = s;
  });
  const long* place = thrust::detail::sorted_index(where, thrust::counting_iterator<long>(0), n, index, c.data(),
                                                   segment_less<_K>{in, segment, order});
  thrust::detail::for_each_index(where, n, [=] __host__ __device__(long i) {
    out[i] = in[place[i]];
    if (values_out != nullptr) values_out[i] = values[place[i]];
  });
}
}  // namespace detail
struct DeviceSegmentedRadixSort {
#define SIMT_SORTS(suffix, descending)                                                                               \
  template <class _K, class Begin, class End>                                                                         \
  static detail::status_t SortKeys##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, int n, int segments, Begin begin, End end, SIMT_BITS) { \
    SIMT_WORK {                                                                                                      \
      detail::sort_segments<_K, char>(where, in, out, nullptr, nullptr, n, segments, begin, end, detail::radix_less<_K>{begin_bit, end_bit, descending}); \
    });                                                                                                              \
  }                                                                                                                  \
  template <class _K, class Begin, class End>                                                                         \
  static detail::status_t SortKeys##suffix(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, int n, int segments, Begin begin, End end, SIMT_BITS) { \
    if (storage != nullptr) keys.selector ^= 1;                                                                       \
    return SortKeys##suffix(storage, bytes, const_cast<const _K*>(keys.Alternate()), keys.Current(), n, segments, begin, end, begin_bit, end_bit, stream); \
  }                                                                                                                  \
  template <class _K, class _V, class Begin, class End>                                                                \
  static detail::status_t SortPairs##suffix(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, DoubleBuffer<_V>& values, int n, int segments, Begin begin, End end, SIMT_BITS) { \
    if (storage != nullptr) keys.selector ^= 1, values.selector ^= 1;                                                 \
    return SortPairs##suffix(storage, bytes, const_cast<const _K*>(keys.Alternate()), keys.Current(),                 \
                             const_cast<const _V*>(values.Alternate()), values.Current(), n, segments, begin, end, begin_bit, end_bit, stream); \
  }                                                                                                                  \
  template <class _K, class _V, class Begin, class End>                                                                \
  static detail::status_t SortPairs##suffix(SIMT_TWO_CALLS, const _K* in, _K* out, const _V* values, _V* values_out, int n, int segments, Begin begin, End end, SIMT_BITS) { \
    SIMT_WORK {                                                                                                      \
      detail::sort_segments(where, in, out, values, values_out, n, segments, begin, end, detail::radix_less<_K>{begin_bit, end_bit, descending}); \
    });                                                                                                              \
  }
  SIMT_SORTS(, false)
  SIMT_SORTS(Descending, true)
#undef SIMT_SORTS
#undef SIMT_BITS
};
// The choice of algorithm is not modelled: both sorts of segments are the same, stable one.
struct DeviceSegmentedSort {
#define SIMT_SORTS(name, same)                                                                                       \
  template <class _K, class Begin, class End>                                                                         \
  static detail::status_t name##Keys##same(SIMT_TWO_CALLS, const _K* in, _K* out, int n, int segments, Begin begin, End end, detail::stream_t stream = 0) { \
    return DeviceSegmentedRadixSort::SortKeys##same(storage, bytes, in, out, n, segments, begin, end, 0, 8 * static_cast<int>(sizeof(_K)), stream); \
  }                                                                                                                  \
  template <class _K, class Begin, class End>                                                                         \
  static detail::status_t name##Keys##same(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, int n, int segments, Begin begin, End end, detail::stream_t stream = 0) { \
    return DeviceSegmentedRadixSort::SortKeys##same(storage, bytes, keys, n, segments, begin, end, 0, 8 * static_cast<int>(sizeof(_K)), stream); \
  }                                                                                                                  \
  template <class _K, class _V, class Begin, class End>                                                                \
  static detail::status_t name##Pairs##same(SIMT_TWO_CALLS, DoubleBuffer<_K>& keys, DoubleBuffer<_V>& values, int n, int segments, Begin begin, End end, detail::stream_t stream = 0) { \
    return DeviceSegmentedRadixSort::SortPairs##same(storage, bytes, keys, values, n, segments, begin, end, 0, 8 * static_cast<int>(sizeof(_K)), stream); \
  }                                                                                                                  \
  template <class _K, class _V, class Begin, class End>                                                                \
  static detail::status_t name##Pairs##same(SIMT_TWO_CALLS, const _K* in, _K* out, const _V* values, _V* values_out, int n, int segments, Begin begin, End end, detail::stream_t stream = 0) { \
    return DeviceSegmentedRadixSort::SortPairs##same(storage, bytes, in, out, values, values_out, n, segments, begin, end, 0, 8 * static_cast<int>(sizeof(_K)), stream); \
  }
  SIMT_SORTS(Sort, )
  SIMT_SORTS(Sort, Descending)
  SIMT_SORTS(StableSort, )
  SIMT_SORTS(StableSort, Descending)
#undef SIMT_SORTS
};
// Both factors of the work are known when it is asked for: no storage, no first call.
struct DeviceTransform {
  template <class... In, class Out, class Size, class _F>
  static detail::status_t Transform(::cuda::std::tuple<In...> in, Out out, Size n, _F f, detail::stream_t stream = 0) {
    return at_once(stream, static_cast<long>(n), [=] __host__ __device__(long i) mutable {
      out[i] = ::cuda::std::apply([&](const auto&... from) { return f(from[i]...); }, in);
    });
  }
  template <class In, class Out, class Size, class _F>
  static detail::status_t Transform(In in, Out out, Size n, _F f, detail::stream_t stream = 0) {
    return at_once(stream, static_cast<long>(n), [=] __host__ __device__(long i) mutable { out[i] = f(in[i]); });
  }

 private:
  template <class _F>
  static detail::status_t at_once(detail::stream_t stream, long n, _F f) {
    size_t bytes = 0;
    int storage = 0;
    return detail::two_calls(&storage, bytes, stream, [=](const thrust::device_policy& where) {
      thrust::detail::for_each_index(where, n, f);
    });
  }
};
struct DeviceMerge {
  template <class A, class B, class Out, class Less = cub::Less>
  static detail::status_t MergeKeys(SIMT_TWO_CALLS, A a, int n, B b, int m, Out out, Less less_than = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::merge(where, a, a + n, b, b + m, out, less_than); });
  }
  template <class A, class _V, class B, class _W, class Out, class VOut, class Less = cub::Less>
  static detail::status_t MergePairs(SIMT_TWO_CALLS, A a, _V a_values, int n, B b, _W b_values, int m, Out out, VOut values_out, Less less_than = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::merge_by_key(where, a, a + n, b, b + m, a_values, b_values, out, values_out, less_than); });
  }
};
struct DeviceCopy {
  template <class In, class Out, class Sizes>
  static detail::status_t Batched(SIMT_TWO_CALLS, In in, Out out, Sizes sizes, unsigned int ranges, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::detail::for_each_index(where, ranges, [=] __host__ __device__(long r) mutable {
        auto from = in[r];
        auto to = out[r];
        for (decltype(+sizes[r]) i = 0; i < sizes[r]; ++i) to[i] = from[i];
      });
    });
  }
};
struct DeviceMemcpy {
  template <class In, class Out, class Sizes>
  static detail::status_t Batched(SIMT_TWO_CALLS, In in, Out out, Sizes sizes, unsigned int buffers, detail::stream_t stream = 0) {
    SIMT_WORK {
      thrust::detail::for_each_index(where, buffers, [=] __host__ __device__(long b) mutable {
        const auto* from = reinterpret_cast<const unsigned char*>(in[b]);
        auto* to = reinterpret_cast<unsigned char*>(out[b]);
        for (decltype(+sizes[b]) i = 0; i < sizes[b]; ++i) to[i] = from[i];
      });
    });
  }
};
struct DeviceFor {
  template <class It, class _F>
  static detail::status_t ForEach(It first, It last, _F f, detail::stream_t stream = 0) {
    return ForEachN(first, last - first, f, stream);
  }
  template <class It, class Size, class _F>
  static detail::status_t ForEachN(It first, Size n, _F f, detail::stream_t stream = 0) {
    return Bulk(static_cast<long>(n), [=] __host__ __device__(long i) mutable { f(first[i]); }, stream);
  }
  template <class It, class _F>
  static detail::status_t ForEachCopy(It first, It last, _F f, detail::stream_t stream = 0) {
    return ForEachN(first, last - first, f, stream);
  }
  template <class It, class Size, class _F>
  static detail::status_t ForEachCopyN(It first, Size n, _F f, detail::stream_t stream = 0) {
    return ForEachN(first, n, f, stream);
  }
  template <class Size, class _F>
  static detail::status_t Bulk(Size n, _F f, detail::stream_t stream = 0) {
    size_t bytes = 0;
    int storage = 0;
    return detail::two_calls(&storage, bytes, stream, [=](const thrust::device_policy& where) {
      thrust::detail::for_each_index(where, static_cast<long>(n), f);
    });
  }
  // With storage, which they do not need.
#define SIMT_FOR(name)                                                                                         \
  template <class... _A>                                                                                       \
  static detail::status_t name(SIMT_TWO_CALLS, _A... arguments) {                                              \
    if (storage != nullptr) return name(arguments...);                                                         \
    bytes = 256;                                                                                               \
    return SIMT_GPU(Success);                                                                                  \
  }
  SIMT_FOR(ForEach)
  SIMT_FOR(ForEachN)
  SIMT_FOR(ForEachCopy)
  SIMT_FOR(ForEachCopyN)
  SIMT_FOR(Bulk)
#undef SIMT_FOR
};

struct DeviceAdjacentDifference {
  template <class In, class Out, class Size, class _F = cub::Difference>
  static detail::status_t SubtractLeftCopy(SIMT_TWO_CALLS, In in, Out out, Size n, _F f = {}, detail::stream_t stream = 0) {
    SIMT_WORK { thrust::adjacent_difference(where, in, in + n, out, f); });
  }
  template <class It, class Size, class _F = cub::Difference>
  static detail::status_t SubtractLeft(SIMT_TWO_CALLS, It both, Size n, _F f = {}, detail::stream_t stream = 0) {
    return SubtractLeftCopy(storage, bytes, both, both, n, f, stream);
  }
  template <class In, class Out, class Size, class _F = cub::Difference>
  static detail::status_t SubtractRightCopy(SIMT_TWO_CALLS, In in, Out out, Size n, _F f = {}, detail::stream_t stream = 0) {
    const auto last = static_cast<std::ptrdiff_t>(n) - 1;
    SIMT_WORK {
      thrust::detail::scratch<detail::value_t<In>, thrust::device_policy> kept(where, last + 1);
      auto* old = kept.data();
      thrust::copy(where, in, in + (last + 1), old);
      thrust::detail::for_each_index(where, static_cast<long>(last + 1), [=] __host__ __device__(long i) mutable {
        if (i == last) out[i] = old[i]; else out[i] = f(old[i], old[i + 1]);
      });
    });
  }
  template <class It, class Size, class _F = cub::Difference>
  static detail::status_t SubtractRight(SIMT_TWO_CALLS, It both, Size n, _F f = {}, detail::stream_t stream = 0) {
    return SubtractRightCopy(storage, bytes, both, both, n, f, stream);
  }
};
#undef SIMT_WORK
#undef SIMT_TWO_CALLS
}  // namespace cub
