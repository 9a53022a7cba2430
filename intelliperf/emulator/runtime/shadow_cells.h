// Shadow memory of global memory: what is known of each word's last accesses, see race.h.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simt {

struct ShadowCell {
  uint64_t write, read;  // serial << 40 | stamp << 16 | thread << 6 | manner
  uint16_t write_site, read_site;
  uint32_t readers;  // waves of the block that read last, since its barrier: a mask; see kOtherSites
};

// Cells stand for 4 bytes; where a store is narrower, its 64 KB turn to cells of one byte, which forget. Pages come
// with the first touch.
class ShadowCells {
 public:
  ShadowCells();
  ~ShadowCells();
  ShadowCells(const ShadowCells&) = delete;
  ShadowCells& operator=(const ShadowCells&) = delete;

  void begin_launch();
  void clear();
  bool is_half_full() const;

  struct Span {
    ShadowCell* base = nullptr;   // of `first`; null: there is no room
    uint64_t first = 0, end = 0;  // addresses that `base` covers
    uint32_t shift = 2;           // log2 of the bytes per cell
    bool renewed = false;         // cells that stood for words are gone
  };
  // The cells around an address. `narrow`: for a store of less than 4 bytes.
  Span around(uint64_t address, bool narrow);

 private:
  struct Chunk {
    ShadowCell* cells;
    Chunk** slot;  // of the directory that leads here; null: elsewhere_ does
    bool bytewise;
  };
  Chunk* chunk_of(uint64_t address);
  Chunk* new_chunk(Chunk** slot);
  static ShadowCell* map(uint64_t count);
  static void unmap(const Chunk& chunk);

  Chunk** directory_ = nullptr;
  uint64_t arena_base_ = 0, directory_size_ = 0;
  std::unordered_map<uint64_t, Chunk*> elsewhere_;  // device variables
  std::vector<Chunk*> mapped_;
};

}  // namespace simt
