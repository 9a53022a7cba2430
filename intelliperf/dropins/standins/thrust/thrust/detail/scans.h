// Scans, and what follows from them: compaction, partition, unique, and the operations by key.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
// Writes store(i, prefix before i, element i) for all i, where the first prefix is `init` if there is one.
// Three steps: each chunk's total, one thread over the totals, each chunk again with its start.
template <class _T, class _P, class In, class Out, class _F, class Combine>
void scan(const _P& where, In first, long n, Out out, _F f, const _T* init, bool inclusive, Combine combine) {
  if (n <= 0) return;
  const long parts = chunks_of(n), length = (n + parts - 1) / parts;
  scratch<_T, _P> totals(where, parts), elements(where, n);
  _T* total = totals.data();
  _T* element = elements.data();  // so that out may be first
  const bool has_init = init != nullptr;
  const _T start = has_init ? *init : _T();
  for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
    const long begin = part * length, end = begin + length < n ? begin + length : n;
    if (begin >= end) return;
    _T sum = static_cast<_T>(f(first[begin]));
    new (element + begin) _T(sum);
    for (long i = begin + 1; i < end; ++i) {
      new (element + i) _T(static_cast<_T>(f(first[i])));
      sum = combine(sum, element[i]);
    }
    new (total + part) _T(sum);
  });
  for_each_index(where, 1, [=] __host__ __device__(long) mutable {
    _T sum = has_init ? static_cast<_T>(combine(start, total[0])) : total[0];
    for (long part = 0; part < parts && part * length < n; ++part) {
      if (part != 0) sum = combine(sum, total[part]);
      total[part] = sum;
    }
  });
  for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
    const long begin = part * length, end = begin + length < n ? begin + length : n;
    if (begin >= end) return;
    bool has_sum = part != 0 || has_init;
    _T sum = part != 0 ? total[part - 1] : start;
    for (long i = begin; i < end; ++i) {
      const _T next = has_sum ? static_cast<_T>(combine(sum, element[i])) : element[i];
      out[i] = inclusive ? next : sum;
      sum = next;
      has_sum = true;
    }
  });
}
// Writes where each wanted element goes and returns how many there are.
template <class _P, class Wanted>
long positions(const _P& where, long n, long* to, Wanted wanted) {
  if (n <= 0) return 0;
  const long zero = 0;
  scan<long>(where, counting_iterator<long>(0), n, to, [=] __host__ __device__(long i) mutable { return wanted(i) ? 1l : 0l; },
             &zero, true, plus<long>());
  scratch<long, _P> last(where, 1);
  long* count = last.data();
  for_each_index(where, 1, [=] __host__ __device__(long) mutable { *count = to[n - 1]; });
  return last.read(0);
}
// Copies element(i) to out for each wanted i, in order; returns how many.
template <class _P, class Wanted, class Store>
long compact(const _P& where, long n, Wanted wanted, Store store) {
  scratch<long, _P> kept(where, n);
  long* to = kept.data();
  const long count = positions(where, n, to, wanted);
  for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    if (to[i] != (i == 0 ? 0 : to[i - 1])) store(i, to[i] - 1);
  });
  return count;
}
}  // namespace detail

SIMT_IF_POLICY class In, class Out, class _F, class Combine>
Out transform_inclusive_scan(const _P& where, In first, In last, Out out, _F f, Combine combine) {
  using _T = std::decay_t<std::invoke_result_t<_F, detail::value_t<In>>>;
  detail::scan<_T>(where, first, last - first, out, f, static_cast<const _T*>(nullptr), true, combine);
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Out, class _F, class _T, class Combine>
Out transform_exclusive_scan(const _P& where, In first, In last, Out out, _F f, _T init, Combine combine) {
  detail::scan<_T>(where, first, last - first, out, f, &init, false, combine);
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Out, class Combine>
Out inclusive_scan(const _P& where, In first, In last, Out out, Combine combine) {
  using _T = detail::value_t<In>;
  detail::scan<_T>(where, first, last - first, out, identity<>(), static_cast<const _T*>(nullptr), true, combine);
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Out>
Out inclusive_scan(const _P& where, In first, In last, Out out) {
  return thrust::inclusive_scan(where, first, last, out, plus<>());
}
SIMT_IF_POLICY class In, class Out, class _T, class Combine>
Out exclusive_scan(const _P& where, In first, In last, Out out, _T init, Combine combine) {
  detail::scan<_T>(where, first, last - first, out, identity<>(), &init, false, combine);
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Out, class _T>
Out exclusive_scan(const _P& where, In first, In last, Out out, _T init) {
  return thrust::exclusive_scan(where, first, last, out, init, plus<>());
}
SIMT_IF_POLICY class In, class Out>
Out exclusive_scan(const _P& where, In first, In last, Out out) {
  return thrust::exclusive_scan(where, first, last, out, detail::value_t<In>(), plus<>());
}
SIMT_DEFAULT_OUT(inclusive_scan)
SIMT_DEFAULT_OUT(exclusive_scan)
SIMT_DEFAULT_OUT(transform_inclusive_scan)
SIMT_DEFAULT_OUT(transform_exclusive_scan)

// ---- compaction ------------------------------------------------------------------------------------------------
SIMT_IF_POLICY class In, class Stencil, class Out, class Predicate>
Out copy_if(const _P& where, In first, In last, Stencil stencil, Out out, Predicate wanted) {
  return out + detail::compact(where, last - first, [=] __host__ __device__(long i) mutable { return wanted(stencil[i]); },
                               [=] __host__ __device__(long i, long at) mutable { out[at] = first[i]; });
}
SIMT_IF_POLICY class In, class Out, class Predicate>
Out copy_if(const _P& where, In first, In last, Out out, Predicate wanted) {
  return thrust::copy_if(where, first, last, first, out, wanted);
}
SIMT_IF_POLICY class In, class Out, class Predicate>
Out remove_copy_if(const _P& where, In first, In last, Out out, Predicate unwanted) {
  return thrust::copy_if(where, first, last, first, out, negated<Predicate>{unwanted});
}
SIMT_IF_POLICY class It, class Stencil, class Predicate>
It remove_if(const _P& where, It first, It last, Stencil stencil, Predicate unwanted) {
  using _T = detail::value_t<It>;
  detail::scratch<_T, _P> kept(where, last - first);
  _T* to = kept.data();
  const long n = thrust::copy_if(where, first, last, stencil, to, negated<Predicate>{unwanted}) - to;
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable { first[i] = to[i]; });
  return first + n;
}
SIMT_IF_POLICY class It, class Predicate>
It remove_if(const _P& where, It first, It last, Predicate unwanted) {
  return thrust::remove_if(where, first, last, first, unwanted);
}
SIMT_IF_POLICY class It, class _T>
It remove(const _P& where, It first, It last, _T value) {
  return thrust::remove_if(where, first, last, [=] __host__ __device__(const auto& v) mutable { return v == value; });
}
SIMT_IF_POLICY class It, class Stencil, class Predicate>
It stable_partition(const _P& where, It first, It last, Stencil stencil, Predicate wanted) {
  using _T = detail::value_t<It>;
  const long n = last - first;
  detail::scratch<_T, _P> kept(where, n);
  _T* to = kept.data();
  const long yes = thrust::copy_if(where, first, last, stencil, to, wanted) - to;
  thrust::copy_if(where, first, last, stencil, to + yes, negated<Predicate>{wanted});
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable { first[i] = to[i]; });
  return first + yes;
}
SIMT_IF_POLICY class It, class Predicate>
It stable_partition(const _P& where, It first, It last, Predicate wanted) {
  return thrust::stable_partition(where, first, last, first, wanted);
}
SIMT_IF_POLICY class It, class... _A>
It partition(const _P& where, It first, It last, _A... arguments) {
  return thrust::stable_partition(where, first, last, arguments...);
}
SIMT_IF_POLICY class In, class Yes, class No, class Predicate>
pair<Yes, No> partition_copy(const _P& where, In first, In last, Yes yes, No no, Predicate wanted) {
  return {thrust::copy_if(where, first, last, yes, wanted), thrust::remove_copy_if(where, first, last, no, wanted)};
}
SIMT_IF_POLICY class In, class Out, class Same>
Out unique_copy(const _P& where, In first, In last, Out out, Same same) {
  return out + detail::compact(where, last - first,
                               [=] __host__ __device__(long i) mutable { return i == 0 || !same(first[i - 1], first[i]); },
                               [=] __host__ __device__(long i, long at) mutable { out[at] = first[i]; });
}
SIMT_IF_POLICY class In, class Out>
Out unique_copy(const _P& where, In first, In last, Out out) {
  return thrust::unique_copy(where, first, last, out, equal_to<>());
}
SIMT_IF_POLICY class It, class Same>
It unique(const _P& where, It first, It last, Same same) {
  using _T = detail::value_t<It>;
  detail::scratch<_T, _P> kept(where, last - first);
  _T* to = kept.data();
  const long n = thrust::unique_copy(where, first, last, to, same) - to;
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable { first[i] = to[i]; });
  return first + n;
}
SIMT_IF_POLICY class It>
It unique(const _P& where, It first, It last) { return thrust::unique(where, first, last, equal_to<>()); }
template <class In, class Out, class Predicate, SIMT_IF_NO_POLICY(In)>
Out copy_if(In first, In last, Out out, Predicate wanted) {
  return thrust::copy_if(detail::choose(first, out), first, last, first, out, wanted);
}
template <class In, class Stencil, class Out, class Predicate, SIMT_IF_NO_POLICY(In)>
Out copy_if(In first, In last, Stencil stencil, Out out, Predicate wanted) {
  return thrust::copy_if(detail::choose(first, stencil, out), first, last, stencil, out, wanted);
}
SIMT_DEFAULT_OUT(remove_copy_if)
SIMT_DEFAULT(remove_if, It)
SIMT_DEFAULT(remove, It)
SIMT_DEFAULT(stable_partition, It)
SIMT_DEFAULT(partition, It)
SIMT_DEFAULT(unique, It)
SIMT_IF_POLICY class It, class... Same>
std::ptrdiff_t unique_count(const _P& where, It first, It last, Same... same) {
  return thrust::unique_copy(where, first, last, discard_iterator<>(), same...) - discard_iterator<>();
}
SIMT_DEFAULT(unique_count, std::ptrdiff_t)
SIMT_DEFAULT_OUT(unique_copy)
SIMT_DEFAULT_OUT(partition_copy)

// ---- by key: the thread at the head of each run of equal keys does the run -----------------------------------------
SIMT_IF_POLICY class _K, class _V, class KOut, class VOut, class Same, class Combine>
pair<KOut, VOut> reduce_by_key(const _P& where, _K first, _K last, _V values, KOut keys_out, VOut values_out, Same same,
                               Combine combine) {
  const long n = last - first;
  const long runs = detail::compact(
      where, n, [=] __host__ __device__(long i) mutable { return i == 0 || !same(first[i - 1], first[i]); },
      [=] __host__ __device__(long i, long at) mutable {
        detail::value_t<_V> sum = values[i];
        for (long j = i + 1; j < n && same(first[j - 1], first[j]); ++j) sum = combine(sum, values[j]);
        keys_out[at] = first[i];
        values_out[at] = sum;
      });
  return {keys_out + runs, values_out + runs};
}
SIMT_IF_POLICY class _K, class _V, class KOut, class VOut, class Same>
pair<KOut, VOut> reduce_by_key(const _P& where, _K first, _K last, _V values, KOut keys_out, VOut values_out, Same same) {
  return thrust::reduce_by_key(where, first, last, values, keys_out, values_out, same, plus<>());
}
SIMT_IF_POLICY class _K, class _V, class KOut, class VOut>
pair<KOut, VOut> reduce_by_key(const _P& where, _K first, _K last, _V values, KOut keys_out, VOut values_out) {
  return thrust::reduce_by_key(where, first, last, values, keys_out, values_out, equal_to<>(), plus<>());
}
SIMT_DEFAULT_OUT(reduce_by_key)
namespace detail {
template <class _P, class _K, class _V, class Out, class _T, class Same, class Combine>
Out scan_by_key(const _P& where, _K first, _K last, _V values, Out out, _T init, bool inclusive, Same same, Combine combine) {
  const long n = last - first;
  for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    if (i != 0 && same(first[i - 1], first[i])) return;
    _T sum = init;
    for (long j = i; j < n && (j == i || same(first[j - 1], first[j])); ++j) {
      const _T value = values[j];
      const _T next = inclusive && j == i ? value : static_cast<_T>(combine(sum, value));
      out[j] = inclusive ? next : sum;
      sum = next;
    }
  });
  return out + n;
}
}  // namespace detail
SIMT_IF_POLICY class _K, class _V, class Out, class Same, class Combine>
Out inclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out, Same same, Combine combine) {
  return detail::scan_by_key(where, first, last, values, out, detail::value_t<_V>(), true, same, combine);
}
SIMT_IF_POLICY class _K, class _V, class Out, class Same>
Out inclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out, Same same) {
  return thrust::inclusive_scan_by_key(where, first, last, values, out, same, plus<>());
}
SIMT_IF_POLICY class _K, class _V, class Out>
Out inclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out) {
  return thrust::inclusive_scan_by_key(where, first, last, values, out, equal_to<>(), plus<>());
}
SIMT_IF_POLICY class _K, class _V, class Out, class _T, class Same, class Combine>
Out exclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out, _T init, Same same, Combine combine) {
  return detail::scan_by_key(where, first, last, values, out, init, false, same, combine);
}
SIMT_IF_POLICY class _K, class _V, class Out, class _T, class Same>
Out exclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out, _T init, Same same) {
  return thrust::exclusive_scan_by_key(where, first, last, values, out, init, same, plus<>());
}
SIMT_IF_POLICY class _K, class _V, class Out, class _T>
Out exclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out, _T init) {
  return thrust::exclusive_scan_by_key(where, first, last, values, out, init, equal_to<>(), plus<>());
}
SIMT_IF_POLICY class _K, class _V, class Out>
Out exclusive_scan_by_key(const _P& where, _K first, _K last, _V values, Out out) {
  return thrust::exclusive_scan_by_key(where, first, last, values, out, detail::value_t<_V>(), equal_to<>(), plus<>());
}
SIMT_DEFAULT_OUT(inclusive_scan_by_key)
SIMT_DEFAULT_OUT(exclusive_scan_by_key)
SIMT_IF_POLICY class _K, class _V, class KOut, class VOut, class Same = equal_to<>>
pair<KOut, VOut> unique_by_key_copy(const _P& where, _K first, _K last, _V values, KOut keys_out, VOut values_out, Same same = {}) {
  const long runs = detail::compact(
      where, last - first, [=] __host__ __device__(long i) mutable { return i == 0 || !same(first[i - 1], first[i]); },
      [=] __host__ __device__(long i, long at) mutable {
        keys_out[at] = first[i];
        values_out[at] = values[i];
      });
  return {keys_out + runs, values_out + runs};
}
SIMT_IF_POLICY class _K, class _V, class Same = equal_to<>>
pair<_K, _V> unique_by_key(const _P& where, _K first, _K last, _V values, Same same = {}) {
  using _A = detail::value_t<_K>;
  using _B = detail::value_t<_V>;
  const long n = last - first;
  detail::scratch<_A, _P> kept_keys(where, n);
  detail::scratch<_B, _P> kept_values(where, n);
  _A* keys_to = kept_keys.data();
  _B* values_to = kept_values.data();
  const long runs = thrust::unique_by_key_copy(where, first, last, values, keys_to, values_to, same).first - keys_to;
  detail::for_each_index(where, runs, [=] __host__ __device__(long i) mutable {
    first[i] = keys_to[i];
    values[i] = values_to[i];
  });
  return {first + runs, values + runs};
}
SIMT_DEFAULT_OUT(unique_by_key)
SIMT_DEFAULT_OUT(unique_by_key_copy)
}  // namespace thrust
#pragma clang force_cuda_host_device end
