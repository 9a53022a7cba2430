// What goes wrong on the device: collected once per distinct (kind, sites) and written
// to faults.jsonl at the end of the launch.
#pragma once
#include <cstdint>
#include <optional>

#include "lane.h"
#include "launch.h"

namespace simt {

enum class FaultKind : uint8_t {
  kOutOfBounds,
  kRace,
  kUninitialized,
  kDeadlock,
  kTrap,
  kAssert,
  kDivergentBarrier,
  kUnacquired,        // ordered by a value that was read, but without an acquiring fence
  kMisaligned,        // for what the compiler takes for granted
  kDivergentShuffle,  // reads from a lane that takes no part
  // What programs get away with, so that no gate looks at it; `check` tells:
  kShuffleFromEnded,  // reads from a lane that has ended, or never was
  kBarrierAfterEnd,   // of a block some of whose lanes have ended
  kOutsideMask,       // a lane that the mask of its own call does not name
};
// What a race lacks, as far as it can be told.
enum class FaultCause : uint8_t {
  kUnknown,
  kNoRelease,
  kNarrowFence,
  kNoAcquire,
  kNarrowAtomic,
  kLostUpdate,
  kReadOnlyLoad,
  kUnorderedStreams,  // with a kernel of another stream
};
enum class FaultScope : uint8_t { kNone, kWave, kBlock, kGrid };
constexpr uint32_t kNoSite = 0xFFFFFFFF;
constexpr uint64_t kNoBlock = ~uint64_t(0);
constexpr uint64_t kNoOffset = ~uint64_t(0);

struct Fault {
  FaultKind kind;
  FaultScope scope = FaultScope::kNone;
  bool shared = false;  // LDS, not global memory
  uint32_t site = kNoSite, other_site = kNoSite;
  uint32_t thread = 0;
  FaultCause cause = FaultCause::kUnknown;
  uint32_t other_thread = 0;        // of `other_block`
  uint64_t other_block = kNoBlock;  // linear
  uint64_t address = 0;             // 0: not given; what memory holds there is noted
  uint32_t bytes = 0;
  uint64_t resident = 0;          // of a deadlock: blocks that fit, where others were not begun; 0: all were
  int64_t address_offset = 0;     // from the base of its allocation
  uint64_t allocation_bytes = 0;  // 0: in none
  bool freed = false;             // of an access out of bounds: the allocation was freed before
  bool same_value = false;        // of two stores: the second changed nothing
  std::optional<uint32_t> held = std::nullopt;  // what memory held before the access, where it no longer does
  // Of a stop in a GPU's own code: where in its code object, and why in a text that stays.
  uint64_t code_offset = kNoOffset;
  const char* why = nullptr;
};

// Counts the fault; the first of its kind and sites keeps the details.
void note_fault(const Fault& fault);
// Writes the launch's faults and forgets them; says the grave ones on standard error.
// Whether an access out of bounds was noted since.
bool noted_bad_access();
// Whether a race was that cannot be meant: an update that is not atomic, or accesses to LDS without a barrier.
bool noted_grave_race();
void flush_faults(const LaunchRequest& request, uint32_t launch_index);

// Not 0: the running launch must end with this status. Set by traps and fatal signals.
extern int abort_status;
// Ends the current lane and with it the launch. Runs on the lane's stack.
[[noreturn]] void abort_lane(int status);
// Stops the present lane in what device code called, which has no site of its own.
[[noreturn]] void trap_in_a_call();

// Turns SIGSEGV, SIGBUS, SIGFPE and SIGILL of device code into the end of the launch.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

// The dynamic LDS of the running launch, or a module's static LDS.
bool in_shared_memory(const void* address);
char* dynamic_shared_base();
constexpr uint64_t kDynamicSharedCapacity = 256 * 1024;

}  // namespace simt
