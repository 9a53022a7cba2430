#include "other_numbers.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "alterations.h"
#include "settings.h"
#include "shadow.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to copy, twice per launch
constexpr uint32_t kMostArguments = 6, kMostSizes = 8;

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

bool writes_variables(const Module& module) {
  return std::any_of(module.variables.begin(), module.variables.end(),
                     [](const auto& variable) { return !variable->constant && variable->bytes > 8; });
}

std::vector<OtherArgument> other_arguments(const LaunchRequest& request) {
  std::vector<PlainArgument> plain;
  for (const Parameter& parameter : request.kernel->parameters)
    if (!parameter.pointer && parameter.size == parameter.number.bytes)
      plain.push_back({parameter.index, parameter.number, request.arguments[parameter.index]});
  const LaunchShape shape{extent(request.grid), extent(request.block)};
  std::vector<OtherArgument> found = other_arguments(plain, shape, settings().shapes);
  if (found.size() > kMostArguments) found.resize(kMostArguments);
  // Arrays among the device variables have no room behind them.
  if (!has_room() || writes_variables(*request.kernel->module)) return found;
  std::vector<bool> free(request.kernel->parameters.size());
  for (const uint64_t index : settings().sizes)
    if (index < free.size()) free[index] = true;
  std::vector<OtherArgument> sizes = other_sizes(plain, shape, settings().shapes, free);
  if (sizes.size() > kMostSizes) sizes.resize(kMostSizes);
  found.insert(found.end(), sizes.begin(), sizes.end());
  return found;
}

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
  if (mode == OtherNumbersMode::kSome) return 2;
  if (mode != OtherNumbersMode::kArguments) return 1;
  if (!request.kernel->has_parameters || request.cooperative) return 0;
  return uint32_t(other_arguments(request).size());
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
    for (const auto& [allocation, numbers] : altered_with(request))
      if (!numbers.mixed) {
        auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
        if (mode == OtherNumbersMode::kSome && variant == 1)
          alter_signs(at, allocation->bytes, numbers.of, nth);
        else
          alter(at, allocation->bytes, numbers.of, nth, mode);
        shadow_uploaded(at, allocation->bytes);  // numbers of their own from now on
      }
    return;
  }
  for (const Allocation* a : live) fill_room(*a);
  const OtherArgument other = other_arguments(request)[variant];
  arguments_.assign(request.arguments, request.arguments + request.kernel->parameters.size());
  for (const OtherArgument::Value& one : other.values) values_.push_back(one.bytes);
  for (size_t i = 0; i < values_.size(); ++i) arguments_[other.values[i].index] = &values_[i];
  altered_.arguments = arguments_.data();
  altered_.grid = {other.grid[0], other.grid[1], other.grid[2]};
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
