#include "other_numbers.h"

#include <cstring>
#include <iterator>
#include <map>

#include "settings.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to copy, twice per launch
constexpr uint64_t kEarlyLaunches = 8;
constexpr int kPowers[] = {1, -1, 2, -2, 3, -3};

struct Numbers {  // what a parameter says that an allocation holds
  NumberKind kind = NumberKind::kNone;
  uint32_t bytes = 0;
  bool constant = true;  // as far as all parameters say
  bool mixed = false;    // two parameters disagree
  uint32_t order = 0;
};

bool movable(const Allocation& a) { return a.kind != MemoryKind::kStaging && a.kind != MemoryKind::kRegistered; }

template <class Number>
void scale(char* at, uint64_t bytes, int power) {
  Number factor = 1;
  for (int i = 0; i < power; ++i) factor *= 2;
  for (int i = 0; i > power; --i) factor /= 2;
  for (uint64_t i = 0; i + sizeof(Number) <= bytes; i += sizeof(Number)) {
    Number value;
    std::memcpy(&value, at + i, sizeof value);
    value *= factor;
    std::memcpy(at + i, &value, sizeof value);
  }
}

template <class Number>
void lower(char* at, uint64_t bytes) {
  for (uint64_t i = 0; i + sizeof(Number) <= bytes; i += sizeof(Number)) {
    Number value;
    std::memcpy(&value, at + i, sizeof value);
    if (value > 1) --value;
    std::memcpy(at + i, &value, sizeof value);
  }
}

void alter(const Allocation& a, const Numbers& numbers) {
  auto* at = reinterpret_cast<char*>(a.base);  // NOLINT(performance-no-int-to-ptr)
  const int power = kPowers[numbers.order % std::size(kPowers)];
  if (numbers.kind == NumberKind::kFloat && numbers.bytes == 4) scale<float>(at, a.bytes, power);
  if (numbers.kind == NumberKind::kFloat && numbers.bytes == 8) scale<double>(at, a.bytes, power);
  if (numbers.kind != NumberKind::kInteger || numbers.constant) return;
  if (numbers.bytes == 1) lower<int8_t>(at, a.bytes);
  if (numbers.bytes == 2) lower<int16_t>(at, a.bytes);
  if (numbers.bytes == 4) lower<int32_t>(at, a.bytes);
  if (numbers.bytes == 8) lower<int64_t>(at, a.bytes);
}

std::map<const Allocation*, Numbers> behind_parameters(const LaunchRequest& request) {
  std::map<const Allocation*, Numbers> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t)) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (!a || !movable(*a) || !in_arena(a->base)) continue;
    const bool aligned = parameter.element_bytes && (address - a->base) % parameter.element_bytes == 0;
    const auto order = static_cast<uint32_t>(found.size());
    const auto [entry, fresh] = found.try_emplace(a);
    Numbers& numbers = entry->second;
    if (fresh) numbers = {parameter.element, parameter.element_bytes, true, false, order};
    numbers.mixed |= !aligned || numbers.kind != parameter.element || numbers.bytes != parameter.element_bytes;
    numbers.constant &= parameter.constant;
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

bool OtherNumbers::due(uint64_t nth) {
  if (!settings().other_numbers || (nth >= kEarlyLaunches && (nth & (nth - 1)) != 0)) return false;
  uint64_t bytes = 0;
  for_each_allocation(add_bytes, &bytes);
  return bytes <= kMostBytes;
}

OtherNumbers::OtherNumbers(const LaunchRequest& request) {
  std::vector<const Allocation*> live;
  for_each_allocation(collect, &live);
  for (const Allocation* a : live) {
    const auto* from = reinterpret_cast<const char*>(a->base);  // NOLINT(performance-no-int-to-ptr)
    saved_.push_back({a->base, std::vector<char>(from, from + a->bytes)});
  }
  for (const auto& [allocation, numbers] : behind_parameters(request))
    if (!numbers.mixed) alter(*allocation, numbers);
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
