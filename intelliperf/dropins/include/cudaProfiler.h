// The driver API's switches of the profiler: there is none on the emulator, so they do nothing, like the runtime's.
#pragma once
#include "cuda.h"
#include "cuda_runtime_api.h"

static inline CUresult cuProfilerStart(void) { return cudaProfilerStart() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN; }
static inline CUresult cuProfilerStop(void) { return cudaProfilerStop() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN; }
