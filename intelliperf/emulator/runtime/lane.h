// The execution state of threads, waves and blocks. A lane is one device thread on its own fiber.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "abi.h"

namespace simt {

enum class LaneState : uint32_t {
  kUnstarted = 0,
  kAccess,  // before a memory access (traced version only)
  kRange,   // before a memcpy or memset of `bytes`
  kCollective,
  kBarrier,
  kGridBarrier,
  kPreempted,  // interrupted anywhere by the watchdog
  kRunning,    // released; has no event of its own
  kDone,
};

constexpr uint32_t kMaxWave = 64;
constexpr uint32_t kMaxCallDepth = 24;  // deeper frames are not told apart when lanes are grouped

struct CallFrame {
  uint32_t site;
  uint32_t hash;                   // of the path up to the caller
  uint32_t loop_base, loop_depth;  // the caller's
};

constexpr uint32_t kMaxLoops = 24;  // turns of loops that are nested more deeply, calls included, are not told apart
struct LoopTurn {
  uint32_t loop, turn;
  uint32_t hash;  // of the path up to here
};

// The first 64 bytes are all that an access touches; fiber_*.cpp knows their offsets.
struct alignas(64) Lane {
  Thread thread;              // 0
  void* stack_pointer;        // 16
  Lane* next;                 // 24: who runs when this lane parks
  const void* address;        // 32
  uint32_t site;              // 40
  LaneState state;            // 44
  uintptr_t stack_low;        // 48: 0 while the lane has no stack
  uint32_t path_hash, depth;  // 56: turns of loops and calls that were not inlined; these calls
  // --- second line ---
  uint64_t bytes;                // of a range access
  uint64_t mask, value, result;  // of a collective or barrier
  uint32_t operation, argument, width;
  uint32_t wave_lane;                            // position within the wave
  bool reduces;                                  // the barrier is a reducing one
  bool backing_off;                              // spun; lets the other lanes of its wave go first
  uint32_t counted_at, counted_in, counted_way;  // its last request that did not count itself, see WaveCounter
  CallFrame path[kMaxCallDepth];
  uint32_t loop_base, loop_depth;  // this function's loops are turns[loop_base + 1 .. loop_base + loop_depth]
  LoopTurn turns[kMaxLoops];
  const void* shadow_given;  // of `value` in a collective, and where that of the result goes; null: none
  void* shadow_got;

  // Lanes with the same of both stand at the same place: site and state, path and depth.
  uint64_t place() const { return uint64_t(state) << 32 | site; }
  uint64_t way() const { return uint64_t(depth) << 32 | path_hash; }
};
static_assert(offsetof(Lane, stack_pointer) == 16 && offsetof(Lane, next) == 24, "fiber_*.cpp");
static_assert(offsetof(Lane, address) == 32 && offsetof(Lane, site) == 40, "fiber_*.cpp");
static_assert(offsetof(Lane, state) == 44 && offsetof(Lane, stack_low) == 48, "fiber_*.cpp");

// Lanes of one wave that stand at one place, by ascending position in the wave.
struct Group {
  uint32_t size = 0;
  Lane* lane[kMaxWave];
  uint64_t address[kMaxWave];  // of an access
  uint16_t thread[kMaxWave];   // within the block
  uint8_t position[kMaxWave];  // within the wave

  // Takes the addresses down; false: the lanes do not stand together.
  bool together() {
    const uint64_t place = lane[0]->place(), way = lane[0]->way();
    uint64_t different = 0;
    for (uint32_t i = 0; i < size; ++i) {
      different |= (lane[i]->place() ^ place) | (lane[i]->way() ^ way);
      address[i] = reinterpret_cast<uint64_t>(lane[i]->address);
    }
    return different == 0;
  }
};

// Neighbouring lanes of one request that go to one address, or to addresses without gaps in between.
struct Extent {
  uint8_t first, count;  // lanes
  bool repeats;          // several, all to the address of the first
};

// What a wave does, as far as its place in the program tells.
struct WaveWork {
  double issue = 0;              // instructions by their cost
  uint64_t requests = 0;         // of memory
  uint64_t lds = 0, global = 0;  // requests
  uint64_t lds_loads = 0, global_loads = 0;
};

struct Wave {
  uint32_t index = 0;      // within the block
  uint32_t block = 0;      // within the grid
  uint32_t begun = 0;      // lanes, finished or not
  uint32_t live = 0;       // lanes[0..live) have not finished
  uint32_t unstarted = 0;  // all or nothing
  uint32_t at_barrier = 0, at_grid = 0;
  bool released = false;  // all live lanes may run on from a barrier
  bool chained = false;   // the `next` pointers run through lanes[0..live)
  uint32_t repeats = 0;   // requests in a row that only repeat recent ones: spinning
  bool waiting = false;   // some of the repeats were volatile or atomic
  uint32_t stretch = 0;   // since all its lanes last set out together, see WaveCounter
  WaveWork work;
  double begun_cycles = 0;  // see Horizon
  bool ahead = false;       // of the horizon: does not draw yet
  uint32_t recent_at = 0;
  uint64_t recent[8] = {};     // signatures of the last different requests
  Lane* lanes[kMaxWave] = {};  // in running order

  bool waits() const { return live == at_barrier + at_grid && !released; }
};

enum class BlockState : uint8_t { kFresh, kRunning, kAtGridBarrier, kSuspended, kDone };

// What an executor keeps of a block besides its lanes.
struct BlockBody {
  virtual ~BlockBody() = default;
};

// Global loads by the slowest part of each.
struct Served {
  uint64_t l1 = 0, l2 = 0, memory = 0;
};

struct Block {
  uint32_t shape[3] = {};  // threads that `lanes` stand for
  uint64_t number = 0;     // linear index in the grid
  BlockState state = BlockState::kFresh;
  bool analyzed = false;   // its accesses are counted
  bool traced = false;     // runs the traced version, in lock-step
  bool counted = false;    // runs the traced version as if it were the fast one: its lanes are counted as they come by
  bool looked_at = false;  // its accesses were analysed since it was last taken up
  uint64_t analyzed_until = 0;  // accesses of the launch: beyond, it leaves lock-step
  Served served;                // its global loads that were analysed
  uint32_t live = 0;
  uint32_t holds = 0;  // how often it was held back behind what it told others
  std::unique_ptr<Lane[]> lanes;
  std::vector<Wave> waves;
  std::unique_ptr<BlockBody> body;
  std::vector<char> saved_lds;  // while another block runs
};

extern "C" {
extern __attribute__((visibility("hidden"))) Lane* simt_current;
extern __attribute__((visibility("hidden"))) bool simt_counting;  // a counted block runs
// Where lanes are not in lock-step; `bytes` of a range, else 0.
__attribute__((visibility("hidden"))) void simt_count_access(const void* address, uint32_t site, uint64_t bytes);
}

}  // namespace simt
