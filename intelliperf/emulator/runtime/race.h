// Conflicting accesses without synchronisation between them, found with shadow memory.
//
// Every synchronisation (barrier of a block, full convergence of a wave, start of a block) takes the next
// number of one counter, the stamp. A shadow cell keeps stamp, thread and manner of the last write and read.
// An earlier access is unordered with the present one if its stamp is not older than
//   the wave's last synchronisation, same wave        → warp-synchronous dependence (`wave`),
//   the block's last barrier, other wave of the block → race (`block`),
//   the launch's begin, other block                   → race (`grid`), unless the present block has read
//     something by an atomic or volatile global access: it may then have waited for the other one.
// Not reported: two stores by the same instruction (they mostly store one value; runs with another lane order
// show when they do not), and pairs of which both are atomic or volatile (inter-wave and inter-block only).
// Cells stand for 4 bytes; where a store is narrower, its 64 KB turn to cells of one byte.
#pragma once
#include <cstdint>
#include <vector>

#include "fault_log.h"

namespace simt {

struct ShadowCell {
  uint32_t write, read;  // stamp << 12 | thread << 2 | manner
  uint16_t write_site, read_site;
};

enum class Manner : uint32_t { kPlain = 0, kVolatile = 1, kAtomic = 2 };  // of writes

class RaceDetector {
 public:
  RaceDetector();
  ~RaceDetector();
  RaceDetector(const RaceDetector&) = delete;
  RaceDetector& operator=(const RaceDetector&) = delete;

  void begin_launch(uint32_t wave_size, uint64_t shared_bytes);
  void begin_block(uint32_t waves);
  void synchronize_block();
  void synchronize_wave(uint32_t wave) { wave_start_[wave] = next_stamp(); }
  void synchronize_grid();
  // After a block was suspended its own earlier accesses cannot be told from other blocks'.
  void stop_grid_scope() { grid_scope_ = false; }

  // The block has seen what may have been another's sign that its stores are there.
  void acquire() { acquired_ = true; }

  struct Access {
    uint32_t site;
    Manner manner;
    bool reads, writes, shared;
    bool acquires;  // an atomic whose old value is used, or a volatile load: may wait for another block
  };
  struct Conflicts {
    uint64_t wave = 0, others = 0;
  };
  // The lanes of one request; offsets are from the base of LDS or of the arena.
  struct Lanes {
    const uint64_t* offset;
    const uint16_t* thread;
    uint32_t count, bytes;  // bytes of each lane
    const Extent* extent;
    uint32_t extents;  // 0: every lane goes to another place, none beside the one before it
  };
  // Adds to `found`; notes faults.
  void check(const Access& access, const Lanes& lanes, Conflicts& found);

  bool wave_dependence() const { return wave_dependence_; }

 private:
  struct Chunk {
    ShadowCell* cells = nullptr;
    bool bytewise = false;
  };
  uint32_t next_stamp();
  ShadowCell* map_cells(uint64_t count);
  Chunk* global_chunk(uint64_t offset);
  struct Cells {
    ShadowCell* base = nullptr;   // of `first`
    uint64_t first = 0, end = 0;  // offsets that `base` covers
    uint32_t shift = 2;           // log2 of the bytes per cell
  };
  Cells cells_for(const Access& access, uint64_t offset, uint32_t bytes);
  // An access with what is common to its lanes worked out.
  struct Common : Access {
    explicit Common(const RaceDetector& detector, const Access& access);
    uint32_t oldest_write, oldest_read;  // packed; what is older does not matter
    uint32_t mark;                       // packed, without the thread
    uint16_t cell_site;
  };
  void check_words(const Common& access, const Lanes& lanes, Cells& cells, Conflicts& found);
  void check_lanes(const Common& access, const Lanes& lanes, uint32_t first, uint32_t end, Cells& cells,
                   Conflicts& found);
  void check_repeated_read(const Common& access, const Lanes& lanes, const Extent& extent, Conflicts& found);
  void check_cell(const Common& access, ShadowCell& cell, uint32_t thread, Conflicts& found);
  bool tells_nothing_new(const ShadowCell& cell, uint32_t thread) const;
  void check_old_cell(const Access& access, ShadowCell& cell, uint32_t thread, Conflicts& found);
  FaultScope relation(uint32_t earlier, uint32_t thread, bool shared, bool both_synchronise) const;
  void conflict(const Access& access, FaultScope scope, uint16_t other, uint32_t thread, Conflicts& found);
  void forget_everything();

  uint32_t wave_size_ = 64, wave_shift_ = 6;
  uint32_t stamp_ = 0, launch_start_ = 0, block_start_ = 0, barrier_ = 0;
  std::vector<uint32_t> wave_start_;
  std::vector<ShadowCell> shared_;
  bool shared_bytewise_ = false, grid_scope_ = true, acquired_ = false, wave_dependence_ = false;
  Chunk** directory_ = nullptr;
  uint64_t directory_size_ = 0;
  std::vector<uint64_t> mapped_;
};

}  // namespace simt
