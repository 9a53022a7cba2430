// The functions of cuBLAS with a handle; those of its first version, without one, are not here.
#pragma once
#include "cublas_v2.h"
