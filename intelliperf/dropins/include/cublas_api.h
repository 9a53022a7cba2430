// Part of cublas_v2.h in this implementation.
#pragma once
#include "cublas_v2.h"
