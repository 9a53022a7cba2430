// Which alterations a launch has: what its arguments, its sizes and its data may become, in an order that both versions
// of a program have. `OtherNumbers` carries them out.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "alterations.h"
#include "altered_buffers.h"
#include "launch.h"
#include "memory.h"
#include "named_launches.h"
#include "other_data.h"
#include "other_sizes.h"
#include "wide_launches.h"

namespace simt {

// Of `all` alterations those that the `nth` launch (from 0) has: the first `fixed_ones`, which each launch has, and some
// of the others, so that many launches have every one.
class VariantWindow {
 public:
  VariantWindow(uint32_t fixed_ones, uint32_t all, uint64_t nth);
  uint32_t total() const { return fixed_ + size_; }
  uint32_t operator[](uint32_t variant) const {
    return variant < fixed_ ? variant : fixed_ + (first_ + variant - fixed_) % count_;
  }

 private:
  uint32_t fixed_, count_, size_, first_;
};

bool may_be_watched(const LaunchRequest& request);

// Whether the integers of a buffer that is only read rise throughout.
bool is_rising(const Allocation& a, const Numbers& numbers);

std::vector<OtherArgument> other_arguments(const LaunchRequest& request);

// Where a pointer lies within its allocation, the program may put it anywhere: one element further. By argument.
std::vector<size_t> inner_pointers(const LaunchRequest& request);

std::vector<OtherSize> sizes_of(const LaunchRequest& request);

std::vector<NamedLaunch> named_of_code(const LaunchRequest& request);

// The launch's own plain numbers, which its data may be compared with.
Bounds bounds_of(const LaunchRequest& request);

// A row that the launch goes through where a list in no fixed order says which: the least of those at its beginning, as
// many as some limit of the launch counts. -1 where there is none.
int64_t listed_row(const LaunchRequest& request);

// Lists of integers that are only read, where there are several: one of them may say how long the others are.
std::vector<const Allocation*> lists_of(const LaunchRequest& request);

// The kernel compiled for other constants, of those that are asked for.
std::vector<const OtherConstants*> compiled_otherwise(const LaunchRequest& request);

bool has_doubles(const LaunchRequest& request);

struct NamedData {
  DataKind kind;
  double limit;
  int64_t value;
};

// What only one version's code compares with may stand in every place of the data: one place may be what it looks at.
std::vector<NamedData> named_data(const LaunchRequest& request);

// Of data alone: the mode's own, the kinds of data, each list's integers out of their range, what code names.
VariantWindow of_data(const LaunchRequest& request, uint64_t nth);

// What is widened by itself: a buffer, or one member of all elements of one.
struct WidePart {
  const Allocation* allocation;
  Numbers numbers;
  const Member* member = nullptr;
  uint64_t stride() const { return member ? numbers.members->stride : std::max(numbers.of.number.bytes, 1u); }
  bool integers() const { return !numbers.mixed && numbers.of.number.kind == NumberKind::kInteger; }
};

std::vector<WidePart> wide_parts(const LaunchRequest& request);

std::vector<WideLaunch> wide_of(const LaunchRequest& request);

}  // namespace simt
