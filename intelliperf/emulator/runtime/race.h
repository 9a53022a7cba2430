// Conflicting accesses without synchronisation between them, found with shadow memory.
//
// A shadow cell keeps block, stamp, thread and manner of the last write and read. An earlier access is unordered
// with the present one (see ordering.h) within
//   the wave, where its lanes have not synchronised since          → warp-synchronous dependence (`wave`),
//   the block, where no barrier and no published value stands between them → race (`block`),
//   the launch, where no published value has come over                → race (`grid`).
// Not reported: two stores of one value by the same instruction (of different ones they are marked), and pairs of which
// both are atomic or volatile, unless their scope is too narrow, one is the second half of an update that is not atomic,
// or both are volatile and no fence keeps what is read in order with a flag that its reader waited for; and reads of
// machine code that come to nothing, see dead_reads.h.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dead_reads.h"
#include "fault_log.h"
#include "ordering.h"
#include "shadow_cells.h"
#include "stream_order.h"

namespace simt {

inline uint32_t serial_of(uint64_t packed) { return uint32_t(packed >> 40); }

// Of the readers in machine code, whose waves are at most 16: not all of them read at the cell's site.
constexpr uint32_t kOtherSites = 1u << 31;

// Of writes. kMaybe: of machine code, which has one store for plain and atomic ones.
enum class Manner : uint32_t { kPlain = 0, kVolatile = 1, kAtomic = 2, kMaybe = 3 };

class RaceDetector {
 public:
  RaceDetector();
  RaceDetector(const RaceDetector&) = delete;
  RaceDetector& operator=(const RaceDetector&) = delete;

  // `by_wave`: the lanes of a wave have one program counter, see ordering.h. `machine`: of machine code, else null. There
  // an atomic load may look like any other: within a block one is never in conflict with an atomic update.
  void begin_launch(uint32_t wave_size, bool by_wave, machine::Consequences* machine, uint64_t shared_bytes);
  // Behind it: which earlier launches' accesses nothing orders before this one's.
  void begin_in_stream(const StreamPlace& place, uint32_t module);
  void begin_block(uint64_t number, uint32_t waves);  // or resumes it
  void end_block(bool done);
  void synchronize_block();
  void synchronize_wave(uint32_t wave);
  void synchronize_lanes(uint32_t wave, uint64_t mask);
  void synchronize_grid();
  void fence(uint32_t thread, OrderScope scope, bool acquires, bool releases);
  // Some block is not looked at: what it did, and handed on, is not known.
  void leave_out_a_block() { incomplete_ = true; }
  // All accesses so far: a race of one of them with a later one goes unseen.
  void forget();

  struct Access {
    uint32_t site;
    Manner manner;
    bool reads, writes, shared;
    bool result;  // what was read is used
    OrderScope scope;
    bool acquires, releases;
    bool updates;    // a store of what was computed from a load of the same place: not atomic
    bool polls;      // in a loop: may wait for another thread
    bool read_only;  // a load through a path that sees no stores of the launch
  };
  struct Conflicts {
    uint64_t wave = 0, others = 0;
  };
  // The lanes of one request.
  struct Lanes {
    const uint64_t* offset;  // from the base of LDS; of global memory addresses
    const uint64_t* address;
    const uint16_t* thread;
    uint32_t count, bytes;  // bytes of each lane
    const Extent* extent;
    uint32_t extents;  // 0: every lane goes to another place, none beside the one before it
  };
  // Adds to `found`; notes faults.
  void check(const Access& access, const Lanes& lanes, Conflicts& found);

  bool wave_dependence() const { return wave_dependence_; }
  uint64_t acquisitions() const { return ordering_.acquisitions(); }

 private:
  struct Launched {
    uint32_t first;  // serial number of its blocks
    uint32_t module;
    uint64_t stream, number;
    bool unordered;  // with the launch that runs
  };
  struct BlockState {
    Ordering::BlockOrder order;
    std::vector<ShadowCell> shared;
    bool shared_bytewise = false;
    DeadReads dead_reads;
  };
  struct Twice {  // two stores: whether their values differ shows when the second has been made
    const void* address;
    uint64_t before;
    Fault fault;
    uint32_t bytes;
    bool one_site;  // by one instruction: a race only if they differ
  };
  using Cells = ShadowCells::Span;
  Cells cells_for(const Access& access, uint64_t offset, uint32_t bytes);
  // An access with what is common to its lanes worked out.
  struct Common : Access {
    explicit Common(const RaceDetector& detector, const Access& access);
    uint64_t oldest;  // packed; what is older does not matter: of LDS what lies behind the block's barrier
    uint64_t launch;  // packed; what is older is of another launch
    uint64_t mark;    // packed, without the thread
    uint16_t cell_site;
    bool strong;
    uint32_t bytes = 4;  // of each lane
  };
  struct Relation {
    FaultScope scope = FaultScope::kNone;
    bool softly = false;  // ordered, but for an acquiring fence
  };
  void check_words(const Common& access, const Lanes& lanes, Cells& cells, Conflicts& found);
  void check_lanes(const Common& access, const Lanes& lanes, uint32_t first, uint32_t end, Cells& cells,
                   Conflicts& found);
  bool check_repeated_write(const Common& access, const Lanes& lanes, const Extent& extent, Conflicts& found);
  void check_repeated_read(const Common& access, const Lanes& lanes, const Extent& extent, Conflicts& found);
  void check_cell(const Common& access, ShadowCell& cell, uint32_t thread, uint64_t address, Conflicts& found);
  bool tells_nothing_new(const ShadowCell& cell, uint32_t thread) const;
  bool is_behind_barrier(const Common& access, uint64_t write) const;
  void check_old_cell(const Common& access, ShadowCell& cell, uint32_t thread, uint64_t address, Conflicts& found);
  void check_against_write(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t address,
                           Conflicts& found);
  void check_against_launch(const Common& access, bool strong, uint64_t earlier, uint16_t site, uint32_t thread,
                            uint64_t address, Conflicts& found);
  void check_message(const Common& access, const ShadowCell& cell, const Relation& relation, Fault fault,
                     Conflicts& found);
  void check_against_reads(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t address,
                           Conflicts& found);
  void keep_read(const Common& access, ShadowCell& cell, uint32_t thread);
  uint64_t keep_unordered_read(const Common& access, const ShadowCell& cell);
  const Launched* unordered_launch(uint64_t packed) const;
  void synchronise(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t offset);
  Relation relation(uint64_t earlier, uint32_t thread, bool shared) const;
  Fault fault_of(const Common& access, FaultScope scope, uint64_t earlier, uint16_t site, uint32_t thread,
                 uint64_t address) const;
  void conflict(const Fault& fault, Conflicts& found);
  void settle_stores();
  void settle_later(const Common& access, const Fault& fault, uint64_t address, bool one_site);
  bool is_dead_yet(const Fault& fault, bool strong, const DeadReads::Read& read) {
    const bool plain = machine_ && !strong && !fault.shared && fault.scope == FaultScope::kBlock;
    return plain && state_->dead_reads.hold(fault, read, *machine_);
  }
  uint32_t wave_bit(uint32_t thread) const { return 1u << (thread >> wave_shift_); }
  void add_reader(const Common& access, ShadowCell& cell, uint32_t thread) const {
    if (machine_ && cell.readers && cell.read_site != access.cell_site) cell.readers |= kOtherSites;
    cell.readers |= wave_bit(thread);
  }
  DeadReads::Read readers_but(const ShadowCell& cell, uint32_t thread) const {
    const uint32_t others = cell.readers & ~wave_bit(thread);
    if (!machine_) return {others, kNoSite};
    const bool one = !(cell.readers & kOtherSites) && cell.read_site != 0xFFFF;
    return {others & ~kOtherSites, one ? cell.read_site : kNoSite};
  }
  void forget_everything();
  Ordering::BlockOrder& order() { return state_->order; }

  uint32_t wave_size_ = 64, wave_shift_ = 6;
  bool by_wave_ = true, incomplete_ = false;
  machine::Consequences* machine_ = nullptr;
  uint32_t next_serial_ = 1, launch_first_ = 1, launch_begin_ = 1;
  std::vector<Launched> launched_;  // the last one runs
  struct EarlierRead {
    uint64_t read;
    uint16_t site;
  };
  std::unordered_map<const ShadowCell*, EarlierRead> unordered_reads_;  // of kUnordered: the first ones of the launch
  uint32_t oldest_unordered_ = 1;                                       // serial number
  std::vector<uint64_t> numbers_;  // of the launch's blocks, by serial number from launch_begin_ on
  Ordering ordering_;
  BlockState* state_ = nullptr;
  BlockState outside_;                               // no block runs
  std::unordered_map<uint64_t, BlockState> states_;  // of blocks that are alive, by number
  std::vector<Twice> twice_;
  std::vector<ShadowCell> shared_;
  uint64_t shared_cells_ = 0;
  bool shared_bytewise_ = false, wave_dependence_ = false;
  ShadowCells global_;
};

}  // namespace simt
