// Runs one kernel dispatch to its end.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "code.h"

namespace gfx90a {

struct Dispatch {
  uint64_t kernel_object = 0, kernel_arguments = 0, packet = 0, queue = 0;
  uint32_t grid[3] = {}, group[3] = {};  // work-items
  uint32_t group_bytes = 0, private_bytes = 0;
  uint64_t number = 0;
};

// The 64 bytes that a code object has for each kernel (LLVM, "User Guide for AMDGPU Backend", kernel descriptor).
struct KernelDescriptor {
  uint32_t group_segment_bytes, private_segment_bytes, kernel_argument_bytes, reserved0;
  int64_t entry_offset;
  uint8_t reserved1[20];
  uint32_t resources3, resources1, resources2;
  uint16_t properties, reserved2;
  uint8_t reserved3[4];

  uint64_t entry() const { return reinterpret_cast<uint64_t>(this) + uint64_t(entry_offset); }
  uint32_t all_vector_registers() const { return ((resources1 & 63) + 1) * 8; }
  uint32_t vector_registers() const;   // as allocated
  uint32_t accumulators() const { return all_vector_registers() - vector_registers(); }
  uint32_t scalar_registers() const { return ((resources1 >> 6 & 15) / 2 + 1) * 16; }
};
static_assert(sizeof(KernelDescriptor) == 64, "kernel descriptor");

struct Totals {
  uint64_t waves = 0;
};

// Raises `Stop`; its message says at which instruction. `abandoned` ends it early.
Totals run_dispatch(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned);

}  // namespace gfx90a
