#pragma once
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#include "support.h"
