// Launches in which conditions hold that only the candidate's code has: the numbers that it compares plain arguments
// and data with, see ir/quantities.py, are what these are, or lie just beside them; alone, and all together.
#pragma once
#include <cstdint>
#include <vector>

#include "launch.h"
#include "other_sizes.h"

namespace simt {

struct NamedValue {
  int64_t parameter = -1;  // -1: what is in memory
  uint64_t offset = 0;
  uint32_t bytes = 0;  // 0 for memory: of any width
  bool floating = false;
  double value = 0;
};

struct NamedLaunch {
  OtherSize size;                // what the plain numbers become; without values: they stay
  std::vector<NamedValue> data;  // what memory is filled with; empty: it stays
  int beside = 0;                // 1: what is just above these values, -1: just below
  uint32_t pattern = 0;          // which place holds which of them
};

// "parameter,offset,bytes,floating,value", with semicolons between.
std::vector<NamedValue> read_named(const char* text);

std::vector<NamedLaunch> named_launches(const LaunchRequest& request, bool may_grow);

// Overwrites three of four numbers; false: none of the values can be one of them.
bool alter_named(char* at, uint64_t bytes, const Number& number, const NamedLaunch& launch);

}  // namespace simt
