// What instructions may touch, and what touching it costs in cycles and lines.
#pragma once
#include "instruction.h"

namespace machine {

// The allocation around an address; false where there is none. Set by whoever owns the memory.
using FindRange = bool (*)(uint64_t address, uint64_t& begin, uint64_t& end);
void set_memory(FindRange find);

// What an interrupt to the host leads to. Set by whoever has events.
void set_interrupt(void (*raise)());
void raise_interrupt();

bool is_memory(uint64_t address, uint32_t bytes);

// Raises `Fault` where the device has no memory at [address, address + bytes).
void require_mapped(Instruction& instruction, uint64_t address, uint32_t bytes, uint32_t lane = 0);

// Cycles of the device's own modelled clock so far.
uint64_t device_cycles();
void advance_device_cycles(uint64_t cycles);

struct LaneAddresses {
  uint64_t at[kWave];  // of active lanes
  uint64_t mask;
};

// Told of each request of a wave before it is made, with what its lanes go to: addresses of global memory, offsets in
// LDS or in each lane's own scratch.
enum class Order : uint8_t {
  kWaited,       // for all its requests to global memory so far
  kWrittenBack,  // a cache that others do not see
  kInvalidated,  // what it may have kept of others' memory
};

class Observer {
 public:
  virtual void request(Wave& wave, Instruction& instruction, Space space, const LaneAddresses& lanes,
                       uint32_t bytes) = 0;

  // What orders a wave's accesses; `wide`: not only within its group.
  virtual void order(Wave& wave, Order what, bool wide) = 0;

 protected:
  ~Observer() = default;
};

inline void observe(Wave& wave, Instruction& i, Space space, const LaneAddresses& lanes, uint32_t bytes) {
  if (wave.observer && lanes.mask) wave.observer->request(wave, i, space, lanes, bytes);
}
// A load by the scalar unit, for all lanes.
void observe_uniform(Wave& wave, Instruction& instruction, uint64_t address, uint32_t bytes);
inline void observe_order(Wave& wave, Order what, bool wide) {
  if (wave.observer) wave.observer->order(wave, what, wide);
}

// Read-modify-write of 4 or 8 bytes; answers what was there.
enum class AtomicKind : uint8_t {
  kSwap,
  kCompareSwap,
  kAdd,
  kSub,
  kReverseSub,
  kMinSigned,
  kMinUnsigned,
  kMaxSigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor,
  kIncrement,
  kDecrement,
  kAddFloat,
  kMinFloat,
  kMaxFloat,
  kAddPackedHalf
};
uint64_t run_atomic(AtomicKind kind, uint32_t bytes, void* where, uint64_t value, uint64_t comparand);

}  // namespace machine
