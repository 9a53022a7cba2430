// Atomics, divergence, loops, calls, private arrays, flat addresses, values that scalar instructions load.
#include <hip/hip_runtime.h>

__global__ void histogram(unsigned* bins, const unsigned* keys, int count) {
  __shared__ unsigned own[32];
  if (threadIdx.x < 32) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&own[keys[i] % 32], 1u);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void exchanges(unsigned* bins, unsigned long long* wide, const unsigned* keys, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned old = atomicMax(&bins[keys[i] % 7], keys[i]);
  atomicCAS(&bins[8 + old % 3], old, old + 1);
  atomicAdd(&wide[i % 5], static_cast<unsigned long long>(old));
  atomicExch(&bins[16 + i % 9], old);
}

__global__ void float_sums(float* sums, double* wide, const float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  atomicAdd(&sums[i % 3], values[i]);
  atomicAdd(&wide[i % 2], static_cast<double>(values[i]));
  atomicAdd(&sums[4], values[i]);
}

__global__ void divergent(int* out, const int* in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int value = in[i];
  if (value & 1) {
    for (int k = 0; k < (value & 7); ++k) out[i] += in[(i + k * 17) % count];
  } else if (value & 2) {
    out[i] = in[count - 1 - i];
  } else {
    int sum = 0;
    while (value > 0) {
      sum += in[(value * 31) % count];
      value /= 3;
      if (sum % 11 == 3) break;
    }
    out[i] = sum;
  }
}

__global__ void unrolled(float* out, const float* in) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += in[threadIdx.x * 8 + k];
  out[threadIdx.x] = sum;
}

__global__ void loops(float* out, const float* in, int count) {
  float sum = 0;
  for (int k = threadIdx.x; k < count; k += blockDim.x) sum += in[k] * in[(k * 3) % count];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void own_array(int* out, const int* in, int count) {
  int own[40];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 40; ++k) own[k] = in[(i + k) % count];
  for (int k = 0; k < 40; ++k) own[(own[k] + k) % 40] += k;
  out[i] = own[in[i % count] % 40];
}

__device__ __noinline__ float pair_at(const float* values, int i) { return values[i * 2] + values[i * 2 + 1]; }

__global__ void calls(float* out, const float* in) {
  out[threadIdx.x] = pair_at(in, threadIdx.x) * pair_at(in, 255 - threadIdx.x);
}

__global__ void either_memory(float* out, const float* in, int border) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  const float* from = t % 64 < border ? static_cast<const float*>(tile) : in;
  out[t] = from[127 - t];
}

__global__ void same_for_all(float* out, const float* in, const int* table, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += in[table[k]] * in[i];
  out[i] = sum;
}

__global__ void dynamic_lds(float* out) {
  extern __shared__ float some[];
  const int t = threadIdx.x;
  some[t * 2] = out[t];
  __syncthreads();
  out[t] = some[(t * 2 + 64) % 256];
}

__global__ void volume(float* out, const float* in) {
  const int group = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[group * 96 + t] = in[group * 96 + 95 - t];
}

template <class T>
T* fresh() {
  constexpr int kBytes = 4 * 8192;
  static int values[8192];
  for (unsigned i = 0; i < 8192; ++i) values[i] = (i * 2654435761u >> 7) % 997;
  T* made = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&made), kBytes) != hipSuccess) return nullptr;
  return hipMemcpy(made, values, kBytes, hipMemcpyHostToDevice) == hipSuccess ? made : nullptr;
}

int main() {
  constexpr int kCount = 1000;
  int *in = fresh<int>(), *out = fresh<int>();
  float *floats = fresh<float>(), *sums = fresh<float>();
  unsigned *keys = fresh<unsigned>(), *bins = fresh<unsigned>();
  histogram<<<4, 256>>>(bins, keys, kCount);
  exchanges<<<4, 256>>>(bins, fresh<unsigned long long>(), keys, kCount);
  float_sums<<<4, 256>>>(sums, fresh<double>(), floats, kCount);
  divergent<<<4, 256>>>(out, in, kCount);
  unrolled<<<1, 256>>>(sums, floats);
  loops<<<2, 128>>>(sums, floats, kCount);
  own_array<<<2, 128>>>(out, in, kCount);
  calls<<<1, 256>>>(sums, floats);
  either_memory<<<1, 128>>>(sums, floats, 20);
  same_for_all<<<2, 64>>>(sums, floats, in, 10);
  dynamic_lds<<<1, 128, 1024>>>(sums);
  volume<<<dim3(2, 3, 2), dim3(8, 4, 3)>>>(sums, floats);
  return hipDeviceSynchronize() != hipSuccess;
}
