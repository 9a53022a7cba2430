// HIP half precision.
#pragma once
#include <hip/hip_runtime.h>
#include <simt/half.h>
