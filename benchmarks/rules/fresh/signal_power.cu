// The power of a complex signal, one atomic per sample.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#include <cuComplex.h>
__global__ void power(const cuFloatComplex *in, float *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (; i < n; i += step) {
        cuFloatComplex v = in[i];
        atomicAdd(total, v.x * v.x + v.y * v.y);
    }
}
int main() {
    int n = 524288;
    std::vector<cuFloatComplex> c(n);
    srand(9);
    for (auto &v : c) v = make_cuFloatComplex(rand() % 20, rand() % 20);
    cuFloatComplex *dc; float *dr;
    cudaMalloc(&dc, n * 8); cudaMalloc(&dr, 8);
    cudaMemcpy(dc, c.data(), n * 8, cudaMemcpyHostToDevice);
    cudaMemset(dr, 0, 8);
    power<<<64, 256>>>(dc, dr + 1, n);
    float r[2];
    cudaMemcpy(r, dr, 8, cudaMemcpyDeviceToHost);
    printf("%.0f %.0f\n", r[0] / 1000, r[1] / 1e6);
}
