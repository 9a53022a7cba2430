#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define GPU_UNITS cudaDevAttrMultiProcessorCount
#include "bottlenecks.inc"
