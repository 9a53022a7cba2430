// Switching between lanes. Each lane has a stack; parking saves the registers that a call must
// preserve and goes straight on to `next` without passing through the scheduler.
#pragma once
#include "lane.h"

namespace simt {

constexpr uint64_t kStackBytes = 256 * 1024;  // fiber_*.cpp has this number as an immediate
constexpr uint64_t kGuardBytes = 4096;        // at the low end of each guarded stack

extern "C" {
// Saves the current lane and resumes simt_current->next. Returns when somebody resumes it.
__attribute__((visibility("hidden"))) void simt_park();
}

// Stacks are kept for the life of the process. False when the system gives no more memory.
bool take_stack(Lane& lane);
void return_stack(Lane& lane);
bool in_stack_guard(uintptr_t address);
// Forgets which stacks are in use (after an abandoned launch all of them are free).
void reclaim_all_stacks();

// Lays out a fresh stack so that the first resumption enters `entry`, which must not return.
void prepare_fiber(Lane& lane, void (*entry)());

// Runs the chain that begins at `first` until a lane hands over to the home lane.
void run_chain(Lane* first);
Lane& home_lane();

}  // namespace simt
