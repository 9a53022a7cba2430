// thrust and rocPRIM as programs use them: placeholders, set operations, functors without const, streams of output.
#include <hip/hip_runtime.h>
#include <hipcub/device/device_reduce.hpp>
#include <hipcub/util_type.hpp>
#include <rocprim/rocprim.hpp>
#include <thrust/device_vector.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/set_operations.h>
#include <thrust/zip_function.h>

#include <iterator>
#include <list>
#include <sstream>
#include <vector>

int wrong = 0;
void check(bool good, const char* what) {
  if (!good) std::cout << "wrong: " << what << "\n", ++wrong;
}
struct Scale {
  float by;
  __host__ __device__ float operator()(float x, float y) { return by * x + y; }
};
struct Blend {
  __host__ __device__ void operator()(const float& a, const float& b, float& out) { out = a - b; }
};
template <class Vector>
std::vector<int> host(const Vector& v, long n) {
  std::vector<int> out(static_cast<size_t>(n));
  thrust::copy(v.begin(), v.begin() + n, out.begin());
  return out;
}

void thrust_algorithms() {
  using namespace thrust::placeholders;
  thrust::device_vector<float> x{1, 2, 3, 4}, y(4, 1.0f), z(4);
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), 2.0f * _1 - _2);
  check(z[3] == 7, "placeholders");
  check(thrust::count_if(x.begin(), x.end(), _1 > 1 && !(_1 == 3)) == 2, "conditions of placeholders");
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), Scale{3});
  check(z[1] == 7, "a functor without const");
  check(thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f, thrust::maximum<float>(), Scale{2}) == 9, "inner product");
  thrust::for_each(thrust::make_zip_iterator(x.begin(), y.begin(), z.begin()),
                   thrust::make_zip_iterator(x.end(), y.end(), z.end()), thrust::make_zip_function(Blend()));
  check(z[2] == 2, "a zip function that writes");
  thrust::copy(x.begin(), x.end(), thrust::make_transform_output_iterator(z.begin(), _1 * 10));
  check(z[3] == 40, "output through a function");
  std::ostringstream text;
  thrust::copy(x.begin(), x.end(), std::ostream_iterator<int>(text, ","));
  check(text.str() == "1,2,3,4,", "a stream as output");
  const std::list<int> list{5, 6, 7};
  thrust::device_vector<int> from(3);
  thrust::copy(list.begin(), list.end(), from.begin());
  check(from[2] == 7 && thrust::max(3, 4) == 4, "a list as input");
  const thrust::device_vector<int> a{1, 2, 2, 4, 6}, b{2, 2, 2, 3, 6};
  thrust::device_vector<int> out(10);
  auto end = thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(host(out, end - out.begin()) == std::vector<int>{1, 2, 2, 2, 3, 4, 6}, "union");
  end = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(host(out, end - out.begin()) == std::vector<int>{2, 2, 6}, "intersection");
  end = thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(host(out, end - out.begin()) == std::vector<int>{1, 2, 3, 4}, "symmetric difference");
  thrust::merge(a.rbegin(), a.rend(), b.rbegin(), b.rend(), out.begin(), thrust::greater<int>());
  check(out[0] == 6 && out[2] == 4 && out[9] == 1, "merge by a comparison");
  check(thrust::unique_count(a.begin(), a.end()) == 4, "unique count");
}

__global__ void blocks(const int* in, int* out) {
  using Reduce = rocprim::block_reduce<int, 128>;
  __shared__ typename Reduce::storage_type storage;
  int sum = 0;
  Reduce().reduce(in[threadIdx.x], sum, storage, rocprim::maximum<int>());
  if (threadIdx.x == 0) *out = sum;
}

template <class Call>
void two_calls(Call call) {
  size_t bytes = 0;
  void* storage = nullptr;
  check(call(storage, bytes) == hipSuccess && hipMalloc(&storage, bytes) == hipSuccess, "size of the storage");
  check(call(storage, bytes) == hipSuccess && hipFree(storage) == hipSuccess, "call with storage");
}

void rocprim_algorithms() {
  const size_t n = 128;
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i * 37 % 101);
  thrust::device_vector<int> in(values), out(n), count(1);
  int *from = in.data().get(), *to = out.data().get(), *counted = count.data().get();
  two_calls([&](void* t, size_t& b) { return rocprim::reduce(t, b, from, to, 5, n, rocprim::plus<int>()); });
  int sum = 5;
  for (const int v : values) sum += v;
  check(out[0] == sum, "rocprim::reduce");
  two_calls([&](void* t, size_t& b) { return rocprim::reduce(t, b, from, to, n, rocprim::minimum<int>()); });
  check(out[0] == 0, "rocprim::reduce without an initial value");
  two_calls([&](void* t, size_t& b) { return rocprim::exclusive_scan(t, b, from, to, 0, n, rocprim::plus<int>()); });
  check(out[n - 1] == sum - 5 - values[n - 1], "rocprim::exclusive_scan");
  two_calls([&](void* t, size_t& b) { return rocprim::radix_sort_keys_desc(t, b, from, to, n); });
  check(out[0] == 100 && out[n - 1] == 0, "rocprim::radix_sort_keys_desc");
  two_calls([&](void* t, size_t& b) {
    return rocprim::select(t, b, from, to, counted, n, [] __device__(int v) { return v >= 100; });
  });
  check(count[0] == 1 && out[0] == 100, "rocprim::select");
  blocks<<<1, 128>>>(from, to);
  check(out[0] == 100, "rocprim::block_reduce");
  two_calls([&](void* t, size_t& b) { return hipcub::DeviceReduce::Sum(t, b, from, to, static_cast<int>(n)); });
  check(out[0] == sum - 5, "hipcub::DeviceReduce");
}

int main() {
  thrust_algorithms();
  rocprim_algorithms();
  std::cout << (wrong ? "failed" : "all good") << "\n";
  return wrong;
}
