// PyTorch's CPU memory, in front of the library that defines it: while a thread works on device tensors, what it
// allocates lies in the emulator's device memory (guarded, poisoned, seen by validation), else where it always does.
//
// libc10.so calls alloc_cpu and free_cpu through its procedure linkage table, and their C++ names have not changed
// since PyTorch 1.6; loaded with RTLD_GLOBAL before libc10.so, these definitions are found first.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace {

constexpr size_t kAlignment = 64;  // as c10's own
using Malloc = int (*)(void**, size_t);
using Free = int (*)(void*);

Malloc device_malloc;
Free device_free;
std::atomic<uintptr_t> lowest{UINTPTR_MAX}, highest{0};  // of all that was ever allocated on the device
std::atomic<bool> ended{false};
thread_local int on_device;

void widen(uintptr_t begin, uintptr_t end) {
  for (uintptr_t known = lowest; begin < known && !lowest.compare_exchange_weak(known, begin);) {
  }
  for (uintptr_t known = highest; end > known && !highest.compare_exchange_weak(known, end);) {
  }
}

// Bytes of device tensors: now, and the most so far.
struct Tally {
  std::mutex lock;
  std::unordered_map<uintptr_t, size_t> sizes;
  uint64_t now = 0, most = 0;
};
Tally& tally() {
  static auto* const kept = new Tally;  // outlives the interpreter's last tensors
  return *kept;
}

void count(void* made, size_t bytes) {
  Tally& t = tally();
  const std::lock_guard<std::mutex> guard(t.lock);
  t.sizes[reinterpret_cast<uintptr_t>(made)] = bytes;
  t.now += bytes;
  if (t.now > t.most) t.most = t.now;
}

void discount(const void* pointer) {
  Tally& t = tally();
  const std::lock_guard<std::mutex> guard(t.lock);
  const auto found = t.sizes.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == t.sizes.end()) return;
  t.now -= found->second;
  t.sizes.erase(found);
}

// An exception would have to cross two C++ libraries.
[[noreturn]] void give_up(size_t bytes) {
  std::fprintf(stderr, "intelliperf: out of memory: a tensor of %zu bytes\n", bytes);
  std::_Exit(125);
}

bool is_device(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return address >= lowest && address < highest;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT void intelliperf_memory_begin(Malloc allocate, Free release) {
  device_malloc = allocate;
  device_free = release;
}
// The runtime library closes its records: what is freed from here on is kept.
EXPORT void intelliperf_memory_end() { ended = true; }
// Returns what was set before, for this thread.
EXPORT int intelliperf_memory_on_device(int wanted) {
  const int before = on_device;
  on_device = wanted;
  return before;
}

// Bytes of device tensors now (0), the most so far (1), and that most anew (2).
EXPORT uint64_t intelliperf_memory_bytes(int which) {
  Tally& t = tally();
  const std::lock_guard<std::mutex> guard(t.lock);
  if (which == 2) t.most = t.now;
  return which == 0 ? t.now : t.most;
}
EXPORT int intelliperf_memory_holds(const void* pointer) { return is_device(pointer); }

}  // extern "C"

namespace c10 {

EXPORT void* alloc_cpu(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* made = nullptr;
  if (on_device && device_malloc && !ended) {
    if (device_malloc(&made, bytes) == 0 && made) {
      count(made, bytes);
      widen(reinterpret_cast<uintptr_t>(made), reinterpret_cast<uintptr_t>(made) + bytes);
      return made;
    }
    give_up(bytes);
  }
  if (posix_memalign(&made, kAlignment, bytes) != 0) give_up(bytes);
  return made;
}

EXPORT void free_cpu(void* pointer) {
  if (!is_device(pointer)) return free(pointer);
  discount(pointer);
  if (!ended) device_free(pointer);
}

}  // namespace c10
