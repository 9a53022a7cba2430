// What programs seed their input by: the same in each run of a program, so that runs can be compared.
#include "host_seeds.h"

#include <link.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over a counter.
uint64_t mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

timespec read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

// Whole seconds since the first call.
time_t elapsed() {
  static const timespec first = read_clock(CLOCK_MONOTONIC);
  const timespec now = read_clock(CLOCK_MONOTONIC);
  return now.tv_sec - first.tv_sec - (now.tv_nsec < first.tv_nsec);
}

std::atomic<uint32_t> asked{0};

// The first object is the program. Libraries ask for their own ends.
int is_in_program(dl_phdr_info* info, size_t, void* code) {
  const auto at = *static_cast<const uintptr_t*>(code);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && at - info->dlpi_addr - part.p_vaddr < part.p_memsz) return 1;
  }
  return -1;
}

void note_question(uint32_t what, void* caller) {
  if (asked & what) return;
  auto code = reinterpret_cast<uintptr_t>(caller);
  if (dl_iterate_phdr(is_in_program, &code) > 0) asked |= what;
}

}  // namespace

namespace simt {
uint32_t asked_by_program() { return asked; }
}  // namespace simt

// std::random_device::_M_getval() in place of libstdc++'s own, by which libstdc++'s header gets every number.
extern "C" SIMT_EXPORT unsigned int _ZNSt13random_device9_M_getvalEv(void*) {
  note_question(simt::kAskedRandom, __builtin_return_address(0));
  static std::atomic<uint64_t> count{0};
  return static_cast<unsigned int>(mixed((count.fetch_add(1) + 1) * 0x9e3779b97f4a7c15u) >> 32);
}

// In place of libc's: where INTELLIPERF_BEGAN says when the runs that are compared began, in seconds since the epoch,
// the first call returns that, however long the host has worked before. Clocks of finer resolution stay as they are.
extern "C" SIMT_EXPORT time_t time(time_t* told) {
  note_question(simt::kAskedTime, __builtin_return_address(0));
  static const char* const began = getenv("INTELLIPERF_BEGAN");
  const time_t now =
      began && *began ? time_t(strtoll(began, nullptr, 10)) + elapsed() : read_clock(CLOCK_REALTIME).tv_sec;
  if (told) *told = now;
  return now;
}
