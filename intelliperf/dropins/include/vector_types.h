// Part of cuda_runtime.h in this implementation.
#pragma once
#define __VECTOR_TYPES_H__  // by which programs know that it was included
#include "cuda_runtime.h"
