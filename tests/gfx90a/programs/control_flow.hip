// Divergence: loops of different lengths, nested conditions, switches, calls, recursion, function pointers.
#include "check.h"

constexpr int kCount = 640;

__host__ __device__ inline int collatz(unsigned n) {
  int steps = 0;
  while (n != 1 && steps < 500) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

__host__ __device__ inline int nested(int i) {
  int result = 0;
  if (i & 1) {
    if (i & 2) {
      result = 7;
      for (int k = 0; k < i % 5; ++k) {
        if (k == 3) break;
        if (k & 1) continue;
        result += k * i;
      }
    } else {
      result = -i;
    }
  } else if (i % 3 == 0) {
    do {
      result += i--;
    } while (i % 7);
  }
  return result;
}

__host__ __device__ inline int switched(int i) {
  switch (i % 11) {
    case 0: return 5 * i;
    case 1: return i ^ 0x55;
    case 2: return i << 3;
    case 3: return -i;
    case 4: return i * i;
    case 5: return i / 3;
    case 6: return i % 3 + 100;
    case 7: return 1 - i;
    case 8: return i | 0xF00;
    default: return 42;
  }
}

struct Settings {
  double scale;
  int offset[3];
  short small;
  char letter;
};

__host__ __device__ __attribute__((noinline)) double called(const Settings& settings, int i) {
  return settings.scale * i + settings.offset[i % 3] + settings.small - settings.letter;
}

__host__ __device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __attribute__((noinline)) int twice(int x) { return 2 * x; }
__device__ __attribute__((noinline)) int plus_nine(int x) { return x + 9; }

__global__ void flows(int* steps, int* conditions, int* cases, double* calls, Settings settings, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  steps[i] = collatz(i + 1);
  conditions[i] = nested(i);
  cases[i] = switched(i);
  calls[i] = called(settings, i);
}

__global__ void deep(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 11); }

__global__ void pointers(int* out) {
  int (*const function)(int) = threadIdx.x % 3 ? twice : plus_nine;
  out[threadIdx.x] = function(threadIdx.x);
}

int main() {
  Buffer<int> steps(kCount), conditions(kCount), cases(kCount), shallow(64), pointed(64);
  Buffer<double> calls(kCount);
  const Settings settings{1.25, {3, -4, 500}, -7, 'k'};
  const int used = kCount - 45;
  flows<<<(used + 95) / 96, 96>>>(steps.device, conditions.device, cases.device, calls.device, settings, used);
  deep<<<1, 64>>>(shallow.device);
  pointers<<<1, 64>>>(pointed.device);
  steps.download(), conditions.download(), cases.download(), calls.download(), shallow.download(), pointed.download();
  for (int i = 0; i < kCount; ++i) {
    expect("loop", i, steps.host[i], i < used ? collatz(i + 1) : 0);
    expect("nested", i, conditions.host[i], i < used ? nested(i) : 0);
    expect("switch", i, cases.host[i], i < used ? switched(i) : 0);
    expect("call", i, calls.host[i], i < used ? called(settings, i) : 0, 1e-15);
  }
  for (int i = 0; i < 64; ++i) {
    expect("recursion", i, shallow.host[i], fibonacci(i % 11));
    expect("pointer", i, pointed.host[i], i % 3 ? 2 * i : i + 9);
  }
  return finish();
}
