// CUDA bfloat16.
#pragma once
#define __CUDA_BF16_H__  // by which programs know that it was included
#include "cuda_runtime.h"
#include <simt/bfloat16.h>
