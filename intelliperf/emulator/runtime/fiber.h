// Switching between lanes. Each lane has a stack; parking saves the registers that a call must
// preserve and goes straight on to `next` without passing through the scheduler.
#pragma once
#include "lane.h"

namespace simt {

constexpr uint64_t kStackBytes = 256 * 1024;  // fiber_*.cpp has this number as an immediate
constexpr uint64_t kGuardBytes = 4096;        // at the low end of each guarded stack
// From one stack to the next: a power of two would let the stacks of a block compete for the same few entries of the
// translation buffer.
constexpr uint64_t kStackStride = kStackBytes + 4096;

extern "C" {
// Saves the current lane and resumes simt_current->next. Returns when somebody resumes it.
__attribute__((visibility("hidden"))) void simt_park();
}

// Stacks are kept for the life of the process; there is room for all of them.
struct FreeStacks {
  uintptr_t* low = nullptr;
  size_t count = 0;
};
extern FreeStacks free_stacks;
bool more_stacks();

// False when the system gives no more memory.
inline bool take_stack(Lane& lane) {
  if (free_stacks.count == 0 && !more_stacks()) return false;
  lane.stack_low = free_stacks.low[--free_stacks.count];
  return true;
}
inline void return_stack(Lane& lane) {
  if (lane.stack_low == 0) return;
  free_stacks.low[free_stacks.count++] = lane.stack_low;
  lane.stack_low = 0;
}
bool in_stack_guard(uintptr_t address);
// Forgets which stacks are in use (after an abandoned launch all of them are free).
void reclaim_all_stacks();

// Lays out a fresh stack so that the first resumption enters `entry`, which must not return.
void prepare_fiber(Lane& lane, void (*entry)());

// Tops are staggered: stacks at equal offsets would compete for the same cache sets. A stack keeps its own top,
// whose lines the cache then knows.
inline uintptr_t stack_top(uintptr_t low) {
  const uint64_t stagger = low / kStackStride * 5 % 60 * 64;
  return (low + kStackBytes - 64 - stagger) & ~uintptr_t(63);
}

// Runs the chain that begins at `first` until a lane hands over to the home lane.
void run_chain(Lane* first);
Lane& home_lane();

}  // namespace simt
