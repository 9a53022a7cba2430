// hipRAND in device code, under its older path.
#pragma once
#include <hiprand/hiprand_kernel.h>
