// In a language of tiles: what a block of a launch has of each dimension, as far as its integers and its grid tell.
#pragma once
#include "alterations.h"
#include "launch.h"

namespace simt {

// 1 where a dimension goes by none of them. Of a launch whose kernel has tiles.
GridSize tile_of(const LaunchRequest& request);

}  // namespace simt
