// Thrust's variants of algorithms, its sets by key, memory resources, allocators of policies and vectors, and errors.
#include <thrust/binary_search.h>
#include <thrust/device_malloc.h>
#include <thrust/device_new.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/disjoint_pool.h>
#include <thrust/mr/new.h>
#include <thrust/mr/pool.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/scatter.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <thrust/system/cuda/vector.h>
#include <thrust/system_error.h>
#include <thrust/unique.h>

#include <functional>
#include <string>
#include <vector>

#include "check.h"

using Ints = thrust::device_vector<int>;
bool same(const Ints& seen, const std::vector<int>& wanted) {
  return std::vector<int>(thrust::host_vector<int>(seen)) == wanted;
}
struct Even {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};

void check_copies() {
  const Ints in = std::vector<int>{5, 2, 2, 8, 5, 1};
  Ints out(6, -1);
  thrust::replace_copy(in.begin(), in.end(), out.begin(), 5, 9);
  expect(same(out, {9, 2, 2, 8, 9, 1}), "replace_copy");
  thrust::replace_copy_if(thrust::device, in.begin(), in.end(), out.begin(), Even(), 0);
  expect(same(out, {5, 0, 0, 0, 5, 1}), "replace_copy_if");
  out.assign(6, -1);
  expect(thrust::remove_copy(in.begin(), in.end(), out.begin(), 2) - out.begin() == 4 && same(out, {5, 8, 5, 1, -1, -1}), "remove_copy");
  thrust::reverse_copy(in.begin(), in.end(), out.begin());
  expect(same(out, {1, 5, 8, 2, 2, 5}), "reverse_copy");
  const Ints places = std::vector<int>{3, 0, 1, 5, 2, 4}, wanted = std::vector<int>{1, 0, 2, 3, 5, 4};
  out.assign(6, -1);
  thrust::gather_if(places.begin(), places.end(), wanted.begin(), in.begin(), out.begin(), Even());
  expect(same(out, {-1, 5, 2, -1, -1, 5}), "gather_if");
  out.assign(6, -1);
  thrust::scatter_if(in.begin(), in.end(), places.begin(), wanted.begin(), out.begin(), Even());
  expect(same(out, {2, 2, -1, -1, 1, -1}), "scatter_if with a predicate");
  thrust::generate_n(thrust::device, out.begin(), 2, [] __host__ __device__() { return 7; });
  thrust::uninitialized_fill_n(out.begin() + 2, 2, 4);
  thrust::uninitialized_copy_n(in.begin(), 2, out.begin() + 4);
  expect(same(out, {7, 7, 4, 4, 5, 2}), "in numbers of elements");
}

void check_orders() {
  const Ints in = std::vector<int>{8, 6, 6, 1, 3}, values = std::vector<int>{7, 6, 1, 0};
  Ints out(4), keys(5, -1), kept(5, -1);
  expect(thrust::is_sorted_until(in.begin(), in.end(), thrust::greater<int>()) - in.begin() == 4, "is_sorted_until");
  expect(thrust::is_partitioned(in.begin(), in.end(), Even()), "is_partitioned");
  expect(thrust::partition_point(in.begin(), in.end(), Even()) - in.begin() == 3, "partition_point");
  thrust::lower_bound(in.begin(), in.begin() + 4, values.begin(), values.end(), out.begin(), thrust::greater<int>());
  expect(same(out, {1, 1, 3, 4}), "lower_bound with an order");
  thrust::binary_search(thrust::device, in.begin(), in.begin() + 4, values.begin(), values.end(), out.begin(), thrust::greater<int>());
  expect(same(out, {0, 1, 1, 0}), "binary_search with an order");
  const auto end = thrust::unique_by_key_copy(in.begin(), in.end(), values.begin(), keys.begin(), kept.begin(),
                                              [] __host__ __device__(int a, int b) { return a / 4 == b / 4; });
  expect(end.first - keys.begin() == 3 && keys[0] == 8 && keys[1] == 6 && keys[2] == 1, "unique_by_key_copy");
  thrust::stable_partition_copy(in.begin(), in.end(), keys.begin(), kept.begin(), Even());
  expect(keys[2] == 6 && kept[0] == 1 && kept[1] == 3, "stable_partition_copy");
  expect(thrust::mismatch(in.begin(), in.end() - 1, in.begin() + 1, thrust::not_equal_to<int>()).first - in.begin() == 1, "mismatch");
}

void check_sets_by_key() {
  const Ints a = std::vector<int>{1, 3, 3, 7}, b = std::vector<int>{2, 3, 7, 9};
  const Ints a_values = std::vector<int>{10, 30, 31, 70}, b_values = std::vector<int>{-2, -3, -7, -9};
  Ints keys(8, 0), values(8, 0);
  auto end = thrust::set_union_by_key(a.begin(), a.end(), b.begin(), b.end(), a_values.begin(), b_values.begin(), keys.begin(), values.begin());
  expect(end.first - keys.begin() == 6 && end.second - values.begin() == 6, "ends of a union by key");
  expect(same(keys, {1, 2, 3, 3, 7, 9, 0, 0}) && same(values, {10, -2, 30, 31, 70, -9, 0, 0}), "set_union_by_key");
  end = thrust::set_intersection_by_key(thrust::device, a.begin(), a.end(), b.begin(), b.end(), a_values.begin(), keys.begin(), values.begin());
  expect(end.first - keys.begin() == 2 && values[0] == 30 && values[1] == 70, "set_intersection_by_key");
  end = thrust::set_symmetric_difference_by_key(a.begin(), a.end(), b.begin(), b.end(), a_values.begin(), b_values.begin(), keys.begin(),
                                                values.begin(), thrust::less<int>());
  expect(end.first - keys.begin() == 4 && values[1] == -2 && values[2] == 31, "set_symmetric_difference_by_key");
}

struct Counting {  // of temporary memory
  using value_type = char;
  int now = 0, most = 0;
  char* allocate(std::ptrdiff_t bytes) {
    most = std::max(most, ++now);
    return thrust::cuda::malloc<char>(static_cast<size_t>(bytes)).get();
  }
  void deallocate(char* p, size_t) {
    --now;
    thrust::cuda::free(thrust::cuda::pointer<char>(p));
  }
};
template <class T>
struct Sevens : thrust::device_malloc_allocator<T> {
  template <class U>
  struct rebind {
    using other = Sevens<U>;
  };
  __host__ __device__ void construct(T* at) { *at = 7; }
};
struct Watched : thrust::mr::memory_resource<thrust::device_ptr<void>> {
  size_t bytes = 0;
  thrust::device_ptr<void> do_allocate(size_t n, size_t) override { return bytes += n, thrust::device_malloc(n); }
  void do_deallocate(thrust::device_ptr<void> p, size_t n, size_t) override { bytes -= n, thrust::device_free(p); }
};

void check_memory() {
  Counting counting;
  thrust::cuda::vector<int> values = std::vector<int>{3, 1, 2};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  thrust::sort(thrust::cuda::par(counting).on(stream), values.begin(), values.end());
  expect(same(values, {1, 2, 3}) && counting.most > 0 && counting.now == 0, "temporary memory of an allocator");
  const thrust::device_vector<int, Sevens<int>> sevens(3);
  expect(sevens[0] == 7 && sevens[2] == 7, "construct() of an allocator");
  Watched watched;
  {
    thrust::device_vector<int, thrust::mr::allocator<int, Watched>> held(10, 4, &watched);
    expect(watched.bytes == 40 && thrust::reduce(thrust::cuda::par(&watched), held.begin(), held.end()) == 40, "a memory resource");
    held.clear(), held.shrink_to_fit();
    expect(watched.bytes == 0, "memory given back");
    held.push_back(1);
  }
  thrust::mr::unsynchronized_pool_resource<Watched> pool(&watched);
  for (int i = 0; i < 3; ++i) pool.deallocate(pool.allocate(100), 100);
  expect(watched.bytes == 128, "a pool keeps memory");
  pool.release();
  expect(watched.bytes == 0, "a pool gives memory back");
  thrust::host_vector<int, thrust::cuda::experimental::pinned_allocator<int>> pinned(4, 3);
  cudaPointerAttributes attributes;
  expect(cudaPointerGetAttributes(&attributes, pinned.data()) == cudaSuccess && attributes.type == cudaMemoryTypeHost, "pinned memory");
  const auto made = thrust::device_new<int>(2);
  expect(made[0] == 0 && made[1] == 0, "device_new");
  thrust::device_delete(made);
  values.insert(values.begin() + 1, 2, 9);
  expect(same(values, {1, 9, 9, 2, 3}), "insert");
}

void check_errors() {
  try {
    throw thrust::system_error(cudaErrorInvalidValue, thrust::cuda_category(), "call");
  } catch (const std::runtime_error& error) {
    expect(std::string(error.what()).find("call") == 0 && std::string(error.what()).find("cudaErrorInvalidValue") != std::string::npos, "message");
  }
  bool caught = false;
  try {
    thrust::device_vector<double> too_large(size_t(1) << 45);
  } catch (const std::bad_alloc&) {
    caught = cudaGetLastError() != cudaSuccess;
  }
  expect(caught, "too little memory is a bad_alloc");
}

int main() {
  check_copies();
  check_orders();
  check_sets_by_key();
  check_memory();
  check_errors();
  return verdict();
}
