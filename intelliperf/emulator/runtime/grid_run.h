// Runs the blocks of one launch: one after another, each to its end, as long as none waits for another one.
// A block that only repeats itself is set aside with its LDS and the next one is begun, as on a device where
// several are resident; in a cooperative launch all blocks are alive and meet at grid barriers.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "analysis.h"
#include "scheduler.h"

namespace simt {

struct RunPlan {
  bool analyze = false;          // count accesses in blocks as the budget allows
  uint64_t event_budget = 0;     // lane accesses
  bool count_rest = false;       // number the accesses and basic blocks of all other blocks, too
  uint64_t draw = 0;             // which of the blocks that the budget allows are analysed
  bool lockstep = false;         // run every block in lock-step
  uint64_t max_resident = 4096;  // blocks alive at once
};

class GridRun {
 public:
  GridRun(const LaunchRequest& request, const RunPlan& plan, Analysis* analysis);
  ~GridRun();
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;

  int run();  // LaunchStatus

  uint64_t traced_blocks() const { return traced_; }
  bool needs_lockstep() const { return needs_lockstep_; }
  double fast_ns() const { return fast_ns_; }
  double trace_ns() const { return trace_ns_; }
  uint64_t barriers() const { return scheduler_.barriers; }
  uint64_t divergent_barriers() const { return scheduler_.divergent_barriers; }
  // Lane executions per basic block in analysed blocks.
  const std::vector<uint64_t>& executions() const { return executions_; }
  const std::vector<uint64_t>& counted_waves() const { return waves_; }  // see BlockCounter
  // In all blocks; empty unless the rest was counted.
  const std::vector<uint64_t>& all_executions() const { return all_executions_; }
  uint64_t analyzed_accesses() const { return analyzed_accesses_; }
  uint64_t all_accesses() const { return all_accesses_; }

 private:
  using Context = std::unique_ptr<Block>;

  Context begin(uint64_t position);
  BlockStop resume(Block& block);
  void retire(Context block, BlockStop stop);
  void release_grid();
  void enter(Block& block);
  void swap_lds(Block& block, bool out);
  void count_executions(bool analyzed);
  void locate_fault(Block& block);
  bool waited_for_long();
  int deadlock();
  bool begins_one();

  const LaunchRequest& request_;
  const Module& module_;
  RunPlan plan_;
  Analysis* analysis_;
  Scheduler scheduler_;
  Permutation order_;
  uint64_t blocks_, begun_ = 0, traced_ = 0;
  std::vector<Context> idle_;
  std::deque<Context> suspended_, at_grid_;
  bool counting_ = false, needs_lockstep_ = false;
  uint64_t chance_ = 0;  // 0: blocks are not preempted
  uint64_t fruitless_ = 0, work_before_ = 0;
  double idle_since_ns_ = 0, same_state_since_ns_ = 0;
  uint64_t states_before_ = 0;
  double fast_ns_ = 0, trace_ns_ = 0;
  std::vector<uint64_t> executions_, waves_, all_executions_;
  uint64_t analyzed_accesses_ = 0, all_accesses_ = 0;
};

double host_now_ns();

}  // namespace simt
