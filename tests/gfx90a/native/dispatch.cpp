#include "dispatch.h"

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <deque>
#include <memory>

namespace gfx90a {
namespace {

constexpr uint64_t kWaveTurn = 20000;        // instructions that a wave runs before its neighbours get a turn
constexpr uint64_t kGroupTurn = 4000000;     // of a group that waits for another group
constexpr size_t kMostResidentGroups = 256;

enum Property : uint16_t { kPrivateBuffer = 1, kDispatchPointer = 2, kQueuePointer = 4, kKernelArguments = 8,
                           kDispatchNumber = 16, kFlatScratchInit = 32, kPrivateBytes = 64 };
enum Resource2 : uint32_t { kWaveScratchOffset = 1, kGroupX = 1 << 7, kGroupY = 1 << 8, kGroupZ = 1 << 9,
                            kGroupInfo = 1 << 10 };
constexpr uint32_t kSwizzled = 1u << 31;

struct Group {
  std::vector<Wave> waves;
  std::vector<uint8_t> lds;
  size_t used = 0;  // waves of the group at hand
};

struct Place {
  uint32_t index[3], size[3];
};

class Grid {
 public:
  explicit Grid(const Dispatch& dispatch) : dispatch_(dispatch) {
    for (uint32_t n = 0; n < 3; ++n) groups_[n] = (dispatch.grid[n] + dispatch.group[n] - 1) / dispatch.group[n];
  }
  uint64_t count() const { return uint64_t(groups_[0]) * groups_[1] * groups_[2]; }
  Place place(uint64_t number) const {
    const uint64_t row = number / groups_[0];
    Place place{{uint32_t(number % groups_[0]), uint32_t(row % groups_[1]), uint32_t(row / groups_[1])}, {}};
    for (uint32_t n = 0; n < 3; ++n)
      place.size[n] = std::min(dispatch_.group[n], dispatch_.grid[n] - place.index[n] * dispatch_.group[n]);
    return place;
  }

 private:
  const Dispatch& dispatch_;
  uint32_t groups_[3];
};

class Runner {
 public:
  Runner(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned)
      : code_(code),
        dispatch_(dispatch),
        descriptor_(*reinterpret_cast<const KernelDescriptor*>(dispatch.kernel_object)),
        grid_(dispatch),
        abandoned_(abandoned) {}

  Totals run() {
    uint64_t next = 0;
    while (!abandoned_ && (next < grid_.count() || !waiting_.empty())) {
      const bool begin = next < grid_.count() && waiting_.size() < kMostResidentGroups;
      std::unique_ptr<Group> group = begin ? begin_group(next++) : std::move(waiting_.front());
      if (!begin) waiting_.pop_front();
      if (run_group(*group)) spare_.push_back(std::move(group));
      else waiting_.push_back(std::move(group));
    }
    return totals_;
  }

 private:
  std::unique_ptr<Group> begin_group(uint64_t number) {
    std::unique_ptr<Group> group;
    if (spare_.empty()) {
      group = std::make_unique<Group>();
    } else {
      group = std::move(spare_.back());
      spare_.pop_back();
    }
    const Place place = grid_.place(number);
    const uint32_t items = place.size[0] * place.size[1] * place.size[2];
    group->lds.resize(dispatch_.group_bytes);
    group->used = (items + kWave - 1) / kWave;
    if (group->waves.size() < group->used) group->waves.resize(group->used);
    for (uint32_t n = 0; n < group->used; ++n) {
      Wave& wave = group->waves[n];
      wave.lds = &group->lds;
      wave.number_in_group = n;
      begin_wave(wave, place, n * kWave, std::min(items - n * kWave, kWave));
    }
    totals_.waves += group->used;
    return group;
  }

  void begin_wave(Wave& wave, const Place& place, uint32_t first_item, uint32_t items) const {
    wave.pc = descriptor_.entry();
    wave.scc = false;
    wave.state = State::kRunning;
    wave.mode = (descriptor_.resources1 >> 12 & 0xFF) | (descriptor_.resources1 >> 21 & 1) << 8 |
                (descriptor_.resources1 >> 23 & 1) << 9;
    wave.scratch_bytes = (dispatch_.private_bytes + 15) & ~15u;
    wave.scratch.resize(size_t(wave.scratch_bytes) * kWave);
    set_scalars(wave, place);
    wave.set_pair(kExec, items == kWave ? ~0ull : (1ull << items) - 1);
    for (uint32_t lane = 0; lane < items; ++lane) {
      const uint32_t item = first_item + lane, row = item / place.size[0];
      wave.v(0)[lane] = item % place.size[0] | row % place.size[1] << 10 | row / place.size[1] << 20;
    }
  }

  void set_scalars(Wave& wave, const Place& place) const {
    std::fill(std::begin(wave.s), std::end(wave.s), 0);
    uint32_t next = 0;
    const auto add_pair = [&](uint64_t value) {
      wave.set_pair(next, value);
      next += 2;
    };
    const uint16_t properties = descriptor_.properties;
    if (properties & kPrivateBuffer) {
      wave.s[1] = kSwizzled;
      next = 4;
    }
    if (properties & kDispatchPointer) add_pair(dispatch_.packet);
    if (properties & kQueuePointer) add_pair(dispatch_.queue);
    if (properties & kKernelArguments) add_pair(dispatch_.kernel_arguments);
    if (properties & kDispatchNumber) add_pair(dispatch_.number);
    if (properties & kFlatScratchInit) add_pair(0);
    if (properties & kPrivateBytes) wave.s[next++] = dispatch_.private_bytes;
    next = descriptor_.resources2 >> 1 & 31;
    const uint32_t enabled = descriptor_.resources2;
    if (enabled & kGroupX) wave.s[next++] = place.index[0];
    if (enabled & kGroupY) wave.s[next++] = place.index[1];
    if (enabled & kGroupZ) wave.s[next++] = place.index[2];
    if (enabled & kGroupInfo) wave.s[next++] = 0;
    if (enabled & kWaveScratchOffset) wave.s[next++] = 0;
  }

  // False: it has had its turn and is not done.
  bool run_group(Group& group) {
    uint64_t left = kGroupTurn;
    for (;;) {
      size_t ended = 0, waiting = 0;
      for (size_t n = 0; n < group.used; ++n) {
        Wave& wave = group.waves[n];
        if (wave.state == State::kRunning) left -= std::min(left, run_wave(wave));
        ended += wave.state == State::kEnded;
        waiting += wave.state == State::kAtBarrier;
      }
      if (ended == group.used || abandoned_) return true;
      if (ended + waiting == group.used)
        for (size_t n = 0; n < group.used; ++n)
          if (group.waves[n].state == State::kAtBarrier) group.waves[n].state = State::kRunning;
      if (left == 0) return false;
    }
  }

  uint64_t run_wave(Wave& wave) {
    uint64_t ran = 0;
    uint64_t address = wave.pc;
    try {
      while (wave.state == State::kRunning && ran < kWaveTurn) {
        address = wave.pc;
        Instruction& instruction = code_.at(address);
        ++instruction.counts.executions;
        instruction.counts.lanes += lanes_in(wave.exec());
        wave.pc += instruction.bytes;
        instruction.execute(wave, instruction);
        ++ran;
      }
    } catch (const Stop& stop) {
      char where[64];
      std::snprintf(where, sizeof where, " (kernel's entry + 0x%llx)",
                    static_cast<unsigned long long>(address - descriptor_.entry()));
      throw Stop(stop.what() + std::string(where));
    }
    return ran;
  }

  Code& code_;
  const Dispatch& dispatch_;
  const KernelDescriptor& descriptor_;
  const Grid grid_;
  const std::atomic<bool>& abandoned_;
  Totals totals_;
  std::vector<std::unique_ptr<Group>> spare_;
  std::deque<std::unique_ptr<Group>> waiting_;
};

// Rounds this thread's arithmetic as the kernel's MODE register says, while it lives.
class Rounded {
 public:
  explicit Rounded(uint32_t resources1) {
    constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const uint32_t single = resources1 >> 12 & 3, other = resources1 >> 14 & 3;
    if (single != other) throw Stop("a rounding mode for single precision alone");
    std::fesetround(kModes[single]);
  }
  ~Rounded() { std::fesetround(FE_TONEAREST); }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
};

}  // namespace

uint32_t KernelDescriptor::vector_registers() const {
  return std::min(((resources3 & 63) + 1) * 4, all_vector_registers());
}

Totals run_dispatch(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned) {
  code.begin_dispatch();
  const Rounded rounded(reinterpret_cast<const KernelDescriptor*>(dispatch.kernel_object)->resources1);
  return Runner(code, dispatch, abandoned).run();
}

}  // namespace gfx90a
