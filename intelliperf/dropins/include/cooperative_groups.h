// CUDA cooperative groups.
#pragma once
#include "cuda_runtime.h"
#include <simt/cooperative_groups.h>
