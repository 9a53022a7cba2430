// Reduction in shared memory with a stride between the active threads.
#include <cstdio>
#include <vector>

__global__ void reduce(const int* in, int* out, int n) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

int main() {
  const int n = 4000000, threads = 512, blocks = (n + threads - 1) / threads;
  std::vector<int> h(n), o(blocks);
  for (int i = 0; i < n; ++i) h[i] = i % 71;
  int *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, blocks * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  reduce<<<blocks, threads, threads * sizeof(int)>>>(a, b, n);
  cudaMemcpy(o.data(), b, blocks * 4, cudaMemcpyDeviceToHost);
  long s = 0;
  for (int v : o) s += v;
  printf("%ld\n", s);
}
