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
  uint32_t all_sectors() const { return all_sectors_; }

 private:
  struct Way {
    uint64_t line;
    uint32_t used;        // clock of the last use
    uint16_t generation;  // of the cache when it was filled
    uint8_t valid, dirty;
  };
  Way* find(uint64_t line);
  Way* victim(uint64_t line);
  Way* set_of(uint64_t line);

  std::vector<Way> ways_;
  uint64_t sets_;
  uint32_t clock_ = 0, all_sectors_;
  uint16_t generation_ = 1;
  bool sectored_;
};

}  // namespace simt
