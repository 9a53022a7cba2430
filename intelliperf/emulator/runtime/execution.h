// The launch that is running, for the hooks and signal handlers that device code reaches without arguments.
#pragma once
#include <cstdint>

#include "launch.h"

namespace simt {

struct Execution {
  const LaunchRequest* request = nullptr;  // null: no launch is running
  uint32_t index = 0;
  class Analysis* observer = nullptr;            // of the block that runs
  uintptr_t shared_begin = 0, shared_bytes = 0;  // static LDS of the module
  bool divided = false;                          // by zero, in an altered launch
};
extern Execution execution;

// The clocks that device code reads. Within a traced block they move on with its requests, else only a little
// with each reading; the end of a launch moves them on by its modelled time.
void pass_request(bool memory);
void advance_device_clocks(double ns);

// States in which the watchdog interrupted lanes, repeated ones not counted: a lane that computes runs on to
// new ones, one that waits does not.
extern uint64_t new_states;

// The watchdog: interrupts a lane that ran for long without parking, so that the others get their turn.
// Only code of the module itself is interrupted, never the runtime or a library under it.
class Watchdog {
 public:
  explicit Watchdog(const Kernel& kernel);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  bool armed_ = false;
};

}  // namespace simt
