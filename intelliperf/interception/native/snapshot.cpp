#include "snapshot.h"

#include <cstring>

namespace intelliperf {

namespace {

constexpr uint64_t kMostBytes = 256ull << 20;

bool on_host(const Buffer& buffer) { return buffer.kind == MemoryKind::kPinned || buffer.kind == MemoryKind::kRuntime; }

}  // namespace

bool Snapshot::take(const Allocations& allocations) {
  uint64_t bytes = 0;
  for (const auto& [base, buffer] : allocations.live()) bytes += buffer.bytes;
  if (bytes > kMostBytes) return false;
  for (const auto& [base, buffer] : allocations.live()) {
    Kept& kept = kept_[buffer.id];
    kept.buffer = buffer;
    kept.content.resize(buffer.bytes);
    if (buffer.bytes && !mover_.read(kept.content.data(), buffer)) return false;
  }
  return true;
}

bool Snapshot::put_back() const {
  for (const auto& [id, kept] : kept_) {
    if (kept.content.empty()) continue;
    // The host may be at work in its memory: what is as it was is left alone.
    const auto* now = reinterpret_cast<const void*>(kept.buffer.base);  // NOLINT(performance-no-int-to-ptr)
    if (on_host(kept.buffer) && std::memcmp(now, kept.content.data(), kept.content.size()) == 0) continue;
    if (!mover_.write(kept.buffer, kept.content.data())) return false;
  }
  return true;
}

}  // namespace intelliperf
