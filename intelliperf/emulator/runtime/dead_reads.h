// Races of which the reader's wave does nothing afterwards that another one could see.
//
// Where a tile of Triton's has fewer elements than its program has lanes, the waves beyond it load the elements again and
// store nothing: that they read what the tile's owners have stored meanwhile has no consequence. A race is held back until
// a wave that read stores anything or updates an atomic; with the block's end it is dropped.
#pragma once
#include <cstdint>
#include <vector>

#include "fault_log.h"

namespace simt {

class DeadReads {
 public:
  // Of a plain read by one of `waves`, a mask. False: one of them has had an effect since the last barrier, which may
  // have come of the read.
  bool hold(const Fault& fault, uint32_t waves);
  // A wave, a mask of one bit, stores or updates: what is held of its reads is noted as a fault.
  void effect(uint32_t wave);
  void barrier() { effects_ = 0; }

 private:
  struct Held {
    Fault fault;
    uint32_t waves;
  };
  std::vector<Held> held_;
  uint32_t effects_ = 0;  // of waves, since the last barrier
};

}  // namespace simt
