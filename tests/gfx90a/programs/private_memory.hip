// Scratch: arrays indexed at run time, spilled registers, addresses of locals passed on, large structures.
#include "check.h"

constexpr int kCount = 320;

struct Record {
  double numbers[9];
  int tags[5];
};

__host__ __device__ inline int permuted(int seed) {
  int order[32];
  for (int n = 0; n < 32; ++n) order[n] = n;
  for (int n = 31; n > 0; --n) {
    seed = seed * 1103515245 + 12345;
    const int other = (seed >> 16 & 0x7FFF) % (n + 1), kept = order[n];
    order[n] = order[other];
    order[other] = kept;
  }
  int sum = 0;
  for (int n = 0; n < 32; ++n) sum = sum * 31 + order[n];
  return sum;
}

__host__ __device__ __attribute__((noinline)) void fill(Record* record, int seed) {
  for (int n = 0; n < 9; ++n) record->numbers[n] = seed * 0.5 + n;
  for (int n = 0; n < 5; ++n) record->tags[n] = seed ^ n;
}

__host__ __device__ inline double summed(int seed) {
  Record record;
  fill(&record, seed);
  char letters[16];
  for (int n = 0; n < 16; ++n) letters[n] = char(seed + n);
  return record.numbers[seed % 9] + record.tags[seed % 5] + letters[seed % 16];
}

__host__ __device__ inline float pressed(float start) {
  float values[96];
  float x = start;
#pragma unroll
  for (int n = 0; n < 96; ++n) values[n] = x = x * 0.875f + float(n);
  float sum = 0;
#pragma unroll
  for (int n = 0; n < 96; ++n) sum += values[n] * values[95 - n];
  return sum;
}

__global__ void arrays(int* orders, double* records) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  orders[i] = permuted(i);
  records[i] = summed(i);
}

__global__ __launch_bounds__(1024) void pressure(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = pressed(float(i));
}

__global__ void where(const int* index, int* out) {
  __shared__ int shared[64];
  int mine[64];
  const int i = threadIdx.x;
  for (int n = 0; n < 64; ++n) mine[n] = n * 3 + i;
  shared[i] = -i;
  __syncthreads();
  const int* place = index[i] % 3 == 0 ? mine : index[i] % 3 == 1 ? shared : index;
  out[i] = place[index[i] % 64];
}

int main() {
  Buffer<int> orders(kCount), index(64), out(64);
  Buffer<double> records(kCount);
  Buffer<float> pressures(kCount);
  arrays<<<kCount / 64, 64>>>(orders.device, records.device);
  pressure<<<kCount / 160, 160>>>(pressures.device);
  for (int i = 0; i < 64; ++i) index.host[i] = i * 7;
  index.upload();
  where<<<1, 64>>>(index.device, out.device);
  orders.download(), records.download(), pressures.download(), out.download();
  for (int i = 0; i < kCount; ++i) {
    expect("array", i, orders.host[i], permuted(i));
    expect("record", i, records.host[i], summed(i));
    expect("pressure", i, pressures.host[i], pressed(float(i)), 1e-5);
  }
  for (int i = 0; i < 64; ++i) {
    const int n = index.host[i] % 64, kind = index.host[i] % 3;
    expect("generic", i, out.host[i], kind == 0 ? n * 3 + i : kind == 1 ? -n : index.host[n]);
  }
  return finish();
}
