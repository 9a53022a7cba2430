#include "dispatch.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>

#include "requests.h"

namespace gfx90a {
namespace {

constexpr uint64_t kWaveTurn = 20000;     // instructions that a wave runs before its neighbours get a turn
constexpr uint64_t kGroupTurn = 4000000;  // of a group that waits for another group
constexpr size_t kMostResidentGroups = 256;

struct Resident {
  Group group;
  std::vector<uint8_t> lds;
};

class Runner {
 public:
  Runner(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned)
      : code_(code), dispatch_(dispatch), count_(dispatch.groups()), abandoned_(abandoned) {}

  Totals run() {
    uint64_t next = 0;
    while (!abandoned_ && (next < count_ || !waiting_.empty())) {
      const bool begin = next < count_ && waiting_.size() < kMostResidentGroups;
      std::unique_ptr<Resident> group = begin ? begin_group(next++) : std::move(waiting_.front());
      if (!begin) waiting_.pop_front();
      if (run_group(group->group))
        spare_.push_back(std::move(group));
      else
        waiting_.push_back(std::move(group));
    }
    return totals_;
  }

 private:
  std::unique_ptr<Resident> begin_group(uint64_t number) {
    std::unique_ptr<Resident> resident;
    if (spare_.empty()) {
      resident = std::make_unique<Resident>();
    } else {
      resident = std::move(spare_.back());
      spare_.pop_back();
    }
    resident->lds.resize(dispatch_.group_bytes);
    machine::begin_group(resident->group, dispatch_, number, resident->lds.data());
    for (Wave& wave : resident->group.waves) wave.observer = &counting_;
    totals_.waves += resident->group.used;
    return resident;
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
                    static_cast<unsigned long long>(address - descriptor_of(dispatch_).entry()));
      throw Stop(stop.what() + std::string(where));
    }
    return ran;
  }

  Code& code_;
  const Dispatch& dispatch_;
  const uint64_t count_;
  const std::atomic<bool>& abandoned_;
  Counting counting_;
  Totals totals_;
  std::vector<std::unique_ptr<Resident>> spare_;
  std::deque<std::unique_ptr<Resident>> waiting_;
};

}  // namespace

Totals run_dispatch(Code& code, const Dispatch& dispatch, const std::atomic<bool>& abandoned) {
  code.begin_dispatch();
  const Rounded rounded(descriptor_of(dispatch));
  return Runner(code, dispatch, abandoned).run();
}

}  // namespace gfx90a
