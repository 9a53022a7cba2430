// Set-associative caches with LRU replacement, one line of up to four 32-byte sectors per way.
#pragma once
#include <cstdint>
#include <vector>

namespace simt {

class SectorCache {
 public:
  // line_bytes 64 or 128. `sectored`: a miss fills only the sectors asked for (NVIDIA), else the line.
  SectorCache(uint64_t capacity_bytes, uint32_t line_bytes, bool sectored);

  void invalidate();

  struct Result {
    uint32_t hits;        // bit mask of the sectors found
    uint32_t filled;      // sectors brought in
    uint32_t made_dirty;  // sectors that were clean or absent before this write
  };
  // `sectors`: bit mask within the line. Loads allocate; so do stores if `allocate`.
  Result load(uint64_t line, uint32_t sectors);
  Result store(uint64_t line, uint32_t sectors, bool allocate);
  void expect(uint64_t line) const {  // soon; the model is larger than the host's own caches
    const Set& set = set_of(line);
    __builtin_prefetch(set.way, 1);
    __builtin_prefetch(set.way + kWays / 2, 1);
  }
  uint32_t all_sectors() const { return all_sectors_; }

 private:
  static constexpr uint32_t kWays = 16;
  // A way in one word: line, generation, dirty and valid sectors; 0: never used. The last used way stands
  // first, so that the oldest one, or one of an earlier generation, is the last.
  static constexpr uint32_t kSectorBits = 4, kStateBits = 2 * kSectorBits, kGenerationBits = 14;
  struct alignas(64) Set {
    uint64_t way[kWays] = {};
  };

  Set& set_of(uint64_t line) { return sets_[index_of(line)]; }
  const Set& set_of(uint64_t line) const { return sets_[index_of(line)]; }
  uint32_t index_of(uint64_t line) const {
    // Real caches hash the index too; without it power-of-two strides would fall into one set.
    const auto mixed = uint32_t(line ^ (line >> 7) ^ (line >> 15));
    // The remainder of a division by multiplication (Lemire, Kaser and Kurz 2019), exact for 32 bits.
    return uint32_t(__uint128_t(reciprocal_ * mixed) * sets_.size() >> 64);
  }
  // A 48-bit address has at most 42 bits of line.
  uint64_t tag_of(uint64_t line) const { return line << kGenerationBits | generation_; }
  static bool bring_first(Set& set, uint64_t tag);
  static void put_first(Set& set, uint64_t way);

  std::vector<Set> sets_;
  uint64_t reciprocal_ = 0, generation_ = 1;
  uint32_t all_sectors_;
  bool sectored_;
};

// Makes the way of `tag` the first one; false: there is none.
inline bool SectorCache::bring_first(Set& set, uint64_t tag) {
  if (set.way[0] >> kStateBits == tag) return true;
  uint64_t place = 0;
  for (uint64_t i = 0; i < kWays; ++i) place |= set.way[i] >> kStateBits == tag ? i : 0;
  if (place == 0) return false;
  const uint64_t found = set.way[place];
  for (uint64_t i = place; i > 0; --i) set.way[i] = set.way[i - 1];
  set.way[0] = found;
  return true;
}

// In place of the oldest.
inline void SectorCache::put_first(Set& set, uint64_t way) {
  uint64_t kept[kWays];
  for (uint32_t i = 0; i < kWays - 1; ++i) kept[i] = set.way[i];
  for (uint32_t i = 0; i < kWays - 1; ++i) set.way[i + 1] = kept[i];
  set.way[0] = way;
}

inline SectorCache::Result SectorCache::load(uint64_t line, uint32_t sectors) {
  Set& set = set_of(line);
  const uint64_t tag = tag_of(line);
  if (!bring_first(set, tag)) {
    const uint32_t filled = sectored_ ? sectors : all_sectors_;
    put_first(set, tag << kStateBits | filled);
    return {0, filled, 0};
  }
  const auto valid = uint32_t(set.way[0]) & all_sectors_;
  Result result{sectors & valid, 0, 0};
  if (result.hits != sectors) {
    result.filled = (sectored_ ? sectors : all_sectors_) & ~valid;
    set.way[0] |= result.filled;
  }
  return result;
}

inline SectorCache::Result SectorCache::store(uint64_t line, uint32_t sectors, bool allocate) {
  Set& set = set_of(line);
  const uint64_t tag = tag_of(line), written = sectors | sectors << kSectorBits;
  if (!bring_first(set, tag)) {
    if (allocate) put_first(set, tag << kStateBits | written);
    return {0, 0, allocate ? sectors : 0};
  }
  const auto state = uint32_t(set.way[0]);
  if (allocate) set.way[0] |= written;
  return {sectors & state, 0, sectors & ~(state >> kSectorBits)};
}

}  // namespace simt
