#include <hip/hip_runtime.h>
#define AMD
#define GPU(name) hip##name
#define GPU_UNITS hipDeviceAttributeMultiprocessorCount
#include "bottlenecks.inc"
