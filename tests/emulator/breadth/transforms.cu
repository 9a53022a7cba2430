#include <cufft.h>
#define FFT(name) cufft##name
#define TYPE(name) CUFFT_##name
#define MALLOC cudaMalloc
#define FREE cudaFree
#define COPY cudaMemcpy
#define TO_DEVICE cudaMemcpyHostToDevice
#define TO_HOST cudaMemcpyDeviceToHost
using S = cufftComplex;
using Z = cufftDoubleComplex;
#include "transforms.inc"
