// hipBLAS, as older ROCm had it.
#pragma once
#include <hipblas/hipblas.h>
