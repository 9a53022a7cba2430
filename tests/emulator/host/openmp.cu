#define MALLOC cudaMalloc
#define COPY_BACK(to, from, bytes) cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)
#include "openmp.inc"
