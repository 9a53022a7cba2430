// HIP bfloat16.
#pragma once
#include <hip/hip_runtime.h>
#include <simt/bfloat16.h>
