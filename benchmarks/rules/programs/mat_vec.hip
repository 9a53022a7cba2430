// Matrix times vector in the style of C.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1024

__global__ void matvec(float *A, float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j;

    if (i < N) {
        y[i] = 0;
        for (j = 0; j < N; j++)
            y[i] += A[i * N + j] * x[j];
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
    hipLaunchKernelGGL(matvec, N / 256, 256, 0, 0, A, x, y);
    hipMemcpy(hx, y, N * sizeof(float), hipMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < N; i++) s += hx[i];
    printf("%.0f\n", s);
    return 0;
}
