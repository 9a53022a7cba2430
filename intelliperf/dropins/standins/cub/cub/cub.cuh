// CUB: collectives of waves and blocks, algorithms over device memory.
#pragma once
#include <cub/detail/block.h>
#include <cub/detail/device.h>
#include <cub/detail/thread.h>
#include <cub/util_allocator.cuh>
