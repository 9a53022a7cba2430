// Part of cuda_runtime.h in this implementation; also read by hosts without device code.
#pragma once
#if !defined(__SIMT_CUDA__) && !defined(__HIP__)
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#else
#include <simt/language.h>
#endif
