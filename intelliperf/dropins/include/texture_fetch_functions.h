// Textures: the functions of simt/unsupported.h, which fail by name where they are used.
#pragma once
#include "cuda_runtime.h"
