// Runs blocks whose kernel is a GPU's own code: their waves, instruction by instruction.
//
// Waves of a block take turns of some thousand instructions, and so do blocks that only wait: a wave that makes the
// same requests over and over, some of them atomic, and finds the same values, waits for another.
#pragma once
#include <vector>

#include "device_memory.h"
#include "executor.h"
#include "group.h"
#include "launch.h"
#include "machine_shadow.h"
#include "program.h"

namespace simt {

class Analysis;

class MachineExecutor final : public Executor, machine::Observer, machine::Path {
 public:
  MachineExecutor(const LaunchRequest& request, Analysis* analysis);  // `analysis` may be null: nothing is counted
  ~MachineExecutor() override;

  void prepare(Block& block, uint64_t number, bool traced, bool analyzed, bool counted) override;
  BlockStop run(Block& block) override;
  void release_grid_barrier(Block&) override {}
  void abandon(Block&) override {}

  bool spun() const override { return false; }
  bool out_of_memory() const override { return false; }

 private:
  void request(machine::Wave& wave, machine::Instruction& instruction, machine::Space space,
               const machine::LaneAddresses& lanes, uint32_t bytes) override;
  void order(machine::Wave& wave, machine::Order what, bool wide) override;
  void enter(machine::Wave& wave, const machine::Instruction& first) override;

  void begin(Block& block);
  machine::Follower* follow(std::vector<std::unique_ptr<WaveShadow>>& shadows, uint32_t wave);
  void advance(Block& block, Wave& wave, uint64_t most);
  void settle(Block& block, Wave& wave);
  bool release_barrier(Block& block);
  bool draws_too_early(Wave& wave) const;
  void gather(const machine::Wave& wave, const machine::Instruction& i, machine::Space space,
              const machine::LaneAddresses& lanes);
  void count(Block& block, uint32_t site);
  void release();
  bool note_progress(Wave& wave, const machine::Instruction& i);
  bool exchanges(machine::Wave& wave, const machine::Instruction& i);
  void fail(const Wave& wave, const machine::Stopped& stopped);
  void say(const machine::Stopped& stopped) const;

  const LaunchRequest& request_;
  Analysis* analysis_;
  machine::Program& program_;
  std::vector<char> arguments_, packet_;
  machine::Dispatch dispatch_;
  std::vector<Lane> lanes_;  // of the block that runs
  Group group_;              // the request at hand
  Block* block_ = nullptr;
  Wave* wave_ = nullptr;           // that runs
  bool needs_write_back_ = false;  // before others see what a wave wrote
  uint64_t chance_ = 0;            // 0: turns are all alike
  uint64_t waited_ = 0;            // requests in a row that only repeated earlier ones
  uint64_t fruitless_ = 0;         // instructions since the last one that did not
  bool waiting_ = false;           // some of the repeated ones synchronise
  int rounding_before_;
  bool shadowed_;
  FloatArguments float_arguments_;
};

}  // namespace simt
