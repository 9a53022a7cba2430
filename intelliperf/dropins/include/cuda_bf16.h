// CUDA bfloat16.
#pragma once
#include "cuda_runtime.h"
#include <simt/bfloat16.h>
