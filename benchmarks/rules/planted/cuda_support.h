#pragma once
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#include "support.h"
