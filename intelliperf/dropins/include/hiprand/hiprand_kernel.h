// hipRAND in device code.
#pragma once
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include <simt/random_states.h>

using hiprandStateXORWOW_t = __simt::random::xorwow;
using hiprandState = hiprandStateXORWOW_t;
using hiprandState_t = hiprandStateXORWOW_t;
using hiprandStateXORWOW = hiprandStateXORWOW_t;
using hiprandStatePhilox4_32_10_t = __simt::random::philox;
using hiprandStateMRG32k3a_t = __simt::random::mrg32k3a;
using hiprandStatePhilox4_32_10 = hiprandStatePhilox4_32_10_t;
using hiprandStateMRG32k3a = hiprandStateMRG32k3a_t;
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/random.h>
#define SIMT_RANDOM(name) hiprand##name
#include <simt/random_names.h>
#undef SIMT_RANDOM
#endif
