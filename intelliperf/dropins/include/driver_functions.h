// Part of cuda_runtime_api.h in this implementation.
#pragma once
#include "cuda_runtime_api.h"
