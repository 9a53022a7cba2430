// Part of cuda_runtime.h in this implementation.
#pragma once
#include "cuda_runtime.h"
