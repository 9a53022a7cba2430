#include <hip/hip_runtime.h>
#include <hipfft/hipfft.h>
#define FFT(name) hipfft##name
#define TYPE(name) HIPFFT_##name
#define MALLOC hipMalloc
#define FREE hipFree
#define COPY hipMemcpy
#define TO_DEVICE hipMemcpyHostToDevice
#define TO_HOST hipMemcpyDeviceToHost
using S = hipfftComplex;
using Z = hipfftDoubleComplex;
#include "transforms.inc"
