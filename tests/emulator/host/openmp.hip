#include <hip/hip_runtime.h>
#define MALLOC hipMalloc
#define COPY_BACK(to, from, bytes) hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost)
#include "openmp.inc"
