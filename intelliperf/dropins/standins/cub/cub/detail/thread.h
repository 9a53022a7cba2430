// What one thread does: reads and writes by cache policy, bits, searches, sorts; iterators; how a grid shares work.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/detail/traits.h>

namespace cub {
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
// The caches of the model know no policies: all of them are plain accesses.
template <CacheLoadModifier modifier, class It>
SIMT_DT thrust::detail::value_t<It> ThreadLoad(It at) {
  if constexpr (std::is_pointer_v<It> && (modifier == LOAD_VOLATILE || modifier == LOAD_CV)) {
    if constexpr (std::is_arithmetic_v<thrust::detail::value_t<It>>) return *const_cast<const volatile thrust::detail::value_t<It>*>(at);
  }
  return *at;
}
template <CacheStoreModifier modifier, class It, class _T>
SIMT_DT void ThreadStore(It at, _T value) {
  *at = value;
}
template <CacheLoadModifier modifier, class _T, class Offset = std::ptrdiff_t>
using CacheModifiedInputIterator = const _T*;
template <CacheStoreModifier modifier, class _T, class Offset = std::ptrdiff_t>
using CacheModifiedOutputIterator = _T*;
template <class It, class Offset = std::ptrdiff_t, class _T = thrust::detail::value_t<It>>
class ArgIndexInputIterator
    : public thrust::iterator_facade<ArgIndexInputIterator<It, Offset, _T>, KeyValuePair<Offset, _T>, KeyValuePair<Offset, _T>> {
 public:
  using thrust_system = thrust::detail::system_of_t<It>;
  SIMT_HDT ArgIndexInputIterator(It base, Offset offset = 0) : base_(base), offset_(offset) {}
  SIMT_HDT KeyValuePair<Offset, _T> at(std::ptrdiff_t n) const {
    const Offset i = offset_ + static_cast<Offset>(n);
    return {i, static_cast<_T>(base_[i])};
  }
  SIMT_HDT void advance(std::ptrdiff_t n) { offset_ += static_cast<Offset>(n); }
  SIMT_HDT std::ptrdiff_t distance_to(const ArgIndexInputIterator& other) const { return other.offset_ - offset_; }
  SIMT_HDT void normalize() {
    base_ += offset_;
    offset_ = 0;
  }

 private:
  It base_;
  Offset offset_;
};
// Reads through a texture in CUB; here straight from the memory.
template <class _T, class Offset = std::ptrdiff_t>
class TexObjInputIterator : public thrust::iterator_facade<TexObjInputIterator<_T, Offset>, _T, _T> {
 public:
  using thrust_system = thrust::device_system;
  TexObjInputIterator() = default;
  SIMT_GPU(Error_t) BindTexture(const _T* memory, size_t, size_t offset = 0) {
    memory_ = memory + offset;
    return SIMT_GPU(Success);
  }
  SIMT_GPU(Error_t) UnbindTexture() { return SIMT_GPU(Success); }
  SIMT_HDT _T at(std::ptrdiff_t n) const { return memory_[n]; }
  SIMT_HDT void advance(std::ptrdiff_t n) { memory_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const TexObjInputIterator& other) const { return other.memory_ - memory_; }

 private:
  const _T* memory_ = nullptr;
};

// ---- function objects ----------------------------------------------------------------------------------------------
template <class _T>
struct CastOp {
  template <class _A>
  SIMT_HDT _T operator()(_A&& a) const { return static_cast<_T>(a); }
};
template <class Same>
struct InequalityWrapper {
  Same same;
  SIMT_HDT InequalityWrapper(Same s) : same(s) {}
  template <class _T>
  SIMT_HDT bool operator()(const _T& a, const _T& b) { return !same(a, b); }
};
template <class _F>
struct SwizzleScanOp {
  _F f;
  SIMT_HDT SwizzleScanOp(_F combine) : f(combine) {}
  template <class _T>
  SIMT_HDT _T operator()(const _T& a, const _T& b) { return f(b, a); }
};

// ---- bits and lanes ------------------------------------------------------------------------------------------------
template <class _Bits>
SIMT_DT unsigned int BFE(_Bits source, unsigned int begin, unsigned int count) {
  const unsigned long long field = static_cast<unsigned long long>(source) >> begin;
  return static_cast<unsigned int>(count >= 64 ? field : field & ((1ull << count) - 1));
}
SIMT_D void BFI(unsigned int& result, unsigned int x, unsigned int y, unsigned int begin, unsigned int count) {
  const unsigned int mask = static_cast<unsigned int>(((1ull << count) - 1) << begin);
  result = (x & ~mask) | (y << begin & mask);
}
SIMT_D unsigned int IADD3(unsigned int x, unsigned int y, unsigned int z) { return x + y + z; }
SIMT_D unsigned int SHL_ADD(unsigned int x, unsigned int shift, unsigned int y) { return (x << shift) + y; }
namespace detail {
using lane_mask = std::conditional_t<SIMT_WAVE_SIZE == 64, unsigned long long, unsigned int>;
}
SIMT_D detail::lane_mask LaneMaskLt() { return (detail::lane_mask(1) << __simt::lane()) - 1; }
SIMT_D detail::lane_mask LaneMaskLe() { return LaneMaskLt() << 1 | 1; }
SIMT_D detail::lane_mask LaneMaskGe() { return ~LaneMaskLt(); }
SIMT_D detail::lane_mask LaneMaskGt() { return ~LaneMaskLe(); }
// The lanes of one of the equal parts that a wave is divided into.
template <int lanes>
SIMT_DT detail::lane_mask WarpMask(unsigned int part) {
  if constexpr (lanes >= SIMT_WAVE_SIZE) return ~detail::lane_mask(0);
  else return ((detail::lane_mask(1) << lanes) - 1) << (PowerOfTwo<lanes>::VALUE ? part * lanes : 0);
}
SIMT_D void ThreadTrap() { __simt::trap(); }

// ---- searches and sorts in one thread ------------------------------------------------------------------------------
template <class It, class Offset, class _T>
SIMT_DT Offset LowerBound(It input, Offset n, _T value) {
  return static_cast<Offset>(thrust::detail::rank_of(input, n, value, thrust::less<>(), false));
}
template <class It, class Offset, class _T>
SIMT_DT Offset UpperBound(It input, Offset n, _T value) {
  return static_cast<Offset>(thrust::detail::rank_of(input, n, value, thrust::less<>(), true));
}
// Where the diagonal of a merge crosses: x of a's elements and y of b's come before it, a's first among equals.
template <class _A, class _B, class Offset, class Where>
SIMT_HDT void MergePathSearch(Offset diagonal, _A a, _B b, Offset a_count, Offset b_count, Where& path) {
  Offset low = diagonal > b_count ? diagonal - b_count : Offset(0), high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const Offset middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - middle - 1]) low = middle + 1; else high = middle;
  }
  path.x = low < a_count ? low : a_count;
  path.y = diagonal - low;
}
template <class _T>
SIMT_DT void Swap(_T& a, _T& b) {
  _T kept = a;
  a = b;
  b = kept;
}
template <class _K, class _V, class Less, int n>
SIMT_DT void StableOddEvenSort(_K (&keys)[n], _V (&values)[n], Less less_than) {
#pragma unroll
  for (int round = 0; round < n; ++round)
#pragma unroll
    for (int i = round & 1; i + 1 < n; i += 2)
      if (less_than(keys[i + 1], keys[i])) {
        Swap(keys[i], keys[i + 1]);
        if constexpr (!std::is_same_v<_V, NullType>) Swap(values[i], values[i + 1]);
      }
}

// ---- the device, as the host sees it -------------------------------------------------------------------------------
inline int CurrentDevice() {
  int device = -1;
  return SIMT_GPU(GetDevice)(&device) == SIMT_GPU(Success) ? device : -1;
}
inline int DeviceCount() {
  int count = -1;
  return SIMT_GPU(GetDeviceCount)(&count) == SIMT_GPU(Success) ? count : -1;
}
inline SIMT_GPU(Error_t) SyncStream(SIMT_GPU(Stream_t) stream) { return SIMT_GPU(StreamSynchronize)(stream); }
inline SIMT_GPU(Error_t) SmVersion(int& version, int device = CurrentDevice()) {
#if defined(__HIP__)
  constexpr auto first = hipDeviceAttributeComputeCapabilityMajor, second = hipDeviceAttributeComputeCapabilityMinor;
#else
  constexpr auto first = cudaDevAttrComputeCapabilityMajor, second = cudaDevAttrComputeCapabilityMinor;
#endif
  int major = 0, minor = 0;
  auto status = SIMT_GPU(DeviceGetAttribute)(&major, first, device);
  if (status == SIMT_GPU(Success)) status = SIMT_GPU(DeviceGetAttribute)(&minor, second, device);
  version = major * 100 + minor * 10;
  return status;
}
inline SIMT_GPU(Error_t) PtxVersion(int& version) { return SmVersion(version); }

// ---- how the blocks of a grid share elements -------------------------------------------------------------------------
enum GridMappingStrategy { GRID_MAPPING_RAKE, GRID_MAPPING_STRIP_MINE, GRID_MAPPING_DYNAMIC };
template <class Offset>
struct GridEvenShare {
  Offset num_items = 0;
  int grid_size = 0;
  Offset block_offset = 0, block_end = 0, block_stride = 0;
  GridEvenShare() = default;
  SIMT_HDT void DispatchInit(Offset items, int most_blocks, int tile) {
    num_items = block_offset = block_end = items;
    tiles_ = static_cast<int>(DivideAndRoundUp(items, tile));
    grid_size = tiles_ < most_blocks ? tiles_ : most_blocks;
  }
  // The first blocks take a tile more than the others.
  template <int tile>
  SIMT_DT void BlockInit(int block, Int2Type<GRID_MAPPING_RAKE>) {
    const int each = tiles_ / grid_size, longer = tiles_ % grid_size;
    const Offset before = static_cast<Offset>(block) * each + (block < longer ? block : longer);
    block_stride = tile;
    block_offset = cut(before * tile);
    block_end = cut((before + each + (block < longer)) * tile);
  }
  template <int tile>
  SIMT_DT void BlockInit(int block, Int2Type<GRID_MAPPING_STRIP_MINE>) {
    block_stride = static_cast<Offset>(grid_size) * tile;
    block_offset = static_cast<Offset>(block) * tile;
    block_end = num_items;
  }
  template <int tile, GridMappingStrategy strategy>
  SIMT_DT void BlockInit() { BlockInit<tile>(static_cast<int>(blockIdx.x), Int2Type<strategy>()); }
  template <int tile>
  SIMT_DT void BlockInit(Offset begin, Offset end) {
    block_offset = begin;
    block_end = end;
    block_stride = tile;
  }

 private:
  SIMT_DT Offset cut(Offset at) const { return at < num_items ? at : num_items; }
  int tiles_ = 0;
};
// Two counters in device memory: how much there is to do, and how much of it has been taken.
template <class Offset>
class GridQueue {
 public:
  static SIMT_HDT size_t AllocationSize() { return 2 * sizeof(Offset); }
  SIMT_HDT explicit GridQueue(void* memory = nullptr) : counters_(static_cast<Offset*>(memory)) {}
  SIMT_GPU(Error_t) FillAndResetDrain(Offset fill, SIMT_GPU(Stream_t) stream = 0) {
    const Offset begun[2] = {fill, 0};
    return SIMT_GPU(MemcpyAsync)(counters_, begun, sizeof begun, SIMT_GPU(MemcpyHostToDevice), stream);
  }
  SIMT_GPU(Error_t) ResetDrain(SIMT_GPU(Stream_t) stream = 0) {
    return SIMT_GPU(MemsetAsync)(counters_ + 1, 0, sizeof(Offset), stream);
  }
  SIMT_GPU(Error_t) ResetFill(SIMT_GPU(Stream_t) stream = 0) { return SIMT_GPU(MemsetAsync)(counters_, 0, sizeof(Offset), stream); }
  SIMT_GPU(Error_t) FillSize(Offset& fill, SIMT_GPU(Stream_t) stream = 0) {
    return SIMT_GPU(MemcpyAsync)(&fill, counters_, sizeof(Offset), SIMT_GPU(MemcpyDeviceToHost), stream);
  }
  SIMT_DT Offset Drain(Offset n) { return atomicAdd(counters_ + 1, n); }
  SIMT_DT Offset Fill(Offset n) { return atomicAdd(counters_, n); }

 private:
  Offset* counters_;
};
}  // namespace cub
