// Matrix products of a warp.
#pragma once
#include <simt/matrix_fragments.h>
