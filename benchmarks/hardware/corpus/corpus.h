// What the programs of the corpus share: inputs, expected outputs, and the timing of each variant.
//
//   ./FAMILY [A [B]]           runs every variant once, names it and checks what it leaves in memory
//   AGAIN=1 ./FAMILY …         runs each twice: the second time it is "warm", see below
//   REPEATS=15 ./FAMILY …      also times each: one line of JSON per variant, in nanoseconds of the kernel itself
//
// "cold" follows a read of 256 MiB, which leaves nothing of use in the L2 and no dirty lines; "warm" follows the same
// kernel. Durations are CUPTI's activity records (build with -DMEASURED and -lcupti). A variant launches one kernel.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>
#ifdef MEASURED
#include <cupti.h>

#include <cstring>
#endif

#define CHECK(call)                                                                             \
  do {                                                                                          \
    if (cudaError_t status = (call)) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));      \
      std::exit(2);                                                                             \
    }                                                                                           \
  } while (0)

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#ifdef MEASURED
namespace activity {
inline std::vector<double>& durations() {
  static std::vector<double> all;
  return all;
}
inline void CUPTIAPI offer(uint8_t** buffer, size_t* size, size_t* records) {
  *size = 1 << 20, *records = 0;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
}
inline void CUPTIAPI take(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    if (!std::strstr(kernel->name, "evict")) durations().push_back(double(kernel->end - kernel->start));
  }
  std::free(buffer);
}
inline void begin() {
  cuptiActivityRegisterCallbacks(offer, take);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}
inline std::vector<double> collect() {
  CHECK(cudaDeviceSynchronize());
  cuptiActivityFlushAll(0);
  return std::move(durations());
}
}  // namespace activity

__global__ void evict(const float4* memory, float* sink, int count) {
  float sum = 0;
  for (int i = INDEX; i < count; i += gridDim.x * blockDim.x) sum += memory[i].x;
  if (sum == 12345) *sink = sum;
}
#endif

// The same numbers in 0 … 2^24 - 1 everywhere.
__host__ __device__ inline unsigned noise(unsigned i) {
  i = (i ^ 61) ^ (i >> 16);
  i *= 9;
  i = (i ^ (i >> 4)) * 0x27d4eb2du;
  return (i ^ (i >> 15)) & 0xFFFFFF;
}

class Corpus {
 public:
  Corpus(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) arguments_.push_back(std::atoi(argv[i]));
    if (const char* text = std::getenv("REPEATS")) repeats_ = std::atoi(text);
    again_ = std::getenv("AGAIN") != nullptr;
#ifdef MEASURED
    activity::begin();
    CHECK(cudaMalloc(&evicted_, kEvicted));
    CHECK(cudaMemset(evicted_, 0, kEvicted));
#endif
  }

  int argument(size_t position, int otherwise) const {
    return position < arguments_.size() ? arguments_[position] : otherwise;
  }

  template <class T>
  T* input(const std::vector<T>& values) {
    T* device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
  }

  // Zero before each launch, and `expected` after it but for a relative `tolerance`.
  template <class T>
  T* output(const std::vector<T>& expected, double tolerance = 0) {
    return checked<T>(expected.size(), [=](const std::vector<T>& found) {
      for (size_t i = 0; i < found.size(); ++i)
        if (!(std::abs(double(found[i]) - double(expected[i])) <= tolerance * (1 + std::abs(double(expected[i])))))
          return std::to_string(i) + ": " + std::to_string(found[i]) + " for " + std::to_string(expected[i]);
      return std::string();
    });
  }

  // Zero before each launch; `wrong` says what is wrong with what is there after it.
  template <class T>
  T* checked(size_t count, std::function<std::string(const std::vector<T>&)> wrong) {
    T* device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    resets_.push_back([=] { CHECK(cudaMemset(device, 0, count * sizeof(T))); });
    checks_.push_back([=] {
      std::vector<T> found(count);
      CHECK(cudaMemcpy(found.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
      return wrong(found);
    });
    return device;
  }

  void variant(const char* name, const std::function<void()>& launch) {
    run(launch, false);
    if (again_) run(launch, false);
    CHECK(cudaDeviceSynchronize());
    for (const auto& check : checks_) {
      const std::string fault = check();
      if (fault.empty()) continue;
      std::fprintf(stderr, "%s: wrong at %s\n", name, fault.c_str());
      failed_ = true;
    }
    repeats_ ? time(name, launch) : void(std::puts(name));
  }

  int end() const { return failed_; }

 private:
  void run(const std::function<void()>& launch, bool cold) {
    for (const auto& reset : resets_) reset();
#ifdef MEASURED
    if (cold) evict<<<1056, 256>>>(evicted_, nullptr, kEvicted / sizeof(float4));
#endif
    launch();
    CHECK(cudaGetLastError());
  }

#ifdef MEASURED
  void time(const char* name, const std::function<void()>& launch) {
    activity::collect();
    std::printf("{\"variant\": \"%s\"", name);
    for (const bool cold : {true, false}) {
      for (int i = 0; i < repeats_; ++i) run(launch, cold);
      std::printf(", \"%s\": [", cold ? "cold" : "warm");
      const auto spent = activity::collect();
      for (size_t i = 0; i < spent.size(); ++i) std::printf("%s%.0f", i ? ", " : "", spent[i]);
      std::printf("]");
    }
    std::printf("}\n");
  }
  static constexpr size_t kEvicted = size_t(256) << 20;
  float4* evicted_;
#else
  void time(const char*, const std::function<void()>&) {
    std::fputs("REPEATS needs a build with -DMEASURED\n", stderr);
    std::exit(2);
  }
#endif

  std::vector<int> arguments_;
  int repeats_ = 0;
  bool again_ = false, failed_ = false;
  std::vector<std::function<void()>> resets_;
  std::vector<std::function<std::string()>> checks_;
};

// `count` values in 0 … 1.
inline std::vector<float> floats(size_t count, unsigned seed = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(noise(unsigned(i) * 2 + seed)) / 0x1000000;
  return values;
}

template <class T, class F>
std::vector<T> made(size_t count, F value) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = T(value(i));
  return values;
}

__device__ inline float warp_sum(float value) {
  for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xFFFFFFFF, value, step);
  return value;
}

// The sum over the block, in thread 0.
__device__ inline float block_sum(float value) {
  __shared__ float parts[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
  return threadIdx.x < 32 ? warp_sum(value) : 0;
}
