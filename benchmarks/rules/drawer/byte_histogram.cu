// Histogram of bytes in global memory.
#include <cstdio>
#include <cstdlib>

__global__ void histogram(const unsigned char *buffer, long size, unsigned int *histo)
{
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&own[buffer[i]], 1);
        i += stride;
    }
    __syncthreads();
    if (own[threadIdx.x]) atomicAdd(&histo[threadIdx.x], own[threadIdx.x]);
}

int main()
{
    long size = 400000;
    unsigned char *h = (unsigned char *)malloc(size);
    for (long i = 0; i < size; i++) h[i] = (i * i) % 61;
    unsigned char *d;
    unsigned int *bins, out[256];
    cudaMalloc((void **)&d, size);
    cudaMemcpy(d, h, size, cudaMemcpyHostToDevice);
    cudaMalloc((void **)&bins, 256 * sizeof(int));
    cudaMemset(bins, 0, 256 * sizeof(int));
    histogram<<<64, 256>>>(d, size, bins);
    cudaMemcpy(out, bins, sizeof out, cudaMemcpyDeviceToHost);
    long s = 0;
    for (int i = 0; i < 256; i++) s += (long)out[i] * i;
    printf("%ld\n", s);
    return 0;
}
