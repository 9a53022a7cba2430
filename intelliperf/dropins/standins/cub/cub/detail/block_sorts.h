// Merge sorts of a block and of a wave: every element finds its rank in the run beside its own, round by round.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace cub {
namespace detail {
// `Together` makes the threads wait for one another; they hold `items` elements each, thread after thread.
template <class Key, class Value, int threads, int items, class Together>
class merge_sort {
  static constexpr int total = threads * items;
  static constexpr bool with_values = !std::is_same_v<Value, NullType>;

 public:
  struct storage_t {
    storage<Key, total> keys[2];
    storage<Value, with_values ? total : 1> values[2];
  };
  template <class Less>
  static SIMT_DT void sort(storage_t& temp, int rank, Key (&keys)[items], Value (*values)[items], int valid, Less less_than) {
    for (int i = 0; i < items; ++i) {
      new (&temp.keys[0][rank * items + i]) Key(keys[i]);
      if constexpr (with_values) new (&temp.values[0][rank * items + i]) Value((*values)[i]);
    }
    int from = 0;
    for (int width = 1; width < valid; width *= 2, from ^= 1) {
      Together::wait();
      for (int i = rank * items; i < rank * items + items; ++i) {
        const int to = i < valid ? place(temp.keys[from], i, width, valid, less_than) : i;
        new (&temp.keys[from ^ 1][to]) Key(temp.keys[from][i]);
        if constexpr (with_values) new (&temp.values[from ^ 1][to]) Value(temp.values[from][i]);
      }
    }
    Together::wait();
    for (int i = 0; i < items; ++i) {
      keys[i] = temp.keys[from][rank * items + i];
      if constexpr (with_values) (*values)[i] = temp.values[from][rank * items + i];
    }
  }

 private:
  template <class Less>
  static SIMT_DT int place(storage<Key, total>& keys, int i, int width, int valid, Less less_than) {
    const int pair_begin = i / (2 * width) * (2 * width), middle = pair_begin + width;
    const bool left = i < middle;
    int low = left ? middle : pair_begin, high = left ? middle + width : middle;  // the run beside
    if (low > valid) low = valid;
    if (high > valid) high = valid;
    const int begin = low;
    while (low < high) {  // among equals the left run goes first
      const int at = low + (high - low) / 2;
      const bool before = left ? static_cast<bool>(less_than(keys[at], keys[i])) : !less_than(keys[i], keys[at]);
      if (before) low = at + 1; else high = at;
    }
    return pair_begin + (i - (left ? pair_begin : middle)) + (low - begin);
  }
};
struct block_together {
  static SIMT_DT void wait() { __simt::barrier(); }
};
struct wave_together {
  static SIMT_DT void wait() { __simt::collective(__simt::kSyncWave, 0, 0, 0, SIMT_WAVE_SIZE); }
};
}  // namespace detail

#define SIMT_MERGE_SORTS                                                                                             \
  template <class Less>                                                                                              \
  SIMT_DT void Sort(Key (&keys)[items], Less less_than) {                                                            \
    merges::sort(temp_, rank(), keys, nullptr, threads * items, less_than);                                          \
  }                                                                                                                  \
  template <class Less>                                                                                              \
  SIMT_DT void Sort(Key (&keys)[items], Less less_than, int valid, Key otherwise) {                                  \
    merges::sort(temp_, rank(), keys, nullptr, valid, less_than);                                                    \
    for (int i = 0; i < items; ++i)                                                                                  \
      if (rank() * items + i >= valid) keys[i] = otherwise;                                                          \
  }                                                                                                                  \
  template <class Less>                                                                                              \
  SIMT_DT void Sort(Key (&keys)[items], Value (&values)[items], Less less_than) {                                    \
    merges::sort(temp_, rank(), keys, &values, threads * items, less_than);                                          \
  }                                                                                                                  \
  template <class Less>                                                                                              \
  SIMT_DT void Sort(Key (&keys)[items], Value (&values)[items], Less less_than, int valid, Key) {                    \
    merges::sort(temp_, rank(), keys, &values, valid, less_than);                                                    \
  }                                                                                                                  \
  template <class... _A>                                                                                             \
  SIMT_DT void StableSort(_A&&... arguments) {                                                                       \
    Sort(arguments...);                                                                                              \
  }

template <class Key, int block_x, int items, class Value = NullType, int block_y = 1, int block_z = 1>
class BlockMergeSort {
  static constexpr int threads = block_x * block_y * block_z;
  using merges = detail::merge_sort<Key, Value, threads, items, detail::block_together>;
  static SIMT_DT int rank() { return static_cast<int>(__simt::thread_rank()); }

 public:
  using TempStorage = typename merges::storage_t;
  SIMT_COLLECTIVE(BlockMergeSort)
  SIMT_MERGE_SORTS
};
template <class Key, int items, int threads = SIMT_WAVE_SIZE, class Value = NullType>
class WarpMergeSort {
  using merges = detail::merge_sort<Key, Value, threads, items, detail::wave_together>;
  static SIMT_DT int rank() { return static_cast<int>(__simt::lane()) % threads; }

 public:
  using TempStorage = typename merges::storage_t;
  SIMT_COLLECTIVE(WarpMergeSort)
  SIMT_MERGE_SORTS
};
#undef SIMT_MERGE_SORTS
}  // namespace cub
