// Part of simt/cooperative_collectives.h in this implementation.
#pragma once
#include "../simt/cooperative_collectives.h"
