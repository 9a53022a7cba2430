// CUDA half precision.
#pragma once
#define __CUDA_FP16_H__  // by which programs know that it was included
#include "cuda_runtime.h"
#include <simt/half.h>
