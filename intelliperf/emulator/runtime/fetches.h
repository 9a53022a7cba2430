// When blocks that are on the chip at the same time ask memory for each sector, in cycles since the first of them began.
//
// Blocks are traced one after another, but run side by side. A sector that one of them has asked memory for is not in L2
// for the others before it has arrived: they wait as long as the first one. So each traced wave has a clock, which its
// loads turn on by their latency, and a load that asks for a sector soon after another block's counts as one from memory.
// On an H200 a triangular product whose 512 blocks read one vector side by side takes 1.85 times as long with empty caches
// as without ("unequal" of benchmarks/hardware/corpus). On AMD's chips, where nothing was measured, L2 has it at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace simt {

class Fetches {
 public:
  static constexpr uint32_t kSectors = 4;  // of a line

  // `soon`: cycles for which a sector is on its way.
  void begin(double soon) {
    soon_ = float(soon);
    forget();
  }
  void forget() {
    ++stamp_;
    used_ = 0;
  }

  // Asked for now. True: one of `sectors`, a bit mask, is on its way.
  bool ask(uint64_t line, uint32_t sectors, double now) {
    Slot* slot = find(line);
    if (!slot) return false;
    bool waits = false;
    for (uint32_t i = 0; i < kSectors; ++i) {
      if (!(sectors >> i & 1) || !(slot->known >> i & 1)) continue;
      waits |= float(now) < slot->asked[i] + soon_;
      slot->asked[i] = std::min(slot->asked[i], float(now));
    }
    return waits;
  }

  // What ask() has not found.
  void note(uint64_t line, uint32_t sectors, double now) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = place(line);
    for (uint32_t i = 0; i < kSectors; ++i)
      if (sectors >> i & 1) slot.asked[i] = slot.known >> i & 1 ? std::min(slot.asked[i], float(now)) : float(now);
    slot.known |= sectors;
  }

 private:
  struct Slot {
    uint64_t line = 0;
    uint32_t stamp = 0, known = 0;  // known: bit mask
    float asked[kSectors] = {};
  };

  static uint64_t mixed(uint64_t line) { return line * 0x9E3779B97F4A7C15ull >> 20; }

  Slot* find(uint64_t line) {
    if (used_ == 0) return nullptr;
    for (uint64_t i = mixed(line);; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.stamp != stamp_) return nullptr;
      if (slot.line == line) return &slot;
    }
  }

  Slot& place(uint64_t line) {
    for (uint64_t i = mixed(line);; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.stamp == stamp_ && slot.line != line) continue;
      if (slot.stamp != stamp_) {
        slot.line = line, slot.stamp = stamp_, slot.known = 0;
        ++used_;
      }
      return slot;
    }
  }

  void grow() {
    std::vector<Slot> before(std::max<size_t>(1024, 2 * slots_.size()));
    before.swap(slots_);
    used_ = 0;
    for (const Slot& slot : before)
      if (slot.stamp == stamp_) place(slot.line) = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them, half of them empty
  uint64_t used_ = 0;
  uint32_t stamp_ = 1;
  float soon_ = 0;
};

}  // namespace simt
