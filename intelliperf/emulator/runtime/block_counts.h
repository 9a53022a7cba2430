// How often each basic block ran: by lanes, and by waves.
//
// Where a block holds an access, barrier or collective, the lanes of a wave meet there, and its requests are the
// wave's executions. Elsewhere lanes run one after another from one such event to the next, and the n-th passes of
// lanes that set out together count as one execution of their wave. That is exact but for loops within loops
// without any event in them, of which it is the least: lanes may really be in step less often.
#pragma once
#include <cstdint>
#include <vector>

#include "lane.h"

namespace simt {

struct Module;

class BlockCounter {
 public:
  // `executions`: of lanes, by block.
  void begin_launch(uint64_t* executions, uint32_t blocks) {
    executions_ = executions;
    if (states_.size() < blocks) states_.resize(blocks), waves_.resize(blocks);
  }
  // Lanes of the wave set out from where they stand together.
  void begin_segment(Wave& wave, uint32_t lanes) {
    ++segment_;
    wave_ = &wave;
    lanes_ = lanes;
    whole_ = lanes == wave.live;
    if (whole_) wave.whole_segment = segment_;
  }
  uint64_t segment() const { return segment_; }

  void count(uint32_t block) { ++executions_[block]; }
  void pass(uint32_t block) {
    ++executions_[block];
    State& state = states_[block];
    if (state.segment != segment_) open(state);
    if (state.lane != simt_current) {
      state.lane = simt_current;
      state.passes = 0;
      ++state.entered;
    }
    if (++state.passes <= state.most) return;
    state.most = state.passes;
    state.leader = state.lane;
    ++waves_[block];
  }
  uint64_t take_waves(uint32_t block) {
    const uint64_t counted = waves_[block];
    waves_[block] = 0;
    return counted;
  }

 private:
  struct State {
    uint64_t segment = 0;
    const Wave* wave = nullptr;
    const Lane* lane = nullptr;    // the last that came by
    const Lane* leader = nullptr;  // who came by most often
    uint32_t passes = 0, most = 0;
    uint32_t entered = 0, chain = 0;  // lanes that came by, and all that set out
  };

  void open(State& state) {
    const uint32_t ahead = whole_ ? 0 : passed_before(state);
    state = State{segment_, wave_, nullptr, nullptr, 0, ahead, 0, lanes_};
  }
  // Lanes that stayed behind at an access catch up with those that wait for them further on: what those did on
  // their way, the ones behind do with them.
  uint32_t passed_before(const State& state) const {
    if (state.wave != wave_ || !state.leader || state.entered == state.chain) return 0;
    const uint64_t last = state.leader->segment > wave_->whole_segment ? state.leader->segment : wave_->whole_segment;
    return last == state.segment ? state.most : 0;
  }

  uint64_t segment_ = 0;
  const Wave* wave_ = nullptr;
  uint32_t lanes_ = 0;
  bool whole_ = false;
  uint64_t* executions_ = nullptr;
  std::vector<State> states_;
  std::vector<uint64_t> waves_;
};
extern BlockCounter block_counter;

// Wave executions of every block: `counted` where no event of the block tells.
std::vector<uint64_t> wave_executions(const Module& module, const std::vector<uint64_t>& lanes,
                                      const std::vector<uint64_t>& counted, const std::vector<SiteRecord>& records);

}  // namespace simt
