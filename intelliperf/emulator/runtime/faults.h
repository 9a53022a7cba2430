// What happens when device code touches memory that is not its own.
#pragma once
#include <cstdint>

#include "memory.h"

namespace simt {

// Takes SIGSEGV and SIGBUS over, on an own stack; what the application had installed is called for faults
// that are not the device's. Called before the first launch; idempotent.
void install_fault_handler();

// ---- implemented by the device side, called from the handler while device_code_running() -----------------
// Records one out_of_bounds fault of the current lane at its current site (async-signal context, but the
// fault was raised by device code, so the runtime's own structures are consistent).
// `allocation` is the nearest one, live or freed, or null. `tolerated`: slack mode, the lane goes on.
void record_memory_fault(uintptr_t address, const Allocation* allocation, bool tolerated);
// Gives the running launch up: launch() returns `status`. Does not return.
[[noreturn]] void abandon_launch(int status);

}  // namespace simt
