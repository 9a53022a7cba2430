#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#include "strides.inc"
