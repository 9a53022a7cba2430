// cuRAND in device code.
#pragma once
#include "cuda_runtime.h"
#include "curand.h"
#include <simt/random_states.h>

using curandStateXORWOW = __simt::random::xorwow;
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandStatePhilox4_32_10 = __simt::random::philox;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateMRG32k3a = __simt::random::mrg32k3a;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/random.h>
#define SIMT_RANDOM(name) curand##name
#include <simt/random_names.h>
#undef SIMT_RANDOM
#endif
