#include "cache.h"

namespace simt {

SectorCache::SectorCache(uint64_t capacity_bytes, uint32_t line_bytes, bool sectored)
    : all_sectors_((1u << (line_bytes / 32)) - 1), sectored_(sectored) {
  const uint64_t lines = capacity_bytes / line_bytes;
  sets_.assign(lines / kWays ? lines / kWays : 1, Set{});
}

void SectorCache::invalidate() {
  clock_ = 0;
  last_set_ = nullptr;
  if (++generation_ < 1u << kGenerationBits) return;
  sets_.assign(sets_.size(), Set{});
  generation_ = 1;
}

SectorCache::Set& SectorCache::set_of(uint64_t line) {
  // Real caches hash the index too; without it power-of-two strides would fall into one set.
  const uint64_t mixed = line ^ (line >> 7) ^ (line >> 15);
  return sets_[uint32_t(mixed) % uint32_t(sets_.size())];
}

uint32_t SectorCache::find(const Set& set, uint64_t tag) const {
  uint32_t found = 0;
  for (uint32_t i = 0; i < kWays; ++i) found |= uint32_t(set.tag[i] == tag) << i;
  return found ? uint32_t(__builtin_ctz(found)) : kNone;
}

// Takes a way that is free, else the one that was used longest ago.
uint32_t SectorCache::replace(Set& set, uint64_t tag) {
  constexpr uint64_t kGeneration = (uint64_t(1) << kGenerationBits) - 1;
  uint32_t way = 0;
  uint64_t oldest = ~uint64_t(0);
  for (uint32_t i = 0; i < kWays; ++i) {
    const bool stale = (set.tag[i] & kGeneration) != generation_;
    const uint64_t age = (stale ? 0 : uint64_t(set.used[i]) << 4) | i;
    oldest = age < oldest ? age : oldest;
  }
  way = uint32_t(oldest & 15);
  set.tag[way] = tag;
  set.used[way] = clock_;
  set.valid[way] = set.dirty[way] = 0;
  return way;
}

SectorCache::Result SectorCache::load(uint64_t line, uint32_t sectors) {
  ++clock_;
  const uint64_t tag = tag_of(line);
  if (tag != last_tag_ || !last_set_) {
    Set& set = set_of(line);
    const uint32_t found = find(set, tag);
    last_way_ = found != kNone ? found : replace(set, tag);
    last_set_ = &set;
    last_tag_ = tag;
  }
  Set& set = *last_set_;
  const uint32_t way = last_way_;
  set.used[way] = clock_;
  Result result{sectors & set.valid[way], 0, 0};
  if (result.hits != sectors) {
    result.filled = sectored_ ? sectors & ~uint32_t(set.valid[way]) : all_sectors_ & ~uint32_t(set.valid[way]);
    set.valid[way] = uint8_t(set.valid[way] | result.filled);
  }
  return result;
}

SectorCache::Result SectorCache::store(uint64_t line, uint32_t sectors, bool allocate) {
  ++clock_;
  Set& set = set_of(line);
  uint32_t way = find(set, tag_of(line));
  if (way == kNone) {
    if (!allocate) return {0, 0, 0};
    way = replace(set, tag_of(line));
    last_set_ = nullptr;  // it may have been the one that had to go
  }
  set.used[way] = clock_;
  Result result{sectors & set.valid[way], 0, sectors & ~uint32_t(set.dirty[way])};
  if (allocate) {
    set.valid[way] = uint8_t(set.valid[way] | sectors);
    set.dirty[way] = uint8_t(set.dirty[way] | sectors);
  }
  return result;
}

}  // namespace simt
