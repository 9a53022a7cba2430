// CUDA's runtime header: the host API and, in a file that is compiled as CUDA, the device language.
#ifndef __CUDA_RUNTIME_H__  // programs' helper headers look for this name
#define __CUDA_RUNTIME_H__

#if defined(__cplusplus)
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <utility>
#else
#include <stdint.h>
#endif
// In C++ these bring names of std into the global namespace, which programs rely on.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "math_constants.h"

#endif
