#include "sdma.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "thunk.h"
#include "wave.h"

namespace gfx90a {

using namespace machine;
namespace {

enum Operation : uint32_t {
  kNop = 0,
  kCopy = 1,
  kFence = 5,
  kTrap = 6,
  kPoll = 8,
  kAtomic = 10,
  kFill = 11,
  kTimestamp = 13
};
constexpr uint32_t kAddLong = 47;

uint8_t* pointer(const uint32_t* packet, uint32_t word) {
  return reinterpret_cast<uint8_t*>(joined(packet[word], packet[word + 1]));
}

bool satisfied(uint32_t function, uint32_t value, uint32_t reference) {
  switch (function) {
    case 0:
      return true;
    case 1:
      return value < reference;
    case 2:
      return value <= reference;
    case 3:
      return value == reference;
    case 4:
      return value != reference;
    case 5:
      return value >= reference;
    default:
      return value > reference;
  }
}

// A box of rows and slices of elements.
void copy_box(const uint32_t* p) {
  const uint64_t element = 1ull << (p[0] >> 29 & 7);
  const auto part = [&](uint32_t word, uint32_t shift, uint32_t bits) { return p[word] >> shift & ((1u << bits) - 1); };
  const uint64_t from_x = part(3, 0, 14), from_y = part(3, 16, 14), from_z = part(4, 0, 11);
  const uint64_t from_pitch = uint64_t(part(4, 13, 19)) + 1, from_slice = uint64_t(part(5, 0, 28)) + 1;
  const uint64_t to_x = part(8, 0, 14), to_y = part(8, 16, 14), to_z = part(9, 0, 11);
  const uint64_t to_pitch = uint64_t(part(9, 13, 19)) + 1, to_slice = uint64_t(part(10, 0, 28)) + 1;
  const uint64_t width = uint64_t(part(11, 0, 14)) + 1, height = uint64_t(part(11, 16, 14)) + 1;
  const uint64_t depth = uint64_t(part(12, 0, 11)) + 1;
  for (uint64_t z = 0; z < depth; ++z)
    for (uint64_t y = 0; y < height; ++y) {
      const uint64_t from = (from_z + z) * from_slice + (from_y + y) * from_pitch + from_x;
      const uint64_t to = (to_z + z) * to_slice + (to_y + y) * to_pitch + to_x;
      std::memmove(pointer(p, 6) + to * element, pointer(p, 1) + from * element, width * element);
    }
}

void poll(const uint32_t* p, const std::atomic<bool>& abandoned) {
  const bool memory = p[0] >> 31;
  if (!memory) return;  // a register of the host's interface: the flush it asks for is done
  const auto* const place = reinterpret_cast<uint32_t*>(pointer(p, 1));
  while (!abandoned && !satisfied(p[0] >> 28 & 7, __atomic_load_n(place, __ATOMIC_ACQUIRE) & p[4], p[3])) usleep(5);
}

void fill(const uint32_t* p) {
  const uint32_t element = 1u << (p[0] >> 30 & 3), bytes = (p[4] & 0x3FFFFF) + 1;
  uint8_t* const to = pointer(p, 1);
  if (element == 4) {
    for (uint32_t at = 0; at < bytes; at += 4) std::memcpy(to + at, &p[3], std::min(4u, bytes - at));
  } else {
    for (uint32_t at = 0; at < bytes; at += element) std::memcpy(to + at, &p[3], element);
  }
}

}  // namespace

uint32_t run_copy_packet(const uint32_t* p, const std::atomic<bool>& abandoned) {
  const uint32_t operation = p[0] & 0xFF, variant = p[0] >> 8 & 0xFF;
  if (operation == kNop) return 4 * (1 + (p[0] >> 16 & 0x3FFF));
  if (operation == kCopy && variant == 0) {
    std::memmove(pointer(p, 5), pointer(p, 3), size_t(p[1] & 0x3FFFFFFF) + 1);
    return 28;
  }
  if (operation == kCopy && variant == 4) {
    copy_box(p);
    return 52;
  }
  if (operation == kFence) {
    __atomic_store_n(reinterpret_cast<uint32_t*>(pointer(p, 1)), p[3], __ATOMIC_RELEASE);
    return 16;
  }
  if (operation == kTrap) {
    signal_event(p[1] & 0x0FFFFFFF);
    return 8;
  }
  if (operation == kPoll) {
    poll(p, abandoned);
    return 24;
  }
  if (operation == kAtomic && (p[0] >> 25) == kAddLong) {
    __atomic_fetch_add(reinterpret_cast<uint64_t*>(pointer(p, 1)), joined(p[3], p[4]), __ATOMIC_ACQ_REL);
    return 32;
  }
  if (operation == kFill) {
    fill(p);
    return 20;
  }
  if (operation == kTimestamp) {
    const uint64_t now = host_ns();
    std::memcpy(pointer(p, 1), &now, sizeof now);
    return 12;
  }
  throw Stop("copy engine's packet " + std::to_string(operation) + "." + std::to_string(variant) +
             " is not implemented");
}

}  // namespace gfx90a
