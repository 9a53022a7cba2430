// The device language: what hipcc and nvcc know before the first line of a program is read.
//
// The driver compiles every HIP or CUDA translation unit, host and device side alike, with
//   -x hip|cuda [HIP: -fhip-new-launch-api] -nogpuinc -nogpulib -I <this directory's parent> -DSIMT_WAVE_SIZE=32|64 -include simt/core.h
// and, on the device side only, -fcuda-is-device -fcuda-allow-variadic-functions; for CUDA also
// -D__CUDA_ARCH__=<cc>0 on the device side and -target-sdk-version=12.x on both.
// The same headers serve three device targets: the emulator (x86-64), amdgcn and nvptx (for static facts).
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#ifndef SIMT_WAVE_SIZE
#error "SIMT_WAVE_SIZE must be 32 or 64: compile through the hipcc or nvcc drop-in"
#endif

#include <simt/language.h>
#include <simt/vector_types.h>
#include <simt/launch.h>
#if defined(__AMDGCN__)
#include <simt/target_amdgcn.h>
#elif defined(__NVPTX__)
#include <simt/target_nvptx.h>
#else
#include <simt/target_emulator.h>
#endif
#include <simt/builtin_variables.h>
#include <simt/library.h>
#include <simt/bits.h>
#include <simt/collectives.h>
#include <simt/atomics.h>
#include <simt/math.h>
#include <simt/memory_access.h>
#include <simt/textures.h>
#include <simt/unsupported.h>

#if defined(__HIP__)
#include <simt/hip_builtins.h>
#include <simt/matrix_instructions.h>
#include <simt/hip_functions.h>
#include <cstdlib>  // as clang's own wrapper does before the first line of a HIP source; <complex> brings <string>
#include <algorithm>
#include <complex>
#include <new>
#else
#include "../cuda_runtime.h"  // nvcc includes it by itself
#endif

// Registers of inline PTX as this processor's, for constraints that macros hand over (dropins/spelling.py).
#define SIMT_CONSTRAINT_h "r"
#define SIMT_CONSTRAINT_r "r"
#define SIMT_CONSTRAINT_l "l"
#define SIMT_CONSTRAINT_f "x"
#define SIMT_CONSTRAINT_d "x"

// Round what the user's files declare where the host side has to take unmarked functions in kernels, as nvcc's does
// (dropins/spelling.py).
#if defined(__CUDA_ARCH__)
#define SIMT_UNMARKED_EVERYWHERE
#define SIMT_UNMARKED_ON_THE_HOST
#else
#define SIMT_UNMARKED_EVERYWHERE _Pragma("clang force_cuda_host_device begin")
#define SIMT_UNMARKED_ON_THE_HOST _Pragma("clang force_cuda_host_device end")
#endif
