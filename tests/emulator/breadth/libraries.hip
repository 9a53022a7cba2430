// Library users: random points from hipRAND and rocRAND, sums of flags with hipCUB, primitives of rocPRIM.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>
#include <rocprim/rocprim.hpp>
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {
constexpr int kPoints = 16384, kKeys = 1024;

#define EXPECT(condition)                                   \
  do {                                                      \
    if (!(condition)) {                                     \
      std::printf("line %d: %s\n", __LINE__, #condition);   \
      return false;                                         \
    }                                                       \
  } while (0)

template <class T>
std::vector<T> fetched(const T* device, int count) {
  std::vector<T> host(count);
  if (hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost) != hipSuccess) host.clear();
  return host;
}
template <class T>
T* device_array(const std::vector<T>& host) {
  T* device = nullptr;
  if (hipMalloc(&device, host.size() * sizeof(T)) != hipSuccess) return nullptr;
  (void)hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice);
  return device;
}
template <class Call>
bool twice(void*& storage, Call call) {
  storage = nullptr;
  if (call() != hipSuccess || hipMalloc(&storage, 4096) != hipSuccess) return false;
  const bool done = call() == hipSuccess;
  return hipFree(storage) == hipSuccess && done;
}

struct InCircle {
  const float* xy;
  __host__ __device__ bool operator()(int i) const { return xy[i] * xy[i] + xy[kPoints + i] * xy[kPoints + i] <= 1; }
};

// The points of a quasi-random generator come one dimension after the other and fill the square evenly.
bool quasi_random_points_cover_the_square() {
  float* xy = device_array(std::vector<float>(2 * kPoints));
  hiprandGenerator_t generator;
  EXPECT(hiprandCreateGenerator(&generator, HIPRAND_RNG_QUASI_DEFAULT) == HIPRAND_STATUS_SUCCESS);
  EXPECT(hiprandSetQuasiRandomGeneratorDimensions(generator, 2) == HIPRAND_STATUS_SUCCESS);
  EXPECT(hiprandGenerateUniform(generator, xy, 3) == HIPRAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT(hiprandGenerateUniform(generator, xy, 2 * kPoints) == HIPRAND_STATUS_SUCCESS);
  std::vector<int> cells(64);
  const std::vector<float> host = fetched(xy, 2 * kPoints);
  for (int i = 0; i < kPoints; ++i)
    ++cells[std::min(7, static_cast<int>(host[i] * 8)) * 8 + std::min(7, static_cast<int>(host[kPoints + i] * 8))];
  EXPECT(*std::min_element(cells.begin(), cells.end()) > 240 && *std::max_element(cells.begin(), cells.end()) < 272);

  // The map gives bool, the output is an int: a sum of flags counts them.
  void* storage;
  size_t bytes = 0;
  int* inside = device_array(std::vector<int>(1));
  const hipcub::CountingInputIterator<int> first(0);
  const hipcub::TransformInputIterator<bool, InCircle, hipcub::CountingInputIterator<int>> flags(first, InCircle{xy});
  EXPECT(twice(storage, [&] { return HipcubDebug(hipcub::DeviceReduce::Sum(storage, bytes, flags, inside, kPoints)); }));
  EXPECT(std::abs(4.0 * fetched(inside, 1)[0] / kPoints - 3.14159) < 0.01);
  return hiprandDestroyGenerator(generator) == HIPRAND_STATUS_SUCCESS;
}

__global__ void same_numbers(float* different) {
  rocrand_state_philox4x32_10 a;
  hiprandStatePhilox4_32_10_t b;
  rocrand_init(7, threadIdx.x, 0, &a);
  hiprand_init(7, threadIdx.x, 0, &b);
  skipahead(5, &a);
  skipahead(5, &b);
  different[threadIdx.x] = rocrand_uniform(&a) - hiprand_uniform(&b);
}
bool rocrand_draws_what_hiprand_draws() {
  float* different = device_array(std::vector<float>(64, 1.0f));
  same_numbers<<<1, 64>>>(different);
  EXPECT(fetched(different, 64) == std::vector<float>(64, 0.0f));
  float* drawn = device_array(std::vector<float>(kPoints));
  rocrand_generator generator;
  EXPECT(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_PHILOX4_32_10) == ROCRAND_STATUS_SUCCESS);
  EXPECT(rocrand_set_seed(generator, 42) == ROCRAND_STATUS_SUCCESS);
  EXPECT(rocrand_generate_normal(generator, drawn, kPoints, 3.0f, 1.0f) == ROCRAND_STATUS_SUCCESS);
  double sum = 0;
  for (const float x : fetched(drawn, kPoints)) sum += x;
  EXPECT(std::abs(sum / kPoints - 3) < 0.05);
  return rocrand_destroy_generator(generator) == ROCRAND_STATUS_SUCCESS;
}

template <unsigned int block>
__global__ void sort_blocks(int* keys) {
  using Sort = rocprim::block_radix_sort<int, block, 2>;
  __shared__ typename Sort::storage_type storage;
  int mine[2];
  const unsigned int thread = rocprim::flat_block_thread_id();
  int* part = keys + rocprim::flat_block_id() * 2 * block;
  rocprim::block_load_direct_blocked(thread, part, mine);
  Sort().sort(mine, storage);
  rocprim::block_store_direct_blocked(thread, part, mine);
}
bool rocprim_merges_and_searches_what_its_blocks_sorted() {
  std::vector<int> host(kKeys);
  for (int i = 0; i < kKeys; ++i) host[i] = i * 7919 % 300;
  int *keys = device_array(host), *merged = device_array(host), *wanted = device_array(std::vector<int>{-1, 5, 300});
  sort_blocks<kKeys / 4><<<2, kKeys / 4>>>(keys);
  void* storage;
  size_t bytes = 0;
  EXPECT(twice(storage, [&] {
    return rocprim::merge(storage, bytes, keys, keys + kKeys / 2, merged, kKeys / 2, kKeys / 2, rocprim::less<int>());
  }));
  std::sort(host.begin(), host.end());
  EXPECT(fetched(merged, kKeys) == host);
  EXPECT(twice(storage, [&] { return rocprim::upper_bound(storage, bytes, merged, wanted, keys, kKeys, 3); }));
  const int fives = static_cast<int>(std::upper_bound(host.begin(), host.end(), 5) - host.begin());
  EXPECT(fetched(keys, 3) == (std::vector<int>{0, fives, kKeys}));
  int *offsets = device_array(host), *lengths = device_array(host), *runs = device_array(host);
  const std::vector<int> uneven{4, 4, 9, 1, 1, 1, 4};
  int* in = device_array(uneven);
  EXPECT(twice(storage, [&] { return hipcub::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, in, offsets, lengths, runs, 7); }));
  EXPECT(fetched(runs, 1)[0] == 2);
  EXPECT(fetched(offsets, 2) == (std::vector<int>{0, 3}) && fetched(lengths, 2) == (std::vector<int>{2, 3}));
  return true;
}
bool rocprim_finds_the_middle_and_the_smallest() {
  std::vector<int> host(kKeys);
  for (int i = 0; i < kKeys; ++i) host[i] = i * 7919 % 300;
  int *keys = device_array(host), *out = device_array(host);
  void* storage;
  size_t bytes = 0;
  EXPECT(twice(storage, [&] { return rocprim::nth_element(storage, bytes, keys, out, kKeys / 2, kKeys); }));
  EXPECT(twice(storage, [&] { return rocprim::partial_sort(storage, bytes, keys, 3, kKeys, rocprim::greater<int>()); }));
  std::sort(host.begin(), host.end());
  EXPECT(fetched(out, kKeys)[kKeys / 2] == host[kKeys / 2]);
  EXPECT(fetched(keys, 3) == (std::vector<int>{host[kKeys - 1], host[kKeys - 2], host[kKeys - 3]}));
  EXPECT(twice(storage, [&] { return hipcub::DeviceMergeSort::SortKeys(storage, bytes, keys, kKeys, hipcub::Less()); }));
  EXPECT(fetched(keys, kKeys) == host);
  return true;
}
}  // namespace

int main() {
  const bool fine = quasi_random_points_cover_the_square() && rocrand_draws_what_hiprand_draws() &&
                    rocprim_merges_and_searches_what_its_blocks_sorted() && rocprim_finds_the_middle_and_the_smallest();
  std::printf("%s\n", fine ? "all good" : "failed");
  return fine ? 0 : 1;
}
