// Matrix times vector in the style of C.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1024

__device__ float waveSum(float v) {
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  return v;
}

__global__ void matvec(float *A, float *x, float *y)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    int j;

    if (i < N) {
        float s = 0;
        for (j = lane; j < N; j += warpSize) s += A[i * N + j] * x[j];
        s = waveSum(s);
        if (lane == 0) y[i] = s;
    }
}

int main()
{
    float *A, *x, *y;
    float *hA = (float *)malloc(N * N * sizeof(float)), *hx = (float *)malloc(N * sizeof(float));
    for (int i = 0; i < N * N; i++) hA[i] = (i % 17) / 8.0f;
    for (int i = 0; i < N; i++) hx[i] = (i % 5) / 4.0f;
    hipMalloc((void **)&A, N * N * sizeof(float));
    hipMalloc((void **)&x, N * sizeof(float));
    hipMalloc((void **)&y, N * sizeof(float));
    hipMemcpy(A, hA, N * N * sizeof(float), hipMemcpyHostToDevice);
    hipMemcpy(x, hx, N * sizeof(float), hipMemcpyHostToDevice);
    hipLaunchKernelGGL(matvec, N * 64 / 256, 256, 0, 0, A, x, y);
    hipMemcpy(hx, y, N * sizeof(float), hipMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < N; i++) s += hx[i];
    printf("%.0f\n", s);
    return 0;
}
