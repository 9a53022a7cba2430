// Which buffers and arguments of a launch are altered, as far as the kernel's name tells what they are.
#pragma once
#include <cstdint>
#include <vector>

#include "allocations.h"
#include "alterations.h"
#include "session.h"
#include "snapshot.h"

namespace intelliperf {

struct AlteredBuffer {
  Buffer buffer;
  simt::BufferNumbers numbers;
};

// Of INTELLIPERF_OTHER_NUMBERS.
simt::OtherNumbersMode other_numbers_mode();

// Buffers that pointer parameters lead into, where all that do say the same of what is in it. Integers that the kernel
// only reads are left out: if they are indices, lanes that were apart would write to one place, and hardware takes
// these in any order.
std::vector<AlteredBuffer> altered_buffers(const Launch& launch, const Allocations& allocations);

// Writes other numbers over what the snapshot holds of these buffers. False where the device refuses.
bool write_altered(const std::vector<AlteredBuffer>& buffers, const Snapshot& snapshot, const Mover& mover,
                   uint64_t nth);

// The same launch, once per plain argument that can have another value.
std::vector<Launch> with_other_arguments(const Launch& launch);

}  // namespace intelliperf
