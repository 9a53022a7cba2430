// NVTX 3, under its own folder.
#pragma once
#include "../nvToolsExt.h"
