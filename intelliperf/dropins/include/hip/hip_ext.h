// hipExtLaunchKernelGGL is part of hip_runtime_api.h in this implementation.
#pragma once
#include <hip/hip_runtime.h>
