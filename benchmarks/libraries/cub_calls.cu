// Block-, warp- and device-wide algorithms of CUB and Thrust, each against a plain loop on the host.
// Prints one line per call and "all good" at the end. Compiled with whatever CUB the build finds.
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

constexpr int kThreads = 128, kItems = 4, kBlock = kThreads * kItems, kCount = 5000;
int failures, calls;

void check(const char* name, bool good) {
  ++calls;
  failures += !good;
  printf("%-44s %s\n", name, good ? "right" : "WRONG");
}
std::vector<int> numbers(int count, int below, unsigned seed = 12345) {
  std::vector<int> out(count);
  for (int& v : out) seed = seed * 1664525u + 1013904223u, v = int(seed >> 8) % below;
  return out;
}
template <class T>
struct Device {
  T* data = nullptr;
  size_t count;
  explicit Device(size_t n) : count(n) { cudaMalloc(&data, n * sizeof(T)); cudaMemset(data, 0, n * sizeof(T)); }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(data); }
  std::vector<T> host(size_t n = ~size_t(0)) const {
    std::vector<T> out(std::min(n, count));
    cudaMemcpy(out.data(), data, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
};
// Calls an algorithm twice: once for the size of its scratch memory.
template <class F>
bool run(F call) {
  size_t bytes = 0;
  if (call(nullptr, bytes) != cudaSuccess) return false;
  void* scratch;
  cudaMalloc(&scratch, bytes + 1);
  const bool good = call(scratch, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(scratch);
  return good;
}

// ---- block-wide ---------------------------------------------------------------------------------------
template <cub::BlockReduceAlgorithm how>
__global__ void block_reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, kThreads, how>;
  __shared__ typename Reduce::TempStorage storage;
  int items[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  const int sum = Reduce(storage).Sum(items);
  __syncthreads();
  struct Larger { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };
  const int most = Reduce(storage).Reduce(items[0], Larger{});
  if (threadIdx.x == 0) out[0] = sum, out[1] = most;
}
template <cub::BlockScanAlgorithm how>
__global__ void block_scan(const int* in, int* exclusive, int* inclusive, int* total) {
  using Scan = cub::BlockScan<int, kThreads, how>;
  __shared__ typename Scan::TempStorage storage;
  int items[kItems], sums[kItems], all;
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Scan(storage).ExclusiveSum(items, sums, all);
  cub::StoreDirectBlocked(threadIdx.x, exclusive, sums);
  __syncthreads();
  Scan(storage).InclusiveSum(items, sums);
  cub::StoreDirectBlocked(threadIdx.x, inclusive, sums);
  if (threadIdx.x == 0) *total = all;
}
__global__ void block_sort(const int* in, int* keys_out, int* values_out, bool descending) {
  using Sort = cub::BlockRadixSort<int, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage storage;
  int keys[kItems], values[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, keys);
  for (int i = 0; i < kItems; ++i) values[i] = threadIdx.x * kItems + i;
  if (descending) Sort(storage).SortDescending(keys, values); else Sort(storage).Sort(keys, values);
  cub::StoreDirectBlocked(threadIdx.x, keys_out, keys);
  cub::StoreDirectBlocked(threadIdx.x, values_out, values);
}
struct Less { template <class T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
__global__ void block_merge_sort(const int* in, int* out) {
  using Sort = cub::BlockMergeSort<int, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  int keys[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, keys);
  Sort(storage).Sort(keys, Less{});
  cub::StoreDirectBlocked(threadIdx.x, out, keys);
}
template <cub::BlockHistogramAlgorithm how>
__global__ void block_histogram(const int* in, int* out) {
  using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 64, how>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ int bins[64];
  unsigned char items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = in[threadIdx.x * kItems + i] % 64;
  Histogram(storage).Histogram(items, bins);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}
template <cub::BlockLoadAlgorithm how_in, cub::BlockStoreAlgorithm how_out>
__global__ void block_copy(int* in, int* out) {
  using Load = cub::BlockLoad<int, kThreads, kItems, how_in>;
  using Store = cub::BlockStore<int, kThreads, kItems, how_out>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } storage;
  int items[kItems];
  Load(storage.load).Load(in, items);
  __syncthreads();
  for (int& v : items) v += threadIdx.x;
  Store(storage.store).Store(out, items);
}
__global__ void block_exchange(const int* in, int* striped, int* back) {
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  __shared__ typename Exchange::TempStorage storage;
  int items[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Exchange(storage).BlockedToStriped(items, items);
  for (int i = 0; i < kItems; ++i) striped[threadIdx.x * kItems + i] = items[i];
  __syncthreads();
  Exchange(storage).StripedToBlocked(items, items);
  cub::StoreDirectBlocked(threadIdx.x, back, items);
}
__global__ void block_discontinuity(const int* in, int* heads, int* tails) {
  using Flags = cub::BlockDiscontinuity<int, kThreads>;
  __shared__ typename Flags::TempStorage storage;
  int items[kItems], head[kItems], tail[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  struct Differ { __device__ bool operator()(int a, int b) const { return a != b; } };
  Flags(storage).FlagHeads(head, items, Differ{});
  __syncthreads();
  Flags(storage).FlagTails(tail, items, Differ{});
  cub::StoreDirectBlocked(threadIdx.x, heads, head);
  cub::StoreDirectBlocked(threadIdx.x, tails, tail);
}
__global__ void block_difference(const int* in, int* left, int* right) {
  using Difference = cub::BlockAdjacentDifference<int, kThreads>;
  __shared__ typename Difference::TempStorage storage;
  int items[kItems], out[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  struct Minus { __device__ int operator()(int a, int b) const { return a - b; } };
  Difference(storage).SubtractLeft(items, out, Minus{});
  cub::StoreDirectBlocked(threadIdx.x, left, out);
  __syncthreads();
  Difference(storage).SubtractRight(items, out, Minus{});
  cub::StoreDirectBlocked(threadIdx.x, right, out);
}
__global__ void block_shuffle(const int* in, int* up, int* rotated) {
  using Shuffle = cub::BlockShuffle<int, kThreads>;
  __shared__ typename Shuffle::TempStorage storage;
  int items[kItems], moved[kItems], one = in[threadIdx.x], other = -1;
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Shuffle(storage).Up(items, moved);
  if (threadIdx.x == 0) moved[0] = -1;
  cub::StoreDirectBlocked(threadIdx.x, up, moved);
  __syncthreads();
  Shuffle(storage).Rotate(one, other, 3);
  rotated[threadIdx.x] = other;
}
// ---- warp-wide ----------------------------------------------------------------------------------------
template <int lanes>
__global__ void warp_sums(const int* in, int* sums, int* scanned, int* heads_sum) {
  using Reduce = cub::WarpReduce<int, lanes>;
  using Scan = cub::WarpScan<int, lanes>;
  __shared__ typename Reduce::TempStorage reduce[kThreads / lanes];
  __shared__ typename Scan::TempStorage scan[kThreads / lanes];
  const int group = threadIdx.x / lanes, value = in[threadIdx.x];
  const int sum = Reduce(reduce[group]).Sum(value);
  if (threadIdx.x % lanes == 0) sums[group] = sum;
  int out;
  Scan(scan[group]).InclusiveSum(value, out);
  scanned[threadIdx.x] = out;
  __syncthreads();
  const int part = Reduce(reduce[group]).HeadSegmentedSum(value, threadIdx.x % 5 == 0);
  heads_sum[threadIdx.x] = threadIdx.x % lanes == 0 || threadIdx.x % 5 == 0 ? part : 0;
}
__global__ void warp_sort(const int* in, int* out) {
  using Sort = cub::WarpMergeSort<int, kItems, 16>;
  __shared__ typename Sort::TempStorage storage[kThreads / 16];
  int keys[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, keys);
  Sort(storage[threadIdx.x / 16]).Sort(keys, Less{});
  cub::StoreDirectBlocked(threadIdx.x, out, keys);
}

void block_algorithms() {
  const std::vector<int> in = numbers(kBlock, 1000);
  Device<int> data(in), a(kBlock), b(kBlock), c(kBlock);
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  int most = 0;
  for (int t = 0; t < kThreads; ++t) most = std::max(most, in[t * kItems]);
  auto reduced = [&](const char* name, auto kernel) {
    kernel<<<1, kThreads>>>(data.data, a.data);
    const auto out = a.host(2);
    check(name, out[0] == sum && out[1] == most);
  };
  reduced("BlockReduce raking", block_reduce<cub::BLOCK_REDUCE_RAKING>);
  reduced("BlockReduce raking, commutative only", block_reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>);
  reduced("BlockReduce warp reductions", block_reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>);
  std::vector<int> inclusive(kBlock), exclusive(kBlock);
  std::partial_sum(in.begin(), in.end(), inclusive.begin());
  for (int i = 0; i < kBlock; ++i) exclusive[i] = inclusive[i] - in[i];
  auto scanned = [&](const char* name, auto kernel) {
    kernel<<<1, kThreads>>>(data.data, a.data, b.data, c.data);
    check(name, a.host() == exclusive && b.host() == inclusive && c.host(1)[0] == sum);
  };
  scanned("BlockScan raking", block_scan<cub::BLOCK_SCAN_RAKING>);
  scanned("BlockScan raking, memoize", block_scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>);
  scanned("BlockScan warp scans", block_scan<cub::BLOCK_SCAN_WARP_SCANS>);
  std::vector<int> order(kBlock), sorted = in;
  std::iota(order.begin(), order.end(), 0);
  for (bool descending : {false, true}) {
    auto expected = order;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int x, int y) { return descending ? in[x] > in[y] : in[x] < in[y]; });
    block_sort<<<1, kThreads>>>(data.data, a.data, b.data, descending);
    const auto keys = a.host(), values = b.host();
    bool good = values == expected;
    for (int i = 0; i < kBlock; ++i) good &= keys[i] == in[expected[i]];
    check(descending ? "BlockRadixSort descending pairs" : "BlockRadixSort pairs", good);
  }
  std::sort(sorted.begin(), sorted.end());
  block_merge_sort<<<1, kThreads>>>(data.data, a.data);
  check("BlockMergeSort", a.host() == sorted);
  std::vector<int> bins(64);
  for (int v : in) ++bins[v % 64];
  block_histogram<cub::BLOCK_HISTO_SORT><<<1, kThreads>>>(data.data, a.data);
  check("BlockHistogram sort", a.host(64) == bins);
  block_histogram<cub::BLOCK_HISTO_ATOMIC><<<1, kThreads>>>(data.data, a.data);
  check("BlockHistogram atomic", a.host(64) == bins);
  auto copied = [&](const char* name, auto kernel, bool striped) {
    kernel<<<1, kThreads>>>(data.data, a.data);
    const auto out = a.host();
    bool good = true;
    for (int i = 0; i < kBlock; ++i) good &= out[i] == in[i] + (striped ? i % kThreads : i / kItems);
    check(name, good);
  };
  copied("BlockLoad/Store direct", block_copy<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>, false);
  copied("BlockLoad/Store vectorize", block_copy<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>, false);
  copied("BlockLoad/Store transpose", block_copy<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>, false);
  copied("BlockLoad/Store warp transpose",
         block_copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>, false);
  copied("BlockLoad/Store striped", block_copy<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>, true);
  block_exchange<<<1, kThreads>>>(data.data, a.data, b.data);
  {
    const auto striped = a.host();
    bool good = b.host() == in;
    for (int t = 0; t < kThreads; ++t)
      for (int i = 0; i < kItems; ++i) good &= striped[t * kItems + i] == in[i * kThreads + t];
    check("BlockExchange", good);
  }
  const std::vector<int> few = numbers(kBlock, 3);
  Device<int> repeated(few);
  block_discontinuity<<<1, kThreads>>>(repeated.data, a.data, b.data);
  bool good = true;
  const auto heads = a.host(), tails = b.host();
  for (int i = 0; i < kBlock; ++i) {
    good &= heads[i] == (i == 0 || few[i] != few[i - 1]);
    good &= tails[i] == (i == kBlock - 1 || few[i] != few[i + 1]);
  }
  check("BlockDiscontinuity", good);
  block_difference<<<1, kThreads>>>(data.data, a.data, b.data);
  const auto left = a.host(), right = b.host();
  good = true;
  for (int i = 0; i < kBlock; ++i) {
    good &= left[i] == (i ? in[i] - in[i - 1] : in[i]);
    good &= right[i] == (i + 1 < kBlock ? in[i] - in[i + 1] : in[i]);
  }
  check("BlockAdjacentDifference", good);
  block_shuffle<<<1, kThreads>>>(data.data, a.data, b.data);
  const auto up = a.host(), rotated = b.host();
  good = true;
  for (int i = 1; i < kBlock; ++i) good &= up[i] == in[i - 1];
  for (int t = 0; t < kThreads; ++t) good &= rotated[t] == in[(t + 3) % kThreads];
  check("BlockShuffle", good);
  auto warps = [&](const char* name, auto kernel, int lanes) {
    kernel<<<1, kThreads>>>(data.data, a.data, b.data, c.data);
    const auto sums = a.host(), scans = b.host(), segments = c.host();
    bool right = true;
    for (int t = 0, running = 0; t < kThreads; ++t) {
      running = t % lanes == 0 ? in[t] : running + in[t];
      right &= scans[t] == running;
      if (t % lanes == lanes - 1) right &= sums[t / lanes] == running;
      int part = 0;
      if (t % lanes == 0 || t % 5 == 0) {
        part = in[t];
        for (int u = t + 1; u / lanes == t / lanes && u % 5 != 0; ++u) part += in[u];
      }
      right &= segments[t] == part;
    }
    check(name, right);
  };
  warps("WarpReduce, WarpScan of 32", warp_sums<32>, 32);
  warps("WarpReduce, WarpScan of 16", warp_sums<16>, 16);
  warps("WarpReduce, WarpScan of 8", warp_sums<8>, 8);
  warp_sort<<<1, kThreads>>>(data.data, a.data);
  auto expected = in;
  for (int i = 0; i < kBlock; i += 16 * kItems) std::sort(&expected[i], &expected[i] + 16 * kItems);
  check("WarpMergeSort", a.host() == expected);
}

// ---- device-wide --------------------------------------------------------------------------------------
struct Even { __host__ __device__ bool operator()(int v) const { return v % 2 == 0; } };
struct Maximum { template <class T> __host__ __device__ T operator()(const T& a, const T& b) const { return a > b ? a : b; } };
struct Double { __host__ __device__ int operator()(int v) const { return 2 * v; } };
struct Plus { template <class T> __host__ __device__ T operator()(const T& a, const T& b) const { return a + b; } };
struct Same { template <class T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a == b; } };

void device_algorithms() {
  const std::vector<int> in = numbers(kCount, 100000), few = numbers(kCount, 4);
  Device<int> data(in), repeated(few), a(kCount), b(kCount), c(kCount), number(4);
  int* const n = number.data;
  auto count = [&] { return number.host(1)[0]; };
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  const auto least = std::min_element(in.begin(), in.end()), most = std::max_element(in.begin(), in.end());
  bool ok = run([&](void* t, size_t& s) { return cub::DeviceReduce::Sum(t, s, data.data, n, kCount); });
  check("DeviceReduce::Sum", ok && count() == sum);
  ok = run([&](void* t, size_t& s) { return cub::DeviceReduce::Min(t, s, data.data, n, kCount); });
  check("DeviceReduce::Min", ok && count() == *least);
  ok = run([&](void* t, size_t& s) { return cub::DeviceReduce::Max(t, s, data.data, n, kCount); });
  check("DeviceReduce::Max", ok && count() == *most);
  ok = run([&](void* t, size_t& s) { return cub::DeviceReduce::Reduce(t, s, data.data, n, kCount, Maximum{}, 7); });
  check("DeviceReduce::Reduce", ok && count() == *most);
  ok = run([&](void* t, size_t& s) {
    return cub::DeviceReduce::TransformReduce(t, s, data.data, n, kCount, Plus{}, Double{}, 0);
  });
  check("DeviceReduce::TransformReduce", ok && count() == 2 * sum);
  {
    std::vector<int> keys, sums;
    for (int i = 0; i < kCount; ++i) {
      if (i == 0 || few[i] != few[i - 1]) keys.push_back(few[i]), sums.push_back(0);
      sums.back() += in[i];
    }
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceReduce::ReduceByKey(t, s, repeated.data, a.data, data.data, b.data, n, Plus{}, kCount);
    });
    check("DeviceReduce::ReduceByKey", ok && count() == int(keys.size()) && a.host(keys.size()) == keys &&
                                           b.host(keys.size()) == sums);
  }
  std::vector<int> inclusive(kCount), exclusive(kCount), running(kCount);
  std::partial_sum(in.begin(), in.end(), inclusive.begin());
  for (int i = 0; i < kCount; ++i) exclusive[i] = inclusive[i] - in[i];
  std::partial_sum(in.begin(), in.end(), running.begin(), Maximum{});
  ok = run([&](void* t, size_t& s) { return cub::DeviceScan::InclusiveSum(t, s, data.data, a.data, kCount); });
  check("DeviceScan::InclusiveSum", ok && a.host() == inclusive);
  ok = run([&](void* t, size_t& s) { return cub::DeviceScan::ExclusiveSum(t, s, data.data, a.data, kCount); });
  check("DeviceScan::ExclusiveSum", ok && a.host() == exclusive);
  ok = run([&](void* t, size_t& s) { return cub::DeviceScan::InclusiveScan(t, s, data.data, a.data, Maximum{}, kCount); });
  check("DeviceScan::InclusiveScan", ok && a.host() == running);
  ok = run([&](void* t, size_t& s) {
    return cub::DeviceScan::ExclusiveScan(t, s, data.data, a.data, Maximum{}, 0, kCount);
  });
  {
    auto expected = running;
    for (int i = 0; i < kCount; ++i) expected[i] = i ? running[i - 1] : 0;
    check("DeviceScan::ExclusiveScan", ok && a.host() == expected);
  }
  {
    std::vector<int> expected(kCount), before(kCount);
    for (int i = 0; i < kCount; ++i) {
      before[i] = i && few[i] == few[i - 1] ? expected[i - 1] : 0;
      expected[i] = before[i] + in[i];
    }
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceScan::InclusiveSumByKey(t, s, repeated.data, data.data, a.data, kCount);
    });
    check("DeviceScan::InclusiveSumByKey", ok && a.host() == expected);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceScan::ExclusiveSumByKey(t, s, repeated.data, data.data, a.data, kCount);
    });
    check("DeviceScan::ExclusiveSumByKey", ok && a.host() == before);
  }
  auto sorted = in;
  std::sort(sorted.begin(), sorted.end());
  auto falling = sorted;
  std::reverse(falling.begin(), falling.end());
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  Device<int> ids(order);
  auto stable = order;
  std::stable_sort(stable.begin(), stable.end(), [&](int x, int y) { return in[x] < in[y]; });
  ok = run([&](void* t, size_t& s) { return cub::DeviceRadixSort::SortKeys(t, s, data.data, a.data, kCount); });
  check("DeviceRadixSort::SortKeys", ok && a.host() == sorted);
  ok = run([&](void* t, size_t& s) { return cub::DeviceRadixSort::SortKeysDescending(t, s, data.data, a.data, kCount); });
  check("DeviceRadixSort::SortKeysDescending", ok && a.host() == falling);
  ok = run([&](void* t, size_t& s) {
    return cub::DeviceRadixSort::SortPairs(t, s, data.data, a.data, ids.data, b.data, kCount);
  });
  check("DeviceRadixSort::SortPairs", ok && a.host() == sorted && b.host() == stable);
  ok = run([&](void* t, size_t& s) {
    return cub::DeviceRadixSort::SortPairsDescending(t, s, data.data, a.data, ids.data, b.data, kCount);
  });
  check("DeviceRadixSort::SortPairsDescending", ok && a.host() == falling);
  {
    std::vector<float> floats(kCount);
    for (int i = 0; i < kCount; ++i) floats[i] = (in[i] - 50000) * 0.25f;
    Device<float> f(floats), g(kCount);
    ok = run([&](void* t, size_t& s) { return cub::DeviceRadixSort::SortKeys(t, s, f.data, g.data, kCount); });
    std::sort(floats.begin(), floats.end());
    check("DeviceRadixSort::SortKeys of floats", ok && g.host() == floats);
    cub::DoubleBuffer<int> both(a.data, b.data);
    cudaMemcpy(a.data, data.data, kCount * 4, cudaMemcpyDeviceToDevice);
    ok = run([&](void* t, size_t& s) { return cub::DeviceRadixSort::SortKeys(t, s, both, kCount, 0, 20); });
    check("DeviceRadixSort::SortKeys, double buffer", ok && (both.Current() == a.data ? a : b).host() == sorted);
  }
  cudaMemcpy(a.data, data.data, kCount * 4, cudaMemcpyDeviceToDevice);
  ok = run([&](void* t, size_t& s) { return cub::DeviceMergeSort::SortKeys(t, s, a.data, kCount, Less{}); });
  check("DeviceMergeSort::SortKeys", ok && a.host() == sorted);
  cudaMemcpy(a.data, data.data, kCount * 4, cudaMemcpyDeviceToDevice);
  cudaMemcpy(b.data, ids.data, kCount * 4, cudaMemcpyDeviceToDevice);
  ok = run([&](void* t, size_t& s) { return cub::DeviceMergeSort::StableSortPairs(t, s, a.data, b.data, kCount, Less{}); });
  check("DeviceMergeSort::StableSortPairs", ok && a.host() == sorted && b.host() == stable);
  std::vector<int> even, odd;
  for (int v : in) (v % 2 == 0 ? even : odd).push_back(v);
  ok = run([&](void* t, size_t& s) { return cub::DeviceSelect::If(t, s, data.data, a.data, n, kCount, Even{}); });
  check("DeviceSelect::If", ok && count() == int(even.size()) && a.host(even.size()) == even);
  {
    std::vector<int> chosen, unique;
    for (int i = 0; i < kCount; ++i) if (few[i]) chosen.push_back(in[i]);
    for (int i = 0; i < kCount; ++i) if (i == 0 || few[i] != few[i - 1]) unique.push_back(few[i]);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceSelect::Flagged(t, s, data.data, repeated.data, a.data, n, kCount);
    });
    check("DeviceSelect::Flagged", ok && count() == int(chosen.size()) && a.host(chosen.size()) == chosen);
    ok = run([&](void* t, size_t& s) { return cub::DeviceSelect::Unique(t, s, repeated.data, a.data, n, kCount); });
    check("DeviceSelect::Unique", ok && count() == int(unique.size()) && a.host(unique.size()) == unique);
  }
  ok = run([&](void* t, size_t& s) { return cub::DevicePartition::If(t, s, data.data, a.data, n, kCount, Even{}); });
  {
    auto expected = even;
    expected.insert(expected.end(), odd.rbegin(), odd.rend());
    check("DevicePartition::If", ok && count() == int(even.size()) && a.host() == expected);
  }
  {
    std::vector<int> values, lengths;
    for (int i = 0; i < kCount; ++i) {
      if (i == 0 || few[i] != few[i - 1]) values.push_back(few[i]), lengths.push_back(0);
      ++lengths.back();
    }
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceRunLengthEncode::Encode(t, s, repeated.data, a.data, b.data, n, kCount);
    });
    check("DeviceRunLengthEncode::Encode", ok && count() == int(values.size()) && a.host(values.size()) == values &&
                                               b.host(values.size()) == lengths);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceRunLengthEncode::NonTrivialRuns(t, s, repeated.data, a.data, b.data, n, kCount);
    });
    const int longer = int(std::count_if(lengths.begin(), lengths.end(), [](int l) { return l > 1; }));
    check("DeviceRunLengthEncode::NonTrivialRuns", ok && count() == longer);
  }
  {
    std::vector<int> bins(10), uneven(3);
    for (int v : in) ++bins[v / 10000];
    const std::vector<int> levels = {0, 5, 50000, 100000};
    for (int v : in) ++uneven[v < 5 ? 0 : v < 50000 ? 1 : 2];
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceHistogram::HistogramEven(t, s, data.data, a.data, 11, 0, 100000, kCount);
    });
    check("DeviceHistogram::HistogramEven", ok && a.host(10) == bins);
    Device<int> edges(levels);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceHistogram::HistogramRange(t, s, data.data, a.data, 4, edges.data, kCount);
    });
    check("DeviceHistogram::HistogramRange", ok && a.host(3) == uneven);
  }
  {
    const std::vector<int> offsets = {0, 10, 10, 1000, 4000, kCount};
    Device<int> bounds(offsets);
    std::vector<int> sums, largest, each = in;
    for (int i = 0; i + 1 < int(offsets.size()); ++i) {
      sums.push_back(std::accumulate(&in[0] + offsets[i], &in[0] + offsets[i + 1], 0));
      int top = -2147483647 - 1;
      for (int j = offsets[i]; j < offsets[i + 1]; ++j) top = std::max(top, in[j]);
      largest.push_back(top);
      std::sort(&each[0] + offsets[i], &each[0] + offsets[i + 1]);
    }
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceSegmentedReduce::Sum(t, s, data.data, a.data, 5, bounds.data, bounds.data + 1);
    });
    check("DeviceSegmentedReduce::Sum", ok && a.host(5) == sums);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceSegmentedReduce::Max(t, s, data.data, a.data, 5, bounds.data, bounds.data + 1);
    });
    check("DeviceSegmentedReduce::Max", ok && a.host(5) == largest);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceSegmentedRadixSort::SortKeys(t, s, data.data, a.data, kCount, 5, bounds.data, bounds.data + 1);
    });
    check("DeviceSegmentedRadixSort::SortKeys", ok && a.host() == each);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceSegmentedSort::SortKeys(t, s, data.data, a.data, kCount, 5, bounds.data, bounds.data + 1);
    });
    check("DeviceSegmentedSort::SortKeys", ok && a.host() == each);
  }
  ok = run([&](void* t, size_t& s) {
    return cub::DeviceAdjacentDifference::SubtractLeftCopy(t, s, data.data, a.data, kCount);
  });
  {
    auto expected = in;
    for (int i = 1; i < kCount; ++i) expected[i] = in[i] - in[i - 1];
    check("DeviceAdjacentDifference::SubtractLeftCopy", ok && a.host() == expected);
  }
  {
    auto first = in;
    first.resize(2000);
    std::sort(first.begin(), first.end());
    Device<int> x(first), merged(kCount + 2000), y(sorted);
    ok = run([&](void* t, size_t& s) {
      return cub::DeviceMerge::MergeKeys(t, s, x.data, 2000, y.data, kCount, merged.data);
    });
    std::vector<int> expected(kCount + 2000);
    std::merge(first.begin(), first.end(), sorted.begin(), sorted.end(), expected.begin());
    check("DeviceMerge::MergeKeys", ok && merged.host() == expected);
  }
}

void thrust_algorithms() {
  const std::vector<int> in = numbers(kCount, 1000);
  const thrust::device_vector<int> v(in);
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  thrust::device_vector<int> out(kCount);
  auto fetched = [&](const thrust::device_vector<int>& from) {
    std::vector<int> result(from.size());
    thrust::copy(from.begin(), from.end(), result.begin());
    return result;
  };
  check("thrust::reduce", thrust::reduce(v.begin(), v.end()) == sum);
  check("thrust::transform_reduce", thrust::transform_reduce(v.begin(), v.end(), Double{}, 0, Plus{}) == 2 * sum);
  check("thrust::inner_product", thrust::inner_product(v.begin(), v.end(), v.begin(), 0LL) ==
                                     std::inner_product(in.begin(), in.end(), in.begin(), 0LL));
  thrust::transform(v.begin(), v.end(), out.begin(), Double{});
  auto expected = in;
  for (int& e : expected) e *= 2;
  check("thrust::transform", fetched(out) == expected);
  thrust::inclusive_scan(v.begin(), v.end(), out.begin());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  check("thrust::inclusive_scan", fetched(out) == expected);
  thrust::exclusive_scan(v.begin(), v.end(), out.begin(), 5);
  for (int i = 0, running = 5; i < kCount; ++i) expected[i] = running, running += in[i];
  check("thrust::exclusive_scan", fetched(out) == expected);
  out = v;
  thrust::sort(out.begin(), out.end());
  auto sorted = in;
  std::sort(sorted.begin(), sorted.end());
  check("thrust::sort", fetched(out) == sorted);
  check("thrust::binary_search", thrust::binary_search(out.begin(), out.end(), in[17]));
  thrust::device_vector<int> values(kCount);
  thrust::copy(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(kCount), values.begin());
  out = v;
  thrust::stable_sort_by_key(out.begin(), out.end(), values.begin(), Less{});
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] < in[b]; });
  check("thrust::stable_sort_by_key", fetched(values) == order);
  out.erase(thrust::unique(out.begin(), out.end()), out.end());
  auto unique = sorted;
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  check("thrust::unique", fetched(out) == unique);
  out = v;
  out.erase(thrust::remove_if(out.begin(), out.end(), Even{}), out.end());
  auto odd = in;
  odd.erase(std::remove_if(odd.begin(), odd.end(), Even{}), odd.end());
  check("thrust::remove_if", fetched(out) == odd);
  out.resize(kCount);
  const auto end = thrust::copy_if(v.begin(), v.end(), out.begin(), Even{});
  check("thrust::copy_if", end - out.begin() == kCount - int(odd.size()));
  out = v;
  check("thrust::partition", thrust::partition(out.begin(), out.end(), Even{}) - out.begin() == kCount - int(odd.size()));
  thrust::device_vector<int> map(kCount);
  thrust::copy(values.begin(), values.end(), map.begin());
  thrust::gather(map.begin(), map.end(), v.begin(), out.begin());
  check("thrust::gather", fetched(out) == sorted);
  check("thrust::max_element", *thrust::max_element(v.begin(), v.end()) == *std::max_element(in.begin(), in.end()));
  check("thrust::count_if", thrust::count_if(v.begin(), v.end(), Even{}) == kCount - int(odd.size()));
  thrust::device_vector<int> keys(kCount), totals(kCount);
  const auto ends = thrust::reduce_by_key(out.begin(), out.end(), thrust::make_constant_iterator(1), keys.begin(), totals.begin());
  std::map<int, int> counted;
  for (int w : in) ++counted[w];
  std::vector<int> each;
  for (auto& [key, many] : counted) each.push_back(many);
  totals.resize(ends.second - totals.begin());
  check("thrust::reduce_by_key", fetched(totals) == each);
  thrust::device_vector<int> joined(2 * kCount);
  thrust::merge(out.begin(), out.end(), out.begin(), out.end(), joined.begin());
  std::vector<int> twice(2 * kCount);
  std::merge(sorted.begin(), sorted.end(), sorted.begin(), sorted.end(), twice.begin());
  check("thrust::merge", fetched(joined) == twice);
}

int main() {
  block_algorithms();
  device_algorithms();
  thrust_algorithms();
  printf("%d calls, %d wrong\n", calls, failures);
  if (failures == 0) puts("all good");
  return failures != 0;
}
