// Races of which nothing comes that another wave could see.
//
// Where a tile of Triton's has fewer elements than its program has lanes, the waves beyond it load the elements again and
// store nothing of them: that they read what the tile's owners have stored meanwhile has no consequence. A race is held
// back until a wave that read makes a store or an atomic update that what it read takes part in; with the block's end it
// is dropped.
#pragma once
#include <cstdint>
#include <vector>

#include "fault_log.h"

namespace machine {
class Consequences;
}

namespace simt {

class DeadReads {
 public:
  struct Read {
    uint32_t waves;  // a mask
    uint32_t site;   // kNoSite: of several
  };
  // Of plain reads. False: one of the waves has made a store since the last barrier that may have come of its read.
  bool hold(const Fault& fault, const Read& read, machine::Consequences& consequences);
  // A wave stores or updates: what is held of the reads that this comes of is noted as a fault.
  void effect(uint32_t wave, uint32_t site, machine::Consequences& consequences);
  void barrier() { made_.clear(); }

 private:
  struct Held {
    Fault fault;
    Read read;
  };
  std::vector<Held> held_;
  std::vector<std::vector<uint32_t>> made_;  // by wave: sites of its stores since the last barrier
};

}  // namespace simt
