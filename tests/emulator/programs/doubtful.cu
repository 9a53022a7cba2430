// Accesses that a GPU may make otherwise than the source has them, and some that it may not.
#include <cstdio>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__device__ float grown(float x, int rounds) {
  for (int k = 0; k < rounds; ++k) x = x * 0.999f + 0.25f;
  return x;
}
__device__ float shrunk(float x, int rounds) {
  for (int k = 0; k < rounds; ++k) x = (x - 0.125f) * 0.998f;
  return x;
}
__global__ void two_ways(const float* x, float* y, int rounds) {
  int i = INDEX;
  if (i % 2)
    y[i] = grown(x[i], rounds);
  else
    y[i] = shrunk(x[i], rounds);
}
__global__ void placed(const int* x, int* y, int* count) {
  __shared__ int first;
  if (threadIdx.x == 0) first = atomicAdd(count, 128);
  __syncthreads();
  y[first + threadIdx.x] = x[INDEX];
}
__global__ void summed(const float* x, float* y) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, x[INDEX]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part;
}
__global__ void ragged(const int* ends, const float* x, float* y) {
  float sum = 0;
  for (int k = 0; k < ends[INDEX]; ++k) sum += x[k * 512 + INDEX];
  y[INDEX] = sum;
}
__global__ void even(const float* x, float* y, int rounds) {
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += x[k * 512 + INDEX];
  y[INDEX] = sum;
}
__global__ void along(const float* x, float* y) {
  __shared__ float row[128];
  row[threadIdx.x] = x[INDEX];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum = sum * 0.5f + row[k];
  y[INDEX] = sum;
}
__global__ void records(const float* x, float* y) {
  __shared__ float own[128 * 6];
  for (int k = 0; k < 6; ++k) own[threadIdx.x * 6 + k] = x[k * 512 + INDEX];
  __syncthreads();
  y[INDEX] = own[(threadIdx.x + 1) % 128 * 6];
}
__global__ void scaled(const float* x, float* y, int rounds) {
  __shared__ float scale;
  if (threadIdx.x == 0) scale = x[blockIdx.x];
  __syncthreads();
  for (int k = 0; k < rounds; ++k) y[k * 512 + INDEX] = x[k * 512 + INDEX] * scale;
}
int main() {
  float *x, *y;
  int *ends, *count, *to, hosts[512];
  cudaMalloc(&x, 16 * 512 * 4);
  cudaMalloc(&y, 16 * 512 * 4);
  cudaMalloc(&ends, 512 * 4);
  cudaMalloc(&to, 512 * 4);
  cudaMalloc(&count, 4);
  cudaMemset(x, 0, 16 * 512 * 4);
  cudaMemset(count, 0, 4);
  for (int i = 0; i < 512; ++i) hosts[i] = i * 7 % 15;
  cudaMemcpy(ends, hosts, 512 * 4, cudaMemcpyHostToDevice);
  two_ways<<<4, 128>>>(x, y, 16);
  placed<<<4, 128>>>(ends, to, count);
  summed<<<4, 128>>>(x, y);
  ragged<<<4, 128>>>(ends, x, y);
  even<<<4, 128>>>(x, y, 16);
  along<<<4, 128>>>(x, y);
  records<<<4, 128>>>(x, y);
  scaled<<<4, 128>>>(x, y, 16);
  printf("%d\n", cudaDeviceSynchronize());
}
