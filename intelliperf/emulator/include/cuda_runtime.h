// CUDA's runtime header: the host API and, in a file that is compiled as CUDA, the device language.
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#if defined(__cplusplus)
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#else
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#endif
#include <limits.h>
#include <time.h>

#include <cuda_runtime_api.h>
#include <math_constants.h>

#endif
