// Part of cub.cuh in this implementation.
#pragma once
#include <cub/cub.cuh>
