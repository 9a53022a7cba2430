#include "scan.cuh"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000000;
    const size_t bytes = n * sizeof(int);
    int *in, *out, *d_in, *d_out, i, expected = 0;

    if (n < 1 || n > SCAN_MAX_ELEMENTS) {
        fprintf(stderr, "usage: %s [1..%d]\n", argv[0], SCAN_MAX_ELEMENTS);
        return 2;
    }
    in = (int *)malloc(bytes);
    out = (int *)malloc(bytes);
    for (i = 0; i < n; i++) in[i] = (i * 7919) % 23 - 11;

    cudaMalloc((void **)&d_in, bytes);
    cudaMalloc((void **)&d_out, bytes);
    cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice);
    if (exclusive_scan(d_in, d_out, n)) return 1;
    if (cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "the scan did not run: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    for (i = 0; i < n; i++) {
        if (out[i] != expected) {
            printf("FAIL: element %d is %d, not %d\n", i, out[i], expected);
            return 1;
        }
        expected += in[i];
    }
    printf("scanned %d elements: PASS\n", n);
    cudaFree(d_in);
    cudaFree(d_out);
    free(in);
    free(out);
    return 0;
}
