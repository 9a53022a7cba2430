// rocBLAS, as older ROCm had it.
#pragma once
#include <rocblas/rocblas.h>
