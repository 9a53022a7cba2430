// What nvcc makes of it, and what NVIDIA's caches keep: the L1 of a block's stores, against the same in LDS, the L2 of what came before a launch.
#include <cstdio>

__global__ void exchanged_in_memory(float* y) {
  float* own = y + blockIdx.x * 256;
  own[threadIdx.x] = float(threadIdx.x);
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const float other = own[threadIdx.x ^ step];
    __syncthreads();
    own[threadIdx.x] = other + 1;
  }
}

__global__ void exchanged_in_lds(float* y) {
  __shared__ float own[256];
  own[threadIdx.x] = float(threadIdx.x);
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const float other = own[threadIdx.x ^ step];
    __syncthreads();
    own[threadIdx.x] = other + 1;
  }
  y[blockIdx.x * 256 + threadIdx.x] = own[threadIdx.x];
}

__global__ void summed(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  y[threadIdx.x] = sum;
}

__global__ void walked(const int* zeros, int* y, int n) {
  int at = 0;
  while (at < n) at += 8 + zeros[at];
  y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void nothing() {}

template <class Value>
__global__ void counted_up(const Value* x, int* y, int n) {
  for (int k = 0; k < n; ++k) y[k * blockDim.x + threadIdx.x] = int(x[threadIdx.x]) + k;
}

template <bool kPower>
__global__ void squared(double* x) {
  double& own = x[blockIdx.x * blockDim.x + threadIdx.x];
  own = kPower ? pow(own, 2.0) : own * own;
}

template <class Launch>
static void timed(const char* name, Launch launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  cudaEventRecord(begin);
  launch();
  cudaEventRecord(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%s %.9f\n", name, milliseconds);
}

int main() {
  constexpr int blocks = 128;
  float* y;
  cudaMalloc(&y, blocks * 256 * sizeof(float));
  timed("exchanged_in_memory", [&] { exchanged_in_memory<<<blocks, 256>>>(y); });
  timed("exchanged_in_lds", [&] { exchanged_in_lds<<<blocks, 256>>>(y); });

  constexpr size_t n = 65536, large = size_t(64) << 20;
  float *x, *others;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&others, large);
  cudaMemset(x, 0, n * sizeof(float));
  timed("summed_after_fill", [&] { summed<<<1, 256>>>(x, y, n); });
  cudaMemset(others, 0, large);
  timed("summed_after_others", [&] { summed<<<1, 256>>>(x, y, n); });
  timed("summed_after_itself", [&] { summed<<<1, 256>>>(x, y, n); });
  summed<<<1, 256>>>(x, y, 2048);
  timed("summed_after_a_part", [&] { summed<<<1, 256>>>(x, y, n); });

  const int* zeros = reinterpret_cast<const int*>(x);
  int* ends = reinterpret_cast<int*>(y);
  for (int blocks : {1, 96}) {
    cudaMemset(others, 0, large);
    timed(blocks == 1 ? "walked_by_one" : "walked_by_all", [&] { walked<<<blocks, 32>>>(zeros, ends, 8192); });
  }
  cudaMemset(others, 0, large);
  timed("loaded", [&] { nothing<<<1, 32>>>(); });
  timed("started", [&] { walked<<<1, 32>>>(zeros, ends, 0); });
  timed("started_again", [&] { walked<<<1, 32>>>(zeros, ends, 0); });

  int* counts;
  cudaMalloc(&counts, 100 * 256 * sizeof(int));
  timed("types_alike", [&] { counted_up<<<1, 256>>>(zeros, counts, 100); });
  timed("types_apart", [&] { counted_up<<<1, 256>>>(x, counts, 100); });
  double* many = reinterpret_cast<double*>(others);
  timed("squared", [&] { squared<false><<<2048, 256>>>(many); });
  timed("squared_by_power", [&] { squared<true><<<2048, 256>>>(many); });
  return 0;
}
