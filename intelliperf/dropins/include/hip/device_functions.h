// Part of hip_runtime.h in this implementation.
#pragma once
#include <hip/hip_runtime.h>
