// Each thread of a block works on a row of its own in shared memory of dynamic size.
#include <cstdio>
#include <vector>

__global__ void polish(const float* in, float* out, int length) {
  extern __shared__ float rows[];
  float* block_in = const_cast<float*>(in) + blockIdx.x * blockDim.x * length;
  for (int i = threadIdx.x; i < (int)blockDim.x * length; i += blockDim.x) rows[i] = block_in[i];
  __syncthreads();
  float carry = 0;
  for (int k = 0; k < length; ++k) {
    carry = 0.5f * carry + rows[threadIdx.x * length + k];
    rows[threadIdx.x * length + k] = carry;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < (int)blockDim.x * length; i += blockDim.x)
    out[blockIdx.x * blockDim.x * length + i] = rows[i];
}

int main() {
  const int length = 64, rows = 4096, n = length * rows;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 41;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  polish<<<rows / 128, 128, 128 * length * sizeof(float)>>>(a, b, length);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
