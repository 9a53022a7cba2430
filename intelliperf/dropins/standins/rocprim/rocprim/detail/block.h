// rocPRIM's collectives of waves and blocks: results through references, storage as an argument.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace rocprim {
enum class block_reduce_algorithm { using_warp_reduce, raking_reduce, raking_reduce_commutative_only, default_algorithm = using_warp_reduce };
enum class block_scan_algorithm { using_warp_scan, reduce_then_scan, default_algorithm = using_warp_scan };
enum class block_load_method { block_load_direct, block_load_striped, block_load_vectorize, block_load_transpose, block_load_warp_transpose };
enum class block_store_method { block_store_direct, block_store_striped, block_store_vectorize, block_store_transpose, block_store_warp_transpose };

SIMT_D unsigned int warp_size() { return SIMT_WAVE_SIZE; }
SIMT_D unsigned int device_warp_size() { return SIMT_WAVE_SIZE; }
SIMT_D unsigned int lane_id() { return __simt::lane(); }
SIMT_D void syncthreads() { __simt::barrier(); }
SIMT_D void wave_barrier() { __builtin_amdgcn_wave_barrier(); }
SIMT_D unsigned int flat_block_size() { return __simt::block_dim_x() * __simt::block_dim_y() * __simt::block_dim_z(); }
SIMT_D unsigned int flat_block_thread_id() { return __simt::thread_rank(); }
SIMT_D unsigned int flat_tile_thread_id() { return flat_block_thread_id(); }
SIMT_D unsigned int flat_block_id() {
  return (__simt::block_index_z() * __simt::grid_dim_y() + __simt::block_index_y()) * __simt::grid_dim_x() + __simt::block_index_x();
}
SIMT_D unsigned int warp_id() { return flat_block_thread_id() / SIMT_WAVE_SIZE; }
template <unsigned int x, unsigned int y, unsigned int z>
SIMT_DT unsigned int flat_block_thread_id() { return flat_block_thread_id(); }
template <unsigned int x, unsigned int y, unsigned int z>
SIMT_DT unsigned int flat_block_id() { return flat_block_id(); }
template <unsigned int x, unsigned int y, unsigned int z>
SIMT_DT unsigned int warp_id() { return warp_id(); }
template <class _T>
SIMT_DT _T warp_shuffle(const _T& input, int lane, int width = SIMT_WAVE_SIZE) { return ::__shfl(input, lane, width); }
template <class _T>
SIMT_DT _T warp_shuffle_up(const _T& input, unsigned int delta, int width = SIMT_WAVE_SIZE) { return ::__shfl_up(input, delta, width); }
template <class _T>
SIMT_DT _T warp_shuffle_down(const _T& input, unsigned int delta, int width = SIMT_WAVE_SIZE) { return ::__shfl_down(input, delta, width); }
template <class _T>
SIMT_DT _T warp_shuffle_xor(const _T& input, int lanes, int width = SIMT_WAVE_SIZE) { return ::__shfl_xor(input, lanes, width); }

// A thread's items of one block: side by side (blocked), or one block's width apart (striped).
template <class It, class _T, unsigned int items>
SIMT_DT void block_load_direct_blocked(unsigned int thread, It from, _T (&output)[items]) {
  for (unsigned int i = 0; i < items; ++i) output[i] = from[thread * items + i];
}
template <class It, class _T, unsigned int items>
SIMT_DT void block_load_direct_blocked(unsigned int thread, It from, _T (&output)[items], unsigned int valid) {
  for (unsigned int i = 0; i < items; ++i)
    if (thread * items + i < valid) output[i] = from[thread * items + i];
}
template <class It, class _T, unsigned int items, class Default>
SIMT_DT void block_load_direct_blocked(unsigned int thread, It from, _T (&output)[items], unsigned int valid, Default beyond) {
  for (unsigned int i = 0; i < items; ++i) output[i] = thread * items + i < valid ? static_cast<_T>(from[thread * items + i]) : beyond;
}
template <class It, class _T, unsigned int items>
SIMT_DT void block_store_direct_blocked(unsigned int thread, It to, _T (&input)[items]) {
  for (unsigned int i = 0; i < items; ++i) to[thread * items + i] = input[i];
}
template <class It, class _T, unsigned int items>
SIMT_DT void block_store_direct_blocked(unsigned int thread, It to, _T (&input)[items], unsigned int valid) {
  for (unsigned int i = 0; i < items; ++i)
    if (thread * items + i < valid) to[thread * items + i] = input[i];
}
template <unsigned int block_x, class It, class _T, unsigned int items>
SIMT_DT void block_load_direct_striped(unsigned int thread, It from, _T (&output)[items]) {
  for (unsigned int i = 0; i < items; ++i) output[i] = from[i * block_x + thread];
}
template <unsigned int block_x, class It, class _T, unsigned int items>
SIMT_DT void block_load_direct_striped(unsigned int thread, It from, _T (&output)[items], unsigned int valid) {
  for (unsigned int i = 0; i < items; ++i)
    if (i * block_x + thread < valid) output[i] = from[i * block_x + thread];
}
template <unsigned int block_x, class It, class _T, unsigned int items, class Default>
SIMT_DT void block_load_direct_striped(unsigned int thread, It from, _T (&output)[items], unsigned int valid, Default beyond) {
  for (unsigned int i = 0; i < items; ++i) output[i] = i * block_x + thread < valid ? static_cast<_T>(from[i * block_x + thread]) : beyond;
}
template <unsigned int block_x, class It, class _T, unsigned int items>
SIMT_DT void block_store_direct_striped(unsigned int thread, It to, _T (&input)[items]) {
  for (unsigned int i = 0; i < items; ++i) to[i * block_x + thread] = input[i];
}
template <unsigned int block_x, class It, class _T, unsigned int items>
SIMT_DT void block_store_direct_striped(unsigned int thread, It to, _T (&input)[items], unsigned int valid) {
  for (unsigned int i = 0; i < items; ++i)
    if (i * block_x + thread < valid) to[i * block_x + thread] = input[i];
}

template <class _T, unsigned int block_x, block_reduce_algorithm algorithm = block_reduce_algorithm::default_algorithm,
          unsigned int block_y = 1, unsigned int block_z = 1>
class block_reduce {
  using Core = cub::BlockReduce<_T, static_cast<int>(block_x), cub::BLOCK_REDUCE_WARP_REDUCTIONS, static_cast<int>(block_y), static_cast<int>(block_z)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class _F = plus<_T>>
  SIMT_DT void reduce(_T input, _T& output, storage_type& storage, _F combine = {}) { output = Core(storage).Reduce(input, combine); }
  template <class _F = plus<_T>>
  SIMT_DT void reduce(_T input, _T& output, unsigned int valid, storage_type& storage, _F combine = {}) {
    output = Core(storage).Reduce(input, combine, static_cast<int>(valid));
  }
  template <unsigned int items, class _F = plus<_T>>
  SIMT_DT void reduce(_T (&input)[items], _T& output, storage_type& storage, _F combine = {}) {
    _T sum = input[0];
    for (unsigned int i = 1; i < items; ++i) sum = combine(sum, input[i]);
    reduce(sum, output, storage, combine);
  }
  template <class _F = plus<_T>>
  SIMT_DT void reduce(_T input, _T& output, _F combine = {}) { output = Core().Reduce(input, combine); }
};

template <class _T, unsigned int block_x, block_scan_algorithm algorithm = block_scan_algorithm::default_algorithm,
          unsigned int block_y = 1, unsigned int block_z = 1>
class block_scan {
  using Core = cub::BlockScan<_T, static_cast<int>(block_x), cub::BLOCK_SCAN_WARP_SCANS, static_cast<int>(block_y), static_cast<int>(block_z)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class _F = plus<_T>>
  SIMT_DT void inclusive_scan(_T input, _T& output, storage_type& storage, _F combine = {}) { Core(storage).InclusiveScan(input, output, combine); }
  template <class _F = plus<_T>>
  SIMT_DT void inclusive_scan(_T input, _T& output, _T& total, storage_type& storage, _F combine = {}) {
    Core(storage).InclusiveScan(input, output, combine, total);
  }
  template <class _F = plus<_T>>
  SIMT_DT void exclusive_scan(_T input, _T& output, _T init, storage_type& storage, _F combine = {}) {
    Core(storage).ExclusiveScan(input, output, init, combine);
  }
  template <class _F = plus<_T>>
  SIMT_DT void exclusive_scan(_T input, _T& output, _T init, _T& total, storage_type& storage, _F combine = {}) {
    Core(storage).ExclusiveScan(input, output, init, combine, total);
  }
  template <unsigned int items, class _F = plus<_T>>
  SIMT_DT void inclusive_scan(_T (&input)[items], _T (&output)[items], storage_type& storage, _F combine = {}) {
    Core(storage).InclusiveScan(input, output, combine);
  }
  template <unsigned int items, class _F = plus<_T>>
  SIMT_DT void exclusive_scan(_T (&input)[items], _T (&output)[items], _T init, storage_type& storage, _F combine = {}) {
    Core(storage).ExclusiveScan(input, output, init, combine);
  }
};

template <class _T, unsigned int lanes = SIMT_WAVE_SIZE>
class warp_reduce {
  using Core = cub::WarpReduce<_T, static_cast<int>(lanes)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class _F = plus<_T>>
  SIMT_DT void reduce(_T input, _T& output, storage_type& storage, _F combine = {}) { output = Core(storage).Reduce(input, combine); }
};
template <class _T, unsigned int lanes = SIMT_WAVE_SIZE>
class warp_scan {
  using Core = cub::WarpScan<_T, static_cast<int>(lanes)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class _F = plus<_T>>
  SIMT_DT void inclusive_scan(_T input, _T& output, storage_type& storage, _F combine = {}) { Core(storage).InclusiveScan(input, output, combine); }
  template <class _F = plus<_T>>
  SIMT_DT void exclusive_scan(_T input, _T& output, _T init, storage_type& storage, _F combine = {}) {
    Core(storage).ExclusiveScan(input, output, init, combine);
  }
};

template <class _T, unsigned int block_x, unsigned int items, block_load_method method = block_load_method::block_load_direct>
class block_load {
  using Core = cub::BlockLoad<_T, static_cast<int>(block_x), static_cast<int>(items), static_cast<cub::BlockLoadAlgorithm>(method)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class It>
  SIMT_DT void load(It from, _T (&output)[items], storage_type& storage) { Core(storage).Load(from, output); }
  template <class It>
  SIMT_DT void load(It from, _T (&output)[items], unsigned int valid, storage_type& storage) {
    Core(storage).Load(from, output, static_cast<int>(valid));
  }
};
template <class _T, unsigned int block_x, unsigned int items, block_store_method method = block_store_method::block_store_direct>
class block_store {
  using Core = cub::BlockStore<_T, static_cast<int>(block_x), static_cast<int>(items), static_cast<cub::BlockStoreAlgorithm>(method)>;

 public:
  using storage_type = typename Core::TempStorage;
  template <class It>
  SIMT_DT void store(It to, _T (&input)[items], storage_type& storage) { Core(storage).Store(to, input); }
  template <class It>
  SIMT_DT void store(It to, _T (&input)[items], unsigned int valid, storage_type& storage) {
    Core(storage).Store(to, input, static_cast<int>(valid));
  }
};
template <class Key, unsigned int block_x, unsigned int items, class Value = empty_type>
class block_radix_sort {
  using Core = cub::BlockRadixSort<Key, static_cast<int>(block_x), static_cast<int>(items), Value>;

 public:
  using storage_type = typename Core::TempStorage;
  SIMT_DT void sort(Key (&keys)[items], storage_type& storage) { Core(storage).Sort(keys); }
  SIMT_DT void sort_desc(Key (&keys)[items], storage_type& storage) { Core(storage).SortDescending(keys); }
  SIMT_DT void sort(Key (&keys)[items], Value (&values)[items], storage_type& storage) { Core(storage).Sort(keys, values); }
  SIMT_DT void sort_desc(Key (&keys)[items], Value (&values)[items], storage_type& storage) { Core(storage).SortDescending(keys, values); }
};
}  // namespace rocprim
