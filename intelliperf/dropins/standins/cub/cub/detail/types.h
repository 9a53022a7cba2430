// Function objects, key-value pairs, iterators and the radix order of keys.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/vectors.h>

#include <limits>

#define CUB_VERSION 200400
#define CUB_PTX_ARCH 900
#define CUB_RUNTIME_FUNCTION __host__ __device__
#define CUB_MIN(a, b) (((a) > (b)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) < (b)) ? (b) : (a))
#define CUB_QUOTIENT_FLOOR(x, y) ((x) / (y))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y)-1) / (y))
#define CUB_ROUND_UP_NEAREST(x, y) ((((x) + (y)-1) / (y)) * (y))
#define CUB_IS_INT(type) true
#define CubDebug(e) ::cub::Debug((SIMT_GPU(Error_t))(e), __FILE__, __LINE__)
#define CubDebugExit(e)                                                       \
  if (::cub::Debug((SIMT_GPU(Error_t))(e), __FILE__, __LINE__)) {             \
    ::exit(1);                                                                \
  }

namespace cub {
inline SIMT_GPU(Error_t) Debug(SIMT_GPU(Error_t) error, const char* file, int line) {
  if (error != SIMT_GPU(Success))
    fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line, SIMT_GPU(GetErrorString)(error));
  return error;
}
SIMT_D int RowMajorTid(int block_x, int block_y, int) {
  return static_cast<int>((threadIdx.z * block_y + threadIdx.y) * block_x + threadIdx.x);
}
SIMT_D unsigned int LaneId() { return __simt::lane(); }
SIMT_D unsigned int WarpId() { return __simt::thread_rank() / SIMT_WAVE_SIZE; }

#define SIMT_FUNCTION(name, expression)                                 \
  struct name {                                                         \
    template <class _A, class _B>                                         \
    SIMT_HDT constexpr auto operator()(const _A& a, const _B& b) const {  \
      return expression;                                                \
    }                                                                   \
  };
SIMT_FUNCTION(Sum, a + b)
SIMT_FUNCTION(Difference, a - b)
SIMT_FUNCTION(Max, a < b ? b : a)
SIMT_FUNCTION(Min, b < a ? b : a)
SIMT_FUNCTION(Equality, a == b)
SIMT_FUNCTION(Inequality, !(a == b))
SIMT_FUNCTION(Less, a < b)
#undef SIMT_FUNCTION

template <class Key, class Value>
struct KeyValuePair {
  using Key_ = Key;
  Key key;
  Value value;
  KeyValuePair() = default;
  SIMT_HDT KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
};
struct ArgMax {
  template <class _P>
  SIMT_HDT _P operator()(const _P& a, const _P& b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class _P>
  SIMT_HDT _P operator()(const _P& a, const _P& b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

template <class _T, class Offset = std::ptrdiff_t>
using CountingInputIterator = thrust::counting_iterator<_T>;
template <class _T, class Offset = std::ptrdiff_t>
using ConstantInputIterator = thrust::constant_iterator<_T>;
template <class _T, class _F, class It, class Offset = std::ptrdiff_t>
class TransformInputIterator : public thrust::transform_iterator<_F, It> {
 public:
  SIMT_HDT TransformInputIterator(It base, _F f) : thrust::transform_iterator<_F, It>(base, f) {}
  SIMT_HDT TransformInputIterator operator+(std::ptrdiff_t n) const {
    TransformInputIterator moved = *this;
    moved.advance(n);
    return moved;
  }
};
template <class Offset = std::ptrdiff_t>
using DiscardOutputIterator = thrust::discard_iterator<>;

template <class _T>
struct DoubleBuffer {
  _T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  SIMT_HDT DoubleBuffer(_T* current, _T* alternate) : d_buffers{current, alternate} {}
  SIMT_HDT _T* Current() { return d_buffers[selector]; }
  SIMT_HDT _T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace detail {
// Bits whose unsigned order is the order of the keys.
template <class _K>
SIMT_HDT unsigned long long radix_bits(_K key) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &key, sizeof(_K));
  constexpr unsigned long long sign = 1ull << (8 * sizeof(_K) - 1), all = sign | (sign - 1);
  if constexpr (std::is_integral_v<_K>) {
    return std::is_signed_v<_K> ? bits ^ sign : bits;
  } else {
    if (bits == sign) bits = 0;  // both zeros are one number
    return (bits & sign) ? ~bits & all : bits | sign;
  }
}
template <class _K>
SIMT_HDT unsigned long long radix_digits(_K key, int begin_bit, int end_bit) {
  const unsigned long long bits = radix_bits(key) >> begin_bit;
  return end_bit - begin_bit >= 64 ? bits : bits & ((1ull << (end_bit - begin_bit)) - 1);
}
// Memory in LDS for n values, without running constructors.
template <class _T, int n>
struct storage {
  alignas(_T) unsigned char bytes[sizeof(_T) * (n > 0 ? n : 1)];
  SIMT_DT _T& operator[](int i) { return reinterpret_cast<_T*>(bytes)[i]; }
};
}  // namespace detail
}  // namespace cub
