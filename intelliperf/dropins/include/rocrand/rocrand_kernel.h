// rocRAND in device code.
#pragma once
#include <hip/hip_runtime.h>
#include <simt/random.h>

using rocrand_state_xorwow = __simt::random::xorwow;
using rocrand_state_philox4x32_10 = __simt::random::philox;
using rocrand_state_mrg32k3a = __simt::random::mrg32k3a;
#define SIMT_RANDOM(name) rocrand##name
#include <simt/random_names.h>
#undef SIMT_RANDOM
