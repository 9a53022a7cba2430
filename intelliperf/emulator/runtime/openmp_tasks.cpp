// clang's calls for OpenMP that libgomp answers otherwise or not at all: reductions over tasks, and loops whose turns
// wait for named earlier ones. Records are those of LLVM's runtime (openmp/runtime/src/kmp.h).
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "openmp.h"

#define KMP extern "C" __attribute__((visibility("default")))

namespace simt {

thread_local TaskGroup* task_group = nullptr;

namespace {

struct Reduced {  // one item, as compiled code describes it
  void* shared;
  void* original;  // that copies begin from
  size_t bytes;
  void (*begin)(void* copy, void* original);  // null: all bits are 0
  void (*destroy)(void* copy);                // null: nothing to do
  void (*combine)(void* shared, void* copy);
  uint32_t flags;
};

struct Item {
  Reduced described;
  std::vector<std::pair<std::thread::id, void*>> copies;
};

}  // namespace

struct TaskGroup {
  TaskGroup* around;
  std::mutex lock;
  std::vector<Item> items;
};

namespace {

void* copy_of_thread(Item& item) {
  constexpr size_t kAlignment = 64;
  const std::thread::id self = std::this_thread::get_id();
  for (const auto& [thread, copy] : item.copies)
    if (thread == self) return copy;
  void* copy = nullptr;
  if (posix_memalign(&copy, kAlignment, item.described.bytes) != 0) std::abort();
  std::memset(copy, 0, item.described.bytes);
  if (item.described.begin) item.described.begin(copy, item.described.original);
  item.copies.emplace_back(self, copy);
  return copy;
}

bool is_of(const Item& item, const void* data) {
  if (item.described.shared == data) return true;
  for (const auto& [thread, copy] : item.copies)
    if (copy == data) return true;
  return false;
}

void combine(Item& item) {
  for (const auto& [thread, copy] : item.copies) {
    item.described.combine(item.described.shared, copy);
    if (item.described.destroy) item.described.destroy(copy);
    std::free(copy);
  }
}

struct Dimension {  // of a loop; its last turn is `upper` or before it
  int64_t lower, upper, step;
};

// Turns that are done, for all threads of a team.
struct Doacross {
  Doacross(int count, const Dimension* first, int threads) : dimensions(first, first + count), users(threads) {
    size_t turns = 1;
    for (const Dimension& one : dimensions) turns *= turns_of(one);
    done = std::make_unique<std::atomic<bool>[]>(turns);
  }

  static size_t turns_of(const Dimension& one) {
    const int64_t width = one.step > 0 ? one.upper - one.lower : one.lower - one.upper;
    return width < 0 ? 0 : static_cast<size_t>(width / std::abs(one.step)) + 1;
  }

  // Null for a turn that the loops do not have.
  std::atomic<bool>* turn(const int64_t* at) {
    size_t number = 0;
    for (const Dimension& one : dimensions) {
      const int64_t value = *at++;
      const int64_t from_first = one.step > 0 ? value - one.lower : one.lower - value;
      const int64_t to_last = one.step > 0 ? one.upper - value : value - one.upper;
      if (from_first < 0 || to_last < 0) return nullptr;
      number = number * turns_of(one) + static_cast<size_t>(from_first / std::abs(one.step));
    }
    return &done[number];
  }

  std::vector<Dimension> dimensions;
  std::unique_ptr<std::atomic<bool>[]> done;
  std::atomic<int> users;
};

thread_local std::vector<Doacross*> doacross;  // of regions inside a loop's body, the innermost last

}  // namespace

KMP void __kmpc_taskgroup(void*, int) {
  task_group = new TaskGroup{task_group, {}, {}};
  gomp().taskgroup_start();
}

KMP void __kmpc_end_taskgroup(void*, int) {
  gomp().taskgroup_end();
  const std::unique_ptr<TaskGroup> ended(task_group);
  task_group = ended->around;
  for (Item& item : ended->items) combine(item);
}

KMP void* __kmpc_taskred_init(int, int count, const Reduced* described) {
  if (!task_group) return nullptr;
  for (int i = 0; i < count; ++i) task_group->items.push_back({described[i], {}});
  return task_group;
}

KMP void* __kmpc_task_reduction_get_th_data(int, void* group, void* data) {
  for (auto* at = group ? static_cast<TaskGroup*>(group) : task_group; at; at = at->around) {
    const std::lock_guard<std::mutex> held(at->lock);
    for (Item& item : at->items)
      if (is_of(item, data)) return copy_of_thread(item);
  }
  std::abort();  // in_reduction of what no group around it reduces
}

// reduction(task, …) of a region: each thread has a group of its own, whose tasks end before the region's reduction.
KMP void* __kmpc_taskred_modifier_init(void* place, int thread, int, int count, const Reduced* described) {
  __kmpc_taskgroup(place, thread);
  return __kmpc_taskred_init(thread, count, described);
}

KMP void __kmpc_task_reduction_modifier_fini(void* place, int thread, int) { __kmpc_end_taskgroup(place, thread); }

KMP void __kmpc_doacross_init(void*, int, int count, const Dimension* dimensions) {
  auto* shared = static_cast<Doacross*>(gomp().single_copy_start());
  if (!shared) {
    shared = new Doacross(count, dimensions, gomp().threads());
    gomp().single_copy_end(shared);
  }
  doacross.push_back(shared);
}

KMP void __kmpc_doacross_wait(void*, int, const int64_t* at) {
  const std::atomic<bool>* const turn = doacross.back()->turn(at);
  while (turn && !turn->load(std::memory_order_acquire)) sched_yield();
}

KMP void __kmpc_doacross_post(void*, int, const int64_t* at) {
  if (std::atomic<bool>* const turn = doacross.back()->turn(at)) turn->store(true, std::memory_order_release);
}

KMP void __kmpc_doacross_fini(void*, int) {
  Doacross* const ended = doacross.back();
  doacross.pop_back();
  if (ended->users.fetch_sub(1) == 1) delete ended;
}

}  // namespace simt
