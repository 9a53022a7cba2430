#include "cache.h"

namespace simt {
namespace {

constexpr uint32_t kWays = 16;

}  // namespace

SectorCache::SectorCache(uint64_t capacity_bytes, uint32_t line_bytes, bool sectored)
    : all_sectors_((1u << (line_bytes / 32)) - 1), sectored_(sectored) {
  const uint64_t lines = capacity_bytes / line_bytes;
  sets_ = lines / kWays ? lines / kWays : 1;
  ways_.assign(sets_ * kWays, Way{});
}

void SectorCache::invalidate() {
  clock_ = 0;
  if (++generation_ != 0) return;
  ways_.assign(ways_.size(), Way{});
  generation_ = 1;
}

SectorCache::Way* SectorCache::set_of(uint64_t line) {
  // Real caches hash the index too; without it power-of-two strides would fall into one set.
  const uint64_t mixed = line ^ (line >> 7) ^ (line >> 15);
  return &ways_[mixed % sets_ * kWays];
}

SectorCache::Way* SectorCache::find(uint64_t line) {
  Way* set = set_of(line);
  for (uint32_t i = 0; i < kWays; ++i)
    if (set[i].line == line && set[i].generation == generation_) return &set[i];
  return nullptr;
}

SectorCache::Way* SectorCache::victim(uint64_t line) {
  Way* set = set_of(line);
  Way* oldest = set;
  for (uint32_t i = 0; i < kWays; ++i) {
    if (set[i].generation != generation_) {
      oldest = &set[i];
      break;
    }
    if (set[i].used < oldest->used) oldest = &set[i];
  }
  *oldest = Way{line, clock_, generation_, 0, 0};
  return oldest;
}

SectorCache::Result SectorCache::load(uint64_t line, uint32_t sectors) {
  ++clock_;
  Way* way = find(line);
  if (!way) way = victim(line);
  way->used = clock_;
  Result result{sectors & way->valid, 0, 0};
  if (result.hits != sectors) {
    result.filled = sectored_ ? sectors & ~way->valid : all_sectors_ & ~way->valid;
    way->valid = uint8_t(way->valid | result.filled);
  }
  return result;
}

SectorCache::Result SectorCache::store(uint64_t line, uint32_t sectors, bool allocate) {
  ++clock_;
  Way* way = find(line);
  if (!way) {
    if (!allocate) return {0, 0, 0};
    way = victim(line);
  }
  way->used = clock_;
  Result result{sectors & way->valid, 0, sectors & ~uint32_t(way->dirty)};
  if (allocate) {
    way->valid = uint8_t(way->valid | sectors);
    way->dirty = uint8_t(way->dirty | sectors);
  }
  return result;
}

}  // namespace simt
