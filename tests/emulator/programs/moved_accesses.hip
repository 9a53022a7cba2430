// Accesses that the optimiser moves or merges. Every line with one says which: // at: <kind> <name>
#include <hip/hip_runtime.h>

#include <cstdio>

#define INDEX int x = blockIdx.x * blockDim.x + threadIdx.x
#define ELEMENT(p, i) ((p)[(i)])

__global__ void both_ways(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o, int n,
                          int c) {
  INDEX;
  int y = blockIdx.y;
  float s = b[y * n];  // at: load both_ways start
  for (int i = 0; i < n; ++i)
    if (c < i)
      s += a[x * n + i];  // at: load both_ways row
    else
      s -= a[x * n + i];  // at: load both_ways other row
  o[x] = s;  // at: store both_ways result
}

__global__ void hoisted(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o, int n) {
  INDEX;
  for (int i = 0; i < n; ++i)
    o[i * n + x] = a[i * n + x] *  // at: load hoisted moving
                   b[x];           // at: load hoisted still
}

__global__ void sunk(const float* __restrict__ a, float* __restrict__ o, int n) {
  INDEX;
  for (int i = 0; i < n; ++i)
    o[x] +=             // at: store sunk sum
        a[i * n + x];   // at: load sunk term
}

__global__ void merged_tail(const float* a, float* o) {
  INDEX;
  if (a[x] > 0) {  // at: load merged_tail test
    o[x] = 3;  // at: store merged_tail one
  } else {
    o[x] = 2;  // at: store merged_tail other
  }
}

__global__ void runs_once(const float* __restrict__ a, float* __restrict__ o, int n, int c) {
  INDEX;
  float t = 0;
  for (int j = 0; j < 1; ++j) {
    for (int i = 0; i < n; ++i) t += a[i * n + x] *  // at: load runs_once moving
                                     a[c];           // at: load runs_once still
    o[x * 4 + j] = t;  // at: store runs_once result
  }
}

__device__ float pick(const float* p, int i, bool as_it_is) {
  if (as_it_is)
    return p[i];  // at: load calls one
  return 1 - p[i];  // at: load calls other
}

__global__ void calls(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o, int n) {
  INDEX;
  float s = 0;
  for (int i = 0; i < n; ++i) {
    s += pick(a, x, i & 1);
    s *= pick(b, x, i & 2);
  }
  o[x] = s;
}

__global__ void macros(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o, int n) {
  INDEX;
  for (int i = 0; i < n; ++i)
    o[i * n + x] = ELEMENT(a, x) +     // at: load macros one
                   ELEMENT(b, x + 1);  // at: load macros other
}

template <typename T, int N>
struct Window {
  const T* from;
  __device__ T at(int i) const {
    return from[i % N];  // at: load templates element
  }
};

__global__ void templates(const float* __restrict__ a, const double* __restrict__ b, float* __restrict__ o, int n) {
  INDEX;
  for (int i = 0; i < n; ++i)
    o[i * n + x] = Window<float, 64>{a}.at(x) + Window<double, 32>{b}.at(x);
}

__global__ void vectors(const float4* __restrict__ a, float* __restrict__ o, int n) {
  INDEX;
  for (int i = 0; i < n; ++i) {
    float4 v = a[x];  // at: load vectors whole
    o[i * n + x] = v.x * i + v.y + v.z - v.w;
  }
}

__global__ void structures(const int2* __restrict__ a, int* __restrict__ o, int n, int c) {
  INDEX;
  int2 sum{0, 0};
  for (int i = 0; i < n; ++i) {
    int2 v = c ? a[x] : a[x + 1];
    sum.x += v.x * i;
    sum.y ^= v.y;
  }
  o[x] = sum.x + sum.y;
}

__global__ void queue(float* o, const int* c, int n) {
  INDEX;
  for (int i = 0; i < n; ++i)
    if (c[i])
      atomicAdd(o + x, 1.0f);  // at: reduction queue one
    else
      atomicAdd(o + x, 2.0f);
}

int main() {
  const int n = 64, bytes = n * n * 16 + 4096;
  void *a, *b, *o;
  hipMalloc(&a, bytes);
  hipMalloc(&b, bytes);
  hipMalloc(&o, bytes);
  hipMemset(a, 0, bytes);
  hipMemset(b, 0, bytes);
  hipMemset(o, 0, bytes);
  auto fa = static_cast<float*>(a), fb = static_cast<float*>(b), fo = static_cast<float*>(o);
  both_ways<<<1, n>>>(fa, fb, fo, n, 3);
  hoisted<<<1, n>>>(fa, fb, fo, n);
  sunk<<<1, n>>>(fa, fo, n);
  merged_tail<<<1, n>>>(fa, fo);
  runs_once<<<1, n>>>(fa, fo, n, 3);
  calls<<<1, n>>>(fa, fb, fo, n);
  macros<<<1, n>>>(fa, fb, fo, n);
  templates<<<1, n>>>(fa, static_cast<double*>(b), fo, n);
  vectors<<<1, n>>>(static_cast<float4*>(a), fo, n);
  structures<<<1, n>>>(static_cast<int2*>(a), static_cast<int*>(o), n, 1);
  queue<<<1, n>>>(fo, static_cast<int*>(a), n);
  std::printf("%d\n", hipDeviceSynchronize() == hipSuccess);
}
