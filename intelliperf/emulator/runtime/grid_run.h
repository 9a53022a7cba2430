// Runs the blocks of one launch: one after another, each to its end, as long as none waits for another one.
// A block that only repeats itself is set aside with its LDS and the next one is begun, as on a device where
// several are resident; in a cooperative launch all blocks are alive and meet at grid barriers.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "analysis.h"
#include "block_works.h"
#include "executor.h"
#include "launch.h"
#include "lds_guards.h"
#include "settings.h"

namespace simt {

struct RunPlan {
  bool analyze = false;          // count accesses in blocks as the budget allows
  uint64_t event_budget = 0;     // lane accesses
  bool count_rest = false;       // watch what all others do, too, without lock-step
  uint64_t draw = 0;             // which of the blocks that the budget allows are analysed
  bool lockstep = false;         // run every block in lock-step
  bool shares = false;           // waves draw their work from common counters: by turns, see Horizon
  uint64_t max_resident = 4096;  // blocks alive at once
};

class GridRun {
 public:
  GridRun(const LaunchRequest& request, const RunPlan& plan, Analysis* analysis);
  ~GridRun();
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;

  int run();  // LaunchStatus

  uint64_t traced_blocks() const { return traced_ < blocks_ ? traced_ : blocks_; }
  bool needs_lockstep() const { return needs_lockstep_; }
  double fast_ns() const { return fast_ns_; }
  double trace_ns() const { return trace_ns_; }
  uint64_t barriers() const { return executor_->barriers; }
  uint64_t divergent_barriers() const { return executor_->divergent_barriers; }
  const BlockWorks& works() const { return works_; }  // of the blocks that were watched

 private:
  using Context = std::unique_ptr<Block>;

  Context begin(uint64_t position);
  BlockStop resume(Block& block);
  void retire(Context block, BlockStop stop);
  void release_grid();
  void enter(Block& block);
  void take_place(Block& block);
  void give_place(const Block& block);
  uint64_t allowance(uint64_t position) const;
  void swap_lds(Block& block, bool out);
  void locate_fault(Block& block);
  bool waited_for_long();
  int deadlock(FaultScope scope);
  bool begins_one();
  void let_go_of_held(bool room);
  void move_horizon_on(bool room);

  const LaunchRequest& request_;
  const Module& module_;
  RunPlan plan_;
  Analysis* analysis_;
  LdsGuards guards_;
  std::unique_ptr<Executor> executor_;
  Permutation order_;
  uint64_t blocks_, begun_ = 0, traced_ = 0;
  std::vector<Context> idle_;
  std::deque<Context> suspended_, at_grid_;
  std::vector<Context> held_;  // as long as others get on
  std::vector<Context> ahead_;
  std::vector<double> free_cycles_;  // when places on the device became free, the earliest at the front
  bool needs_lockstep_ = false;
  uint64_t chance_ = 0;  // 0: blocks are not preempted
  uint64_t fruitless_ = 0, work_before_ = 0;
  double idle_since_ns_ = 0, same_state_since_ns_ = 0;
  uint64_t states_before_ = 0;
  double fast_ns_ = 0, trace_ns_ = 0;
  BlockWorks works_;
  std::vector<std::pair<uint64_t, BlockWork>> drawn_;  // of blocks that draw their work
  uint64_t resident_;                                  // on the device, at once
  bool drew_ = false;                                  // some block waited before it drew
};

double host_now_ns();

}  // namespace simt
