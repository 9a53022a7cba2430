// Thrust inside kernels, sorts of numbers, CUB's merge sorts and moves between threads, and parameters that begin with nothing.
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/mdspan>
#include <thrust/async/reduce.h>
#include <thrust/binary_search.h>
#include <thrust/device_malloc_allocator.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/iterator_adaptor.h>
#include <thrust/random.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <vector>

#include "check.h"

struct Less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; }
};

__global__ void inside(int* values, int* results, int n) {
  int* mine = values + n * threadIdx.x;
  results += 4 * threadIdx.x;
  results[0] = static_cast<int>(thrust::count_if(thrust::device, mine, mine + n, [](int v) { return v % 2 == 0; }));
  thrust::sort(thrust::seq, mine, mine + n);
  results[1] = thrust::reduce(thrust::seq, mine, mine + n, 0, thrust::maximum<int>());
  thrust::inclusive_scan(thrust::seq, mine, mine + n, mine);
  results[2] = mine[n - 1];
  results[3] = *thrust::lower_bound(thrust::seq, mine, mine + n, mine[1] + 1);
}

void check_inside() {
  constexpr int n = 37, threads = 3;
  int *values, *results;
  cudaMallocManaged(&values, n * threads * sizeof(int));
  cudaMallocManaged(&results, 4 * threads * sizeof(int));
  std::vector<int> host;
  for (int i = 0; i < n * threads; ++i) host.push_back(values[i] = i * 7919 % 101 + 1);
  inside<<<1, threads>>>(values, results, n);
  expect(cudaDeviceSynchronize() == cudaSuccess, "algorithms inside a kernel");
  for (int t = 0; t < threads; ++t) {
    std::vector<int> own(host.begin() + n * t, host.begin() + n * (t + 1));
    std::sort(own.begin(), own.end());
    expect(results[4 * t] == std::count_if(own.begin(), own.end(), [](int v) { return v % 2 == 0; }), "count_if inside");
    expect(results[4 * t + 1] == own.back(), "reduce inside");
    int sum = 0;
    for (const int v : own) sum += v;
    expect(results[4 * t + 2] == sum, "sort and scan inside");
    expect(results[4 * t + 3] == own[0] + own[1] + own[2], "lower_bound inside");
  }
}

__global__ void block_parts(const int* in, int* out) {
  using Sort = cub::BlockMergeSort<int, 64, 4, short>;
  using Shift = cub::BlockShuffle<int, 64>;
  using Difference = cub::BlockAdjacentDifference<int, 64>;
  using WarpSort = cub::WarpMergeSort<int, 2>;
  __shared__ union {
    Sort::TempStorage sort;
    Shift::TempStorage shift;
    Difference::TempStorage difference;
    WarpSort::TempStorage warp[2];
  } temp;
  const int t = static_cast<int>(threadIdx.x);
  int keys[4], differences[4];
  short values[4];
  cub::LoadDirectBlocked(t, in, keys);
  for (int i = 0; i < 4; ++i) values[i] = static_cast<short>(4 * t + i);
  Sort(temp.sort).Sort(keys, values, Less());
  __syncthreads();
  Difference(temp.difference).SubtractLeft(keys, differences, cub::Difference());
  __syncthreads();
  int next = -1;
  Shift(temp.shift).Offset(keys[0], next, 1);
  __syncthreads();
  int pair[2] = {31 - t % 32, 63 - t % 32};
  WarpSort(temp.warp[t / 32]).Sort(pair, Less());
  const int run = cub::WarpReduce<int>().HeadSegmentedSum(t, t % 8 == 0);
  for (int i = 0; i < 4; ++i) {
    out[4 * t + i] = keys[i];
    out[256 + 4 * t + i] = values[i];
    out[512 + 4 * t + i] = differences[i];
  }
  out[768 + t] = next;
  out[832 + t] = pair[1];
  out[896 + t] = run;
}

void check_block_parts() {
  int *in, *out;
  cudaMallocManaged(&in, 256 * sizeof(int));
  cudaMallocManaged(&out, 960 * sizeof(int));
  for (int i = 0; i < 256; ++i) in[i] = i * 5 % 64;  // four of each
  block_parts<<<1, 64>>>(in, out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "block parts");
  for (int i = 0; i < 256; ++i) {
    expect(out[i] == i / 4 && in[out[256 + i]] == out[i], "merge sort of pairs");
    expect(i % 4 == 0 || out[256 + i] > out[256 + i - 1], "it is stable");
    expect(out[512 + i] == (i == 0 ? 0 : i % 4 == 0), "differences");
  }
  for (int t = 0; t < 64; ++t) {
    expect(out[768 + t] == (t < 63 ? t + 1 : -1), "shuffle of a block");
    expect(out[832 + t] == 2 * (t % 32) + 1, "merge sort of a warp");
    expect(t % 8 != 0 || out[896 + t] == 8 * t + 28, "sum of segments");
  }
}

template <class Call>
void twice(Call call) {
  void* temp = nullptr;
  size_t bytes = 0;
  expect(call(temp, bytes) == cudaSuccess, "size of temporary memory");
  cudaMalloc(&temp, bytes);
  expect(call(temp, bytes) == cudaSuccess, "work");
  cudaFree(temp);
}

void check_device_wide() {
  constexpr int n = 1000;
  thrust::device_vector<int> in(n), out(n), more(n), keys(n), count(2);
  for (int i = 0; i < n; ++i) in[i] = i, keys[i] = i / 10;
  int *from = in.data().get(), *to = out.data().get(), *also = more.data().get(), *key = keys.data().get(), *found = count.data().get();
  thrust::for_each(in.begin(), in.end(), [] __device__(int& v) { v += 1; });  // a function object without data
  expect(in[999] == 1000, "for_each");
  cub::DeviceFor::ForEach(in.begin(), in.end(), [] __device__(int& v) { v -= 1; });
  expect(in[999] == 999, "DeviceFor");
  twice([&](void* t, size_t& b) { return cub::DeviceScan::InclusiveScanInit(t, b, from, to, cub::Sum(), 5, n); });
  expect(out[3] == 11, "InclusiveScanInit");
  twice([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveScanByKey(t, b, key, from, to, cub::Sum(), 0, n); });
  expect(out[19] == 126 && out[20] == 0, "ExclusiveScanByKey");
  twice([&](void* t, size_t& b) { return cub::DeviceSelect::UniqueByKey(t, b, key, from, to, also, found, n); });
  expect(count[0] == 100 && out[7] == 7 && more[7] == 70, "UniqueByKey");
  twice([&](void* t, size_t& b) {
    return cub::DevicePartition::If(t, b, from, to, also, key, found, n, [] __device__(int v) { return v % 2 == 0; },
                                    [] __device__(int v) { return v % 3 == 0; });
  });
  expect(count[0] == 500 && count[1] == 167 && out[3] == 6 && more[1] == 9 && keys[1] == 5, "three parts");
  cub::DeviceTransform::Transform(cuda::std::make_tuple(from, from), to, n, [] __device__(int a, int b) { return a * b; });
  expect(out[30] == 900, "DeviceTransform");
}

// Each element of what lies below, several times.
template <class It>
class repeated : public thrust::iterator_adaptor<repeated<It>, It> {
 public:
  using super_t = thrust::iterator_adaptor<repeated<It>, It>;
  __host__ __device__ repeated(It first, int times) : super_t(first), begin_(first), times_(times) {}
  friend class thrust::iterator_core_access;

 private:
  It begin_;
  int times_;
  __host__ __device__ typename super_t::reference dereference() const { return *(begin_ + (this->base() - begin_) / times_); }
};

// As by std::stable_sort, values included; also by digits, which are used for more numbers than these.
template <class T, class Less, class HostLess>
bool sorts_like_the_host(const std::vector<T>& numbers, Less less_than, HostLess host) {
  const int n = static_cast<int>(numbers.size());
  std::vector<int> places(n);
  for (int i = 0; i < n; ++i) places[i] = i;
  thrust::device_vector<T> keys(numbers.begin(), numbers.end()), alone = keys;
  thrust::device_vector<int> values(places.begin(), places.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin(), less_than);
  thrust::sort(alone.begin(), alone.end(), less_than);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return host(numbers[a], numbers[b]); });
  const thrust::device_vector<T> unsorted(numbers.begin(), numbers.end());
  thrust::device_vector<long> a(n), b(n);
  using Digits = std::conditional_t<sizeof(T) <= 4, unsigned, unsigned long long>;
  const thrust::device_ptr<long> index(thrust::detail::index_by_digits<Digits>(
      thrust::device, unsorted.begin(), n, a.data().get(), b.data().get(), less_than));
  for (int i = 0; i < n; ++i) {
    const T key = keys[i], other = alone[i];
    if (index[i] != places[i] || values[i] != places[i] || std::memcmp(&key, &numbers[places[i]], sizeof key) != 0 || other != key) return false;
  }
  return true;
}

void check_sorts() {
  std::vector<float> floats{0.0f, -0.0f, 1e-40f, -1e-40f, INFINITY, -INFINITY, 3.5f, -3.5f, -0.0f, 0.0f};
  std::vector<long long> wide{0, -1, LLONG_MAX, LLONG_MIN, 5, 5, 1ll << 40};
  std::vector<signed char> narrow;
  std::vector<unsigned> plain;
  for (int i = 0; i < 300; ++i) {
    floats.push_back((i * 7919 % 257 - 128) * 0.25f);
    wide.push_back((i * 7919ll % 257 - 128) << (i % 50));
    narrow.push_back(static_cast<signed char>(i * 31));
    plain.push_back(static_cast<unsigned>(i) * 2654435761u >> i % 9);
  }
  expect(sorts_like_the_host(floats, thrust::less<float>(), std::less<>()), "floats");
  expect(sorts_like_the_host(floats, thrust::greater<float>(), std::greater<>()), "floats, descending");
  expect(sorts_like_the_host(wide, thrust::less<>(), std::less<>()), "64-bit integers");
  expect(sorts_like_the_host(narrow, thrust::greater<>(), std::greater<>()), "bytes");
  expect(sorts_like_the_host(plain, thrust::less<unsigned>(), std::less<>()), "unsigned integers");
  for (int i = 0; plain.size() < 600000; ++i) plain.push_back(plain[i] * 2654435761u);
  const int n = static_cast<int>(plain.size());
  const auto digits = [](unsigned key) { return key >> 3 & 0x3FFu; };
  const thrust::device_vector<unsigned> in(plain.begin(), plain.end());
  thrust::device_vector<unsigned> out(n);
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeysDescending(nullptr, bytes, in.data().get(), out.data().get(), n, 3, 13);
  thrust::device_vector<char> storage(bytes);
  cub::DeviceRadixSort::SortKeysDescending(storage.data().get(), bytes, in.data().get(), out.data().get(), n, 3, 13);
  std::stable_sort(plain.begin(), plain.end(), [&](unsigned a, unsigned b) { return digits(b) < digits(a); });
  expect(std::equal(plain.begin(), plain.end(), thrust::host_vector<unsigned>(out).begin()), "ten bits, descending");
}

void check_thrust() {
  thrust::device_vector<int, thrust::device_malloc_allocator<int>> threes(100, 3);
  expect(thrust::async::reduce(threes.begin(), threes.end(), 0, thrust::plus<int>()).get() == 300, "async reduce");
  thrust::device_vector<int> numbers(10);
  for (int i = 0; i < 10; ++i) numbers[i] = 2 * i;
  const repeated<thrust::device_vector<int>::iterator> thrice(numbers.begin(), 3);
  expect(thrust::reduce(thrice, thrice + 30) == 270 && thrice[5] == 2, "an adapted iterator");
  expect(thrust::lower_bound(thrust::device, numbers.begin(), numbers.end(), 7) - numbers.begin() == 4, "lower_bound");
  expect(thrust::binary_search(numbers.begin(), numbers.end(), 8) && !thrust::binary_search(numbers.begin(), numbers.end(), 9), "binary_search");
  thrust::default_random_engine generator(5);
  thrust::host_vector<int> hand(10, 1);
  thrust::shuffle(numbers.begin(), numbers.end(), generator);
  thrust::shuffle(hand.begin(), hand.end(), generator);
  expect(!thrust::is_sorted(numbers.begin(), numbers.end()) && thrust::reduce(numbers.begin(), numbers.end()) == 90, "shuffle");
}

__global__ void views(const int* in, int* out) {
  namespace cs = cuda::std;
  const auto began = cs::chrono::system_clock::now();
  const cs::mdspan<const int, cs::extents<int, cs::dynamic_extent, 4>> rows(in, 8);
  const cs::mdspan deduced(in, 4, 8);
  const cs::mdspan<const int, cs::dextents<int, 2>, cs::layout_left> columns(in, 8, 4);
  const cs::layout_stride::mapping<cs::dextents<int, 2>> steps(cs::dextents<int, 2>(4, 4), cs::array<int, 2>{2, 8});
  const cs::mdspan<const int, cs::dextents<int, 2>, cs::layout_stride> apart(in, steps);
  out[0] = rows(3, 1), out[1] = deduced(1, 2), out[2] = columns(1, 1), out[3] = apart(1, 2);
  out[4] = rows.extent(0) * 100 + rows.extent(1) * 10 + static_cast<int>(rows.rank());
  out[5] = cs::chrono::system_clock::now() > began;
}

void check_views() {
  int *in, *out;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, 6 * sizeof(int));
  for (int i = 0; i < 32; ++i) in[i] = i;
  views<<<1, 1>>>(in, out);
  expect(cudaDeviceSynchronize() == cudaSuccess && out[0] == 13 && out[1] == 10 && out[2] == 9 && out[3] == 18, "mdspan");
  expect(out[4] == 842 && out[5] == 1, "sizes of an mdspan; a clock");
}

struct Nothing {};
struct Late {  // the first eight bytes hold no data
  Nothing none;
  int* to;
};
struct Inner {
  Nothing none;
  Late late;
  double value;
};
__global__ void store(Late late, float factor, Inner inner) { late.to[0] = static_cast<int>(inner.value * factor), inner.late.to[1] = 5; }

void check_parameters() {
  int* to;
  cudaMallocManaged(&to, 2 * sizeof(int));
  Late late;
  late.to = to;
  Inner inner;
  inner.late = late;
  inner.value = 2.5;
  store<<<1, 1>>>(late, 4.0f, inner);
  expect(cudaDeviceSynchronize() == cudaSuccess && to[0] == 10 && to[1] == 5, "parameters that begin with an empty member");
}

int main() {
  check_inside();
  check_block_parts();
  check_device_wide();
  check_thrust();
  check_sorts();
  check_views();
  check_parameters();
  return verdict();
}
