// cuSPARSE before CUDA 10: the same header.
#pragma once
#include "cusparse.h"
