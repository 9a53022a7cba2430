// Runs one kernel dispatch to its end.
#pragma once
#include <atomic>
#include <cstdint>

#include "code.h"
#include "group.h"

namespace gfx90a {

using namespace machine;

struct Totals {
  uint64_t waves = 0;
};

// Raises `Stop`; its message says at which instruction. `abandoned` ends it early.
Totals run_dispatch(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned);

}  // namespace gfx90a
