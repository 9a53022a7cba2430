#include "launch_alterations.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "own_grids.h"
#include "settings.h"

namespace simt {
namespace {

constexpr uint32_t kMostArguments = 6;
constexpr size_t kMostPointers = 3;
constexpr size_t kMostNamed = 4;
constexpr uint64_t kMostWatched = 1u << 21;  // threads of a launch that is watched
constexpr size_t kFewLarger = 6;             // where watching each takes long
constexpr double kMuchLarger = 1.3;          // times as large a number

GridSize extent(const Dim3& size) { return {size.x, size.y, size.z}; }

// A size may grow as long as the original reads nothing beyond an array, which must show then.
bool has_bare_arrays(const Module& module) {
  return std::any_of(module.variables.begin(), module.variables.end(), [](const auto& variable) {
    return variable->bytes > 8 && variable->number.bytes < variable->bytes && variable->guard == 0;
  });
}

template <class Value>
int64_t least_of(uintptr_t base, uint64_t count) {
  const auto* first = reinterpret_cast<const Value*>(base);  // NOLINT(performance-no-int-to-ptr)
  return int64_t(*std::min_element(first, first + count));
}

// How much lists of integers that rise throughout share out, at most: they may say where rows begin.
uint64_t shared_out(const LaunchRequest& request) {
  uint64_t most = 0;
  for (const auto& [allocation, numbers] : in_order(request)) {
    const uint32_t each = numbers.of.number.bytes;
    if ((each != 4 && each != 8) || !is_rising(*allocation, numbers)) continue;
    const auto* at = reinterpret_cast<const char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    uint64_t first = 0, last = 0;
    std::memcpy(&first, at, each);
    std::memcpy(&last, at + (allocation->bytes - allocation->room) / each * each - each, each);
    most = std::max(most, last - first);
  }
  return most;
}

bool is_list(const std::pair<const Allocation*, Numbers>& one) {
  const Numbers& numbers = one.second;
  return numbers.of.constant && !numbers.mixed && numbers.of.number.kind == NumberKind::kInteger;
}

// Of integers that are only read and do not rise throughout, by its number among the buffers; -1 where there is none.
int shortest_list(const LaunchRequest& request) {
  const auto buffers = in_order(request);
  int found = -1;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto& [allocation, numbers] = buffers[i];
    if (allocation->kind == MemoryKind::kSymbol || !is_list(buffers[i]) || numbers.of.number.bytes < 4 ||
        is_rising(*allocation, numbers))
      continue;
    if (found < 0 || allocation->bytes < buffers[size_t(found)].first->bytes) found = int(i);
  }
  return found;
}

// A number that bounds how long a row is has to grow with it.
void add_long_rows(const LaunchRequest& request, std::vector<OtherSize>& found) {
  constexpr size_t kBehind = 8;
  const uint64_t longest = shared_out(request);
  std::vector<OtherSize> added;
  for (size_t i = 0; longest && i < settings().slots.size(); ++i) {
    const uint64_t own = size_in(settings().slots[i], request);
    OtherSize other;
    if (own < uint64_t(kLeastSize) || own >= longest) continue;
    if (!other_size(settings().slots, request, settings().shapes, true, i, int64_t(longest), other)) continue;
    added.push_back(other);
    added.back().rows = true;
  }
  found.insert(found.begin() + int64_t(std::min(kBehind, found.size())), added.begin(), added.end());
}

// How long things are may stand in a list, and how long they are at most beside it: a limit that a candidate has of its
// own shows where both are twice as large. What is an index after all, the original does not survive.
void add_longer_things(const LaunchRequest& request, std::vector<OtherSize>& found) {
  constexpr size_t kBehind = 8, kMost = 2;
  std::vector<OtherSize> added;
  const int list = shortest_list(request);
  for (size_t i = 0; list >= 0 && i < settings().slots.size() && added.size() < kMost; ++i) {
    const uint64_t own = size_in(settings().slots[i], request);
    OtherSize other;
    if (own < uint64_t(kLeastSize) || own > INT32_MAX / 4) continue;
    if (!other_size(settings().slots, request, settings().shapes, true, i, int64_t(2 * own), other)) continue;
    added.push_back(other);
    added.back().list = list;
  }
  found.insert(found.begin() + int64_t(std::min(kBehind, found.size())), added.begin(), added.end());
}

// Twice as many blocks where no number of the launch says how many there are: for as many more rows there is room.
void add_free_grids(const LaunchRequest& request, std::vector<OtherSize>& found) {
  constexpr uint32_t kMostBlocks = UINT16_MAX / 2;
  constexpr size_t kBehind = 4;
  for (const char dimension : {'x', 'y', 'z'}) {
    OtherSize more;
    more.grid = request.grid;
    more.larger = true;
    uint32_t& blocks = dimension == 'x' ? more.grid.x : dimension == 'y' ? more.grid.y : more.grid.z;
    if (blocks > kMostBlocks || !is_free(request, dimension)) continue;
    blocks *= 2;
    found.insert(found.begin() + int64_t(std::min(kBehind, found.size())), more);
  }
}

// Of what makes the launch larger, the few that make it much larger: watching each takes long.
std::vector<OtherSize> with_few_larger(const std::vector<OtherSize>& every, const LaunchRequest& request) {
  std::vector<OtherSize> found;
  size_t larger = 0;
  const auto raises = [&](const OtherSize::Value& one) {
    return double(one.bytes) >= kMuchLarger * double(size_in(settings().slots[one.slot], request));
  };
  for (const bool by_several : {true, false})
    for (const OtherSize& other : every) {
      const auto sizes = std::count_if(other.values.begin(), other.values.end(), raises);
      if (other.larger && other.extreme + other.keyed + other.alike == 0 && sizes > 0 && (sizes > 1) == by_several &&
          larger < kFewLarger)
        found.push_back(other), ++larger;
    }
  std::copy_if(every.begin(), every.end(), std::back_inserter(found), [](const auto& one) { return !one.larger; });
  return found;
}

}  // namespace

VariantWindow::VariantWindow(uint32_t fixed_ones, uint32_t all, uint64_t nth)
    : fixed_(std::min(fixed_ones, all)), count_(all - fixed_), size_(std::min(count_, settings().window)), first_(0) {
  const uint64_t turn = nth < 8 ? nth : 8 + uint64_t(__builtin_ctzll(nth));
  if (count_) first_ = uint32_t(turn * size_ % count_);
}

std::vector<OtherArgument> other_arguments(const LaunchRequest& request) {
  if (!request.kernel->tiles.empty()) return {};  // its numbers are among the slots, with what is known of them
  std::vector<PlainArgument> plain;
  const auto masks = [](const Parameter& parameter) {  // few values suit it, which are among the sizes
    const auto& slots = settings().slots;
    return std::any_of(slots.begin(), slots.end(),
                       [&](const Quantity& slot) { return slot.mask && slot.parameter == int64_t(parameter.index); });
  };
  for (const Parameter& parameter : request.kernel->parameters)
    if (!parameter.pointer && parameter.size == parameter.number.bytes && !masks(parameter))
      plain.push_back({parameter.index, parameter.number, request.arguments[parameter.index]});
  const LaunchShape shape{extent(request.grid), extent(request.block)};
  std::vector<OtherArgument> found = other_arguments(plain, shape, settings().shapes);
  if (found.size() > kMostArguments) found.resize(kMostArguments);
  return found;
}

std::vector<size_t> inner_pointers(const LaunchRequest& request) {
  std::vector<size_t> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t) || parameter.number.bytes == 0) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (a && a->kind == MemoryKind::kDevice && address != a->base && found.size() < kMostPointers)
      found.push_back(parameter.index);
  }
  return found;
}

Bounds bounds_of(const LaunchRequest& request) {
  Bounds found;
  for (const Quantity& slot : settings().slots) {
    const void* at = slot_address(slot, request);
    const auto [kind, bytes] = slot.number;
    if (!at || (bytes != 4 && bytes != 8)) continue;
    float narrow = 0;
    double wide = 0;
    int32_t small = 0;
    int64_t large = 0;
    void* const into[] = {&narrow, &wide, &small, &large};
    std::memcpy(into[(kind == NumberKind::kInteger ? 2 : 0) + (bytes == 8)], at, bytes);
    if (kind == NumberKind::kFloat) found.floats.push_back(bytes == 4 ? double(narrow) : wide);
    if (kind == NumberKind::kInteger) found.integers.push_back(bytes == 4 ? int64_t(small) : large);
  }
  found.floats.insert(found.floats.end(), settings().limits.begin(), settings().limits.end());
  return found;
}

int64_t listed_row(const LaunchRequest& request) {
  for (const auto& [allocation, numbers] : altered_with(request, true)) {
    const auto [kind, each] = numbers.of.number;
    if (!is_kept(*allocation) || numbers.mixed || !numbers.of.constant || kind != NumberKind::kInteger) continue;
    uint64_t listed = 0;
    for (const Quantity& slot : settings().slots) {
      const uint64_t limit = slot.compared || slot.bound ? size_in(slot, request) : 0;
      if (limit > 0 && limit * each <= allocation->bytes) listed = listed ? std::min(listed, limit) : limit;
    }
    if (listed && each == 4) return least_of<int32_t>(allocation->base, listed);
    if (listed && each == 8) return least_of<int64_t>(allocation->base, listed);
  }
  return -1;
}

bool may_be_watched(const LaunchRequest& request) {
  return settings().may_watch && request.grid.count() * request.block.count() <= kMostWatched;
}

bool is_rising(const Allocation& a, const Numbers& numbers) {
  if (numbers.mixed || !numbers.of.constant || numbers.members || numbers.of.number.kind != NumberKind::kInteger)
    return false;
  return rise(reinterpret_cast<const char*>(a.base), a.bytes - a.room, numbers.of.number.bytes);  // NOLINT
}

std::vector<OtherSize> sizes_of(const LaunchRequest& request) {
  const bool all = may_be_watched(request), few = !all && settings().may_watch_few;
  const bool may_grow = !has_bare_arrays(*request.kernel->module) && (all || few);
  std::vector<OtherSize> found =
      other_sizes(settings().slots, request, settings().constants, settings().shapes, may_grow);
  if (may_grow && few) return with_few_larger(found, request);
  if (may_grow) add_long_rows(request, found);
  if (may_grow) add_longer_things(request, found);
  if (may_grow && settings().shapes.empty()) add_free_grids(request, found);
  if (!settings().reads_grid || !settings().shapes.empty()) return found;
  for (const OtherSize& other : other_grids(request))
    if (may_grow || !other.larger) found.push_back(other);
  return found;
}

std::vector<NamedLaunch> named_of_code(const LaunchRequest& request) {
  return named_launches(request, !has_bare_arrays(*request.kernel->module) && may_be_watched(request));
}

std::vector<const OtherConstants*> compiled_otherwise(const LaunchRequest& request) {
  std::vector<const OtherConstants*> found;
  for (const std::string& how : settings().other_constants)
    for (const OtherConstants& one : request.kernel->other_constants)
      if (one.how == how) found.push_back(&one);
  return found;
}

std::vector<const Allocation*> lists_of(const LaunchRequest& request) {
  std::vector<const Allocation*> found;
  for (const auto& one : in_order(request))
    if (is_list(one)) found.push_back(one.first);
  return found.size() > 1 ? found : std::vector<const Allocation*>();
}

bool has_doubles(const LaunchRequest& request) {
  const auto listed = in_order(request);
  return std::any_of(listed.begin(), listed.end(), [](const auto& one) {
    const Numbers& numbers = one.second;
    if (numbers.mixed) return false;
    return numbers.members || (numbers.of.number.kind == NumberKind::kFloat && numbers.of.number.bytes == 8);
  });
}

std::vector<NamedData> named_data(const LaunchRequest& request) {
  bool floats = false, integers = false, counts = false;
  for (const auto& [allocation, numbers] : in_order(request)) {
    if (numbers.mixed || !numbers.of.constant) continue;
    counts |= numbers.of.number.kind == NumberKind::kInteger && allocation->bytes == numbers.of.number.bytes;
    const bool members = numbers.members != nullptr;
    integers |= members || numbers.of.number.kind == NumberKind::kInteger;
    floats |= members || numbers.of.number.kind == NumberKind::kFloat || numbers.of.number.kind == NumberKind::kBrain;
  }
  std::vector<NamedData> found;
  for (const double limit : floats ? settings().limits : std::vector<double>())
    for (const DataKind kind : {DataKind::kBelow, DataKind::kAbove}) found.push_back({kind, limit, 0});
  const auto& constants = settings().constants;  // the nearest to zero first, which are sizes rather
  for (size_t i = 0; integers && i < std::min(kMostNamed, constants.size()); ++i)
    for (int64_t beside = 0; beside <= int64_t(counts); ++beside)  // of one more, there is a last one that is named
      found.push_back({DataKind::kNamed, 0, constants[constants.size() - 1 - i] + beside});
  return found;
}

VariantWindow of_data(const LaunchRequest& request, uint64_t nth) {
  return VariantWindow(1, 1 + uint32_t(data_kinds().size() + lists_of(request).size() + named_data(request).size()),
                       nth);
}

std::vector<WidePart> wide_parts(const LaunchRequest& request) {
  std::vector<WidePart> found;
  for (const auto& [allocation, numbers] : in_order(request, true)) {
    if (!numbers.members) found.push_back({allocation, numbers});
    for (size_t i = 0; numbers.members && i < numbers.members->members.size(); ++i) {
      const Member& member = numbers.members->members[i];
      if (member.number.bytes == 0 || member.offset + member.number.bytes > numbers.members->stride) continue;
      found.push_back({allocation, numbers, &member});
      found.back().numbers.of.number = member.number;
    }
  }
  return found;
}

std::vector<WideLaunch> wide_of(const LaunchRequest& request) {
  std::vector<WideBuffer> buffers;
  for (const WidePart& part : wide_parts(request)) {
    const Numbers& numbers = part.numbers;
    const uint64_t asked = part.allocation->bytes - part.allocation->room;
    const bool kept = is_kept(*part.allocation);
    buffers.push_back({asked / part.stride(), part.integers(), part.integers() && numbers.of.number.bytes <= 2,
                       numbers.of.constant, !kept && is_rising(*part.allocation, numbers), kept});
  }
  const bool may_grow = !has_bare_arrays(*request.kernel->module);  // each is small enough to be watched
  const bool alone = settings().reads_grid && settings().shapes.empty();
  return wide_launches(request, settings().slots, buffers, settings().widths, settings().shapes, settings().accesses,
                       may_grow, alone);
}

}  // namespace simt
