// Kernels launched forty times each: two of them do the same every time, the others do not.
#include <hip/hip_runtime.h>
#include <sys/mman.h>

#include <cstdio>
#include <utility>
constexpr int n = 16384, launches = 40;
__device__ int offset;
__device__ float work(float x) { for (int k = 0; k < 60; ++k) x = x * 0.5f + 1.0f; return x; }
#define I (int(blockIdx.x * blockDim.x + threadIdx.x))
__global__ void same(const float* in, float* out) { out[I] = work(in[I]) + 1; }
__global__ void reset(const float* in, float* sum) { atomicAdd(sum, work(in[I])); }
__global__ void grows(float* out) { out[I] += work(2) - 1; }
__global__ void swapped(const float* in, float* out) { out[I] = in[I] + work(2) - 1; }
__global__ void host_writes(const float* in, float* out) { out[I] = work(2) + in[I]; }
__global__ void symbol(float* out) { out[I] = work(2) + offset; }
__global__ void indirect(float* const* table, float* out) { out[I] = work(2) + table[0][I]; }
__global__ void prints(float* out) { out[I] = work(2); if (I == 0) printf("printed\n"); }
__global__ void clocks(long long* out) { out[I] = clock64() + (long long)work(2); }
template <class F> void times(F launch) { for (int k = 0; k < launches; ++k) launch(k); (void)hipDeviceSynchronize(); }
int main() {
  float *a, *b, *managed, **table; long long* ticks;
  (void)hipMalloc(&a, n * 4); (void)hipMalloc(&b, n * 4); (void)hipMalloc(&ticks, n * 8);
  (void)hipMalloc(&table, 8);
  (void)hipMemset(a, 0, n * 4); (void)hipMemset(b, 0, n * 4);
  const dim3 grid(n / 256), block(256);
  const size_t page = 4096;  // registered and gone: nothing may look at it
  void* gone = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  (void)hipHostRegister(gone, page, 0);
  munmap(gone, page);
  times([&](int) { same<<<grid, block>>>(b, a); });
  (void)hipHostUnregister(gone);
  (void)hipMemset(a, 0, n * 4);
  float got = 0;
  const auto last = [&](const float* from) {
    (void)hipMemcpy(&got, from + n - 1, 4, hipMemcpyDeviceToHost);
    return got;
  };
  times([&](int) { same<<<grid, block>>>(a, b); });
  std::printf("same %g\n", last(b));
  times([&](int) { (void)hipMemset(b, 0, 4); reset<<<grid, block>>>(a, b); });
  (void)hipMemcpy(&got, b, 4, hipMemcpyDeviceToHost);
  std::printf("reset %g\n", got / n);
  float* apart;  // between launches that change nothing any more, what they leave is written over without a launch
  (void)hipMalloc(&apart, n * 4);
  times([&](int) { same<<<grid, block>>>(a, apart); });
  (void)hipMemset(apart, 0, n * 4);
  times([&](int) { same<<<grid, block>>>(a, apart); });
  std::printf("again %g\n", last(apart));
  (void)hipFree(apart);
  (void)hipMemset(b, 0, n * 4);
  times([&](int) { grows<<<grid, block>>>(b); });
  std::printf("grows %g\n", last(b));
  times([&](int) { swapped<<<grid, block>>>(a, b); std::swap(a, b); });
  std::printf("swapped %g\n", last(a));
  float sum = 0;
  (void)hipMallocManaged(&managed, n * 4);  // from here on the host may write at any time
  times([&](int k) {
    managed[n - 1] = k;
    host_writes<<<grid, block>>>(managed, b);
    (void)hipDeviceSynchronize();
    sum += last(b);
  });
  std::printf("host_writes %g\n", sum);
  sum = 0;
  times([&](int k) { (void)hipMemcpyToSymbol(HIP_SYMBOL(offset), &k, 4); symbol<<<grid, block>>>(b); sum += last(b); });
  std::printf("symbol %g\n", sum);
  sum = 0;
  (void)hipMemcpy(table, &a, 8, hipMemcpyHostToDevice);
  times([&](int k) {
    const float x = k;
    (void)hipMemset(a, 0, n * 4);
    (void)hipMemcpy(a + n - 1, &x, 4, hipMemcpyHostToDevice);
    indirect<<<grid, block>>>(table, b);
    sum += last(b);
  });
  std::printf("indirect %g\n", sum);
  times([&](int) { prints<<<grid, block>>>(b); });
  long long before = 0, after = 0; int moved = 0;
  times([&](int) {
    clocks<<<grid, block>>>(ticks);
    (void)hipMemcpy(&after, ticks, 8, hipMemcpyDeviceToHost);
    moved += after > before;
    before = after;
  });
  std::printf("clocks %d\n", moved);
}
