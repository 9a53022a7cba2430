// What instructions may touch, and what touching it costs in cycles and lines.
#pragma once
#include "instruction.h"

namespace gfx90a {

// The allocation around an address; false where there is none. Set by whoever owns the memory.
using FindRange = bool (*)(uint64_t address, uint64_t& begin, uint64_t& end);
void set_memory(FindRange find);

// What an interrupt to the host leads to. Set by whoever has events.
void set_interrupt(void (*raise)());
void raise_interrupt();

bool is_memory(uint64_t address, uint32_t bytes);

// Raises `Stop` where the device has no memory at [address, address + bytes).
void require_mapped(Instruction& instruction, uint64_t address, uint32_t bytes);

// Cycles of the device's own modelled clock so far.
uint64_t device_cycles();
void advance_device_cycles(uint64_t cycles);

struct LaneAddresses {
  uint64_t at[kWave];  // of active lanes
  uint64_t mask;
};

constexpr uint32_t kLineBytes = 64;
void count_lines(Instruction& instruction, const LaneAddresses& addresses);
void count_scratch_lines(Instruction& instruction, const LaneAddresses& addresses);  // lanes interleaved by words
void count_same_address(Instruction& instruction, const LaneAddresses& addresses);
void count_lds_cycles(Instruction& instruction, const LaneAddresses& addresses, uint32_t bytes);

// Read-modify-write of 4 or 8 bytes; answers what was there.
enum class AtomicKind : uint8_t { kSwap, kCompareSwap, kAdd, kSub, kReverseSub, kMinSigned, kMinUnsigned, kMaxSigned, kMaxUnsigned, kAnd,
                                  kOr, kXor, kIncrement, kDecrement, kAddFloat, kMinFloat, kMaxFloat, kAddPackedHalf };
uint64_t run_atomic(AtomicKind kind, uint32_t bytes, void* where, uint64_t value, uint64_t comparand);

}  // namespace gfx90a
