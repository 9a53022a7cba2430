// LDS: static and dynamic, atomics of several types, barriers in loops, wide and narrow accesses.
#include "check.h"

constexpr int kThreads = 192, kGroups = 5;

__global__ void tallies(const int* in, int* counts, int* extremes, unsigned* bits, double* sums, unsigned long long* wide) {
  __shared__ int bins[16], low, high;
  __shared__ unsigned mask;
  __shared__ double sum;
  __shared__ unsigned long long total;
  const int item = threadIdx.x, value = in[blockIdx.x * kThreads + item];
  if (item < 16) bins[item] = 0;
  if (item == 0) low = 1 << 30, high = -(1 << 30), mask = 0, sum = 0, total = 1;
  __syncthreads();
  const int before = atomicAdd(&bins[value & 15], 1);
  atomicMin(&low, value);
  atomicMax(&high, value);
  atomicOr(&mask, 1u << (value & 31));
  atomicAdd(&sum, 0.5 * value);
  atomicAdd(&total, (unsigned long long)value << 20);
  __syncthreads();
  if (item < 16) counts[blockIdx.x * 16 + item] = bins[item];
  if (item == 0) {
    extremes[2 * blockIdx.x] = low;
    extremes[2 * blockIdx.x + 1] = high;
    bits[blockIdx.x] = mask;
    sums[blockIdx.x] = sum;
    wide[blockIdx.x] = total;
  }
  if (before < 0) counts[0] = -1;
}

__global__ void scan(const int* in, int* out) {
  extern __shared__ int row[];
  const int item = threadIdx.x;
  row[item] = in[blockIdx.x * blockDim.x + item];
  for (int step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    const int add = item >= step ? row[item - step] : 0;
    __syncthreads();
    row[item] += add;
  }
  out[blockIdx.x * blockDim.x + item] = row[item];
}

struct alignas(16) Wide {
  double a, b;
};

__global__ void shapes(float* out) {
  __shared__ Wide wide[64];
  __shared__ float3 threes[64];
  __shared__ unsigned char letters[256];
  __shared__ short shorts[64];
  const int i = threadIdx.x;
  wide[i] = Wide{double(i), -2.0 * i};
  threes[i] = make_float3(i, 2 * i, 3 * i);
  letters[4 * i] = (unsigned char)i;
  letters[4 * i + 1] = (unsigned char)(i + 100);
  shorts[i] = short(-i * 3);
  __syncthreads();
  const int other = 63 - i;
  out[i] = float(wide[other].a + wide[other].b) + threes[other].y + letters[4 * other] + letters[4 * other + 1] + shorts[other];
}

int main() {
  Buffer<int> in(kThreads * kGroups), counts(16 * kGroups), extremes(2 * kGroups), scanned(kThreads * kGroups);
  Buffer<unsigned> bits(kGroups);
  Buffer<double> sums(kGroups);
  Buffer<unsigned long long> wide(kGroups);
  for (int i = 0; i < kThreads * kGroups; ++i) in.host[i] = int(i * 2654435761u >> 20) - 1000 * (i % 3);
  in.upload();
  tallies<<<kGroups, kThreads>>>(in.device, counts.device, extremes.device, bits.device, sums.device, wide.device);
  scan<<<kGroups, kThreads, kThreads * sizeof(int)>>>(in.device, scanned.device);
  counts.download(), extremes.download(), bits.download(), sums.download(), wide.download(), scanned.download();
  for (int group = 0; group < kGroups; ++group) {
    int bins[16] = {}, low = 1 << 30, high = -(1 << 30), sum = 0;
    unsigned mask = 0;
    double half = 0;
    unsigned long long total = 1;
    for (int item = 0; item < kThreads; ++item) {
      const int value = in.host[group * kThreads + item];
      ++bins[value & 15];
      low = value < low ? value : low;
      high = value > high ? value : high;
      mask |= 1u << (value & 31);
      half += 0.5 * value;
      total += (unsigned long long)value << 20;
      sum += value;
      expect("scan", group * kThreads + item, scanned.host[group * kThreads + item], sum);
    }
    for (int n = 0; n < 16; ++n) expect("bins", n, counts.host[group * 16 + n], bins[n]);
    expect("low", group, extremes.host[2 * group], low);
    expect("high", group, extremes.host[2 * group + 1], high);
    expect("mask", group, bits.host[group], mask);
    expect("sum", group, sums.host[group], half);
    expect("total", group, wide.host[group] == total, 1);
  }
  Buffer<float> out(64);
  shapes<<<1, 64>>>(out.device);
  out.download();
  for (int i = 0; i < 64; ++i) {
    const int n = 63 - i;
    expect("shapes", i, out.host[i], -n + 2 * n + n + (n + 100) - 3 * n);
  }
  return finish();
}
