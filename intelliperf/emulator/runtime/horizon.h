// Who draws next where the waves of a launch draw their work from a common counter. On a device whoever is done first
// does. The emulator runs one wave after another, and the first one would draw everything: so a wave that has got
// further than the horizon waits before it draws, until all others have got there or ended. The horizon moves on in
// steps that grow with the time that has passed, so that blocks are exchanged a few hundred times at most.
#pragma once
#include "lane.h"

namespace simt {

class Horizon {
 public:
  void open() { cycles_ = kLeastStep; }
  bool is_open() const { return cycles_ > 0; }
  bool is_behind(double cycles) const { return cycles < cycles_; }
  // To a little after the slowest one of those that wait.
  void move_on(double slowest) { cycles_ = slowest + (slowest * kStep > kLeastStep ? slowest * kStep : kLeastStep); }

  // About when the wave has done what it did; what counts is how it compares with others.
  static double cycles_of(const Wave& wave);
  // Waves leave a barrier together.
  static void meet(Block& block);

 private:
  static constexpr double kLeastStep = 2000, kStep = 1.0 / 16;
  double cycles_ = 0;
};

}  // namespace simt
