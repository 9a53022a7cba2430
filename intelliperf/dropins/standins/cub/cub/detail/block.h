// Collectives of a wave and of a block, in device code over shuffles and block-shared memory.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/detail/traits.h>

namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

// Each class takes the caller's storage, or its own copy when it is constructed without.
#define SIMT_COLLECTIVE(name)                                                          \
 private:                                                                              \
  static SIMT_DT TempStorage& own_storage() {                                          \
    __shared__ TempStorage own;                                                        \
    return own;                                                                        \
  }                                                                                    \
  TempStorage& temp_;                                                                  \
                                                                                       \
 public:                                                                               \
  SIMT_DT name() : temp_(own_storage()) {}                                             \
  SIMT_DT explicit name(TempStorage& temp) : temp_(temp) {}

template <class _T, int lanes = SIMT_WAVE_SIZE>
class WarpReduce {
 public:
  struct TempStorage {};
  SIMT_COLLECTIVE(WarpReduce)
  template <class _F>
  SIMT_DT _T Reduce(_T input, _F combine, int valid = lanes) {
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    for (int distance = 1; distance < lanes; distance *= 2) {
      const _T other = __simt::shuffle(__simt::kShuffleDown, 0, input, static_cast<unsigned int>(distance), width());
      if (lane + distance < valid) input = combine(input, other);
    }
    return input;
  }
  SIMT_DT _T Sum(_T input, int valid = lanes) { return Reduce(input, cub::Sum(), valid); }
  SIMT_DT _T Max(_T input, int valid = lanes) { return Reduce(input, cub::Max(), valid); }
  SIMT_DT _T Min(_T input, int valid = lanes) { return Reduce(input, cub::Min(), valid); }
  template <class _F, class Flag>
  SIMT_DT _T HeadSegmentedReduce(_T input, Flag head, _F combine) { return segmented(input, flags(head) >> 1, combine); }
  template <class _F, class Flag>
  SIMT_DT _T TailSegmentedReduce(_T input, Flag tail, _F combine) { return segmented(input, flags(tail), combine); }
  template <class Flag>
  SIMT_DT _T HeadSegmentedSum(_T input, Flag head) { return HeadSegmentedReduce(input, head, cub::Sum()); }
  template <class Flag>
  SIMT_DT _T TailSegmentedSum(_T input, Flag tail) { return TailSegmentedReduce(input, tail, cub::Sum()); }

 private:
  // Of the lanes of this one's group.
  template <class Flag>
  static SIMT_DT unsigned long long flags(Flag flag) {
    const unsigned int first = __simt::lane() / lanes * lanes;
    const unsigned long long all = static_cast<unsigned long long>(__simt::ballot(0, flag ? 1 : 0)) >> first;
    return lanes == 64 ? all : all & ((1ull << (lanes & 63)) - 1);
  }
  // Up to the next lane whose bit says that it is the last of its segment.
  template <class _F>
  SIMT_DT _T segmented(_T input, unsigned long long ends, _F combine) {
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    const unsigned long long left = ends >> lane;
    const int last = left == 0 ? lanes - 1 : lane + __builtin_ctzll(left);
    for (int distance = 1; distance < lanes; distance *= 2) {
      const _T other = __simt::shuffle(__simt::kShuffleDown, 0, input, static_cast<unsigned int>(distance), width());
      if (lane + distance <= last) input = combine(input, other);
    }
    return input;
  }
  static SIMT_HDT constexpr unsigned int width() {
    unsigned int w = 1;
    while (w < static_cast<unsigned int>(lanes)) w *= 2;
    return w;
  }
};

template <class _T, int lanes = SIMT_WAVE_SIZE>
class WarpScan {
 public:
  struct TempStorage {};
  SIMT_COLLECTIVE(WarpScan)
  template <class _F>
  SIMT_DT void InclusiveScan(_T input, _T& output, _F combine) {
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    for (int distance = 1; distance < lanes; distance *= 2) {
      const _T other = __simt::shuffle(__simt::kShuffleUp, 0, input, static_cast<unsigned int>(distance), lanes);
      if (lane >= distance) input = combine(other, input);
    }
    output = input;
  }
  template <class _F>
  SIMT_DT void InclusiveScan(_T input, _T& output, _F combine, _T& aggregate) {
    InclusiveScan(input, output, combine);
    aggregate = Broadcast(output, lanes - 1);
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _T initial, _F combine) {
    _T inclusive;
    InclusiveScan(input, inclusive, combine);
    const _T below = __simt::shuffle(__simt::kShuffleUp, 0, inclusive, 1u, lanes);
    output = __simt::lane() % lanes == 0 ? initial : combine(initial, below);
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _F combine) {  // lane 0's output is undefined
    _T inclusive;
    InclusiveScan(input, inclusive, combine);
    output = __simt::shuffle(__simt::kShuffleUp, 0, inclusive, 1u, lanes);
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _T initial, _F combine, _T& aggregate) {
    InclusiveScan(input, aggregate, combine);
    aggregate = Broadcast(aggregate, lanes - 1);
    ExclusiveScan(input, output, initial, combine);
  }
  template <class _F>
  SIMT_DT void Scan(_T input, _T& inclusive, _T& exclusive, _F combine) {
    InclusiveScan(input, inclusive, combine);
    exclusive = __simt::shuffle(__simt::kShuffleUp, 0, inclusive, 1u, lanes);
  }
  SIMT_DT void InclusiveSum(_T input, _T& output) { InclusiveScan(input, output, cub::Sum()); }
  SIMT_DT void InclusiveSum(_T input, _T& output, _T& aggregate) { InclusiveScan(input, output, cub::Sum(), aggregate); }
  SIMT_DT void ExclusiveSum(_T input, _T& output) { ExclusiveScan(input, output, _T(), cub::Sum()); }
  SIMT_DT void ExclusiveSum(_T input, _T& output, _T& aggregate) {
    ExclusiveSum(input, output);
    aggregate = Broadcast(output + input, lanes - 1);
  }
  SIMT_DT _T Broadcast(_T input, unsigned int source) { return __simt::shuffle(__simt::kShuffle, 0, input, source, lanes); }
};

template <class _T, int block_x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int block_y = 1, int block_z = 1, int architecture = 0>
class BlockReduce {
  static constexpr int threads = block_x * block_y * block_z;
  static constexpr int waves = (threads + SIMT_WAVE_SIZE - 1) / SIMT_WAVE_SIZE;

 public:
  struct TempStorage {
    detail::storage<_T, waves> partial;
  };
  SIMT_COLLECTIVE(BlockReduce)
  // The result is valid in thread 0 only.
  template <class _F>
  SIMT_DT _T Reduce(_T input, _F combine, int valid = threads) {
    const int rank = static_cast<int>(__simt::thread_rank()), wave = rank / SIMT_WAVE_SIZE;
    typename WarpReduce<_T>::TempStorage none;
    const _T sum = WarpReduce<_T>(none).Reduce(input, combine, valid - wave * SIMT_WAVE_SIZE);
    if constexpr (waves == 1) return sum;
    if (rank % SIMT_WAVE_SIZE == 0) new (&temp_.partial[wave]) _T(sum);
    __simt::barrier();
    _T total = sum;
    if (rank == 0)
      for (int i = 1; i < waves && i * SIMT_WAVE_SIZE < valid; ++i) total = combine(total, temp_.partial[i]);
    return total;
  }
  template <int items, class _F>
  SIMT_DT _T Reduce(_T (&input)[items], _F combine) {
    _T sum = input[0];
    for (int i = 1; i < items; ++i) sum = combine(sum, input[i]);
    return Reduce(sum, combine);
  }
  SIMT_DT _T Sum(_T input) { return Reduce(input, cub::Sum()); }
  SIMT_DT _T Sum(_T input, int valid) { return Reduce(input, cub::Sum(), valid); }
  template <int items>
  SIMT_DT _T Sum(_T (&input)[items]) { return Reduce(input, cub::Sum()); }
};

template <class _T, int block_x, BlockScanAlgorithm algorithm = BLOCK_SCAN_WARP_SCANS, int block_y = 1, int block_z = 1, int architecture = 0>
class BlockScan {
  static constexpr int threads = block_x * block_y * block_z;
  static constexpr int waves = (threads + SIMT_WAVE_SIZE - 1) / SIMT_WAVE_SIZE;

 public:
  struct TempStorage {
    detail::storage<_T, waves + 1> total;
  };
  SIMT_COLLECTIVE(BlockScan)

  template <class _F>
  SIMT_DT void InclusiveScan(_T input, _T& output, _F combine, _T& aggregate) {
    bool has_prefix;
    _T prefix, inclusive;
    scan(input, inclusive, prefix, has_prefix, aggregate, combine);
    output = inclusive;
  }
  template <class _F>
  SIMT_DT void InclusiveScan(_T input, _T& output, _F combine) {
    _T aggregate;
    InclusiveScan(input, output, combine, aggregate);
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _T initial, _F combine, _T& aggregate) {
    bool has_prefix;
    _T prefix, inclusive;
    scan(input, inclusive, prefix, has_prefix, aggregate, combine);
    output = has_prefix ? static_cast<_T>(combine(initial, prefix)) : initial;
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _T initial, _F combine) {
    _T aggregate;
    ExclusiveScan(input, output, initial, combine, aggregate);
  }
  template <class _F>
  SIMT_DT void ExclusiveScan(_T input, _T& output, _F combine) {  // thread 0's output is undefined
    ExclusiveScan(input, output, input, combine);
  }
  SIMT_DT void InclusiveSum(_T input, _T& output) { InclusiveScan(input, output, cub::Sum()); }
  SIMT_DT void InclusiveSum(_T input, _T& output, _T& aggregate) { InclusiveScan(input, output, cub::Sum(), aggregate); }
  SIMT_DT void ExclusiveSum(_T input, _T& output) { ExclusiveScan(input, output, _T(), cub::Sum()); }
  SIMT_DT void ExclusiveSum(_T input, _T& output, _T& aggregate) { ExclusiveScan(input, output, _T(), cub::Sum(), aggregate); }
  // prefix_of(aggregate) is called by the first wave; lane 0's answer starts the block.
  template <class Prefix, class = std::enable_if_t<!std::is_convertible_v<Prefix, _T>>>
  SIMT_DT void ExclusiveSum(_T input, _T& output, Prefix& prefix_of) {
    _T aggregate;
    ExclusiveSum(input, output, aggregate);
    output = output + start_of(aggregate, prefix_of);
  }
  template <class Prefix, class = std::enable_if_t<!std::is_convertible_v<Prefix, _T>>>
  SIMT_DT void InclusiveSum(_T input, _T& output, Prefix& prefix_of) {
    _T aggregate;
    InclusiveSum(input, output, aggregate);
    output = output + start_of(aggregate, prefix_of);
  }
  template <int items, class _F>
  SIMT_DT void ExclusiveScan(_T (&input)[items], _T (&output)[items], _T initial, _F combine, _T& aggregate) {
    _T sum = input[0], start;
    for (int i = 1; i < items; ++i) sum = combine(sum, input[i]);
    ExclusiveScan(sum, start, initial, combine, aggregate);
    for (int i = 0; i < items; ++i) {
      const _T next = combine(start, input[i]);
      output[i] = start;
      start = next;
    }
  }
  template <int items, class _F>
  SIMT_DT void ExclusiveScan(_T (&input)[items], _T (&output)[items], _T initial, _F combine) {
    _T aggregate;
    ExclusiveScan(input, output, initial, combine, aggregate);
  }
  template <int items>
  SIMT_DT void ExclusiveSum(_T (&input)[items], _T (&output)[items]) { ExclusiveScan(input, output, _T(), cub::Sum()); }
  template <int items>
  SIMT_DT void ExclusiveSum(_T (&input)[items], _T (&output)[items], _T& aggregate) {
    ExclusiveScan(input, output, _T(), cub::Sum(), aggregate);
  }
  template <int items, class _F>
  SIMT_DT void InclusiveScan(_T (&input)[items], _T (&output)[items], _F combine, _T& aggregate) {
    _T sum = input[0], inclusive, prefix;
    for (int i = 1; i < items; ++i) sum = combine(sum, input[i]);
    bool has_prefix;
    scan(sum, inclusive, prefix, has_prefix, aggregate, combine);
    for (int i = 0; i < items; ++i) {
      prefix = has_prefix ? static_cast<_T>(combine(prefix, input[i])) : input[i];
      has_prefix = true;
      output[i] = prefix;
    }
  }
  template <int items, class _F>
  SIMT_DT void InclusiveScan(_T (&input)[items], _T (&output)[items], _F combine) {
    _T aggregate;
    InclusiveScan(input, output, combine, aggregate);
  }
  template <int items>
  SIMT_DT void InclusiveSum(_T (&input)[items], _T (&output)[items]) { InclusiveScan(input, output, cub::Sum()); }
  template <int items>
  SIMT_DT void InclusiveSum(_T (&input)[items], _T (&output)[items], _T& aggregate) {
    InclusiveScan(input, output, cub::Sum(), aggregate);
  }

 private:
  template <class _F>
  SIMT_DT void scan(_T input, _T& inclusive, _T& prefix, bool& has_prefix, _T& aggregate, _F combine) {
    const int rank = static_cast<int>(__simt::thread_rank()), wave = rank / SIMT_WAVE_SIZE, lane = rank % SIMT_WAVE_SIZE;
    typename WarpScan<_T>::TempStorage none;
    WarpScan<_T>(none).InclusiveScan(input, inclusive, combine);
    const _T below = __simt::shuffle(__simt::kShuffleUp, 0, inclusive, 1u, SIMT_WAVE_SIZE);
    if (lane == SIMT_WAVE_SIZE - 1 || rank == threads - 1) new (&temp_.total[wave]) _T(inclusive);
    __simt::barrier();
    has_prefix = lane != 0;
    prefix = below;
    if (wave > 0) {
      _T before = temp_.total[0];
      for (int i = 1; i < wave; ++i) before = combine(before, temp_.total[i]);
      inclusive = combine(before, inclusive);
      prefix = lane != 0 ? static_cast<_T>(combine(before, below)) : before;
      has_prefix = true;
    }
    aggregate = temp_.total[0];
    for (int i = 1; i < waves; ++i) aggregate = combine(aggregate, temp_.total[i]);
  }
  template <class Prefix>
  SIMT_DT _T start_of(_T aggregate, Prefix& prefix_of) {
    if (__simt::thread_rank() < SIMT_WAVE_SIZE) {
      const _T start = prefix_of(aggregate);
      if (__simt::thread_rank() == 0) new (&temp_.total[waves]) _T(start);
    }
    __simt::barrier();
    return temp_.total[waves];
  }
};

// Blocked: thread t has items t*items …; striped: items t, t + threads, ….
template <class _T, int block_x, int items, bool time_slicing = false, int block_y = 1, int block_z = 1, int architecture = 0>
class BlockExchange {
  static constexpr int threads = block_x * block_y * block_z;

 public:
  struct TempStorage {
    detail::storage<_T, threads * items> values;
  };
  SIMT_COLLECTIVE(BlockExchange)
  SIMT_DT void BlockedToStriped(const _T (&input)[items], _T (&output)[items]) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int i = 0; i < items; ++i) new (&temp_.values[rank * items + i]) _T(input[i]);
    __simt::barrier();
    for (int i = 0; i < items; ++i) output[i] = temp_.values[i * threads + rank];
  }
  SIMT_DT void StripedToBlocked(const _T (&input)[items], _T (&output)[items]) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int i = 0; i < items; ++i) new (&temp_.values[i * threads + rank]) _T(input[i]);
    __simt::barrier();
    for (int i = 0; i < items; ++i) output[i] = temp_.values[rank * items + i];
  }
  SIMT_DT void BlockedToStriped(_T (&both)[items]) { BlockedToStriped(both, both); }
  SIMT_DT void StripedToBlocked(_T (&both)[items]) { StripedToBlocked(both, both); }
  template <class Offset>
  SIMT_DT void ScatterToBlocked(const _T (&input)[items], _T (&output)[items], const Offset (&ranks)[items]) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int i = 0; i < items; ++i) new (&temp_.values[ranks[i]]) _T(input[i]);
    __simt::barrier();
    for (int i = 0; i < items; ++i) output[i] = temp_.values[rank * items + i];
  }
  template <class Offset>
  SIMT_DT void ScatterToStriped(const _T (&input)[items], _T (&output)[items], const Offset (&ranks)[items]) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int i = 0; i < items; ++i) new (&temp_.values[ranks[i]]) _T(input[i]);
    __simt::barrier();
    for (int i = 0; i < items; ++i) output[i] = temp_.values[i * threads + rank];
  }
};

template <class _T, int block_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int block_y = 1, int block_z = 1, int architecture = 0>
class BlockLoad {
  static constexpr int threads = block_x * block_y * block_z;
  static constexpr bool transposed = algorithm == BLOCK_LOAD_TRANSPOSE || algorithm == BLOCK_LOAD_WARP_TRANSPOSE;
  static constexpr bool by_stripes = transposed || algorithm == BLOCK_LOAD_STRIPED;
  using Exchange = BlockExchange<_T, block_x, items, false, block_y, block_z>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<transposed, typename Exchange::TempStorage, Nothing>;
  SIMT_COLLECTIVE(BlockLoad)
  template <class It>
  SIMT_DT void Load(It from, _T (&output)[items]) { load(from, output, threads * items, false, _T()); }
  template <class It>
  SIMT_DT void Load(It from, _T (&output)[items], int valid) { load(from, output, valid, false, _T()); }
  template <class It, class Default>
  SIMT_DT void Load(It from, _T (&output)[items], int valid, Default otherwise) {
    load(from, output, valid, true, static_cast<_T>(otherwise));
  }

 private:
  template <class It>
  SIMT_DT void load(It from, _T (&output)[items], int valid, bool has_default, _T otherwise) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int i = 0; i < items; ++i) {
      const int at = by_stripes ? i * threads + rank : rank * items + i;
      if (at < valid) output[i] = from[at]; else if (has_default) output[i] = otherwise;
    }
    if constexpr (transposed) Exchange(temp_).StripedToBlocked(output, output);
  }
};

template <class _T, int block_x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int block_y = 1, int block_z = 1, int architecture = 0>
class BlockStore {
  static constexpr int threads = block_x * block_y * block_z;
  static constexpr bool transposed = algorithm == BLOCK_STORE_TRANSPOSE || algorithm == BLOCK_STORE_WARP_TRANSPOSE;
  static constexpr bool by_stripes = transposed || algorithm == BLOCK_STORE_STRIPED;
  using Exchange = BlockExchange<_T, block_x, items, false, block_y, block_z>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<transposed, typename Exchange::TempStorage, Nothing>;
  SIMT_COLLECTIVE(BlockStore)
  template <class It>
  SIMT_DT void Store(It to, _T (&input)[items], int valid = threads * items) {
    const int rank = static_cast<int>(__simt::thread_rank());
    if constexpr (transposed) Exchange(temp_).BlockedToStriped(input, input);
    for (int i = 0; i < items; ++i) {
      const int at = by_stripes ? i * threads + rank : rank * items + i;
      if (at < valid) to[at] = input[i];
    }
  }
};

// One bit at a time: the zeros keep their order in front of the ones.
template <class Key, int block_x, int items, class Value = NullType, int radix_bits = 4, bool memoize = true, BlockScanAlgorithm scan_algorithm = BLOCK_SCAN_WARP_SCANS, int shared_config = 0, int block_y = 1, int block_z = 1>
class BlockRadixSort {
  static constexpr int threads = block_x * block_y * block_z;
  using Scan = BlockScan<int, block_x, scan_algorithm, block_y, block_z>;
  using KeyExchange = BlockExchange<Key, block_x, items, false, block_y, block_z>;
  using ValueExchange = BlockExchange<Value, block_x, items, false, block_y, block_z>;

 public:
  union TempStorage {
    typename Scan::TempStorage scan;
    typename KeyExchange::TempStorage keys;
    typename ValueExchange::TempStorage values;
  };
  SIMT_COLLECTIVE(BlockRadixSort)
  SIMT_DT void Sort(Key (&keys)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    sort(keys, none(), begin_bit, end_bit, false);
  }
  SIMT_DT void SortDescending(Key (&keys)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    sort(keys, none(), begin_bit, end_bit, true);
  }
  SIMT_DT void Sort(Key (&keys)[items], Value (&values)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    sort(keys, &values, begin_bit, end_bit, false);
  }
  SIMT_DT void SortDescending(Key (&keys)[items], Value (&values)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    sort(keys, &values, begin_bit, end_bit, true);
  }
  SIMT_DT void SortBlockedToStriped(Key (&keys)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    Sort(keys, begin_bit, end_bit);
    __simt::barrier();
    KeyExchange(temp_.keys).BlockedToStriped(keys, keys);
  }
  SIMT_DT void SortBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
    Sort(keys, values, begin_bit, end_bit);
    __simt::barrier();
    KeyExchange(temp_.keys).BlockedToStriped(keys, keys);
    __simt::barrier();
    ValueExchange(temp_.values).BlockedToStriped(values, values);
  }

 private:
  static SIMT_DT Value (*none())[items] { return nullptr; }
  SIMT_DT void sort(Key (&keys)[items], Value (*values)[items], int begin_bit, int end_bit, bool descending) {
    const int rank = static_cast<int>(__simt::thread_rank());
    for (int bit = begin_bit; bit < end_bit; ++bit) {
      int zero[items], before[items], to[items], zeros;
      for (int i = 0; i < items; ++i) {
        const bool one = (detail::radix_bits(keys[i]) >> bit) & 1u;
        zero[i] = one == descending;
      }
      Scan(temp_.scan).ExclusiveSum(zero, before, zeros);
      for (int i = 0; i < items; ++i) to[i] = zero[i] ? before[i] : zeros + (rank * items + i - before[i]);
      __simt::barrier();
      KeyExchange(temp_.keys).ScatterToBlocked(keys, keys, to);
      __simt::barrier();
      if (values != nullptr) {
        ValueExchange(temp_.values).ScatterToBlocked(*values, *values, to);
        __simt::barrier();
      }
    }
  }
};

template <class _T, int block_x, int items, int bins, BlockHistogramAlgorithm algorithm = BLOCK_HISTO_SORT, int block_y = 1, int block_z = 1>
class BlockHistogram {
  static constexpr int threads = block_x * block_y * block_z;

 public:
  struct TempStorage {};
  SIMT_COLLECTIVE(BlockHistogram)
  template <class Count>
  SIMT_DT void InitHistogram(Count (&histogram)[bins]) {
    for (int i = static_cast<int>(__simt::thread_rank()); i < bins; i += threads) histogram[i] = 0;
    __simt::barrier();
  }
  template <class Count>
  SIMT_DT void Composite(_T (&values)[items], Count (&histogram)[bins]) {
    for (int i = 0; i < items; ++i) atomicAdd(&histogram[values[i]], Count(1));
    __simt::barrier();
  }
  template <class Count>
  SIMT_DT void Histogram(_T (&values)[items], Count (&histogram)[bins]) {
    InitHistogram(histogram);
    Composite(values, histogram);
  }
};

template <class _T, int block_x, int block_y = 1, int block_z = 1>
class BlockDiscontinuity {
  static constexpr int threads = block_x * block_y * block_z;

 public:
  struct TempStorage {
    detail::storage<_T, threads> last;
  };
  SIMT_COLLECTIVE(BlockDiscontinuity)
  template <int items, class Flag, class _F>
  SIMT_DT void FlagHeads(Flag (&flags)[items], _T (&values)[items], _F differ) {
    const int rank = static_cast<int>(__simt::thread_rank());
    new (&temp_.last[rank]) _T(values[items - 1]);
    __simt::barrier();
    flags[0] = rank == 0 ? 1 : differ(temp_.last[rank - 1], values[0]);
    for (int i = 1; i < items; ++i) flags[i] = differ(values[i - 1], values[i]);
  }
  template <int items, class Flag, class _F>
  SIMT_DT void FlagTails(Flag (&flags)[items], _T (&values)[items], _F differ) {
    const int rank = static_cast<int>(__simt::thread_rank());
    new (&temp_.last[rank]) _T(values[0]);
    __simt::barrier();
    flags[items - 1] = rank == threads - 1 ? 1 : differ(values[items - 1], temp_.last[rank + 1]);
    for (int i = 0; i + 1 < items; ++i) flags[i] = differ(values[i], values[i + 1]);
  }
};
template <int threads, class _T, class It, int items>
SIMT_DT void LoadDirectStriped(int rank, It from, _T (&output)[items]) {
  for (int i = 0; i < items; ++i) output[i] = from[i * threads + rank];
}
template <int threads, class _T, class It, int items>
SIMT_DT void StoreDirectStriped(int rank, It to, _T (&input)[items]) {
  for (int i = 0; i < items; ++i) to[i * threads + rank] = input[i];
}
template <class _T, class It, int items>
SIMT_DT void LoadDirectBlocked(int rank, It from, _T (&output)[items]) {
  for (int i = 0; i < items; ++i) output[i] = from[rank * items + i];
}
template <class _T, class It, int items>
SIMT_DT void StoreDirectBlocked(int rank, It to, _T (&input)[items]) {
  for (int i = 0; i < items; ++i) to[rank * items + i] = input[i];
}
}  // namespace cub
#include <cub/detail/block_sorts.h>
#include <cub/detail/block_moves.h>
#undef SIMT_COLLECTIVE
