// Algorithms that are others in another form: into another range, of n elements, on raw memory, by key.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#pragma clang force_cuda_host_device begin
namespace thrust {
SIMT_IF_POLICY class In, class Stencil, class Out, class Predicate, class _T>
Out replace_copy_if(const _P& where, In first, In last, Stencil stencil, Out out, Predicate wanted, const _T& value) {
  const _T kept = value;
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable {
    if (wanted(stencil[i])) out[i] = kept; else out[i] = first[i];
  });
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Out, class Predicate, class _T>
Out replace_copy_if(const _P& where, In first, In last, Out out, Predicate wanted, const _T& value) {
  return thrust::replace_copy_if(where, first, last, first, out, wanted, value);
}
SIMT_IF_POLICY class In, class Out, class _T>
Out replace_copy(const _P& where, In first, In last, Out out, const _T& old, const _T& value) {
  const _T from = old;
  return thrust::replace_copy_if(where, first, last, out, [=] __host__ __device__(const auto& v) mutable { return v == from; }, value);
}
SIMT_IF_POLICY class In, class Out, class _T>
Out remove_copy(const _P& where, In first, In last, Out out, _T value) {
  return thrust::remove_copy_if(where, first, last, out, [=] __host__ __device__(const auto& v) mutable { return v == value; });
}
SIMT_IF_POLICY class In, class Out>
Out reverse_copy(const _P& where, In first, In last, Out out) {
  const long n = last - first;
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable { out[i] = first[n - 1 - i]; });
  return out + n;
}
SIMT_IF_POLICY class It, class Size, class _F>
It generate_n(const _P& where, It first, Size n, _F f) {
  thrust::generate(where, first, first + static_cast<std::ptrdiff_t>(n), f);
  return first + static_cast<std::ptrdiff_t>(n);
}
template <class It, class Size, class _F, SIMT_IF_NO_POLICY(It)>
It generate_n(It first, Size n, _F f) { return thrust::generate_n(detail::choose(first), first, n, f); }

// ---- raw memory ----------------------------------------------------------------------------------------------------
SIMT_IF_POLICY class It, class _T>
void uninitialized_fill(const _P& where, It first, It last, const _T& value) {
  const _T kept = value;
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { new (&first[i]) detail::value_t<It>(kept); });
}
SIMT_IF_POLICY class It, class Size, class _T>
It uninitialized_fill_n(const _P& where, It first, Size n, const _T& value) {
  thrust::uninitialized_fill(where, first, first + static_cast<std::ptrdiff_t>(n), value);
  return first + static_cast<std::ptrdiff_t>(n);
}
template <class It, class Size, class _T, SIMT_IF_NO_POLICY(It)>
It uninitialized_fill_n(It first, Size n, const _T& value) {
  return thrust::uninitialized_fill_n(detail::choose(first), first, n, value);
}
SIMT_IF_POLICY class In, class Out>
Out uninitialized_copy(const _P& where, In first, In last, Out out) {
  detail::for_each_index(where, last - first, [=] __host__ __device__(long i) mutable { new (&out[i]) detail::value_t<Out>(first[i]); });
  return out + (last - first);
}
SIMT_IF_POLICY class In, class Size, class Out>
Out uninitialized_copy_n(const _P& where, In first, Size n, Out out) {
  return thrust::uninitialized_copy(where, first, first + static_cast<std::ptrdiff_t>(n), out);
}
// Without a policy it may lead from one side to the other.
template <class In, class Out, SIMT_IF_NO_POLICY(In)>
Out uninitialized_copy(In first, In last, Out out) { return thrust::copy(first, last, out); }
template <class In, class Size, class Out, SIMT_IF_NO_POLICY(In)>
Out uninitialized_copy_n(In first, Size n, Out out) { return thrust::copy_n(first, n, out); }

// ---- partitions ----------------------------------------------------------------------------------------------------
SIMT_IF_POLICY class It, class Predicate>
It partition_point(const _P& where, It first, It last, Predicate wanted) {
  return thrust::find_if_not(where, first, last, wanted);
}
SIMT_IF_POLICY class It, class Predicate>
bool is_partitioned(const _P& where, It first, It last, Predicate wanted) {
  return thrust::none_of(where, thrust::partition_point(where, first, last, wanted), last, wanted);
}
SIMT_IF_POLICY class In, class Stencil, class Yes, class No, class Predicate>
pair<Yes, No> partition_copy(const _P& where, In first, In last, Stencil stencil, Yes yes, No no, Predicate wanted) {
  return {thrust::copy_if(where, first, last, stencil, yes, wanted),
          thrust::copy_if(where, first, last, stencil, no, negated<Predicate>{wanted})};
}
SIMT_IF_POLICY class In, class... _A>
auto stable_partition_copy(const _P& where, In first, In last, _A... arguments) {
  return thrust::partition_copy(where, first, last, arguments...);
}
SIMT_DEFAULT(uninitialized_fill, void)
SIMT_DEFAULT(partition_point, It)
SIMT_DEFAULT(is_partitioned, bool)
SIMT_DEFAULT_OUT(stable_partition_copy)
SIMT_DEFAULT_OUT(replace_copy)
SIMT_DEFAULT_OUT(replace_copy_if)
SIMT_DEFAULT_OUT(remove_copy)
SIMT_DEFAULT_OUT(reverse_copy)

// ---- sets by key: of pairs that only their keys order ----------------------------------------------------------------
namespace detail {
template <class Less>
struct by_first {
  mutable Less less_than;
  template <class _A, class _B>
  SIMT_HDT bool operator()(const _A& a, const _B& b) const { return less_than(thrust::get<0>(a), thrust::get<0>(b)); }
};
template <class... It>
auto zipped(It... its) { return zip_iterator<tuple<It...>>(tuple<It...>(its...)); }
template <class Out, class Values, class Zipped>
pair<Out, Values> unzipped(Out out, Values values, const Zipped& end) {
  const std::ptrdiff_t n = end - detail::zipped(out, values);
  return {out + n, values + n};
}
}  // namespace detail
// An intersection takes its values from the first range alone.
SIMT_IF_POLICY class _A, class _B, class _V, class Out, class Values, class Less = less<>>
pair<Out, Values> set_intersection_by_key(const _P& where, _A a, _A a_last, _B b, _B b_last, _V a_values, Out out, Values values,
                                          Less less_than = {}) {
  const std::ptrdiff_t n = a_last - a;
  return detail::unzipped(out, values,
                          thrust::set_intersection(where, detail::zipped(a, a_values), detail::zipped(a_last, a_values + n),
                                                   detail::zipped(b), detail::zipped(b_last), detail::zipped(out, values),
                                                   detail::by_first<Less>{less_than}));
}
template <class _A, class _B, class _V, class Out, class Values, class... Less, SIMT_IF_NO_POLICY(_A)>
auto set_intersection_by_key(_A a, _A a_last, _B b, _B b_last, _V a_values, Out out, Values values, Less... less_than) {
  return thrust::set_intersection_by_key(detail::choose(a, b, out), a, a_last, b, b_last, a_values, out, values, less_than...);
}
#define SIMT_SET_BY_KEY(name, keys_only)                                                                               \
  SIMT_IF_POLICY class _A, class _B, class _V, class _W, class Out, class Values, class Less = less<>>                 \
  pair<Out, Values> name(const _P& where, _A a, _A a_last, _B b, _B b_last, _V a_values, _W b_values, Out out,         \
                         Values values, Less less_than = {}) {                                                         \
    const std::ptrdiff_t n = a_last - a, m = b_last - b;                                                               \
    return detail::unzipped(out, values,                                                                               \
                            thrust::keys_only(where, detail::zipped(a, a_values), detail::zipped(a_last, a_values + n),\
                                              detail::zipped(b, b_values), detail::zipped(b_last, b_values + m),       \
                                              detail::zipped(out, values), detail::by_first<Less>{less_than}));        \
  }                                                                                                                    \
  template <class _A, class _B, class _V, class _W, class Out, class Values, class... Less, SIMT_IF_NO_POLICY(_A)>     \
  auto name(_A a, _A a_last, _B b, _B b_last, _V a_values, _W b_values, Out out, Values values, Less... less_than) {   \
    return thrust::name(detail::choose(a, b, out), a, a_last, b, b_last, a_values, b_values, out, values, less_than...); \
  }
SIMT_SET_BY_KEY(set_union_by_key, set_union)
SIMT_SET_BY_KEY(set_difference_by_key, set_difference)
SIMT_SET_BY_KEY(set_symmetric_difference_by_key, set_symmetric_difference)
#undef SIMT_SET_BY_KEY
}  // namespace thrust
#pragma clang force_cuda_host_device end
