#include <cuda_runtime.h>
#define GPU(name) cuda##name
#include "strides.inc"
