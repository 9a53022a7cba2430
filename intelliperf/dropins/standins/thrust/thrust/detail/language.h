// The words that functions for both sides are declared with, also where a host compiler reads these headers.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/gpu_host.h>

#if !defined(__SIMT_CUDA__) && !defined(__HIP__)  // a host compiler's translation unit: the host's half
#if __cplusplus < 201703L
#error "Thrust needs C++17 here: compile with -std=c++17"
#endif
#include <host_defines.h>
#define SIMT_HDT inline
#define SIMT_HD static inline
#define SIMT_DT inline
#endif
