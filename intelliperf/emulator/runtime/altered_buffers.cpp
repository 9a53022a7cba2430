#include "altered_buffers.h"

#include <algorithm>

#include "settings.h"

namespace simt {
namespace {

bool is_among(const std::vector<uint64_t>& listed, const Parameter& parameter) {
  return std::find(listed.begin(), listed.end(), parameter.index) != listed.end();
}

bool same_members(const Parameter* known, const Parameter& parameter) {
  if (!known) return parameter.members.empty();
  return known->stride == parameter.stride &&
         std::equal(known->members.begin(), known->members.end(), parameter.members.begin(), parameter.members.end(),
                    [](const Member& a, const Member& b) { return a.offset == b.offset && a.number == b.number; });
}

}  // namespace

Unwritten::Unwritten(const char* at, uint64_t bytes, uint32_t each) : each_(each) {
  const std::vector<char> fresh(each, char(settings().poison));
  for (uint64_t i = 0; each > 1 && i < bytes / each; ++i)
    if (std::memcmp(at + i * each, fresh.data(), each) == 0) places_.push_back(i);
}

void Unwritten::put_back(char* at) const {
  for (const uint64_t i : places_) std::memset(at + i * each_, settings().poison, each_);
}

bool is_kept(const Allocation& a) {
  const auto& kept = settings().kept;
  return std::find(kept.begin(), kept.end(), a.id) != kept.end();
}

bool movable(const Allocation& a) {
  return a.kind != MemoryKind::kStaging && (a.kind != MemoryKind::kRegistered || is_mapped(a));
}

std::map<const Allocation*, Numbers> altered_with(const LaunchRequest& request, bool with_kept) {
  std::map<const Allocation*, Numbers> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t)) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (!a || !movable(*a) || !in_arena(a->base) || (is_kept(*a) && !with_kept)) continue;
    const uint64_t each = parameter.members.empty() ? parameter.number.bytes : parameter.stride;
    const bool aligned = each && (address - a->base) % each == 0;
    const auto order = static_cast<uint32_t>(found.size());
    const auto [entry, fresh] = found.try_emplace(a);
    Numbers& numbers = entry->second;
    if (fresh) numbers.of = {parameter.number, true, order};
    if (fresh && !parameter.members.empty()) numbers.members = &parameter;
    numbers.mixed |= !aligned || !(numbers.of.number == parameter.number) || !same_members(numbers.members, parameter);
    numbers.of.constant &= parameter.constant || is_among(settings().only_read, parameter);
  }
  for (const auto& variable : request.kernel->module->variables) {
    const Allocation* a = variable->managed || variable->fixed ? nullptr : find(variable->address);
    if (!a || a->kind != MemoryKind::kSymbol) continue;
    uint32_t order = 0;  // of its name, for a candidate may add variables
    for (const char c : variable->name) order = order * 31 + static_cast<unsigned char>(c);
    found.try_emplace(a, Numbers{{variable->number, variable->constant, order % 1024}, false, nullptr});
  }
  return found;
}

std::vector<const Allocation*> lists_to_fill(const LaunchRequest& request) {
  std::vector<const Allocation*> found;
  std::vector<uint64_t> loaded;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t)) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (!a || !movable(*a) || !is_kept(*a)) continue;
    if (is_among(settings().only_written, parameter))
      found.push_back(a);
    else
      loaded.push_back(a->id);
  }
  const auto is_loaded = [&](const Allocation* a) {
    return std::find(loaded.begin(), loaded.end(), a->id) != loaded.end();
  };
  found.erase(std::remove_if(found.begin(), found.end(), is_loaded), found.end());
  return found;
}

std::vector<std::pair<const Allocation*, Numbers>> in_order(const LaunchRequest& request, bool with_kept) {
  std::vector<std::pair<const Allocation*, Numbers>> found;
  for (const auto& one : altered_with(request, with_kept))
    if (one.first->kind != MemoryKind::kSymbol) found.push_back(one);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first->id < b.first->id; });
  return found;
}

}  // namespace simt
