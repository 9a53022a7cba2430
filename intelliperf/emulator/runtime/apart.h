// A launch with its pointers kept apart, for a candidate that promises by __restrict__ that they are: where several
// arguments point into one allocation, each gets a copy of its own, and in it garbage at whatever the kernel writes
// through the others. Put together again, memory holds what it should if nothing written through one is accessed through
// another, and something else if not.
#pragma once
#include "launch.h"

namespace simt {

// In place of `launch`; the same where no two arguments share an allocation.
LaunchOutcome launch_apart(const LaunchRequest& request);

}  // namespace simt
