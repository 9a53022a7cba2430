// Part of cuda_runtime.h in this implementation, and the rounding modes of the formats below 8 bits.
#pragma once
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#include "cuda_runtime.h"
