// Cooperative groups for CUDA and HIP: block, grid, tiles of a wave, coalesced groups, and the collectives over them.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace cooperative_groups {

namespace simt {
// Lanes of a power-of-two tile, as a mask of its wave; lanes beyond the block's end do not exist.
SIMT_D unsigned long long tile_mask(unsigned int size) {
  const unsigned int first = __simt::lane() & ~(size - 1u);
  const unsigned int wave_start = __simt::thread_rank() - __simt::lane();
  const unsigned int wave_threads = __simt::block_threads() - wave_start;
  unsigned long long mask = (size >= 64u ? ~0ull : (1ull << size) - 1ull) << first;
  if (wave_threads < 64u) mask &= (1ull << wave_threads) - 1ull;
  return mask;
}
SIMT_D unsigned int count_below(unsigned long long mask, unsigned int lane) {
  return static_cast<unsigned int>(__builtin_popcountll(mask & ((1ull << lane) - 1ull)));
}
SIMT_D unsigned int nth_lane(unsigned long long mask, unsigned int n) {
  for (; n != 0; --n) mask &= mask - 1;
  return static_cast<unsigned int>(__builtin_ctzll(mask));
}
// The mask's bits of the members only, squeezed together.
SIMT_D unsigned long long squeeze(unsigned long long bits, unsigned long long members) {
  unsigned long long out = 0;
  for (unsigned int at = 0; members != 0; members &= members - 1, ++at)
    out |= ((bits >> __builtin_ctzll(members)) & 1ull) << at;
  return out;
}
}  // namespace simt

class thread_group {
 public:
  SIMT_DT unsigned long long size() const { return block_ ? __simt::block_threads() : count(); }
  SIMT_DT unsigned long long num_threads() const { return size(); }
  SIMT_DT unsigned long long thread_rank() const {
    return block_ ? __simt::thread_rank() : simt::count_below(mask_, __simt::lane());
  }
  SIMT_DT void sync() const {
    if (block_) {
      __simt::barrier();
    } else {
      __simt::collective(__simt::kSyncWave, mask_, 0, 0, SIMT_WAVE_SIZE);
    }
  }
  SIMT_DT bool is_valid() const { return true; }
  // The lanes of this one's wave in a part of `size` threads, by their ranks.
  SIMT_DT unsigned long long __part(unsigned int size) const {
    if (block_) return simt::tile_mask(size);
    const unsigned int first = simt::count_below(mask_, __simt::lane()) / size * size;
    unsigned long long members = 0, left = mask_;
    for (unsigned int rank = 0; left != 0 && rank < first + size; ++rank, left &= left - 1)
      if (rank >= first) members |= left & -left;
    return members;
  }

 protected:
  SIMT_DT thread_group(bool block, unsigned long long mask) : mask_(mask), block_(block) {}
  SIMT_DT unsigned int count() const { return static_cast<unsigned int>(__builtin_popcountll(mask_)); }
  unsigned long long mask_;
  bool block_;
};

class thread_block : public thread_group {
 public:
  SIMT_DT thread_block() : thread_group(true, 0) {}
  static SIMT_DT void sync() { __simt::barrier(); }
  static SIMT_DT unsigned int size() { return __simt::block_threads(); }
  static SIMT_DT unsigned int num_threads() { return __simt::block_threads(); }
  static SIMT_DT unsigned int thread_rank() { return __simt::thread_rank(); }
  static SIMT_DT dim3 group_index() { return blockIdx; }
  static SIMT_DT dim3 thread_index() { return threadIdx; }
  static SIMT_DT dim3 group_dim() { return blockDim; }
  static SIMT_DT dim3 dim_threads() { return blockDim; }
  static SIMT_DT void barrier_arrive() {}
  static SIMT_DT void barrier_wait() { __simt::barrier(); }
};

class grid_group {
 public:
  static SIMT_DT void sync() { __simt::grid_barrier(); }
  static SIMT_DT bool is_valid() { return true; }
  static SIMT_DT unsigned long long size() { return __simt::grid_blocks() * __simt::block_threads(); }
  static SIMT_DT unsigned long long num_threads() { return size(); }
  static SIMT_DT unsigned long long thread_rank() {
    return __simt::block_rank() * __simt::block_threads() + __simt::thread_rank();
  }
  static SIMT_DT unsigned long long num_blocks() { return __simt::grid_blocks(); }
  static SIMT_DT unsigned long long block_rank() { return __simt::block_rank(); }
  static SIMT_DT dim3 group_dim() { return gridDim; }
  static SIMT_DT dim3 dim_blocks() { return gridDim; }
  static SIMT_DT dim3 block_index() { return blockIdx; }
};

class coalesced_group : public thread_group {
 public:
  SIMT_DT explicit coalesced_group(unsigned long long mask) : thread_group(false, mask) {}
  SIMT_DT unsigned int size() const { return count(); }
  SIMT_DT unsigned int num_threads() const { return count(); }
  SIMT_DT unsigned int thread_rank() const { return simt::count_below(mask_, __simt::lane()); }
  SIMT_DT unsigned int meta_group_size() const { return 1; }
  SIMT_DT unsigned int meta_group_rank() const { return 0; }
  template <class _T>
  SIMT_DT _T shfl(_T value, unsigned int rank) const {
    return __simt::shuffle(__simt::kShuffle, mask_, value, simt::nth_lane(mask_, rank % count()), SIMT_WAVE_SIZE);
  }
  template <class _T>
  SIMT_DT _T shfl_up(_T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank >= delta ? rank - delta : rank);
  }
  template <class _T>
  SIMT_DT _T shfl_down(_T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank + delta < count() ? rank + delta : rank);
  }
  SIMT_DT __simt::lane_mask ballot(int predicate) const {
    return static_cast<__simt::lane_mask>(simt::squeeze(__simt::ballot(mask_, predicate), mask_));
  }
  SIMT_DT int any(int predicate) const { return __simt::ballot(mask_, predicate) != 0; }
  SIMT_DT int all(int predicate) const { return __simt::ballot(mask_, !predicate) == 0; }
  template <class _T>
  SIMT_DT __simt::lane_mask match_any(_T value) const {
    const auto same = __simt::collective(__simt::kMatchAny, mask_, __simt::match_bits(value), 0, SIMT_WAVE_SIZE);
    return static_cast<__simt::lane_mask>(simt::squeeze(same, mask_));
  }
};

template <unsigned int n, class Parent = void>
class thread_block_tile;
namespace simt {
template <class Group>
inline constexpr unsigned int tile_size = 0;  // not a tile
template <unsigned int n, class Parent>
inline constexpr unsigned int tile_size<thread_block_tile<n, Parent>> = n;
}  // namespace simt
namespace simt {
// What tiles of any size can tell of themselves.
template <unsigned int n, class Parent>
class tile_place {
  static_assert(n != 0 && (n & (n - 1)) == 0, "a tile's size is a power of two");

 public:
  static SIMT_HDT constexpr unsigned int size() { return n; }
  static SIMT_HDT constexpr unsigned int num_threads() { return n; }
  static SIMT_DT unsigned int thread_rank() { return __simt::thread_rank() % n; }
  static SIMT_DT unsigned int meta_group_rank() { return __simt::thread_rank() % parent_size() / n; }
  static SIMT_DT unsigned int meta_group_size() { return (parent_size() + n - 1) / n; }

 private:
  static SIMT_DT unsigned int parent_size() { return tile_size<Parent> ? tile_size<Parent> : __simt::block_threads(); }
};

template <unsigned int n, class Parent>
class wave_tile : public thread_group, public tile_place<n, Parent> {
 public:
  using tile_place<n, Parent>::size, tile_place<n, Parent>::num_threads, tile_place<n, Parent>::thread_rank;
  SIMT_DT wave_tile() : thread_group(false, tile_mask(n)) {}
  SIMT_DT void sync() const { __simt::collective(__simt::kSyncWave, mask_, 0, 0, SIMT_WAVE_SIZE); }
  template <class _T>
  SIMT_DT _T shfl(_T value, int rank) const {
    return __simt::shuffle(__simt::kShuffle, mask_, value, static_cast<unsigned int>(rank), n);
  }
  template <class _T>
  SIMT_DT _T shfl_up(_T value, unsigned int delta) const {
    return __simt::shuffle(__simt::kShuffleUp, mask_, value, delta, n);
  }
  template <class _T>
  SIMT_DT _T shfl_down(_T value, unsigned int delta) const {
    return __simt::shuffle(__simt::kShuffleDown, mask_, value, delta, n);
  }
  template <class _T>
  SIMT_DT _T shfl_xor(_T value, unsigned int lanes) const {
    return __simt::shuffle(__simt::kShuffleXor, mask_, value, lanes, n);
  }
  SIMT_DT __simt::lane_mask ballot(int predicate) const { return shifted(__simt::ballot(mask_, predicate)); }
  SIMT_DT int any(int predicate) const { return __simt::ballot(mask_, predicate) != 0; }
  SIMT_DT int all(int predicate) const { return __simt::ballot(mask_, !predicate) == 0; }
  template <class _T>
  SIMT_DT __simt::lane_mask match_any(_T value) const {
    return shifted(__simt::collective(__simt::kMatchAny, mask_, __simt::match_bits(value), 0, SIMT_WAVE_SIZE));
  }
  template <class _T>
  SIMT_DT __simt::lane_mask match_all(_T value, int& predicate) const {
    const auto same = __simt::collective(__simt::kMatchAll, mask_, __simt::match_bits(value), 0, SIMT_WAVE_SIZE);
    predicate = same != 0;
    return shifted(same);
  }

 private:
  SIMT_DT __simt::lane_mask shifted(unsigned long long bits) const {
    const unsigned int first = __simt::lane() & ~(n - 1u);
    return static_cast<__simt::lane_mask>((bits & mask_) >> first);
  }
};

#if defined(__HIP__)
template <unsigned int n, class Parent>
struct wide_tile : tile_place<n, Parent> {
  static_assert(n <= SIMT_WAVE_SIZE, "HIP has no tiles larger than a wave");
};
#else
// Several waves of a block, which meet at a barrier of their own and pass values through shared memory.
template <unsigned int n, class Parent>
class wide_tile : public tile_place<n, Parent> {
 public:
  static SIMT_DT void sync() {
    const unsigned int first = __simt::thread_rank() / n * n, left = __simt::block_threads() - first;
    if (first == 0 && left <= n) return __simt::barrier();
    __simt::named_barrier(kFirstTileBarrier + first / n, left < n ? left : n);
  }
  static SIMT_HDT constexpr bool is_valid() { return true; }
  template <class _T, class _F>
  static SIMT_DT _T reduce(_T value, _F&& combine) {
    static_assert(__is_trivially_copyable(_T), "only trivially copyable values can be shuffled");
    alignas(_T) __shared__ unsigned char parts[1024 / SIMT_WAVE_SIZE][sizeof(_T)];
    for (unsigned int distance = SIMT_WAVE_SIZE / 2; distance != 0; distance /= 2)
      value = combine(value, __simt::shuffle(__simt::kShuffleXor, 0, value, distance, SIMT_WAVE_SIZE));
    const unsigned int wave = __simt::thread_rank() / SIMT_WAVE_SIZE, waves = n / SIMT_WAVE_SIZE;
    if (__simt::lane() == 0) __builtin_memcpy(parts[wave], &value, sizeof(_T));
    sync();
    const unsigned int first = wave / waves * waves;
    for (unsigned int i = 0; i < waves && (first + i) * SIMT_WAVE_SIZE < __simt::block_threads(); ++i) {
      _T part;
      __builtin_memcpy(&part, parts[first + i], sizeof(_T));
      value = i == 0 ? part : combine(value, part);
    }
    sync();
    return value;
  }
  template <class _T>
  static SIMT_DT _T shfl(_T value, unsigned int rank) {
    alignas(_T) __shared__ unsigned char sent[1024 / n][sizeof(_T)];
    const unsigned int tile = __simt::thread_rank() / n;
    if (wide_tile::thread_rank() == rank % n) __builtin_memcpy(sent[tile], &value, sizeof(_T));
    sync();
    __builtin_memcpy(&value, sent[tile], sizeof(_T));
    sync();
    return value;
  }
  static SIMT_DT int any(int predicate) {
    return reduce(predicate != 0, [](int a, int b) { return a | b; });
  }
  static SIMT_DT int all(int predicate) {
    return reduce(predicate != 0, [](int a, int b) { return a & b; });
  }

 private:
  static constexpr unsigned int kFirstTileBarrier = 16;  // after those that PTX can name
};
#endif

template <bool wide, unsigned int n, class Parent>
struct tile_of {
  using type = wave_tile<n, Parent>;
};
template <unsigned int n, class Parent>
struct tile_of<true, n, Parent> {
  using type = wide_tile<n, Parent>;
};
}  // namespace simt

template <unsigned int n, class Parent>
class thread_block_tile : public simt::tile_of<(n > SIMT_WAVE_SIZE), n, Parent>::type {
 public:
  SIMT_DT thread_block_tile() {}
  template <class Other>
  SIMT_DT thread_block_tile(const thread_block_tile<n, Other>&) {}
};

SIMT_D thread_block this_thread_block() { return thread_block(); }
#if !defined(__HIP__)
// Programs hand tiles larger than a warp some shared memory; ours bring their own.
template <unsigned int most_threads = 1024>
struct block_tile_memory {
  unsigned int unused;
};
template <unsigned int most_threads>
SIMT_DT thread_block this_thread_block(block_tile_memory<most_threads>&) {
  return thread_block();
}
#endif
SIMT_D grid_group this_grid() { return grid_group(); }
SIMT_D coalesced_group coalesced_threads() {
  return coalesced_group(__simt::collective(__simt::kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE));
}
template <unsigned int n, class Parent>
SIMT_DT thread_block_tile<n, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<n, Parent>();
}
// A part of `size` threads, in the order of their ranks, of a block or of a group within a wave.
class dynamic_tile : public coalesced_group {
 public:
  SIMT_DT dynamic_tile(const thread_group& parent, unsigned int size)
      : coalesced_group(parent.__part(size)),
        tile_(static_cast<unsigned int>(parent.thread_rank() / size)),
        tiles_(static_cast<unsigned int>((parent.size() + size - 1) / size)) {}
  SIMT_DT unsigned int meta_group_rank() const { return tile_; }
  SIMT_DT unsigned int meta_group_size() const { return tiles_; }

 private:
  unsigned int tile_, tiles_;
};
SIMT_D dynamic_tile tiled_partition(const thread_group& parent, unsigned int size) { return {parent, size}; }
template <class Group>
SIMT_DT coalesced_group binary_partition(const Group&, bool predicate) {
  const unsigned long long active = __simt::collective(__simt::kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE);
  const unsigned long long yes = __simt::collective(__simt::kBallot, active, predicate, 0, SIMT_WAVE_SIZE);
  return coalesced_group(predicate ? yes : active & ~yes);
}
template <class Group, class _T>
SIMT_DT coalesced_group labeled_partition(const Group&, _T label) {
  const unsigned long long active = __simt::collective(__simt::kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE);
  return coalesced_group(
      __simt::collective(__simt::kMatchAny, active, __simt::match_bits(label), 0, SIMT_WAVE_SIZE));
}
#if !defined(__HIP__)
namespace experimental {  // how CUDA 11 spells tiles of several warps
template <unsigned int most_bytes = 8, unsigned int most_threads = 1024>
struct block_tile_memory {
  unsigned int unused;
};
template <unsigned int most_bytes, unsigned int most_threads>
SIMT_DT thread_block this_thread_block(block_tile_memory<most_bytes, most_threads>&) {
  return thread_block();
}
template <unsigned int n, class Parent>
SIMT_DT thread_block_tile<n, Parent> tiled_partition(const Parent& parent) {
  return cooperative_groups::tiled_partition<n>(parent);
}
}  // namespace experimental
#endif
template <class Group>
SIMT_DT void sync(const Group& group) {
  group.sync();
}
template <class Group>
SIMT_DT auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
SIMT_DT auto group_size(const Group& group) {
  return group.size();
}

template <class Group, class _F>
SIMT_DT void invoke_one(const Group& group, _F&& action) {
  if (group.thread_rank() == 0) action();
}

// Asynchronous copies are done at once, in turns by the group's threads.
template <class Group, class _T>
SIMT_DT void memcpy_async(const Group& group, _T* to, const _T* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(_T); i += group.size()) to[i] = from[i];
}
template <class Group>
SIMT_DT void wait(const Group& group) {
  group.sync();
}
template <unsigned int pending, class Group>
SIMT_DT void wait_prior(const Group& group) {
  group.sync();
}
}  // namespace cooperative_groups
