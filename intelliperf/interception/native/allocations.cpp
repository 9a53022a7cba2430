#include "allocations.h"

namespace intelliperf {

void Allocations::add(uint64_t base, uint64_t bytes, MemoryKind kind, const std::string& name) {
  if (base == 0) return;
  remove(base);
  ++made_;
  Buffer buffer;
  buffer.id = made_;
  buffer.base = base;
  buffer.bytes = bytes;
  buffer.kind = kind;
  buffer.sequence = made_;
  buffer.name = name;
  live_.emplace(base, buffer);
}

void Allocations::remove(uint64_t base) {
  const auto found = live_.find(base);
  if (found == live_.end()) return;
  if (found->second.staging) freed_.emplace_back(found->second.staging, found->second.bytes);
  live_.erase(found);
}

const Buffer* Allocations::find(uint64_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const Buffer& buffer = std::prev(after)->second;
  return address - buffer.base < buffer.bytes ? &buffer : nullptr;
}

}  // namespace intelliperf
