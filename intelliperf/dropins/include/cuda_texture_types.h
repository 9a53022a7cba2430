// Textures: objects (simt/textures.h) and references (simt/texture_references.h).
#pragma once
#include "cuda_runtime.h"
