// CUDA half precision.
#pragma once
#include "cuda_runtime.h"
#include <simt/half.h>
