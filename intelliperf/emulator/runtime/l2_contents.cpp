#include "l2_contents.h"

#include <algorithm>

#include "device_file.h"
#include "settings.h"

namespace simt {
namespace {

constexpr double kKeeps = 0.7;  // of the capacity, see l2_contents.h
constexpr size_t kMostGroups = 256;

uint64_t bytes_of(const Touched& spans) {
  uint64_t bytes = 0;
  for (const TouchedSpan& span : spans) bytes += span.bytes;
  return bytes;
}

// 0..1, the same for all of a line.
double place_of(uintptr_t address) {
  const uint64_t mixed = (address >> 7) * 0x9E3779B97F4A7C15ull;  // Fibonacci hashing
  return double(mixed >> 11) / double(uint64_t(1) << 53);
}

}  // namespace

L2Contents& L2Contents::instance() {
  static auto* instance = new L2Contents;
  return *instance;
}

L2Contents::L2Contents()
    : capacity_(device().amd() || settings().empties_l2 ? 0 : uint64_t(kKeeps * double(device().l2_bytes))) {}

// Of the spans inside this one a share is no longer there, or with what was touched together with it.
void L2Contents::forget(const TouchedSpan& span, double share) {
  for (Touched& group : groups_) {
    for (TouchedSpan& old : group) {
      if (old.begin < span.begin || old.end > span.end) continue;
      const auto gone = uint64_t(share * double(old.end - old.begin));
      old.bytes -= std::min(old.bytes, gone);
    }
    const auto empty = [](const TouchedSpan& old) { return old.bytes == 0; };
    group.erase(std::remove_if(group.begin(), group.end(), empty), group.end());
  }
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [](const Touched& group) { return group.empty(); }),
                groups_.end());
}

void L2Contents::touch(Touched spans) {
  if (!keeps_anything()) return;
  for (TouchedSpan& span : spans) {
    span.bytes = std::min(span.bytes, uint64_t(span.end - span.begin));
    if (span.bytes > 0) forget(span, double(span.bytes) / double(span.end - span.begin));
  }
  groups_.push_front(std::move(spans));
  if (groups_.size() > kMostGroups) groups_.pop_back();
}

void L2Contents::replace(const TouchedSpan& span) {
  forget(span, 1);
  touch({span});
}

bool L2Contents::holds(uintptr_t address, uint64_t more) const {
  uint64_t since = more;
  double known = 0;  // share of the places around it
  for (const Touched& group : groups_) {
    since += bytes_of(group);
    if (since > capacity_) return false;
    for (const TouchedSpan& span : group)
      if (address >= span.begin && address < span.end) {
        known += double(span.bytes) / double(span.end - span.begin);
        if (place_of(address) < known) return true;
      }
  }
  return false;
}

}  // namespace simt
