// thrust and CUB: results against the standard library's.
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

constexpr int kCount = 5000;

struct Axpy {
  float a;
  __device__ float operator()(float x, float y) const { return a * x + y; }  // of the device only
};

__global__ void blocks(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 4, int>;
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Scan::TempStorage scan;
  __shared__ typename Sort::TempStorage sort;
  __shared__ typename Load::TempStorage load;
  int items[4], ranks[4];
  Load(load).Load(in, items);
  const int sum = Reduce(reduce).Sum(items);
  int before, all;
  Scan(scan).ExclusiveSum(items[0], before, all);
  for (int i = 0; i < 4; ++i) ranks[i] = threadIdx.x * 4 + i;
  Sort(sort).SortDescending(items, ranks);
  if (threadIdx.x == 0) out[0] = sum;
  if (threadIdx.x == 127) out[1] = before;
  out[2 + threadIdx.x] = items[0];
  out[130 + threadIdx.x] = ranks[3];
}

void thrust_algorithms(const std::vector<int>& values) {
  thrust::device_vector<int> d(values.begin(), values.end());
  std::vector<int> h = values;
  std::stable_sort(h.begin(), h.end());
  thrust::sort(d.begin(), d.end());
  thrust::host_vector<int> back = d;
  expect(std::equal(h.begin(), h.end(), back.begin()), "sort");
  expect(thrust::reduce(d.begin(), d.end()) == std::accumulate(h.begin(), h.end(), 0), "reduce");

  thrust::device_vector<int> keys(values.size()), order(values.size());
  thrust::device_vector<int> unsorted(values.begin(), values.end());
  thrust::transform(unsorted.begin(), unsorted.end(), keys.begin(), [] __device__(int v) { return (v % 7 + 7) % 7; });
  thrust::sequence(order.begin(), order.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin(), thrust::greater<int>());
  bool stable = true;
  for (size_t i = 1; i < keys.size(); ++i)
    stable = stable && (keys[i - 1] > keys[i] || (keys[i - 1] == keys[i] && order[i - 1] < order[i]));
  expect(stable, "stable_sort_by_key");
  thrust::device_vector<int> groups(7), counts(7);
  const auto end = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1), groups.begin(), counts.begin());
  expect(end.first - groups.begin() == 7 && groups[0] == 6, "reduce_by_key");
  expect(counts[6] == std::count_if(values.begin(), values.end(), [](int v) { return v % 7 == 0; }), "run lengths");

  const thrust::device_ptr<void> untyped = thrust::device_malloc(7 * sizeof(int));
  thrust::device_ptr<int> starts(static_cast<int*>(untyped.get())), others;
  const auto heads = thrust::unique_by_key_copy(keys.begin(), keys.end(), thrust::make_counting_iterator(0),
                                                thrust::make_discard_iterator(), starts);
  swap(starts, others);
  expect(heads.second - others == 7 && !starts && others[1] == counts[0] && others[6] == counts[0] + counts[1] + counts[2] +
         counts[3] + counts[4] + counts[5], "unique_by_key_copy");
  thrust::device_free(untyped);

  thrust::device_vector<float> x(kCount, 2.0f), y(kCount, 1.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Axpy{3.0f});
  expect(y[kCount - 1] == 7.0f, "transform with a device function object");
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(d.begin(), x.begin()));
  thrust::for_each(thrust::device, pairs, pairs + kCount,
                   [] __device__(thrust::tuple<int&, float&> t) { thrust::get<1>(t) = thrust::get<0>(t) * 2.0f; });
  expect(x[17] == h[17] * 2.0f, "for_each over a zip_iterator");

  thrust::device_vector<long> sums(kCount);
  thrust::exclusive_scan(d.begin(), d.end(), sums.begin(), 5l);
  expect(sums[kCount - 1] == 5 + std::accumulate(h.begin(), h.end() - 1, 0l), "exclusive_scan");
  int* raw = thrust::raw_pointer_cast(d.data());
  const auto kept = thrust::copy_if(thrust::device, raw, raw + kCount, order.begin(), [] __device__(int v) { return v % 3 == 0; });
  expect(kept - order.begin() == std::count_if(h.begin(), h.end(), [](int v) { return v % 3 == 0; }), "copy_if");
  expect(*thrust::max_element(d.begin(), d.end()) == h.back(), "max_element");
  expect(thrust::unique(d.begin(), d.end()) - d.begin() == std::unique(h.begin(), h.end()) - h.begin(), "unique");
  expect(thrust::inner_product(x.begin(), x.begin() + 2, y.begin(), 1.0f) == 1.0f + 7.0f * (x[0] + x[1]), "inner_product");
}

template <class Call>
void twice(Call call, const char* what) {
  void* storage = nullptr;
  size_t bytes = 0;
  expect(call(storage, bytes) == cudaSuccess && bytes > 0, what);
  cudaMalloc(&storage, bytes);
  expect(call(storage, bytes) == cudaSuccess, what);
  cudaFree(storage);
}

void device_algorithms(const std::vector<int>& values) {
  thrust::device_vector<int> in(values.begin(), values.end()), out(kCount), few(8);
  const int* from = thrust::raw_pointer_cast(in.data());
  int* to = thrust::raw_pointer_cast(out.data());
  int* one = thrust::raw_pointer_cast(few.data());
  twice([&](void* s, size_t& n) { return cub::DeviceReduce::Max(s, n, from, one, kCount); }, "DeviceReduce");
  expect(few[0] == *std::max_element(values.begin(), values.end()), "DeviceReduce::Max");
  twice([&](void* s, size_t& n) { return cub::DeviceScan::InclusiveSum(s, n, from, to, kCount); }, "DeviceScan");
  expect(out[kCount - 1] == std::accumulate(values.begin(), values.end(), 0), "DeviceScan::InclusiveSum");
  twice([&](void* s, size_t& n) { return cub::DeviceRadixSort::SortKeysDescending(s, n, from, to, kCount); }, "DeviceRadixSort");
  std::vector<int> h = values;
  std::sort(h.rbegin(), h.rend());
  expect(out[0] == h[0] && out[1234] == h[1234] && out[kCount - 1] == h.back(), "DeviceRadixSort::SortKeysDescending");
  twice([&](void* s, size_t& n) { return cub::DeviceHistogram::HistogramEven(s, n, from, one, 6, -5000, 5000, kCount); }, "DeviceHistogram");
  expect(few[2] == std::count_if(values.begin(), values.end(), [](int v) { return v >= -1000 && v < 1000; }), "HistogramEven");
}

static void segments(const std::vector<int>& values) {
  const std::vector<int> bounds = {0, 100, 100, 612};
  thrust::device_vector<int> in(values.begin(), values.begin() + 612), out(612), ends(bounds.begin(), bounds.end());
  const int* from = thrust::raw_pointer_cast(in.data());
  int* to = thrust::raw_pointer_cast(out.data());
  const int* at = thrust::raw_pointer_cast(ends.data());
  size_t bytes = 0;
  cub::DeviceSegmentedSort::StableSortKeysDescending(nullptr, bytes, from, to, 612, 3, at, at + 1);
  thrust::device_vector<char> storage(bytes);
  cub::DeviceSegmentedSort::StableSortKeysDescending(thrust::raw_pointer_cast(storage.data()), bytes, from, to, 612, 3, at, at + 1);
  std::vector<int> wanted(values.begin(), values.begin() + 612);
  for (int i = 0; i < 3; ++i) std::sort(wanted.begin() + bounds[i], wanted.begin() + bounds[i + 1], std::greater<int>());
  expect(std::vector<int>(out.begin(), out.end()) == wanted, "DeviceSegmentedSort");
}

struct Copied {  // by a constructor of its own
  int sum;
  short count;
  __host__ __device__ Copied(int s = 0, short n = 1) : sum(s), count(n) {}
  __host__ __device__ Copied(const Copied& other) : sum(other.sum), count(other.count) {}
  __host__ __device__ Copied& operator=(const Copied& other) { return sum = other.sum, count = other.count, *this; }
};
struct Together {
  __device__ Copied operator()(const Copied& a, const Copied& b) const { return Copied(a.sum + b.sum, static_cast<short>(a.count + b.count)); }
};
__global__ void reduce_copied(int* out) {
  using Warp = cub::WarpReduce<Copied>;
  using Block = cub::BlockReduce<Copied, 64>;
  __shared__ union {
    typename Warp::TempStorage warp[2];
    typename Block::TempStorage block;
  } storage;
  const int thread = static_cast<int>(threadIdx.x);
  const Copied of_warp = Warp(storage.warp[thread / 32]).Reduce(Copied(thread), Together());
  __syncthreads();
  const Copied of_block = Block(storage.block).Reduce(Copied(thread), Together());
  if (thread == 0) out[0] = of_warp.sum, out[1] = of_block.sum, out[2] = of_block.count;
}

struct Path { int x, y; };
__global__ void thread_parts(const float* in, int n, int* out, cub::GridEvenShare<int> share, cub::GridQueue<int> queue) {
  share.BlockInit<4, cub::GRID_MAPPING_RAKE>();
  if (threadIdx.x == 0) {
    for (int i = share.block_offset; i < share.block_end; ++i) atomicAdd(&out[i], 1 + static_cast<int>(blockIdx.x));
    queue.Drain(share.block_end - share.block_offset);
    if (blockIdx.x != 0) return;
    int keys[5] = {3, 1, 2, 1, 0}, values[5] = {0, 1, 2, 3, 4};
    cub::StableOddEvenSort(keys, values, cub::Less());
    for (int i = 0; i < 5; ++i) out[32 + i] = keys[i] * 10 + values[i];
    const int a[3] = {1, 3, 5}, b[3] = {2, 3, 4};
    Path path;
    cub::MergePathSearch(3, a, b, 3, 3, path);
    out[37] = path.x * 10 + path.y;
    out[38] = static_cast<int>(cub::BFE(0xabcdu, 4, 8)) + cub::UpperBound(b, 3, 3);
    unsigned int field;
    cub::BFI(field, 0xff00ff00u, 0x5u, 4, 8);
    out[39] = field == 0xff00f050u;
    cub::ThreadStore<cub::STORE_CG>(out + 40, static_cast<int>(cub::ThreadLoad<cub::LOAD_LDG>(in + 2)));
    out[41] = static_cast<int>(cub::LaneMaskLt() + cub::LaneMaskLe()) + (cub::WarpMask<8>(2) == 0xff0000u);
  }
}

void check_thread_parts() {
  float *in, *total;
  int *out, version;
  void* memory;
  cudaMallocManaged(&in, 32 * sizeof(float));
  cudaMallocManaged(&total, sizeof(float));
  cudaMallocManaged(&out, 64 * sizeof(int));
  cudaMalloc(&memory, cub::GridQueue<int>::AllocationSize());
  for (int i = 0; i < 32; ++i) in[i] = static_cast<float>(i * 7 % 19);
  for (int i = 0; i < 64; ++i) out[i] = 0;
  cub::GridEvenShare<int> share;
  share.DispatchInit(30, 3, 4);
  cub::GridQueue<int> queue(memory);
  queue.FillAndResetDrain(0);
  thread_parts<<<share.grid_size, 32>>>(in, 30, out, share, queue);
  expect(cudaDeviceSynchronize() == cudaSuccess && share.grid_size == 3, "a kernel of thread parts");
  expect(out[0] == 1 && out[11] == 1 && out[12] == 2 && out[23] == 2 && out[24] == 3 && out[29] == 3 && out[30] == 0, "an even share");
  expect(out[32] == 4 && out[33] == 11 && out[34] == 13 && out[35] == 22 && out[36] == 30, "a thread's sort");
  expect(out[37] == 21 && out[38] == 0xbc + 2 && out[39] && out[40] == 14 && out[41] == 2, "a merge path and bits");
  reduce_copied<<<1, 64>>>(out);
  expect(cudaDeviceSynchronize() == cudaSuccess && out[0] == 496 && out[1] == 2016 && out[2] == 64, "values with a copy constructor");
  const cub::ArgIndexInputIterator<float*> at(in);
  expect((*(at + 3)).key == 3 && at[3].value == in[3], "elements with their index");
  cub::TexObjInputIterator<float> texture;
  texture.BindTexture(in, 128);
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, texture, total, 8);
  cudaMalloc(&memory, bytes);
  cub::DeviceReduce::Sum(memory, bytes, texture, total, 8);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += in[i];
  expect(*total == sum, "an iterator over a texture");
  using Whole = cub::Traits<int>;
  expect(Whole::CATEGORY == cub::SIGNED_INTEGER && Whole::TwiddleIn(0u) == 0x80000000u && cub::FpLimits<double>::Lowest() < -1e300, "traits");
  expect(cub::Log2<65>::VALUE == 7 && cub::Log2<64>::VALUE == 6 && !cub::PowerOfTwo<6>::VALUE, "logarithms");
  expect(cub::CurrentDevice() == 0 && cub::SmVersion(version) == cudaSuccess && version == 900, "version");
  const float zeros[3] = {0.0f, -0.0f, -1.0f};
  const int order[3] = {0, 1, 2};
  int *index, *sorted;
  cudaMallocManaged(&index, sizeof order);
  cudaMallocManaged(&sorted, sizeof order);
  for (int i = 0; i < 3; ++i) in[i] = zeros[i], index[i] = order[i];
  bytes = 1 << 16;
  cudaMalloc(&memory, bytes);
  cub::DeviceRadixSort::SortPairs(memory, bytes, in, in + 8, index, sorted, 3);
  cudaDeviceSynchronize();
  expect(sorted[0] == 2 && sorted[1] == 0 && sorted[2] == 1, "both zeros are one number");
}

int main() {
  check_thread_parts();
  std::vector<int> values(kCount);
  unsigned state = 12345;
  for (int& v : values) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 10000 - 5000;
  thrust_algorithms(values);
  device_algorithms(values);
  segments(values);

  thrust::device_vector<int> in(values.begin(), values.begin() + 512), out(258);
  blocks<<<1, 128>>>(thrust::raw_pointer_cast(in.data()), thrust::raw_pointer_cast(out.data()));
  expect(cudaDeviceSynchronize() == cudaSuccess, "blocks");
  expect(out[0] == std::accumulate(values.begin(), values.begin() + 512, 0), "BlockReduce");
  int every_fourth = 0;
  for (int i = 0; i < 508; i += 4) every_fourth += values[i];
  expect(out[1] == every_fourth, "BlockScan");
  std::vector<int> order(512);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
  for (int t = 0; t < 128; ++t)
    expect(out[2 + t] == values[order[4 * t]] && out[130 + t] == order[4 * t + 3], "BlockRadixSort");
  return verdict();
}
