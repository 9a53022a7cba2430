#include "cache.h"

namespace simt {

SectorCache::SectorCache(uint64_t capacity_bytes, uint32_t line_bytes, bool sectored)
    : all_sectors_((1u << (line_bytes / 32)) - 1), sectored_(sectored) {
  const uint64_t lines = capacity_bytes / line_bytes;
  sets_.resize(lines / kWays ? lines / kWays : 1);
  reciprocal_ = ~uint64_t(0) / sets_.size() + 1;
}

void SectorCache::invalidate() {
  if (++generation_ < 1u << kGenerationBits) return;
  sets_.assign(sets_.size(), Set{});
  generation_ = 1;
}

}  // namespace simt
