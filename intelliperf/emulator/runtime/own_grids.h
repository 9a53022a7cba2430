// The grid and the dynamic LDS that the program's own host code would choose for other arguments:
// INTELLIPERF_OTHER_GRIDS has its formulas, as validation/edits/grids.py reads them off the compiled code. Each version
// of a program has its own.
#pragma once
#include <cstdint>

#include "launch.h"

namespace simt {

// Whether either version's host computes a grid of the kernel from that argument, or from the member of it that stands
// so many bytes behind its beginning.
bool goes_by(const Kernel& kernel, int64_t parameter, uint64_t offset);

// Whether the candidate's host does, and not the original's: that may be another number of the original's grid, by
// which it would have to grow as well.
bool only_candidates_goes_by(const Kernel& kernel, int64_t parameter, uint64_t offset);

// Whether the host chooses the grid's extent in that dimension ('x', 'y', 'z') by nothing that the kernel is handed.
bool is_free(const LaunchRequest& request, char dimension);

// False where no formula gives the launch as it is. `grid` and `lds` stay where no formula tells; a grid of nothing is
// one that the host could not launch. `only_arguments`: nothing else is altered that the host may have made it of.
bool own_grid(const LaunchRequest& request, void* const* altered, bool only_arguments, Dim3& grid, uint32_t& lds);

}  // namespace simt
