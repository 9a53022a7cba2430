// nvcuda::wmma: the fragments of a tile are dealt out to the lanes of a warp in runs, row by row (the last factor: column
// by column), and a product reads those of all lanes. Which lane has which element is left open by CUDA's guide.
// Products count as the multiplications that they consist of, not as instructions of a tensor core.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

namespace nvcuda::wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

namespace detail {
template <class _T>
struct stored {
  using type = _T;
};
template <>
struct stored<precision::tf32> {
  using type = float;
};
template <class Use, int m, int n, int k>
struct shape {  // of an accumulator
  static constexpr int rows = m, columns = n;
};
template <int m, int n, int k>
struct shape<matrix_a, m, n, k> {
  static constexpr int rows = m, columns = k;
};
template <int m, int n, int k>
struct shape<matrix_b, m, n, k> {
  static constexpr int rows = k, columns = n;
};
}  // namespace detail

template <class Use, int m, int n, int k, class _T, class Layout = void>
class fragment {
 public:
  using element_type = _T;
  using storage_element_type = typename detail::stored<_T>::type;
  static constexpr int rows = detail::shape<Use, m, n, k>::rows;
  static constexpr int columns = detail::shape<Use, m, n, k>::columns;
  static constexpr bool by_columns = __is_same(Layout, col_major);
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

template <class Use, int m, int n, int k, class _T, class Layout, class Value>
SIMT_DT void fill_fragment(fragment<Use, m, n, k, _T, Layout>& to, const Value& value) {
  for (auto& element : to.x) element = static_cast<typename fragment<Use, m, n, k, _T, Layout>::storage_element_type>(value);
}

namespace detail {
// Where an element of this lane lies in a matrix whose lines are `stride` apart.
template <class Fragment>
SIMT_DT unsigned int place(int element, unsigned int stride, bool by_columns) {
  const int index = static_cast<int>(__simt::lane()) * Fragment::num_elements + element;
  const int line = Fragment::by_columns ? Fragment::rows : Fragment::columns;
  const unsigned int across = static_cast<unsigned int>(index / line), along = static_cast<unsigned int>(index % line);
  return by_columns == Fragment::by_columns ? across * stride + along : along * stride + across;
}
}  // namespace detail

template <class Use, int m, int n, int k, class _T, class Layout, class Value>
SIMT_DT void load_matrix_sync(fragment<Use, m, n, k, _T, Layout>& to, const Value* from, unsigned int stride) {
  using F = fragment<Use, m, n, k, _T, Layout>;
  __syncwarp();
  for (int i = 0; i < F::num_elements; ++i) to.x[i] = from[detail::place<F>(i, stride, F::by_columns)];
}
template <int m, int n, int k, class _T>
SIMT_DT void load_matrix_sync(fragment<accumulator, m, n, k, _T>& to, const _T* from, unsigned int stride, layout_t layout) {
  using F = fragment<accumulator, m, n, k, _T>;
  __syncwarp();
  for (int i = 0; i < F::num_elements; ++i) to.x[i] = from[detail::place<F>(i, stride, layout == mem_col_major)];
}
template <int m, int n, int k, class _T>
SIMT_DT void store_matrix_sync(_T* to, const fragment<accumulator, m, n, k, _T>& from, unsigned int stride, layout_t layout) {
  using F = fragment<accumulator, m, n, k, _T>;
  for (int i = 0; i < F::num_elements; ++i) to[detail::place<F>(i, stride, layout == mem_col_major)] = from.x[i];
  __syncwarp();
}

namespace detail {
template <class _T>
SIMT_DT float number(_T value) {
  return static_cast<float>(value);
}
SIMT_D double number(double value) { return value; }
SIMT_D int number(int value) { return value; }
SIMT_D int number(signed char value) { return value; }
SIMT_D int number(unsigned char value) { return value; }

template <class A, class B>
struct operands {
  const A* a[32];
  const B* b[32];
};
// Every lane's fragments. Lanes share an address space here: the first one lends room for the pointers.
template <class A, class B>
SIMT_DT const operands<A, B>& all_operands(operands<A, B>& own, const A& a, const B& b) {
#if defined(__NVPTX__)  // compiled for its static facts only: the lane's own in place of the others'
  for (int i = 0; i < 32; ++i) own.a[i] = &a, own.b[i] = &b;
  return own;
#else
  auto* first = reinterpret_cast<operands<A, B>*>(
      __simt::collective(__simt::kShuffle, 0xffffffffu, reinterpret_cast<unsigned long long>(&own), 0, 32));
  first->a[__simt::lane()] = &a;
  first->b[__simt::lane()] = &b;
  __syncwarp();
  return *first;
#endif
}
template <class Fragment>
SIMT_DT auto element_at(const Fragment* const (&lanes)[32], int row, int column) {
  const int index = Fragment::by_columns ? column * Fragment::rows + row : row * Fragment::columns + column;
  return number(lanes[index / Fragment::num_elements]->x[index % Fragment::num_elements]);
}
}  // namespace detail

template <int m, int n, int k, class _T, class LayoutA, class LayoutB, class Sum, class Addend>
SIMT_DT void mma_sync(fragment<accumulator, m, n, k, Sum>& to, const fragment<matrix_a, m, n, k, _T, LayoutA>& a,
                      const fragment<matrix_b, m, n, k, _T, LayoutB>& b, const fragment<accumulator, m, n, k, Addend>& c,
                      bool = false) {
  using F = fragment<accumulator, m, n, k, Sum>;
  detail::operands<fragment<matrix_a, m, n, k, _T, LayoutA>, fragment<matrix_b, m, n, k, _T, LayoutB>> own;
  const auto& all = detail::all_operands(own, a, b);
  for (int i = 0; i < F::num_elements; ++i) {
    const int index = static_cast<int>(__simt::lane()) * F::num_elements + i, row = index / n, column = index % n;
    auto sum = detail::number(c.x[i]);
    for (int j = 0; j < k; ++j) sum += detail::element_at(all.a, row, j) * detail::element_at(all.b, j, column);
    to.x[i] = static_cast<Sum>(sum);
  }
  __syncwarp();  // no lane changes its fragments before all have read them
}

SIMT_D float __float_to_tf32(float value) {
  const auto bits = __builtin_bit_cast(unsigned int, value);
  return __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u);  // ten bits of fraction, ties away from zero
}
}  // namespace nvcuda::wmma
