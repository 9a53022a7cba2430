#include "other_numbers.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "alterations.h"
#include "other_data.h"
#include "other_sizes.h"
#include "settings.h"
#include "shadow.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to copy, twice per launch
constexpr uint32_t kMostArguments = 6;
constexpr uint64_t kMostWatched = 1u << 21;  // threads of a launch that is watched

struct Numbers {  // what a parameter says that an allocation holds
  BufferNumbers of;
  bool mixed = false;  // two parameters disagree
};

bool is_kept(const Allocation& a) {
  const auto& kept = settings().kept;
  return std::find(kept.begin(), kept.end(), a.id) != kept.end();
}

bool movable(const Allocation& a) { return a.kind != MemoryKind::kStaging && a.kind != MemoryKind::kRegistered; }

GridSize extent(const Dim3& size) { return {size.x, size.y, size.z}; }

bool has_arrays(const Module& module) {
  return std::any_of(module.variables.begin(), module.variables.end(),
                     [](const auto& variable) { return variable->bytes > 8 && variable->number.bytes < variable->bytes; });
}

std::vector<OtherArgument> other_arguments(const LaunchRequest& request) {
  if (!request.kernel->tiles.empty()) return {};  // its numbers are among the slots, with what is known of them
  std::vector<PlainArgument> plain;
  for (const Parameter& parameter : request.kernel->parameters)
    if (!parameter.pointer && parameter.size == parameter.number.bytes)
      plain.push_back({parameter.index, parameter.number, request.arguments[parameter.index]});
  const LaunchShape shape{extent(request.grid), extent(request.block)};
  std::vector<OtherArgument> found = other_arguments(plain, shape, settings().shapes);
  if (found.size() > kMostArguments) found.resize(kMostArguments);
  return found;
}

bool may_be_watched(const LaunchRequest& request) {
  return settings().may_watch && request.grid.count() * request.block.count() <= kMostWatched;
}

// Arrays among the device variables have no room behind them.
std::vector<OtherSize> sizes_of(const LaunchRequest& request) {
  const bool may_grow = !has_arrays(*request.kernel->module) && may_be_watched(request);
  std::vector<OtherSize> found = other_sizes(settings().slots, request, settings().constants, settings().shapes, may_grow);
  if (!settings().reads_grid || !settings().shapes.empty()) return found;
  for (const OtherSize& other : other_grids(request))
    if (may_grow || !other.larger) found.push_back(other);
  return found;
}

// Of `count` alterations beyond the first `fixed` ones, which each launch has, those that the `nth` launch has too.
struct Window {
  uint32_t fixed, count, first, size;
  Window(uint32_t fixed_ones, uint32_t all, uint64_t nth) : fixed(std::min(fixed_ones, all)), count(all - fixed) {
    size = std::min(count, settings().window);
    const uint64_t turn = nth < 8 ? nth : 8 + uint64_t(__builtin_ctzll(nth));
    first = count ? uint32_t(turn * size % count) : 0;
  }
  uint32_t total() const { return fixed + size; }
  uint32_t operator[](uint32_t variant) const {
    return variant < fixed ? variant : fixed + (first + variant - fixed) % count;
  }
};

Window of_data(uint64_t nth) { return Window(1, 1 + uint32_t(DataKind::kCount), nth); }

std::map<const Allocation*, Numbers> altered_with(const LaunchRequest& request) {
  std::map<const Allocation*, Numbers> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t)) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (!a || !movable(*a) || !in_arena(a->base) || is_kept(*a)) continue;
    const uint32_t each = parameter.number.bytes;
    const bool aligned = each && (address - a->base) % each == 0;
    const auto order = static_cast<uint32_t>(found.size());
    const auto [entry, fresh] = found.try_emplace(a);
    Numbers& numbers = entry->second;
    if (fresh) numbers.of = {parameter.number, true, order};
    numbers.mixed |= !aligned || !(numbers.of.number == parameter.number);
    numbers.of.constant &= parameter.constant;
  }
  for (const auto& variable : request.kernel->module->variables) {
    const Allocation* a = variable->managed ? nullptr : find(variable->address);
    if (!a || a->kind != MemoryKind::kSymbol) continue;
    uint32_t order = 0;  // of its name, for a candidate may add variables
    for (const char c : variable->name) order = order * 31 + static_cast<unsigned char>(c);
    found.try_emplace(a, Numbers{{variable->number, variable->constant, order % 1024}, false});
  }
  return found;
}

void add_bytes(const Allocation& a, void* into) {
  if (movable(a) && a.kind != MemoryKind::kSymbol) *static_cast<uint64_t*>(into) += a.bytes;
}

void collect(const Allocation& a, void* into) {
  if (movable(a)) static_cast<std::vector<const Allocation*>*>(into)->push_back(&a);
}

}  // namespace

uint32_t OtherNumbers::variants(const LaunchRequest& request, uint64_t nth) {
  const OtherNumbersMode mode = settings().other_numbers;
  if (mode == OtherNumbersMode::kNone || mode == OtherNumbersMode::kCopies || !worth_repeating(nth)) return 0;
  uint64_t bytes = 0;
  for_each_allocation(add_bytes, &bytes);
  if (bytes > kMostBytes) return 0;
  if (mode == OtherNumbersMode::kSome) return of_data(nth).total();
  if (mode != OtherNumbersMode::kArguments) return 1;
  if (!request.kernel->has_parameters || request.cooperative) return 0;
  const auto plain = uint32_t(other_arguments(request).size());
  return Window(plain, plain + uint32_t(sizes_of(request).size()), nth).total();
}

OtherNumbers::OtherNumbers(const LaunchRequest& request, uint64_t nth, uint32_t variant) : altered_(request) {
  std::vector<const Allocation*> live;
  for_each_allocation(collect, &live);
  for (const Allocation* a : live) {
    const auto* from = reinterpret_cast<const char*>(a->base);  // NOLINT(performance-no-int-to-ptr)
    saved_.push_back({a->base, std::vector<char>(from, from + a->bytes)});
  }
  const OtherNumbersMode mode = settings().other_numbers;
  if (mode != OtherNumbersMode::kArguments) {
    alter_data(request, nth, mode == OtherNumbersMode::kSome ? of_data(nth)[variant] : 0);
    return;
  }
  for (const Allocation* a : live) fill_room(*a);
  arguments_.assign(request.arguments, request.arguments + request.kernel->parameters.size());
  altered_.arguments = arguments_.data();
  const std::vector<OtherArgument> plain = other_arguments(request);
  const std::vector<OtherSize> sizes = sizes_of(request);
  const uint32_t which = Window(uint32_t(plain.size()), uint32_t(plain.size() + sizes.size()), nth)[variant];
  if (which >= plain.size()) {
    alter_size(request, sizes[which - plain.size()]);
    return;
  }
  const OtherArgument& other = plain[which];
  for (const OtherArgument::Value& one : other.values) {
    copies_.emplace_back(reinterpret_cast<const char*>(&one.bytes), reinterpret_cast<const char*>(&one.bytes) + sizeof one.bytes);
    arguments_[one.index] = copies_.back().data();
  }
  altered_.grid = {other.grid[0], other.grid[1], other.grid[2]};
}

void OtherNumbers::alter_data(const LaunchRequest& request, uint64_t nth, uint32_t which) {
  const OtherNumbersMode mode = settings().other_numbers;
  for (const auto& [allocation, numbers] : altered_with(request)) {
    if (numbers.mixed) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    if (which == 0)
      alter(at, allocation->bytes, numbers.of, nth, mode);
    else
      alter_kind(at, allocation->bytes, numbers.of, nth, DataKind(which - 1));
    shadow_uploaded(at, allocation->bytes);  // numbers of their own from now on
  }
  if (which == 0) return;
  altered_.watched = needs_watching(DataKind(which - 1)) && may_be_watched(request);
  told_ = name_of(DataKind(which - 1));
}

void OtherNumbers::alter_size(const LaunchRequest& request, const OtherSize& other) {
  const std::vector<Quantity>& slots = settings().slots;
  for (const OtherSize::Value& one : other.values) {
    const Quantity& slot = slots[one.slot];
    if (slot.parameter < 0) {
      auto* at = const_cast<void*>(slot_address(slot, request));  // a variable of the module: put back with the others
      std::memcpy(at, &one.bytes, slot.number.bytes);
      shadow_uploaded(at, slot.number.bytes);
      continue;
    }
    for (const Parameter& parameter : request.kernel->parameters) {
      if (parameter.index != uint64_t(slot.parameter)) continue;
      const auto* now = static_cast<const char*>(arguments_[parameter.index]);
      copies_.emplace_back(now, now + parameter.size);
      std::memcpy(copies_.back().data() + slot.offset, &one.bytes, slot.number.bytes);
      arguments_[parameter.index] = copies_.back().data();
    }
  }
  altered_.grid = other.grid;
  altered_.watched = other.larger;
  if (!as_taken(request)) altered_.kernel = request.kernel->general, altered_.dynamic_lds = request.kernel->general_lds;
  if (!other.bare) return;
  for (const auto& [allocation, numbers] : altered_with(request)) {
    const uint64_t room = allocation->roomy ? allocation->bytes / 2 : 0;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    if (numbers.mixed || allocation->kind == MemoryKind::kSymbol) continue;
    bare_end(at, allocation->bytes - room, room, numbers.of.number);
    shadow_uploaded(at, allocation->bytes);
  }
}

// Whether all numbers are such multiples as the kernel was compiled for.
bool OtherNumbers::as_taken(const LaunchRequest& request) const {
  if (!request.kernel->general) return true;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (parameter.multiple <= 1 || parameter.size > sizeof(uint64_t)) continue;
    uint64_t value = 0;
    std::memcpy(&value, arguments_[parameter.index], parameter.size);
    if (value % parameter.multiple) return false;
  }
  return true;
}

void OtherNumbers::alter_copy(void* at, uint64_t bytes) {
  static uint64_t copies = 0;
  alter_copied(static_cast<char*>(at), bytes, ++copies);
}

OtherNumbers::~OtherNumbers() {
  for (const Saved& saved : saved_) {
    auto* to = reinterpret_cast<char*>(saved.base);  // NOLINT(performance-no-int-to-ptr)
    // Constants of a module may lie in pages that cannot be written.
    if (std::memcmp(to, saved.content.data(), saved.content.size()) != 0)
      std::memcpy(to, saved.content.data(), saved.content.size());
  }
}

}  // namespace simt
