// A product and a transpose through square tiles in LDS.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define TILE 32

__global__ void transpose_tile(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// C = A * B^T
__global__ void matmul_nt(const float *A, const float *B, float *C, int n) {
    __shared__ float As[TILE * TILE];
    __shared__ float Bs[TILE * TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        As[ty * TILE + tx] = A[row * n + k0 + tx];
        Bs[ty * TILE + tx] = B[(blockIdx.x * TILE + ty) * n + k0 + tx];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty * TILE + k] * Bs[tx * TILE + k];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

int main() {
    int n = 256;
    std::vector<float> a(n * n), b(n * n);
    srand(13);
    for (auto &v : a) v = rand() % 10 - 5;
    for (auto &v : b) v = rand() % 10 - 5;
    float *A, *B, *C;
    cudaMalloc(&A, n * n * 4); cudaMalloc(&B, n * n * 4); cudaMalloc(&C, n * n * 4);
    cudaMemcpy(A, a.data(), n * n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b.data(), n * n * 4, cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE), grid(n / TILE, n / TILE);
    matmul_nt<<<grid, block>>>(A, B, C, n);
    transpose_tile<<<grid, block>>>(C, A, n);
    cudaMemcpy(a.data(), A, n * n * 4, cudaMemcpyDeviceToHost);
    double s = 0; for (int i = 0; i < n * n; i += 7) s += a[i];
    printf("%.1f\n", s);
}
