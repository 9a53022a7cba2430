// Values that move between the threads of a block or a wave: shuffles, neighbours' differences, loads and stores.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace cub {
template <class _T, int block_x, int block_y = 1, int block_z = 1>
class BlockShuffle {
  static constexpr int threads = block_x * block_y * block_z;

 public:
  struct TempStorage {
    detail::storage<_T, threads> values;
  };
  SIMT_COLLECTIVE(BlockShuffle)
  SIMT_DT void Offset(_T input, _T& output, int distance = 1) {
    const int from = put(input) + distance;
    if (from >= 0 && from < threads) output = temp_.values[from];
  }
  SIMT_DT void Rotate(_T input, _T& output, unsigned int distance = 1) {
    output = temp_.values[static_cast<int>((static_cast<unsigned int>(put(input)) + distance) % threads)];
  }
  template <int items>
  SIMT_DT void Up(_T (&input)[items], _T (&output)[items]) {
    const int rank = put(input[items - 1]);
    for (int i = items - 1; i > 0; --i) output[i] = input[i - 1];
    if (rank > 0) output[0] = temp_.values[rank - 1];
  }
  template <int items>
  SIMT_DT void Up(_T (&input)[items], _T (&output)[items], _T& last) {
    Up(input, output);
    last = temp_.values[threads - 1];
  }
  template <int items>
  SIMT_DT void Down(_T (&input)[items], _T (&output)[items]) {
    const int rank = put(input[0]);
    for (int i = 0; i + 1 < items; ++i) output[i] = input[i + 1];
    if (rank + 1 < threads) output[items - 1] = temp_.values[rank + 1];
  }
  template <int items>
  SIMT_DT void Down(_T (&input)[items], _T (&output)[items], _T& first) {
    Down(input, output);
    first = temp_.values[0];
  }

 private:
  SIMT_DT int put(const _T& value) {
    const int rank = static_cast<int>(__simt::thread_rank());
    new (&temp_.values[rank]) _T(value);
    __simt::barrier();
    return rank;
  }
};

template <class _T, int block_x, int block_y = 1, int block_z = 1>
class BlockAdjacentDifference {
  static constexpr int threads = block_x * block_y * block_z;

 public:
  struct TempStorage {
    detail::storage<_T, threads> values;
  };
  SIMT_COLLECTIVE(BlockAdjacentDifference)
  template <int items, class Out, class _F>
  SIMT_DT void SubtractLeft(const _T (&input)[items], Out (&output)[items], _F f) {
    left(input, output, f, threads * items, false, _T());
  }
  template <int items, class Out, class _F>
  SIMT_DT void SubtractLeft(const _T (&input)[items], Out (&output)[items], _F f, _T before) {
    left(input, output, f, threads * items, true, before);
  }
  template <int items, class Out, class _F>
  SIMT_DT void SubtractLeftPartialTile(const _T (&input)[items], Out (&output)[items], _F f, int valid) {
    left(input, output, f, valid, false, _T());
  }
  template <int items, class Out, class _F>
  SIMT_DT void SubtractRight(const _T (&input)[items], Out (&output)[items], _F f) {
    right(input, output, f, threads * items, false, _T());
  }
  template <int items, class Out, class _F>
  SIMT_DT void SubtractRight(const _T (&input)[items], Out (&output)[items], _F f, _T after) {
    right(input, output, f, threads * items, true, after);
  }
  template <int items, class Out, class _F>
  SIMT_DT void SubtractRightPartialTile(const _T (&input)[items], Out (&output)[items], _F f, int valid) {
    right(input, output, f, valid, false, _T());
  }

 private:
  template <int items, class Out, class _F>
  SIMT_DT void left(const _T (&input)[items], Out (&output)[items], _F f, int valid, bool has_before, _T before) {
    const int rank = put(input[items - 1]);
    for (int i = items - 1; i > 0; --i) output[i] = rank * items + i < valid ? f(input[i], input[i - 1]) : Out(input[i]);
    if (rank > 0 && rank * items < valid) output[0] = f(input[0], temp_.values[rank - 1]);
    else output[0] = rank == 0 && has_before ? f(input[0], before) : Out(input[0]);
  }
  template <int items, class Out, class _F>
  SIMT_DT void right(const _T (&input)[items], Out (&output)[items], _F f, int valid, bool has_after, _T after) {
    const int rank = put(input[0]);
    const _T next = rank + 1 < threads ? temp_.values[rank + 1] : after;
    for (int i = 0; i < items; ++i) {
      const int at = rank * items + i;
      const bool inside = at + 1 < valid || (has_after && at + 1 == threads * items);
      output[i] = inside ? f(input[i], i + 1 < items ? input[i + 1] : next) : Out(input[i]);
    }
  }
  SIMT_DT int put(const _T& value) {
    const int rank = static_cast<int>(__simt::thread_rank());
    new (&temp_.values[rank]) _T(value);
    __simt::barrier();
    return rank;
  }
};

enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <class _T, int items, int lanes = SIMT_WAVE_SIZE, WarpExchangeAlgorithm algorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
 public:
  struct TempStorage {
    detail::storage<_T, lanes * items> values;
  };
  SIMT_COLLECTIVE(WarpExchange)
  template <class Out>
  SIMT_DT void BlockedToStriped(const _T (&input)[items], Out (&output)[items]) {
    move(input, output, true);
  }
  template <class Out>
  SIMT_DT void StripedToBlocked(const _T (&input)[items], Out (&output)[items]) {
    move(input, output, false);
  }
  template <class Offset>
  SIMT_DT void ScatterToStriped(_T (&both)[items], Offset (&ranks)[items]) {
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    for (int i = 0; i < items; ++i) new (&temp_.values[static_cast<int>(ranks[i])]) _T(both[i]);
    detail::wave_together::wait();
    for (int i = 0; i < items; ++i) both[i] = temp_.values[i * lanes + lane];
  }

 private:
  template <class Out>
  SIMT_DT void move(const _T (&input)[items], Out (&output)[items], bool to_stripes) {
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    for (int i = 0; i < items; ++i) new (&temp_.values[to_stripes ? lane * items + i : i * lanes + lane]) _T(input[i]);
    detail::wave_together::wait();
    for (int i = 0; i < items; ++i) output[i] = temp_.values[to_stripes ? i * lanes + lane : lane * items + i];
    detail::wave_together::wait();
  }
};

template <class _T, int items, WarpLoadAlgorithm algorithm = WARP_LOAD_DIRECT, int lanes = SIMT_WAVE_SIZE>
class WarpLoad {
  using Exchange = WarpExchange<_T, items, lanes>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<algorithm == WARP_LOAD_TRANSPOSE, typename Exchange::TempStorage, Nothing>;
  SIMT_COLLECTIVE(WarpLoad)
  template <class It>
  SIMT_DT void Load(It from, _T (&output)[items], int valid = lanes * items) {
    constexpr bool by_stripes = algorithm == WARP_LOAD_STRIPED || algorithm == WARP_LOAD_TRANSPOSE;
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    for (int i = 0; i < items; ++i) {
      const int at = by_stripes ? i * lanes + lane : lane * items + i;
      if (at < valid) output[i] = from[at];
    }
    if constexpr (algorithm == WARP_LOAD_TRANSPOSE) Exchange(temp_).StripedToBlocked(output, output);
  }
  template <class It, class Default>
  SIMT_DT void Load(It from, _T (&output)[items], int valid, Default otherwise) {
    for (auto& item : output) item = static_cast<_T>(otherwise);
    Load(from, output, valid);
  }
};

template <class _T, int items, WarpStoreAlgorithm algorithm = WARP_STORE_DIRECT, int lanes = SIMT_WAVE_SIZE>
class WarpStore {
  using Exchange = WarpExchange<_T, items, lanes>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<algorithm == WARP_STORE_TRANSPOSE, typename Exchange::TempStorage, Nothing>;
  SIMT_COLLECTIVE(WarpStore)
  template <class It>
  SIMT_DT void Store(It to, _T (&input)[items], int valid = lanes * items) {
    constexpr bool by_stripes = algorithm == WARP_STORE_STRIPED || algorithm == WARP_STORE_TRANSPOSE;
    const int lane = static_cast<int>(__simt::lane()) % lanes;
    if constexpr (algorithm == WARP_STORE_TRANSPOSE) Exchange(temp_).BlockedToStriped(input, input);
    for (int i = 0; i < items; ++i) {
      const int at = by_stripes ? i * lanes + lane : lane * items + i;
      if (at < valid) to[at] = input[i];
    }
  }
};

// Of one thread's own elements.
template <class _T, int items, class _F>
SIMT_DT _T ThreadReduce(const _T (&input)[items], _F combine, _T initial) {
  for (const _T& item : input) initial = combine(initial, item);
  return initial;
}
template <class _T, int items, class _F>
SIMT_DT _T ThreadReduce(const _T (&input)[items], _F combine) {
  _T total = input[0];
  for (int i = 1; i < items; ++i) total = combine(total, input[i]);
  return total;
}
}  // namespace cub
