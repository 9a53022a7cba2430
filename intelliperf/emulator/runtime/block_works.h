// What each block of a launch does, and how long the compute units are busy with that.
#pragma once
#include <cstdint>
#include <vector>

#include "lane.h"

namespace simt {

struct BlockWork {
  double issue = 0;                 // instructions by their cost, of all waves
  double lds = 0, global = 0;       // requests of all waves
  double chain = 0;                 // requests of the longest wave
  bool operator==(const BlockWork& o) const {
    return issue == o.issue && lds == o.lds && global == o.global && chain == o.chain;
  }
};

// The busiest compute unit's part of what all do, 0..1, and how many times as long as for equal blocks the longest row
// of blocks in one of its places takes.
struct BusiestUnit {
  double issue = 1, lds = 1, global = 1, row = 1;
};

class BlockWorks {
 public:
  void add(const Block& block);
  uint64_t blocks() const { return blocks_; }
  uint64_t without_requests() const { return without_requests_; }
  bool equal() const { return runs_.size() <= 1; }

  double mean_chain() const { return mean().chain; }

  // Blocks start in the order of their index, each in the place that is free first; only for this a wave's requests are
  // taken to wait for `latency_cycles`, kInFlight at once, `more` of them in every wave. Where only some of `all`
  // blocks are known, they stand for the others.
  struct Chip {
    uint32_t units, resident;
    double waves_per_block, latency_cycles, more;
    double duration(const BlockWork& work) const;
  };
  BusiestUnit busiest(const Chip& chip, uint64_t all) const;

 private:
  struct Run {
    BlockWork work;
    uint64_t count;
  };
  BlockWork mean() const;
  BusiestUnit schedule(const Chip& chip) const;

  static constexpr size_t kMostRuns = 1u << 23;
  std::vector<Run> runs_;  // in the blocks' order
  uint64_t blocks_ = 0, without_requests_ = 0;
};

}  // namespace simt
