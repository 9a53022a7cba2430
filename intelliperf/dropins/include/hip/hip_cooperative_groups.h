// HIP cooperative groups.
#pragma once
#include <hip/hip_runtime.h>
#include <simt/cooperative_groups.h>
