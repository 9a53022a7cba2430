// Operations on sorted ranges: merges and multiset operations. An element of one range looks up, by rank, how many
// of its equals the other range has.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#pragma clang force_cuda_host_device begin
namespace thrust {
SIMT_IF_POLICY class _A, class _B, class Out, class Less>
Out merge(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out, Less less_than) {
  const long n = a_last - a, m = b_last - b;
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    out[i + detail::rank_of(b, m, a[i], less_than, false)] = a[i];
  });
  detail::for_each_index(where, m, [=] __host__ __device__(long i) mutable {
    out[i + detail::rank_of(a, n, b[i], less_than, true)] = b[i];
  });
  return out + n + m;
}
SIMT_IF_POLICY class _A, class _B, class Out>
Out merge(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out) {
  return thrust::merge(where, a, a_last, b, b_last, out, less<>());
}
SIMT_IF_POLICY class _A, class _B, class _V, class _W, class Out, class Values, class Less>
pair<Out, Values> merge_by_key(const _P& where, _A a, _A a_last, _B b, _B b_last, _V a_values, _W b_values, Out out,
                               Values values, Less less_than) {
  const long n = a_last - a, m = b_last - b;
  detail::for_each_index(where, n, [=] __host__ __device__(long i) mutable {
    const long at = i + detail::rank_of(b, m, a[i], less_than, false);
    out[at] = a[i];
    values[at] = a_values[i];
  });
  detail::for_each_index(where, m, [=] __host__ __device__(long i) mutable {
    const long at = i + detail::rank_of(a, n, b[i], less_than, true);
    out[at] = b[i];
    values[at] = b_values[i];
  });
  return {out + n + m, values + n + m};
}
SIMT_IF_POLICY class _A, class _B, class _V, class _W, class Out, class Values>
pair<Out, Values> merge_by_key(const _P& where, _A a, _A a_last, _B b, _B b_last, _V a_values, _W b_values, Out out,
                               Values values) {
  return thrust::merge_by_key(where, a, a_last, b, b_last, a_values, b_values, out, values, less<>());
}

namespace detail {
// Copies the elements of a that have (or have not) an equal of the same rank in b; returns how many.
template <class _P, class _A, class _B, class Out, class Less>
long copy_matched(const _P& where, _A a, long n, _B b, long m, Out out, Less less_than, bool matched) {
  return compact(
      where, n,
      [=] __host__ __device__(long i) mutable {
        const long before = i - rank_of(a, n, a[i], less_than, false);
        const long equals = rank_of(b, m, a[i], less_than, true) - rank_of(b, m, a[i], less_than, false);
        return (before < equals) == matched;
      },
      [=] __host__ __device__(long i, long at) mutable { out[at] = a[i]; });
}
}  // namespace detail
SIMT_IF_POLICY class _A, class _B, class Out, class Less>
Out set_intersection(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out, Less less_than) {
  return out + detail::copy_matched(where, a, a_last - a, b, b_last - b, out, less_than, true);
}
SIMT_IF_POLICY class _A, class _B, class Out, class Less>
Out set_difference(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out, Less less_than) {
  return out + detail::copy_matched(where, a, a_last - a, b, b_last - b, out, less_than, false);
}
SIMT_IF_POLICY class _A, class _B, class Out, class Less>
Out set_union(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out, Less less_than) {
  using _T = detail::value_t<_B>;
  detail::scratch<_T, _P> kept(where, b_last - b);
  _T* extra = kept.data();
  const long extras = detail::copy_matched(where, b, b_last - b, a, a_last - a, extra, less_than, false);
  return thrust::merge(where, a, a_last, extra, extra + extras, out, less_than);
}
SIMT_IF_POLICY class _A, class _B, class Out, class Less>
Out set_symmetric_difference(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out, Less less_than) {
  using _T = detail::value_t<_A>;
  using _U = detail::value_t<_B>;
  detail::scratch<_T, _P> kept_a(where, a_last - a);
  detail::scratch<_U, _P> kept_b(where, b_last - b);
  _T* only_a = kept_a.data();
  _U* only_b = kept_b.data();
  const long n = detail::copy_matched(where, a, a_last - a, b, b_last - b, only_a, less_than, false);
  const long m = detail::copy_matched(where, b, b_last - b, a, a_last - a, only_b, less_than, false);
  return thrust::merge(where, only_a, only_a + n, only_b, only_b + m, out, less_than);
}
#define SIMT_SET_OPERATION(name)                                                            \
  SIMT_IF_POLICY class _A, class _B, class Out>                                             \
  Out name(const _P& where, _A a, _A a_last, _B b, _B b_last, Out out) {                    \
    return thrust::name(where, a, a_last, b, b_last, out, less<>());                        \
  }                                                                                         \
  SIMT_TWO_RANGES(name)
#define SIMT_TWO_RANGES(name)                                                               \
  template <class _A, class _B, class Out, class... More, SIMT_IF_NO_POLICY(_A)>            \
  auto name(_A a, _A a_last, _B b, _B b_last, Out out, More... more) {                      \
    return thrust::name(detail::choose(a, b, out), a, a_last, b, b_last, out, more...);     \
  }
SIMT_SET_OPERATION(set_union)
SIMT_SET_OPERATION(set_intersection)
SIMT_SET_OPERATION(set_difference)
SIMT_SET_OPERATION(set_symmetric_difference)
SIMT_TWO_RANGES(merge)
SIMT_TWO_RANGES(merge_by_key)
#undef SIMT_SET_OPERATION
#undef SIMT_TWO_RANGES
}  // namespace thrust
#pragma clang force_cuda_host_device end
