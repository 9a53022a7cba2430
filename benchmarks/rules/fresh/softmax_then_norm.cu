// A softmax with a row per thread, then a layer norm with a row per block.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

// one thread handles one row
__global__ void softmax_rows(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float m = -INFINITY;
    for (int c = 0; c < cols; c++) {
        if (in[row * cols + c] > m) m = in[row * cols + c];
    }
    float sum = 0.0f;
    for (int c = 0; c < cols; c++) {
        out[row * cols + c] = expf(in[row * cols + c] - m);
        sum += out[row * cols + c];
    }
    for (int c = 0; c < cols; c++) {
        out[row * cols + c] /= sum;
    }
}

// layer norm, one block per row
__global__ void layernorm(const float *x, const float *gamma, const float *beta, float *y, int cols) {
    __shared__ float s[256];
    int row = blockIdx.x;
    int t = threadIdx.x;
    float sum = 0;
    for (int c = t; c < cols; c += blockDim.x) sum += x[row * cols + c];
    s[t] = sum;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0) s[t] += s[t + stride];
        __syncthreads();
    }
    float mean = s[0] / cols;
    __syncthreads();
    float var = 0;
    for (int c = t; c < cols; c += blockDim.x) var += (x[row * cols + c] - mean) * (x[row * cols + c] - mean);
    s[t] = var;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0) s[t] += s[t + stride];
        __syncthreads();
    }
    float rstd = rsqrtf(s[0] / cols + 1e-5f);
    for (int c = t; c < cols; c += blockDim.x)
        y[row * cols + c] = (x[row * cols + c] - mean) * rstd * gamma[c] + beta[c];
}

int main() {
    const int rows = 2048, cols = 512;
    std::vector<float> h(rows * cols), g(cols), b(cols);
    srand(1);
    for (auto &v : h) v = rand() / (float)RAND_MAX * 4 - 2;
    for (int i = 0; i < cols; i++) { g[i] = 1 + i * 0.001f; b[i] = 0.1f; }
    float *x, *p, *y, *dg, *db;
    cudaMalloc(&x, rows * cols * 4); cudaMalloc(&p, rows * cols * 4); cudaMalloc(&y, rows * cols * 4);
    cudaMalloc(&dg, cols * 4); cudaMalloc(&db, cols * 4);
    cudaMemcpy(x, h.data(), rows * cols * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dg, g.data(), cols * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), cols * 4, cudaMemcpyHostToDevice);
    softmax_rows<<<(rows + 255) / 256, 256>>>(x, p, rows, cols);
    layernorm<<<rows, 256>>>(p, dg, db, y, cols);
    cudaMemcpy(h.data(), y, rows * cols * 4, cudaMemcpyDeviceToHost);
    double s = 0; for (auto v : h) s += v;
    printf("%.4f\n", s);
    return 0;
}
