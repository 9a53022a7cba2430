// What runs the threads of a block: fibers of code compiled for this processor (Scheduler), or waves of a GPU's own code
// (MachineExecutor). GridRun drives either, and both tell the same Analysis of each request.
#pragma once
#include <cstdint>

#include "horizon.h"
#include "lane.h"
#include "time_limit.h"

namespace simt {

enum class BlockStop : uint8_t {
  kDone,
  kGridBarrier,
  kPreempted,  // by chance: other blocks continue
  kHeld,       // the same, until no other block gets on
  kStuck,      // every lane only repeats itself: it waits for another block
  kDeadlock,   // no lane can continue, whatever other blocks do
  kAhead,      // all that can continue have got ahead of the horizon
  kAborted,    // trap, fault or lack of memory: see abort_status
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Makes `block` ready to run as `number`; keeps its memory from earlier uses.
  virtual void prepare(Block& block, uint64_t number, bool traced, bool analyzed, bool counted) = 0;
  virtual BlockStop run(Block& block) = 0;
  virtual void release_grid_barrier(Block& block) = 0;
  // Gives back what unfinished lanes hold.
  virtual void abandon(Block& block) = 0;

  virtual bool spun() const = 0;  // a wave had to be made to let its other lanes go first
  virtual bool out_of_memory() const = 0;

  bool lockstep = false;  // every block needs it
  uint64_t barriers = 0, divergent_barriers = 0;
  uint64_t work = 0;  // grows while any lane gets on
  Horizon horizon;
  TimeLimit limit;  // a block that never ends is interrupted, too

 protected:
  bool out_of_time(uint64_t round) { return round % 64 == 0 && limit.over(); }
};

}  // namespace simt
