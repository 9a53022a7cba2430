// Parts of blocks, and the last block to end adds them up. ./app [count] [kind] [repeats]
#include "zoo.h"

__device__ unsigned int tickets;

__global__ void total(const float* in, float* parts, float* out, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    __threadfence();
    float sum = 0.0f;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
    *out = sum;
    tickets = 0;
  }
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 9000);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  const int repeats = zoo::number(argc, argv, 3, 2), blocks = (n + 255) / 256;
  float *parts = zoo::device<float>(blocks), *out = zoo::device<float>(1);
  for (int r = 0; r < repeats; ++r) {
    const std::vector<float> in = zoo::floats(n, kind, 1 + r);
    total<<<blocks, 256>>>(zoo::device(in), parts, out, n);
    double exact = 0;
    for (float v : in) exact += v;
    zoo::check("total", zoo::host(out, 1), {exact}, 1e-5);
  }
  return zoo::failed;
}
