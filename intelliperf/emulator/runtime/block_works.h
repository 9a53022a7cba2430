// What each block of a launch does, and how long the compute units are busy with that.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lane.h"

namespace simt {

struct BlockWork {
  double issue = 0;            // instructions by their cost, of all waves
  double lds = 0, global = 0;  // requests of all waves
  double waves = 0;
  double chain = 0;                        // requests of the longest wave
  double lds_loads = 0, global_loads = 0;  // of these
  Served served;                           // what is known of its loads
  // Whether it does the same, wherever caches have it.
  bool operator==(const BlockWork& o) const {
    return issue == o.issue && lds == o.lds && global == o.global && chain == o.chain && lds_loads == o.lds_loads &&
           global_loads == o.global_loads;
  }
};

// The busiest compute unit's part of what all do, 0..1, and how long the longest row of blocks in one place takes: 0
// where all are alike.
struct BusiestUnit {
  double issue = 1, lds = 1, global = 1, row_cycles = 0;
};

BlockWork work_of(const Block& block);

class BlockWorks {
 public:
  void add(const Block& block);
  // Of a launch whose blocks drew from a common counter: by their place in the launch's order. The first `alive` ones ran
  // side by side, for `resident` that would have on the device: what they drew is shared out among all of these.
  void add_drawn(std::vector<std::pair<uint64_t, BlockWork>> blocks, uint64_t alive, uint64_t resident);
  uint64_t blocks() const { return blocks_; }
  uint64_t without_requests() const { return without_requests_; }
  bool equal() const { return equal_; }
  double mean_chain() const;

  // Blocks start in the order of their index, each in the place that is free first. Where only some of `all` blocks are
  // known, they stand for the others.
  struct Chip {
    uint32_t units, resident;
    std::function<double(const BlockWork&)> cycles;
  };
  BusiestUnit busiest(const Chip& chip, uint64_t all) const;

 private:
  struct Run {
    BlockWork work;
    uint64_t count;
  };
  void add(const BlockWork& work);
  BusiestUnit schedule(const Chip& chip) const;

  static constexpr size_t kMostRuns = 1u << 23;
  std::vector<Run> runs_;  // in the blocks' order
  uint64_t blocks_ = 0, without_requests_ = 0;
  bool equal_ = true;
};

}  // namespace simt
