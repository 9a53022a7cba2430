// Runs the lanes of a block. Traced blocks go in lock-step: of each wave the lanes that are earliest
// in the program (call path, then site; sites are numbered in weak topological order of the control
// flow) execute one request together. Fast blocks run each lane to its next barrier or collective.
#pragma once
#include "executor.h"
#include "lane.h"
#include "launch.h"
#include "settings.h"

namespace simt {

class Analysis;

// What the lanes of the running chain did; reset before each chain.
struct ParkCounts {
  uint32_t barrier = 0, grid = 0, done = 0, preempted = 0;
};

class Scheduler final : public Executor {
 public:
  // A block of which enough was seen leaves lock-step, if the kernel can do without, until it comes to an access that
  // no block has made in lock-step. `analysis` may be null: nothing is counted.
  Scheduler(const LaunchRequest& request, uint32_t wave_size, Analysis* analysis);

  void prepare(Block& block, uint64_t number, bool traced, bool analyzed, bool counted) override;
  BlockStop run(Block& block) override;
  void release_grid_barrier(Block& block) override;
  void abandon(Block& block) override;  // gives the stacks of unfinished lanes back

  bool spun() const override { return spun_; }
  bool out_of_memory() const override { return out_of_memory_; }

 private:
  enum class Advance : uint8_t { kWorked, kSpun, kBlocked, kAhead };
  enum class Repeat : uint8_t { kNo, kOnce, kSpinning };

  void shape(Block& block);
  void start(Block& block, Wave& wave);
  void run_released(Wave& wave);
  void settle(Wave& wave);
  bool choose(Wave& wave);
  bool choose_all(const Wave& wave);
  void gather(Wave& wave, const Lane& leader, uint64_t excluded);
  void identify();
  void back_off();
  void look_at_shuffle(uint64_t members, uint64_t live) const;
  void look_at_masks() const;
  bool keep_group(const Wave& wave);
  bool draws_too_early(Wave& wave) const;
  Repeat perform(Block& block, Wave& wave);
  Advance advance(Block& block, Wave& wave, uint32_t budget);
  Repeat note_repeat(Wave& wave);
  void count(const Block& block, Wave& wave);
  void may_hold(Block& block);
  void leave_lockstep(Block& block);
  void look_at(Block& block);
  bool stopped() const;
  void release_barrier(Block& block);
  void run_group(Wave& wave);

  const LaunchRequest& request_;
  uint32_t wave_size_, threads_;
  Analysis* analysis_;
  uint64_t chance_ = 0;  // 0: nothing is preempted
  bool spun_ = false, out_of_memory_ = false;
  bool holds_ = false;               // the block that runs
  bool holds_first_ = false;         // the first block that draws a ticket, for all others to wait for it
  Group group_;                      // runs next
  const Lane* runner_up_ = nullptr;  // earliest runnable lane outside the group
};

// True when `a` comes before `b` in the program.
bool earlier(const Lane& a, const Lane& b);
inline bool same_place(const Lane& a, const Lane& b) { return a.place() == b.place() && a.way() == b.way(); }

// The position that a shuffle reads from; -1: its own value.
int shuffle_source(const Lane& lane, uint32_t wave_size);
// Computes the results of a collective for a group of parked lanes; lanes with different masks do not
// see one another. Returns the set of positions that took part.
uint64_t execute_collective(Lane* const* group, uint32_t size, uint32_t wave_size);

// The lanes that fast mode still has to start on the running fiber (back to back, one stack).
struct StartQueue {
  Lane* const* next = nullptr;
  Lane* const* end = nullptr;
  KernelEntry entry = nullptr;
  void** arguments = nullptr;
};
extern StartQueue start_queue;
extern ParkCounts park_counts;
extern bool named_barrier_passed;     // since the scheduler last looked
extern bool reducing_barriers;        // the launch has met one
extern volatile bool lanes_back_off;  // some lane of the launch may have been made to wait for the others
extern volatile uint64_t switches;    // chains run and lanes begun so far: while it stands still, one lane runs
void lane_main();                     // entry of every fiber
[[noreturn]] void end_lane();         // of the running lane, from any depth of calls

}  // namespace simt
