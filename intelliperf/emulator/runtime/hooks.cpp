// What device code calls. __simt_access, __simt_access_range and __simt_thread are in fiber_*.cpp.
#include <sys/mman.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <unordered_map>

#include "analysis.h"
#include "device_file.h"
#include "execution.h"
#include "fault_log.h"
#include "fiber.h"
#include "memory.h"
#include "repeats.h"
#include "scheduler.h"
#include "settings.h"
#include "wave_counts.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {
namespace {

constexpr double kClockStep = 32;       // cycles between two readings
constexpr double kIssueCycles = 4;      // of a wave-level request (assumption)
constexpr double kWallClockHz = 100e6;  // as the device properties say
double device_ns;                       // monotonic over the process

double step_ns() { return kClockStep * 1e9 / device().clock_hz; }

uint64_t read_clock(double hz) {
  note_outside_effect();
  device_ns += step_ns();
  return uint64_t(device_ns * 1e-9 * hz * settings().clock_scale);
}

constexpr uint32_t kNamedBarriers = 32;  // of a block: those of PTX, then those of tiles larger than a wave
struct NamedBarrier {
  uint64_t turn = 0;
  uint32_t arrived = 0;
};
std::unordered_map<uint64_t, std::array<NamedBarrier, kNamedBarriers>> named_barriers;  // by block, of one launch
uint32_t named_barriers_of = ~0u;

NamedBarrier& named_barrier(uint32_t number) {
  if (named_barriers_of != execution.index) named_barriers.clear();
  named_barriers_of = execution.index;
  const Grid& g = __simt_grid;
  const uint64_t block =
      g.block_index[0] + uint64_t{g.grid_dim[0]} * (g.block_index[1] + uint64_t{g.grid_dim[1]} * g.block_index[2]);
  return named_barriers[block][number % kNamedBarriers];
}

// The lane's second line stays untouched: plain barriers are frequent.
void park_at_barrier(LaneState state, uint32_t& counter) {
  Lane* lane = simt_current;
  lane->state = state;
  ++counter;
  simt_park();
}

[[noreturn]] void stop_lane(FaultKind kind, uint32_t site, int status) {
  Fault fault{kind};
  fault.site = site;
  fault.thread = simt_current->thread.linear;
  note_fault(fault);
  abort_lane(status);
}

}  // namespace

bool named_barrier_passed;

void trap_in_a_call() {
  const Lane* lane = simt_current;
  stop_lane(FaultKind::kTrap, lane->state == LaneState::kAccess ? lane->site : kNoSite, kLaunchFailed);
}

// Waves hide one another's latency: a quarter of that of the first cache is taken to remain.
void pass_request(bool memory) {
  const Device& d = device();
  device_ns += (kIssueCycles + (memory ? d.l1_latency_cycles / 4 : 0)) * 1e9 / d.clock_hz;
}
void advance_device_clocks(double ns) { device_ns += ns; }

bool in_shared_memory(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at - execution.shared_begin < execution.shared_bytes ||
         at - reinterpret_cast<uintptr_t>(dynamic_shared_base()) < kDynamicSharedCapacity;
}

extern "C" {

SIMT_EXPORT Grid __simt_grid;

SIMT_EXPORT void __simt_at(uint32_t site) { simt_current->site = site; }

SIMT_EXPORT void __simt_block(uint32_t block) { wave_counter.pass(block); }

void simt_count_access(const void* address, uint32_t site, uint64_t bytes) {
  if (wave_counter.access(address, site, bytes)) return;
  Lane* lane = simt_current;
  lane->address = address;
  lane->site = site;
  lane->bytes = bytes;
  lane->state = bytes ? LaneState::kRange : LaneState::kAccess;
  simt_park();
}

SIMT_EXPORT void __simt_fence(uint32_t code) {
  wave_counter.fence();
  if (execution.observer) execution.observer->fence(simt_current->thread.linear, code);
}

// The scope of what follows is in its site.
SIMT_EXPORT void __simt_scope(uint32_t) {}

SIMT_EXPORT void __simt_call(uint32_t site) {
  Lane* lane = simt_current;
  if (lane->depth < kMaxCallDepth) {
    lane->path[lane->depth] = CallFrame{site, lane->path_hash, lane->loop_base, lane->loop_depth};
    lane->path_hash = (lane->path_hash ^ site) * 0x9E3779B1u + 1;
    lane->loop_base += lane->loop_depth + 1;
    lane->loop_depth = 0;
    if (lane->loop_base < kMaxLoops) lane->turns[lane->loop_base].hash = lane->path_hash;
  }
  ++lane->depth;
}

SIMT_EXPORT void __simt_return() {
  Lane* lane = simt_current;
  --lane->depth;
  if (lane->depth >= kMaxCallDepth) return;
  const CallFrame& frame = lane->path[lane->depth];
  lane->path_hash = frame.hash;
  lane->loop_base = frame.loop_base;
  lane->loop_depth = frame.loop_depth;
}

SIMT_EXPORT void __simt_turn(uint32_t loop, uint32_t depth, uint32_t turn) {
  Lane* lane = simt_current;
  const uint32_t at = lane->loop_base + depth;
  if (lane->depth > kMaxCallDepth) return;
  lane->loop_depth = depth;
  if (at >= kMaxLoops) return;
  lane->path_hash = (lane->turns[at - 1].hash ^ (loop * 0x85EBCA6Bu + turn)) * 0x9E3779B1u + 1;
  lane->turns[at] = LoopTurn{loop, turn, lane->path_hash};
}

SIMT_EXPORT void __simt_leave(uint32_t depth) {
  Lane* lane = simt_current;
  const uint32_t at = lane->loop_base + depth;
  if (lane->depth > kMaxCallDepth) return;
  lane->loop_depth = depth;
  if (at < kMaxLoops) lane->path_hash = lane->turns[at].hash;
}

SIMT_EXPORT void __simt_barrier() { park_at_barrier(LaneState::kBarrier, park_counts.barrier); }

SIMT_EXPORT int __simt_barrier_reduce(uint32_t op, int predicate) {
  Lane* lane = simt_current;
  lane->reduces = reducing_barriers = true;
  lane->operation = op;
  lane->value = predicate != 0;
  park_at_barrier(LaneState::kBarrier, park_counts.barrier);
  simt_current->reduces = false;
  return int(simt_current->result);
}

SIMT_EXPORT uint64_t __simt_collective(uint32_t op, uint64_t mask, uint64_t value, uint32_t argument, uint32_t width) {
  Lane* lane = simt_current;
  lane->operation = op;
  lane->mask = mask;
  lane->value = value;
  lane->argument = argument;
  lane->width = width;
  lane->state = LaneState::kCollective;
  simt_park();
  return simt_current->result;
}

// Threads that wait have the others of the block go first, until enough of them have come.
SIMT_EXPORT void __simt_named_barrier(uint32_t number, uint32_t threads, uint32_t waits) {
  NamedBarrier& barrier = named_barrier(number);
  const uint64_t turn = barrier.turn;
  if (++barrier.arrived >= threads) {
    barrier.arrived = 0;
    ++barrier.turn;
    named_barrier_passed = true;
    __simt_collective(uint32_t(Collective::kYield), 0, 0, 0, 0);
  }
  while (waits && named_barrier(number).turn == turn) __simt_collective(uint32_t(Collective::kYield), 0, 0, 0, 0);
}

SIMT_EXPORT void __simt_grid_barrier() {
  if (!execution.request->cooperative) {
    fputs("intelliperf: grid-wide barrier in a kernel that was not launched cooperatively\n", stderr);
    __simt_trap();
  }
  park_at_barrier(LaneState::kGridBarrier, park_counts.grid);
}

SIMT_EXPORT uint64_t __simt_clock() { return read_clock(device().clock_hz); }
SIMT_EXPORT uint64_t __simt_wall_clock() { return read_clock(kWallClockHz); }

SIMT_EXPORT void __simt_trap() { stop_lane(FaultKind::kTrap, simt_current->site, kLaunchFailed); }

SIMT_EXPORT void __simt_exit() { end_lane(); }

SIMT_EXPORT void __simt_assert_fail(const char* expression, const char* file, uint32_t line, const char* function) {
  Lane* lane = simt_current;
  fflush(stdout);
  fprintf(stderr, "intelliperf: %s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u]: assertion `%s' failed\n", file, line,
          function, __simt_grid.block_index[0], __simt_grid.block_index[1], __simt_grid.block_index[2],
          lane->thread.index[0], lane->thread.index[1], lane->thread.index[2], expression);
  stop_lane(FaultKind::kAssert, lane->site, kAssertFailed);
}

SIMT_EXPORT void __simt_pure_virtual() { trap_in_a_call(); }

SIMT_EXPORT int __simt_printf(const char* format, ...) {
  note_outside_effect();
  va_list arguments;
  va_start(arguments, format);
  const int written = vprintf(format, arguments);
  va_end(arguments);
  return written;
}

SIMT_EXPORT void* __simt_device_malloc(uint64_t bytes) {
  note_outside_effect();
  const Allocation* made = allocate(bytes, MemoryKind::kDevice);
  return made ? reinterpret_cast<void*>(made->base) : nullptr;
}

SIMT_EXPORT void __simt_device_free(void* pointer) {
  note_outside_effect();
  if (pointer && !release(reinterpret_cast<uintptr_t>(pointer)))
    record_host_fault("invalid_free", "device-side free of a pointer that is not an allocation");
}

SIMT_EXPORT void* __simt_dynamic_shared() { return dynamic_shared_base(); }
SIMT_EXPORT uint32_t __simt_dynamic_shared_size() { return execution.request ? execution.request->dynamic_lds : 0; }

}  // extern "C"

}  // namespace simt
