// Surfaces: objects (simt/textures.h); references fail where they are used.
#pragma once
#include "cuda_runtime.h"
