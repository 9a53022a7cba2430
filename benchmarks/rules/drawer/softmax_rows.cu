// Softmax of each row in place, three passes over the row.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) do { if ((call) != cudaSuccess) { printf("failed\n"); exit(1); } } while (0)

__device__ float warpSum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

__device__ float warpMax(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}

__global__ void softmax(float* data, int n, int width)
{
    const int row = (threadIdx.x + blockIdx.x * blockDim.x) / 32, lane = threadIdx.x % 32;
    if (row < n)
    {
        float biggest = -INFINITY;
        for (int c = lane; c < width; c += 32)
            biggest = fmaxf(biggest, data[row * width + c]);
        biggest = warpMax(biggest);
        float total = 0.f;
        for (int c = lane; c < width; c += 32)
        {
            float e = expf(data[row * width + c] - biggest);
            data[row * width + c] = e;
            total += e;
        }
        total = warpSum(total);
        for (int c = lane; c < width; c += 32)
            data[row * width + c] /= total;
    }
}

int main()
{
    const int n = 1024, width = 384;
    float* h = (float*)malloc(n * width * sizeof(float));
    for (int i = 0; i < n * width; i++) h[i] = (float)((i * 7919) % 1000) / 250.f;
    float* d;
    CHECK(cudaMalloc(&d, n * width * sizeof(float)));
    CHECK(cudaMemcpy(d, h, n * width * sizeof(float), cudaMemcpyHostToDevice));
    dim3 threads(128);
    dim3 blocks((n * 32 + threads.x - 1) / threads.x);
    softmax<<<blocks, threads>>>(d, n, width);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h, d, n * width * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0, weighted = 0;
    for (int i = 0; i < n * width; i++) { sum += h[i]; weighted += h[i] * (i % 13); }
    printf("%.2f %.1f\n", sum, weighted);
    free(h);
}
