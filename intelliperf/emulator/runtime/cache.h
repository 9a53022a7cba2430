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
  void expect(uint64_t line) {  // soon; the model is larger than the host's own caches
    const char* set = reinterpret_cast<const char*>(&set_of(line));
    for (int at = 0; at < 256; at += 64) __builtin_prefetch(set + at);
  }
  uint32_t all_sectors() const { return all_sectors_; }

 private:
  static constexpr uint32_t kWays = 16;
  static constexpr uint32_t kNone = ~0u;
  // Apart from one another, so that a look-up compares 16 neighbouring words.
  struct alignas(64) Set {
    uint64_t tag[kWays];   // line and generation; 0: never used
    uint32_t used[kWays];  // clock of the last use; of the order of use only differences matter
    uint8_t valid[kWays], dirty[kWays];
  };
  Set& set_of(uint64_t line);
  uint64_t tag_of(uint64_t line) const { return line << kGenerationBits | generation_; }
  uint32_t find(const Set& set, uint64_t tag) const;
  uint32_t replace(Set& set, uint64_t tag);

  static constexpr uint32_t kGenerationBits = 16;  // a 48-bit address has at most 42 bits of line
  std::vector<Set> sets_;
  uint64_t last_tag_ = 0;  // found last, and where
  Set* last_set_ = nullptr;
  uint32_t last_way_ = 0;
  uint32_t clock_ = 0, all_sectors_, generation_ = 1;
  bool sectored_;
};

}  // namespace simt
