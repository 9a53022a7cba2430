// The algorithms, as kernels on the device system and loops on the host's. Each is built from for_each_index:
// element-wise work, chunked reductions and scans, and a stable merge sort by rank.
//
// SIMT_ALGORITHM declares the overload without a policy, whose system the iterators decide.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/functional.h>
#include <thrust/detail/iterators.h>

#include <algorithm>  // programs rely on it coming along
#include <vector>

// Kernels call the algorithms, too: all of them are for both sides.
#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <class... Iterator>
policy<joint_system<Iterator...>> choose(const Iterator&...) {
  return {};
}
#define SIMT_IF_POLICY template <class _P, class = std::enable_if_t<detail::is_policy<_P>>,
#define SIMT_IF_NO_POLICY(It) class = std::enable_if_t<!detail::is_policy<It>>

constexpr long kChunks = 2048;  // partial results of reductions and scans
inline long chunks_of(long n) { return n < kChunks ? n : kChunks; }
}  // namespace detail

// ---- element by element -----------------------------------------------------------------------------------
SIMT_IF_POLICY class It, class Size, class _F>
It for_each_n(const _P& where, It first, Size n, _F f) {
  detail::for_each_index(where, static_cast<long>(n), [=] __host__ __device__(long i) mutable { f(first[i]); });
  return first + static_cast<std::ptrdiff_t>(n);
}
SIMT_IF_POLICY class It, class _F>
It for_each(const _P& where, It first, It last, _F f) {
  return for_each_n(where, first, last - first, f);
}
template <class It, class _F, SIMT_IF_NO_POLICY(It)>
It for_each(It first, It last, _F f) { return thrust::for_each(detail::choose(first), first, last, f); }
template <class It, class Size, class _F, SIMT_IF_NO_POLICY(It)>
It for_each_n(It first, Size n, _F f) { return thrust::for_each_n(detail::choose(first), first, n, f); }

SIMT_IF_POLICY class In, class Out, class _F>
Out transform(const _P& where, In first, In last, Out out, _F f) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { out[i] = f(first[i]); });
  return out + (last - first);
}
SIMT_IF_POLICY class In1, class In2, class Out, class _F>
Out transform(const _P& where, In1 first, In1 last, In2 second, Out out, _F f) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { out[i] = f(first[i], second[i]); });
  return out + (last - first);
}
template <class In, class Out, class _F, SIMT_IF_NO_POLICY(In)>
Out transform(In first, In last, Out out, _F f) {
  return thrust::transform(detail::choose(first, out), first, last, out, f);
}
template <class In1, class In2, class Out, class _F, SIMT_IF_NO_POLICY(In1)>
Out transform(In1 first, In1 last, In2 second, Out out, _F f) {
  return thrust::transform(detail::choose(first, second, out), first, last, second, out, f);
}
SIMT_IF_POLICY class In, class Stencil, class Out, class _F, class Predicate>
Out transform_if(const _P& where, In first, In last, Stencil stencil, Out out, _F f, Predicate keep) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (keep(stencil[i])) out[i] = f(first[i]);
  });
  return out + (last - first);
}
SIMT_IF_POLICY class In1, class In2, class Stencil, class Out, class _F, class Predicate>
Out transform_if(const _P& where, In1 first, In1 last, In2 second, Stencil stencil, Out out, _F f, Predicate keep) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (keep(stencil[i])) out[i] = f(first[i], second[i]);
  });
  return out + (last - first);
}
template <class In1, class In2, class Stencil, class Out, class _F, class Predicate, SIMT_IF_NO_POLICY(In1)>
Out transform_if(In1 first, In1 last, In2 second, Stencil stencil, Out out, _F f, Predicate keep) {
  return thrust::transform_if(detail::choose(first, second, stencil, out), first, last, second, stencil, out, f, keep);
}
template <class In, class Out, class _F, class Predicate, SIMT_IF_NO_POLICY(In),
          class = std::enable_if_t<!std::is_same_v<Predicate, void>>>
Out transform_if(In first, In last, Out out, _F f, Predicate keep) {
  return thrust::transform_if(detail::choose(first, out), first, last, first, out, f, keep);
}
template <class In, class Stencil, class Out, class _F, class Predicate, SIMT_IF_NO_POLICY(In)>
Out transform_if(In first, In last, Stencil stencil, Out out, _F f, Predicate keep) {
  return thrust::transform_if(detail::choose(first, stencil, out), first, last, stencil, out, f, keep);
}

namespace detail {
template <class It>
inline constexpr bool is_device_memory = std::is_same_v<system_of_t<It>, device_system>;
template <class It>
auto raw(It it) {
  if constexpr (std::is_pointer_v<It>) return it; else return &*it;
}
template <class _T>
struct vector_iterators {
  using mutable_one = typename std::vector<_T>::iterator;
  using const_one = typename std::vector<_T>::const_iterator;
};
template <>
struct vector_iterators<void> : vector_iterators<char> {};  // of output iterators
template <>
struct vector_iterators<bool> : vector_iterators<char> {};  // vector<bool> holds bits
template <class It>
struct contiguous : std::bool_constant<std::is_pointer_v<It> || std::is_same_v<It, typename vector_iterators<value_t<It>>::mutable_one> ||
                                       std::is_same_v<It, typename vector_iterators<value_t<It>>::const_one>> {};
template <class _T>
struct contiguous<device_ptr<_T>> : std::true_type {};
template <class It>
inline constexpr bool is_random_access =
    std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<It>::iterator_category>;
}  // namespace detail

SIMT_IF_POLICY class In, class Out>
Out copy(const _P& where, In first, In last, Out out) {
  return thrust::transform(where, first, last, out, identity<>());
}
namespace detail {
// Between host and device memory a copy is a transfer when both are contiguous and of one type.
template <class In, class Out>
Out copy_random_access(In first, In last, Out out) {
  const long n = last - first;
  if constexpr (contiguous<In>::value && detail::contiguous<Out>::value &&
                std::is_same_v<detail::value_t<In>, detail::value_t<Out>> &&
                (detail::is_device_memory<In> || detail::is_device_memory<Out>)) {
    if (n > 0)
      detail::check(SIMT_GPU(Memcpy)(detail::raw(out), detail::raw(first), static_cast<size_t>(n) * sizeof(detail::value_t<In>),
                                     SIMT_GPU(MemcpyDefault)), "copy");
  } else if constexpr (std::is_same_v<detail::system_of_t<In>, host_system> || std::is_same_v<detail::system_of_t<Out>, host_system>) {
    for (long i = 0; i < n; ++i) out[i] = static_cast<detail::value_t<In>>(first[i]);
  } else {
    return thrust::copy(detail::choose(first, out), first, last, out);
  }
  return out + n;
}
}  // namespace detail
template <class In, class Out, SIMT_IF_NO_POLICY(In)>
Out copy(In first, In last, Out out) {
  if constexpr (!detail::is_random_access<In> || !detail::is_random_access<Out>) {  // lists and streams
    for (; first != last; ++first, ++out) *out = *first;
    return out;
  } else {
    return detail::copy_random_access(first, last, out);
  }
}
template <class In, class Size, class Out, SIMT_IF_NO_POLICY(In)>
Out copy_n(In first, Size n, Out out) { return thrust::copy(first, first + static_cast<std::ptrdiff_t>(n), out); }
SIMT_IF_POLICY class In, class Size, class Out>
Out copy_n(const _P& where, In first, Size n, Out out) {
  return thrust::copy(where, first, first + static_cast<std::ptrdiff_t>(n), out);
}

SIMT_IF_POLICY class It, class _T>
void fill(const _P& where, It first, It last, const _T& value) {
  const _T kept = value;
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { first[i] = kept; });
}
SIMT_IF_POLICY class It, class _T>
void sequence(const _P& where, It first, It last, _T start, _T step) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    first[i] = static_cast<detail::value_t<It>>(start + static_cast<_T>(i) * step);
  });
}
SIMT_IF_POLICY class It, class _T>
void sequence(const _P& where, It first, It last, _T start) { thrust::sequence(where, first, last, start, _T(1)); }
SIMT_IF_POLICY class It>
void sequence(const _P& where, It first, It last) {
  thrust::sequence(where, first, last, detail::value_t<It>(0), detail::value_t<It>(1));
}
SIMT_IF_POLICY class It, class _F>
void generate(const _P& where, It first, It last, _F f) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { first[i] = f(); });
}
SIMT_IF_POLICY class It, class _F>
void tabulate(const _P& where, It first, It last, _F f) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { first[i] = f(i); });
}
SIMT_IF_POLICY class It, class Predicate, class _T>
void replace_if(const _P& where, It first, It last, Predicate wanted, const _T& value) {
  const _T kept = value;
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (wanted(first[i])) first[i] = kept;
  });
}
SIMT_IF_POLICY class It, class _T>
void replace(const _P& where, It first, It last, const _T& old, const _T& value) {
  const _T from = old;
  thrust::replace_if(where, first, last, [=] __host__ __device__(const _T& v) mutable { return v == from; }, value);
}
SIMT_IF_POLICY class Map, class In, class Out>
Out gather(const _P& where, Map first, Map last, In in, Out out) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    out[i] = in[static_cast<std::ptrdiff_t>(first[i])];
  });
  return out + (last - first);
}
SIMT_IF_POLICY class Map, class Stencil, class In, class Out, class Predicate = identity<>>
Out gather_if(const _P& where, Map first, Map last, Stencil stencil, In in, Out out, Predicate wanted = {}) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (wanted(stencil[i])) out[i] = in[static_cast<std::ptrdiff_t>(first[i])];
  });
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Map, class Out>
void scatter(const _P& where, In first, In last, Map map, Out out) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    out[static_cast<std::ptrdiff_t>(map[i])] = first[i];
  });
}
SIMT_IF_POLICY class In, class Map, class Stencil, class Out, class Predicate = identity<>>
void scatter_if(const _P& where, In first, In last, Map map, Stencil stencil, Out out, Predicate wanted = {}) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (wanted(stencil[i])) out[static_cast<std::ptrdiff_t>(map[i])] = first[i];
  });
}
SIMT_IF_POLICY class In, class Out, class _F>
Out adjacent_difference(const _P& where, In first, In last, Out out, _F f) {
  using _T = detail::value_t<In>;
  const long n = last - first;
  detail::scratch<_T, _P> kept(where, n);
  _T* old = kept.data();
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable { old[i] = first[i]; });
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    if (i == 0) out[i] = old[i]; else out[i] = f(old[i], old[i - 1]);
  });
  return out + n;
}
SIMT_IF_POLICY class In, class Out>
Out adjacent_difference(const _P& where, In first, In last, Out out) {
  return thrust::adjacent_difference(where, first, last, out, minus<>());
}
SIMT_IF_POLICY class It>
void reverse(const _P& where, It first, It last) {
  const long n = last - first;
  detail::for_each_index(where, n / 2, [=] __host__ __device__(long i) mutable {
    detail::value_t<It> kept = first[i];
    first[i] = first[n - 1 - i];
    first[n - 1 - i] = kept;
  });
}
SIMT_IF_POLICY class It1, class It2>
It2 swap_ranges(const _P& where, It1 first, It1 last, It2 other) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    detail::value_t<It1> kept = first[i];
    first[i] = other[i];
    other[i] = kept;
  });
  return other + (last - first);
}

// Without a policy: the first iterator and the last one decide together.
#define SIMT_DEFAULT(name, _R)                                                          \
  template <class It, class... _A, SIMT_IF_NO_POLICY(It)>                               \
  _R name(It first, It last, _A... arguments) {                                          \
    return thrust::name(detail::choose(first), first, last, arguments...);             \
  }
#define SIMT_DEFAULT_OUT(name)                                                         \
  template <class It, class Second, class... _A, SIMT_IF_NO_POLICY(It)>                 \
  auto name(It first, It last, Second second, _A... arguments) {                        \
    return thrust::name(detail::choose(first, second), first, last, second, arguments...); \
  }
SIMT_DEFAULT(fill, void)
SIMT_DEFAULT(sequence, void)
SIMT_DEFAULT(generate, void)
SIMT_DEFAULT(tabulate, void)
SIMT_DEFAULT(replace_if, void)
SIMT_DEFAULT(replace, void)
SIMT_DEFAULT(reverse, void)
SIMT_DEFAULT_OUT(gather)
SIMT_DEFAULT_OUT(gather_if)
SIMT_DEFAULT_OUT(scatter)
SIMT_DEFAULT_OUT(scatter_if)
SIMT_DEFAULT_OUT(adjacent_difference)
SIMT_DEFAULT_OUT(swap_ranges)
SIMT_IF_POLICY class It, class Size, class _T>
It fill_n(const _P& where, It first, Size n, const _T& value) {
  thrust::fill(where, first, first + static_cast<std::ptrdiff_t>(n), value);
  return first + static_cast<std::ptrdiff_t>(n);
}
template <class It, class Size, class _T, SIMT_IF_NO_POLICY(It)>
It fill_n(It first, Size n, const _T& value) { return thrust::fill_n(detail::choose(first), first, n, value); }

// ---- reductions: strided partial results, then one thread over the partial results -----------------------------
SIMT_IF_POLICY class It, class _F, class _T, class Combine>
_T transform_reduce(const _P& where, It first, It last, _F f, _T init, Combine combine) {
  const long n = last - first, parts = detail::chunks_of(n);
  if (n <= 0) return init;
  detail::scratch<_T, _P> kept(where, parts);
  _T* partial = kept.data();
  detail::for_each_index(where, parts, [=] __host__ __device__(long part) mutable {
    _T sum = static_cast<_T>(f(first[part]));
    for (long i = part + parts; i < n; i += parts) sum = combine(sum, f(first[i]));
    new (partial + part) _T(sum);
  });
  detail::for_each_index(where, 1, [=] __host__ __device__(long) mutable {
    _T sum = init;
    for (long part = 0; part < parts; ++part) sum = combine(sum, partial[part]);
    partial[0] = sum;
  });
  return kept.read(0);
}
SIMT_IF_POLICY class It, class _T, class Combine>
_T reduce(const _P& where, It first, It last, _T init, Combine combine) {
  return thrust::transform_reduce(where, first, last, identity<>(), init, combine);
}
SIMT_IF_POLICY class It, class _T>
_T reduce(const _P& where, It first, It last, _T init) { return thrust::reduce(where, first, last, init, plus<>()); }
SIMT_IF_POLICY class It>
detail::value_t<It> reduce(const _P& where, It first, It last) {
  return thrust::reduce(where, first, last, detail::value_t<It>(), plus<>());
}
template <class It, class... _A, SIMT_IF_NO_POLICY(It)>
auto reduce(It first, It last, _A... arguments) {
  return thrust::reduce(detail::choose(first), first, last, arguments...);
}
template <class It, class _F, class _T, class Combine, SIMT_IF_NO_POLICY(It)>
_T transform_reduce(It first, It last, _F f, _T init, Combine combine) {
  return thrust::transform_reduce(detail::choose(first), first, last, f, init, combine);
}
SIMT_IF_POLICY class It1, class It2, class _T, class Combine, class _F>
_T inner_product(const _P& where, It1 first, It1 last, It2 second, _T init, Combine combine, _F f) {
  return thrust::transform_reduce(where, counting_iterator<long>(0), counting_iterator<long>(last - first),
                                  [=] __host__ __device__(long i) mutable { return f(first[i], second[i]); }, init, combine);
}
SIMT_IF_POLICY class It1, class It2, class _T>
_T inner_product(const _P& where, It1 first, It1 last, It2 second, _T init) {
  return thrust::inner_product(where, first, last, second, init, plus<>(), multiplies<>());
}
SIMT_DEFAULT_OUT(inner_product)
SIMT_IF_POLICY class It, class Predicate>
std::ptrdiff_t count_if(const _P& where, It first, It last, Predicate wanted) {
  return thrust::transform_reduce(
      where, first, last, [=] __host__ __device__(const auto& v) mutable { return wanted(v) ? 1l : 0l; }, 0l, plus<long>());
}
SIMT_IF_POLICY class It, class _T>
std::ptrdiff_t count(const _P& where, It first, It last, _T value) {
  return thrust::count_if(where, first, last, [=] __host__ __device__(const auto& v) mutable { return v == value; });
}
SIMT_IF_POLICY class It, class Predicate>
bool all_of(const _P& where, It first, It last, Predicate wanted) {
  return thrust::count_if(where, first, last, wanted) == last - first;
}
SIMT_IF_POLICY class It, class Predicate>
bool any_of(const _P& where, It first, It last, Predicate wanted) {
  return thrust::count_if(where, first, last, wanted) != 0;
}
SIMT_IF_POLICY class It, class Predicate>
bool none_of(const _P& where, It first, It last, Predicate wanted) {
  return thrust::count_if(where, first, last, wanted) == 0;
}
namespace detail {
// The smallest index below n for which the predicate holds; n if there is none.
template <class _P, class Predicate>
long first_index(const _P& where, long n, Predicate wanted) {
  return thrust::transform_reduce(
      where, counting_iterator<long>(0), counting_iterator<long>(n),
      [=] __host__ __device__(long i) mutable { return wanted(i) ? i : n; }, n, minimum<long>());
}
// The index of the first element that no other is better than.
template <class _P, class It, class Better>
long best_index(const _P& where, It first, long n, Better better) {
  return thrust::reduce(where, counting_iterator<long>(0), counting_iterator<long>(n), 0l,
                        [=] __host__ __device__(long a, long b) mutable {
                          if (better(first[b], first[a])) return b;
                          if (better(first[a], first[b])) return a;
                          return a < b ? a : b;
                        });
}
}  // namespace detail
SIMT_IF_POLICY class It, class Predicate>
It find_if(const _P& where, It first, It last, Predicate wanted) {
  return first + detail::first_index(where, last - first, [=] __host__ __device__(long i) mutable { return wanted(first[i]); });
}
SIMT_IF_POLICY class It, class Predicate>
It find_if_not(const _P& where, It first, It last, Predicate wanted) {
  return first + detail::first_index(where, last - first, [=] __host__ __device__(long i) mutable { return !wanted(first[i]); });
}
SIMT_IF_POLICY class It, class _T>
It find(const _P& where, It first, It last, _T value) {
  return first + detail::first_index(where, last - first, [=] __host__ __device__(long i) mutable { return first[i] == value; });
}
SIMT_IF_POLICY class It, class Less>
It min_element(const _P& where, It first, It last, Less less_than) {
  return first == last ? last : first + detail::best_index(where, first, last - first, less_than);
}
SIMT_IF_POLICY class It, class Less>
It max_element(const _P& where, It first, It last, Less less_than) {
  return first == last ? last : first + detail::best_index(where, first, last - first, [=] __host__ __device__(const auto& a, const auto& b) mutable {
    return less_than(b, a);
  });
}
SIMT_IF_POLICY class It>
It min_element(const _P& where, It first, It last) { return thrust::min_element(where, first, last, less<>()); }
SIMT_IF_POLICY class It>
It max_element(const _P& where, It first, It last) { return thrust::max_element(where, first, last, less<>()); }
SIMT_IF_POLICY class It, class... Less>
pair<It, It> minmax_element(const _P& where, It first, It last, Less... less_than) {
  return {thrust::min_element(where, first, last, less_than...), thrust::max_element(where, first, last, less_than...)};
}
SIMT_IF_POLICY class It1, class It2, class Same>
bool equal(const _P& where, It1 first, It1 last, It2 second, Same same) {
  const long n = last - first;
  return detail::first_index(where, n, [=] __host__ __device__(long i) mutable { return !same(first[i], second[i]); }) == n;
}
SIMT_IF_POLICY class It1, class It2>
bool equal(const _P& where, It1 first, It1 last, It2 second) {
  return thrust::equal(where, first, last, second, equal_to<>());
}
SIMT_IF_POLICY class It1, class It2, class Same = equal_to<>>
pair<It1, It2> mismatch(const _P& where, It1 first, It1 last, It2 second, Same same = {}) {
  const long at = detail::first_index(where, last - first, [=] __host__ __device__(long i) mutable { return !same(first[i], second[i]); });
  return {first + at, second + at};
}
SIMT_IF_POLICY class It, class Less = less<>>
It is_sorted_until(const _P& where, It first, It last, Less less_than = {}) {
  const long n = last - first - 1;
  if (n <= 0) return last;
  const long at = detail::first_index(where, n, [=] __host__ __device__(long i) mutable { return less_than(first[i + 1], first[i]); });
  return first + (at + 1);
}
SIMT_IF_POLICY class It, class Less = less<>>
bool is_sorted(const _P& where, It first, It last, Less less_than = {}) {
  return thrust::is_sorted_until(where, first, last, less_than) == last;
}
SIMT_DEFAULT(count_if, std::ptrdiff_t)
SIMT_DEFAULT(count, std::ptrdiff_t)
SIMT_DEFAULT(all_of, bool)
SIMT_DEFAULT(any_of, bool)
SIMT_DEFAULT(none_of, bool)
SIMT_DEFAULT(find_if, It)
SIMT_DEFAULT(find_if_not, It)
SIMT_DEFAULT(find, It)
SIMT_DEFAULT(min_element, It)
SIMT_DEFAULT(max_element, It)
SIMT_DEFAULT(is_sorted, bool)
SIMT_DEFAULT(is_sorted_until, It)
template <class It, class... Less, SIMT_IF_NO_POLICY(It)>
pair<It, It> minmax_element(It first, It last, Less... less_than) {
  return thrust::minmax_element(detail::choose(first), first, last, less_than...);
}
SIMT_DEFAULT_OUT(equal)
SIMT_DEFAULT_OUT(mismatch)
}  // namespace thrust
#pragma clang force_cuda_host_device end

#include <thrust/detail/scans.h>
#include <thrust/detail/sorts.h>
#include <thrust/detail/sets.h>
#include <thrust/detail/variants.h>
