// The grid and the dynamic LDS that the program's own host code would choose for other arguments:
// INTELLIPERF_OTHER_GRIDS has its formulas, as validation/edits/grids.py reads them off the compiled code. Each version
// of a program has its own.
#pragma once
#include <cstdint>

#include "launch.h"

namespace simt {

// Whether the host computes a grid of the kernel from that argument.
bool goes_by(const Kernel& kernel, int64_t parameter);

// Whether the host chooses the grid's extent in that dimension ('x', 'y', 'z') by nothing that the kernel is handed.
bool is_free(const LaunchRequest& request, char dimension);

// False where no formula gives the launch as it is, or none of its arguments is another one in `altered`. `grid` and
// `lds` stay where no formula tells.
bool own_grid(const LaunchRequest& request, void* const* altered, Dim3& grid, uint32_t& lds);

}  // namespace simt
