// Part of cooperative_groups.h in this implementation.
#pragma once
#include "../cooperative_groups.h"
