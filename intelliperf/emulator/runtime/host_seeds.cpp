// What programs seed their input by: the same in each run of a program, so that runs can be compared.
#include "host_seeds.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

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
std::atomic<uint64_t> times_asked{0};  // the time of day
constexpr uint64_t kAsksOnly = 100;    // as often a program may ask for it before that is waiting

// Does the program import one of the finer clocks that tell the time of day?
int imports_clock(dl_phdr_info* info, size_t, void* found) {
  const char* names = nullptr;
  size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    auto entry = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
    }
  }
  for (const char* clock : {"12system_clock3nowEv", "clock_gettime", "gettimeofday", "timespec_get"})
    if (names && memmem(names, bytes, clock, strlen(clock) + 1)) *static_cast<bool*>(found) = true;
  return 1;  // the first object is the program
}

bool knows_other_clock() {
  static const bool found = [] {
    bool imported = false;
    dl_iterate_phdr(imports_clock, &imported);
    return imported;
  }();
  return found;
}

// What `time` tells when it is asked for that time.
time_t told_seconds(uint64_t times) {
  static const char* const began = getenv("INTELLIPERF_BEGAN");
  const bool waits = times > kAsksOnly && knows_other_clock();
  if (!began || !*began || waits) return read_clock(CLOCK_REALTIME).tv_sec;
  return time_t(strtoll(began, nullptr, 10)) + elapsed();
}

// A whole second soon after what `time` tells is one that it told: no other clock is likely to be at one.
timespec by_the_system(const timespec* until) {
  constexpr time_t kSoon = 1000000;
  timespec moved = *until;
  if (until->tv_nsec != 0 || !times_asked) return moved;
  const time_t told = told_seconds(times_asked);
  if (until->tv_sec >= told - kSoon && until->tv_sec <= told + kSoon)
    moved.tv_sec += read_clock(CLOCK_REALTIME).tv_sec - told;
  return moved;
}

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
// the first call returns that, however long the host has worked before. Clocks of finer resolution stay as they are, so
// a program that knows one of them and keeps asking, as for a moment that the other one told, is told that one's.
extern "C" SIMT_EXPORT time_t time(time_t* told) {
  note_question(simt::kAskedTime, __builtin_return_address(0));
  const time_t now = told_seconds(times_asked.fetch_add(1) + 1);
  if (told) *told = now;
  return now;
}

// Waits until a moment that `time` told, which lies before that by the system's own clock.
extern "C" SIMT_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                  const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  static const auto wait = Wait(dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  const timespec moved = by_the_system(until);
  return wait(condition, mutex, &moved);
}
extern "C" SIMT_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  static const auto wait = reinterpret_cast<int (*)(sem_t*, const timespec*)>(dlsym(RTLD_NEXT, "sem_timedwait"));
  const timespec moved = by_the_system(until);
  return wait(semaphore, &moved);
}
