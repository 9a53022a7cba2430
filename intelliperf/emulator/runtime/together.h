// Another value of a plain number of the launch together with other data: what holds only for small numbers, or for
// those of one sign, may lie on a way that the launch does not take.
#pragma once
#include <vector>

#include "launch.h"
#include "other_data.h"
#include "other_sizes.h"

namespace simt {

struct Together {
  OtherSize size;
  bool large;  // all floats that are only read times 128; else:
  DataKind kind;
};

// What chooses between ways with each kind of data, then every other number with one kind each. None is larger than
// what memory is meant for.
std::vector<Together> together(const LaunchRequest& request);

}  // namespace simt
