// Traps of device code, and the watchdog's timer. The handlers leave by parking the interrupted lane: what
// they leave behind on a stack is either resumed later (watchdog) or never needed again (traps).
#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>

#include "division.h"
#include "execution.h"
#include "fault_log.h"
#include "fiber.h"
#include "lds_guards.h"
#include "memory.h"
#include "scheduler.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr int kTraps[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kTrapCount = sizeof kTraps / sizeof *kTraps;
constexpr long kTickNs = 10 * 1000 * 1000;
constexpr uint32_t kTicksBeforePreemption = 8;
// What interrupted lanes do is counted anew when they resume, so a lane whose accesses are counted has longer while it
// does nothing that could wait for another.
constexpr uint32_t kTicksOfWork = 1000;

struct sigaction before[kTrapCount];

int watchdog_signal() { return SIGRTMAX - 4; }

uintptr_t instruction_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return context.uc_mcontext.pc;
#endif
}

void pass_on(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < kTrapCount; ++i) {
    if (kTraps[i] != signal) continue;
    if (before[i].sa_flags & SA_SIGINFO)
      before[i].sa_sigaction(signal, info, context);
    else if (before[i].sa_handler != SIG_DFL && before[i].sa_handler != SIG_IGN)
      before[i].sa_handler(signal);
    else
      sigaction(signal, &before[i], nullptr);  // the instruction runs again, and the default takes its course
  }
}

Fault describe(const Lane& lane, bool memory, uintptr_t address) {
  const bool overflow = memory && in_stack_guard(address);
  Fault fault{memory && !overflow ? FaultKind::kOutOfBounds : FaultKind::kTrap};
  const bool located = lane.state == LaneState::kAccess || lane.state == LaneState::kRange;
  fault.site = located ? lane.site : kNoSite;
  fault.thread = lane.thread.linear;
  if (overflow) fputs("intelliperf: a thread's private memory exceeds 252 KB\n", stderr);
  if (fault.kind != FaultKind::kOutOfBounds) return fault;
  if (const SharedSpan variable = beside_lds(address); variable.begin != 0) {
    fault.shared = true;
    fault.address_offset = int64_t(address - variable.begin);
    fault.allocation_bytes = variable.end - variable.begin;
    return fault;
  }
  const Allocation* around = beside(address);
  fault.address_offset = int64_t(around ? address - around->base : address);
  fault.allocation_bytes = around ? around->bytes : 0;
  fault.freed = around && !around->live;
  return fault;
}

void on_trap(int signal, siginfo_t* info, void* context) {
  if (!device_code_running()) {
    pass_on(signal, info, context);
    return;
  }
  // A candidate that divides by a size which is 0 for once has not failed by that; what it makes of it is compared.
  if (signal == SIGFPE && execution.request && execution.request->altered &&
      pass_division(*static_cast<ucontext_t*>(context))) {
    execution.divided = true;
    return;
  }
  const bool memory = signal == SIGSEGV || signal == SIGBUS;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const bool tolerated = memory && open_guard(address);
  note_fault(describe(*simt_current, memory, address));
  if (tolerated) return;  // slack mode: the guard is open now, the access is repeated
  abort_lane(memory && !in_stack_guard(address) ? kIllegalAddress : kLaunchFailed);
}

void provide_handler_stack() {  // the lane's own stack may be what overflowed
  constexpr size_t kBytes = 128 * 1024;
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && !(present.ss_flags & SS_DISABLE)) return;
  static thread_local char* memory = nullptr;
  if (!memory) memory = new char[kBytes];
  stack_t wanted{};
  wanted.ss_sp = memory;
  wanted.ss_size = kBytes;
  sigaltstack(&wanted, nullptr);
}

struct Text {
  uintptr_t begin = 0, end = 0;
};
Text text;
const Lane* watched;
uint64_t watched_work, watched_meetings;
uint32_t ticks;
timer_t timer;

constexpr uint32_t kStates = 8192;
uint64_t seen_states[kStates];

uint64_t blend(uint64_t hash, const void* words, size_t bytes) {
  const char* at = static_cast<const char*>(words);
  for (uint64_t word; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
    __builtin_memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

// Remembers the registers; without them (other processors) every state counts as new.
void note_state(const ucontext_t& context) {
#if defined(__x86_64__)
  uint64_t hash = blend(1, context.uc_mcontext.gregs, (REG_RIP + 1) * sizeof context.uc_mcontext.gregs[0]);
  if (context.uc_mcontext.fpregs)
    hash = blend(hash, context.uc_mcontext.fpregs->_xmm, sizeof context.uc_mcontext.fpregs->_xmm);
  uint64_t& place = seen_states[hash % kStates];
  if (place == hash) return;
  place = hash;
#else
  (void)context;
#endif
  ++new_states;
}

void on_tick(int, siginfo_t*, void* raw_context) {
  Lane* lane = simt_current;
  if (!device_code_running()) return;
  if (lane != watched || switches != watched_work) {
    watched = lane;
    watched_work = switches;
    watched_meetings = wave_counter.meetings();
    ticks = 0;
    return;
  }
  const bool works = simt_counting && wave_counter.meetings() == watched_meetings;
  if (++ticks < (works ? kTicksOfWork : kTicksBeforePreemption)) return;
  const auto& context = *static_cast<ucontext_t*>(raw_context);
  if (instruction_of(context) - text.begin >= text.end - text.begin) return;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here - lane->stack_low < 4 * kGuardBytes) return;  // hardly any stack left
  ticks = 0;
  note_state(context);
  lane->state = LaneState::kPreempted;
  lane->backing_off = true;
  lanes_back_off = true;
  ++park_counts.preempted;
  simt_park();
}

int find_text(dl_phdr_info* info, size_t, void* wanted) {
  const auto inside = reinterpret_cast<uintptr_t>(wanted);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || inside - begin >= header.p_memsz) continue;
    text = Text{begin, begin + header.p_memsz};
    return 1;
  }
  return 0;
}

}  // namespace

Execution execution;
uint64_t new_states;

bool device_code_running() { return execution.request && simt_current != &home_lane(); }

SignalGuard::SignalGuard() {
  provide_handler_stack();
  struct sigaction action{};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kTrapCount; ++i) sigaction(kTraps[i], &action, &before[i]);
}

SignalGuard::~SignalGuard() {
  for (size_t i = 0; i < kTrapCount; ++i) sigaction(kTraps[i], &before[i], nullptr);
}

Watchdog::Watchdog(const Kernel& kernel) {
  if (kernel.code) return;
  text = Text{};
  watched = nullptr;
  ticks = 0;
  dl_iterate_phdr(find_text, reinterpret_cast<void*>(kernel.fast));
  if (!text.end) return;
  struct sigaction action{};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;  // on the lane's own stack: it is parked from there
  sigemptyset(&action.sa_mask);
  sigaction(watchdog_signal(), &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = watchdog_signal();
  event._sigev_un._tid = pid_t(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  armed_ = true;
  itimerspec interval{};
  interval.it_value.tv_nsec = interval.it_interval.tv_nsec = kTickNs;
  timer_settime(timer, 0, &interval, nullptr);
}

Watchdog::~Watchdog() {
  if (armed_) timer_delete(timer);
}

}  // namespace simt
