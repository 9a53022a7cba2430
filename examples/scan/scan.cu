#include "scan.cuh"

#include <stdio.h>

/* Work-efficient scan of one chunk per block: up-sweep to the root, down-sweep to the leaves. */
__global__ void scan_chunks(const int *in, int *out, int *sums, int n)
{
    __shared__ int tree[SCAN_CHUNK];
    const int t = threadIdx.x;
    const int base = blockIdx.x * SCAN_CHUNK;
    int stride, offset = 1;

    tree[t] = base + t < n ? in[base + t] : 0;
    tree[t + SCAN_BLOCK] = base + t + SCAN_BLOCK < n ? in[base + t + SCAN_BLOCK] : 0;

    for (stride = SCAN_BLOCK; stride > 0; stride >>= 1) {
        __syncthreads();
        if (t < stride) {
            int left = offset * (2 * t + 1) - 1;
            int right = offset * (2 * t + 2) - 1;
            tree[right] += tree[left];
        }
        offset *= 2;
    }

    if (t == 0) {
        sums[blockIdx.x] = tree[SCAN_CHUNK - 1];
        tree[SCAN_CHUNK - 1] = 0;
    }

    for (stride = 1; stride < SCAN_CHUNK; stride *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < stride) {
            int left = offset * (2 * t + 1) - 1;
            int right = offset * (2 * t + 2) - 1;
            int carried = tree[left];
            tree[left] = tree[right];
            tree[right] += carried;
        }
    }
    __syncthreads();

    if (base + t < n) out[base + t] = tree[t];
    if (base + t + SCAN_BLOCK < n) out[base + t + SCAN_BLOCK] = tree[t + SCAN_BLOCK];
}

__global__ void add_offsets(int *out, const int *offsets, int n)
{
    const int base = blockIdx.x * SCAN_CHUNK + threadIdx.x;
    const int offset = offsets[blockIdx.x];

    if (base < n) out[base] += offset;
    if (base + SCAN_BLOCK < n) out[base + SCAN_BLOCK] += offset;
}

int exclusive_scan(const int *in, int *out, int n)
{
    const int chunks = (n + SCAN_CHUNK - 1) / SCAN_CHUNK;
    int *sums, *offsets;
    cudaError_t err;

    if ((err = cudaMalloc((void **)&sums, chunks * sizeof(int))) != cudaSuccess) goto fail;
    scan_chunks<<<chunks, SCAN_BLOCK>>>(in, out, sums, n);
    if ((err = cudaGetLastError()) != cudaSuccess) goto fail;
    if (chunks > 1) {
        if ((err = cudaMalloc((void **)&offsets, chunks * sizeof(int))) != cudaSuccess) goto fail;
        if (exclusive_scan(sums, offsets, chunks)) return 1;
        add_offsets<<<chunks, SCAN_BLOCK>>>(out, offsets, n);
        if ((err = cudaGetLastError()) != cudaSuccess) goto fail;
        cudaFree(offsets);
    }
    cudaFree(sums);
    return 0;

fail:
    fprintf(stderr, "exclusive_scan: %s\n", cudaGetErrorString(err));
    return 1;
}
