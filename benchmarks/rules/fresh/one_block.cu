// An axpy and a norm by one block each, then an average over a window.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void saxpy_one_block(float a, const float *x, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}

__global__ void norm_one_block(const float *x, float *out, int n) {
    __shared__ float s[256];
    float acc = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) acc += x[i] * x[i];
    s[threadIdx.x] = acc;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = s[0];
}

__global__ void moving_average(float *in, float *out, int *width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + *width <= n) {
        out[i] = 0;
        for (int k = 0; k < *width; k++) out[i] += in[i + k];
        out[i] /= *width;
    }
}

int main() {
    int n = 200000;
    std::vector<float> h(n);
    srand(17);
    for (auto &v : h) v = rand() % 100;
    float *x, *y, *r; int *w;
    cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&r, 4); cudaMalloc(&w, 4);
    cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice);
    int width = 16; cudaMemcpy(w, &width, 4, cudaMemcpyHostToDevice);
    saxpy_one_block<<<1, 256>>>(2.0f, x, y, n);
    norm_one_block<<<1, 256>>>(y, r, n);
    moving_average<<<(n + 255) / 256, 256>>>(y, x, w, n);
    float f; cudaMemcpy(&f, r, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(h.data(), x, n * 4, cudaMemcpyDeviceToHost);
    double s = 0; for (auto v : h) s += v;
    printf("%.0f %.3f\n", f, s);
}
