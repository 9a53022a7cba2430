// The pool of lane stacks. Guarded ones first; beyond kGuarded the mappings of the process would run
// out (Linux allows 65530), so large cooperative grids get plain ones.
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "fiber.h"

namespace simt {
namespace {

constexpr size_t kGuarded = 2048;
constexpr size_t kSlab = 256;  // stacks per mapping

struct Pool {
  std::vector<uintptr_t> free;  // what free_stacks is a view of
  std::vector<uintptr_t> slabs;
  size_t guarded = 0;
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: lanes may outlive static destructors
  return *instance;
}

}  // namespace

FreeStacks free_stacks;

bool more_stacks() {
  void* memory =
      mmap(nullptr, kSlab * kStackStride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  madvise(memory, kSlab * kStackStride, MADV_NOHUGEPAGE);
  const auto base = reinterpret_cast<uintptr_t>(memory);
  pool().slabs.push_back(base);
  pool().free.resize(pool().slabs.size() * kSlab);
  free_stacks.low = pool().free.data();
  for (size_t i = kSlab; i-- > 0;) {
    const uintptr_t low = base + i * kStackStride;
    if (pool().guarded < kGuarded && mprotect(reinterpret_cast<void*>(low), kGuardBytes, PROT_NONE) == 0)
      ++pool().guarded;
    free_stacks.low[free_stacks.count++] = low;
  }
  return true;
}

namespace {

Lane home;

}  // namespace

extern "C" {
Lane* simt_current = &home;
bool simt_counting;
}

Lane& home_lane() { return home; }

void reclaim_all_stacks() {
  free_stacks.count = 0;
  for (uintptr_t base : pool().slabs)
    for (size_t i = kSlab; i-- > 0;) free_stacks.low[free_stacks.count++] = base + i * kStackStride;
}

bool in_stack_guard(uintptr_t address) {
  for (uintptr_t base : pool().slabs)
    if (address - base < kSlab * kStackStride) return (address - base) % kStackStride < kGuardBytes;
  return false;
}

void run_chain(Lane* first) {
  home.next = first;
  simt_current = &home;
  simt_park();
}

}  // namespace simt
