// clang's calls for OpenMP in host code, answered with gcc's libgomp: one set of threads, and one omp.h with the sizes
// of its locks, for sources that clang compiles and for those that g++ does. The names and their arguments are those of
// LLVM's runtime (openmp/runtime/src/kmp.h) and of gcc's (libgomp/libgomp_g.h). A program that brings LLVM's own
// runtime is served by that, which comes first on its link line.
#include <dlfcn.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "openmp.h"

#define KMP extern "C" __attribute__((visibility("default")))

namespace {

using simt::gomp;
using simt::Gomp;
using simt::task_group;
using simt::TaskGroup;
using Address = void*;
using Microtask = void (*)(int*, int*);
using Outer = unsigned long long;  // of loops that count beyond a long

template <typename F>
void find(F& function, const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  static void* const library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!found && library) found = dlsym(library, name);
  if (!found) {
    std::fprintf(stderr, "intelliperf: a parallel region needs %s of libgomp.so.1, which is not on this machine\n",
                 name);
    std::abort();
  }
  std::memcpy(&function, &found, sizeof found);
}

}  // namespace

const Gomp& simt::gomp() {
  static const Gomp known = [] {
    Gomp it;
    find(it.parallel, "GOMP_parallel");
    find(it.parallel_start, "GOMP_parallel_start");
    find(it.parallel_end, "GOMP_parallel_end");
    find(it.barrier, "GOMP_barrier");
    find(it.critical_start, "GOMP_critical_name_start");
    find(it.critical_end, "GOMP_critical_name_end");
    find(it.single, "GOMP_single_start");
    find(it.single_copy_start, "GOMP_single_copy_start");
    find(it.single_copy_end, "GOMP_single_copy_end");
    find(it.ordered_start, "GOMP_ordered_start");
    find(it.ordered_end, "GOMP_ordered_end");
    find(it.loop_end_nowait, "GOMP_loop_end_nowait");
    find(it.task, "GOMP_task");
    find(it.taskwait, "GOMP_taskwait");
    find(it.taskyield, "GOMP_taskyield");
    find(it.taskgroup_start, "GOMP_taskgroup_start");
    find(it.taskgroup_end, "GOMP_taskgroup_end");
    find(it.thread_number, "omp_get_thread_num");
    find(it.threads, "omp_get_num_threads");
    return it;
  }();
  return known;
}

namespace {

// -- parallel regions -------------------------------------------------------------------------------------------------

constexpr int kMostArguments = 160;
thread_local unsigned asked_threads = 0;  // of the next region; 0: as many as there are

struct Region {
  Microtask body;
  Address arguments[kMostArguments];
  int count;
};

template <size_t>
using AnAddress = Address;

template <size_t... I>
void call_with(Microtask body, int* thread, const Address* arguments, std::index_sequence<I...>) {
  int bound = 0;
  const auto counted = reinterpret_cast<void (*)(int*, int*, AnAddress<I>...)>(reinterpret_cast<Address>(body));
  counted(thread, &bound, arguments[I]...);
  (void)arguments;  // where there are none
}

template <size_t N>
void call_counted(Microtask body, int* thread, const Address* arguments) {
  call_with(body, thread, arguments, std::make_index_sequence<N>());
}

using Call = void (*)(Microtask, int*, const Address*);

template <size_t... N>
Call call_of(int count, std::index_sequence<N...>) {
  static constexpr Call calls[] = {call_counted<N>...};
  return calls[count];
}

void run_region(void* data) {
  auto* region = static_cast<Region*>(data);
  int thread = gomp().thread_number();
  call_of(region->count, std::make_index_sequence<kMostArguments + 1>())(region->body, &thread, region->arguments);
}

Region region_of(int count, Microtask body, va_list values) {
  if (count > kMostArguments) {
    std::fprintf(stderr, "intelliperf: a parallel region takes %d values, at most %d are supported\n", count,
                 kMostArguments);
    std::abort();
  }
  Region region{body, {}, count};
  for (int i = 0; i < count; ++i) region.arguments[i] = va_arg(values, Address);
  return region;
}

// -- loops in equal parts ---------------------------------------------------------------------------------------------

enum Schedule {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamic = 35,
  kGuided = 36,
  kRuntime = 37,
  kAuto = 38,
  kStaticOfWholeChunks = 45,  // for simd: each part a multiple of the chunk
  kGuidedSimd = 46,
  kRuntimeSimd = 47,
  kOrdered = 64,  // where the ordered ones start: kOrdered + 1 is static and chunked
  kDistributeChunked = 91,
  kDistribute = 92,
};
constexpr int kModifiers = (1 << 29) | (1 << 30);  // monotonic or not: libgomp's are both

int plain(int schedule) {
  schedule &= ~kModifiers;
  if (schedule == kGuidedSimd) return kGuided;
  if (schedule == kRuntimeSimd) return kRuntime;
  return schedule;
}

template <typename T>
struct Part {
  int* last;
  T* lower;
  T* upper;
  std::make_signed_t<T>* stride;
  std::make_signed_t<T> step;
  std::make_signed_t<T> chunk;
};

template <typename T>
std::make_unsigned_t<T> turns_of(const Part<T>& part) {
  using U = std::make_unsigned_t<T>;
  const U width = part.step > 0 ? static_cast<U>(*part.upper) - static_cast<U>(*part.lower)
                                : static_cast<U>(*part.lower) - static_cast<U>(*part.upper);
  const U step = part.step > 0 ? static_cast<U>(part.step) : U(0) - static_cast<U>(part.step);
  return width / step + 1;
}

template <typename T>
void take_share(const Part<T>& part, std::make_unsigned_t<T> turns, int thread, int threads) {
  using U = std::make_unsigned_t<T>;
  const U each = turns / threads, more = turns % threads, number = static_cast<U>(thread);
  const U first = number * each + (number < more ? number : more);
  const U mine = each + (number < more ? 1 : 0);
  const U start = static_cast<U>(*part.lower), step = static_cast<U>(part.step);
  *part.lower = static_cast<T>(start + first * step);
  *part.upper = static_cast<T>(start + (first + mine) * step - step);
  *part.last = mine > 0 && first + mine == turns;
  if (mine == 0) {  // nothing, said so that neither bound can wrap
    *part.lower = part.step > 0 ? T(1) : T(0);
    *part.upper = part.step > 0 ? T(0) : T(1);
  }
}

template <typename T>
void take_chunks(const Part<T>& part, std::make_unsigned_t<T> turns, int thread, int threads, bool once) {
  using U = std::make_unsigned_t<T>;
  U chunk = part.chunk < 1 ? 1 : static_cast<U>(part.chunk);
  if (once) chunk = ((turns + threads - 1) / threads + chunk - 1) / chunk * chunk;
  const U span = chunk * static_cast<U>(part.step), end = static_cast<U>(*part.upper);
  *part.last = (turns - 1) / chunk % threads == static_cast<U>(thread);
  *part.stride = static_cast<std::make_signed_t<T>>(span * threads);
  *part.lower = static_cast<T>(static_cast<U>(*part.lower) + span * static_cast<U>(thread));
  *part.upper = static_cast<T>(static_cast<U>(*part.lower) + span - static_cast<U>(part.step));
  if (!once) return;
  const bool beyond = part.step > 0 ? *part.upper > static_cast<T>(end) : *part.upper < static_cast<T>(end);
  if (beyond) *part.upper = static_cast<T>(end);
}

template <typename T>
void share(int schedule, const Part<T>& part) {
  schedule = plain(schedule);
  const bool none = part.step > 0 ? *part.upper < *part.lower : *part.lower < *part.upper;
  *part.stride = part.step;
  if (none) {
    *part.last = 0;
    return;
  }
  const bool of_teams = schedule == kDistribute || schedule == kDistributeChunked;  // there is one team
  const int thread = of_teams ? 0 : gomp().thread_number(), threads = of_teams ? 1 : gomp().threads();
  const auto turns = turns_of(part);
  if (schedule > kOrdered && schedule < kDistributeChunked) schedule -= kOrdered - kStaticChunked + 1;
  const bool chunked = schedule == kStaticChunked || schedule == kStaticOfWholeChunks || schedule == kDistributeChunked;
  if (chunked) return take_chunks(part, turns, thread, threads, schedule == kStaticOfWholeChunks);
  *part.stride = static_cast<std::make_signed_t<T>>(turns);
  take_share(part, turns, thread, threads);
}

// -- loops whose parts are handed out ---------------------------------------------------------------------------------

struct Dispensed {
  bool (*next)(long*, long*);
  bool (*next_outer)(Outer*, Outer*);
  bool started;  // has the first part come with the start?
  bool more;
  long lower, upper;  // [lower, upper), towards the end
  Outer outer_lower, outer_upper;
  Outer end;
  bool upwards;
};
thread_local std::vector<Dispensed> dispensed;  // of regions inside a loop's body, the innermost last

const char* kind_of(int schedule, bool ordered) {
  switch (ordered ? schedule - kOrdered + kStaticChunked - 1 : schedule) {
    case kStaticChunked:
    case kStatic:
    case kAuto:
      return ordered ? "ordered_static" : "static";
    case kGuided:
      return ordered ? "ordered_guided" : "guided";
    case kRuntime:
      return ordered ? "ordered_runtime" : "runtime";
    default:
      return ordered ? "ordered_dynamic" : "dynamic";
  }
}

template <typename F>
void find_loop(F& function, const char* width, int schedule, const char* end) {
  char name[80];
  const bool ordered = schedule > kOrdered && schedule < kDistributeChunked;
  std::snprintf(name, sizeof name, "GOMP_loop_%s%s_%s", width, kind_of(schedule, ordered), end);
  find(function, name);
}

bool is_of_runtime(int schedule) {
  return schedule == kRuntime || schedule == kOrdered + kRuntime - kStaticChunked + 1;
}

void dispense(int schedule, long lower, long upper, long step, long chunk) {
  schedule = plain(schedule);
  Dispensed it{};
  it.upwards = step > 0;
  const long end = upper + (it.upwards ? 1 : -1);
  find_loop(it.next, "", schedule, "next");
  it.started = true;
  if (is_of_runtime(schedule)) {
    bool (*start)(long, long, long, long*, long*);
    find_loop(start, "", schedule, "start");
    it.more = start(lower, end, step, &it.lower, &it.upper);
  } else {
    bool (*start)(long, long, long, long, long*, long*);
    find_loop(start, "", schedule, "start");
    it.more = start(lower, end, step, chunk, &it.lower, &it.upper);
  }
  it.end = static_cast<Outer>(end);
  dispensed.push_back(it);
}

void dispense_outer(int schedule, Outer lower, Outer upper, int64_t step, int64_t chunk) {
  schedule = plain(schedule);
  Dispensed it{};
  it.upwards = step > 0;
  const Outer end = upper + (it.upwards ? 1 : -1), by = static_cast<Outer>(step);
  find_loop(it.next_outer, "ull_", schedule, "next");
  it.started = true;
  if (is_of_runtime(schedule)) {
    bool (*start)(bool, Outer, Outer, Outer, Outer*, Outer*);
    find_loop(start, "ull_", schedule, "start");
    it.more = start(it.upwards, lower, end, by, &it.outer_lower, &it.outer_upper);
  } else {
    bool (*start)(bool, Outer, Outer, Outer, Outer, Outer*, Outer*);
    find_loop(start, "ull_", schedule, "start");
    it.more = start(it.upwards, lower, end, by, static_cast<Outer>(chunk), &it.outer_lower, &it.outer_upper);
  }
  it.end = end;
  dispensed.push_back(it);
}

template <typename T>
int next_part(int* last, T* lower, T* upper, std::make_signed_t<T>* step) {
  (void)step;  // as the loop has it already
  Dispensed& it = dispensed.back();
  if (!it.started) it.more = it.next ? it.next(&it.lower, &it.upper) : it.next_outer(&it.outer_lower, &it.outer_upper);
  it.started = false;
  if (!it.more) {
    dispensed.pop_back();
    gomp().loop_end_nowait();
    return 0;
  }
  const Outer first = it.next ? static_cast<Outer>(it.lower) : it.outer_lower;
  const Outer behind = it.next ? static_cast<Outer>(it.upper) : it.outer_upper;
  *lower = static_cast<T>(first);
  *upper = static_cast<T>(behind - (it.upwards ? 1 : -1));
  *last = behind == it.end;
  return 1;
}

// -- tasks ------------------------------------------------------------------------------------------------------------

struct Task {  // what compiled code reads and writes; its private values follow
  void* shared;
  int (*body)(int, Task*);
  int part;
  int (*destroy)(int, Task*);
  void* other;
};

struct alignas(16) Kept {  // before each task
  size_t bytes;
  int flags;
  TaskGroup* group;
};
static_assert(sizeof(Kept) % 16 == 0, "tasks are aligned");

constexpr int kTied = 1, kFinal = 2, kDestroys = 8;
constexpr unsigned kGompUntied = 1, kGompFinal = 2, kGompDepends = 8;

Kept* kept(Task* task) { return reinterpret_cast<Kept*>(task) - 1; }

Task* new_task(size_t bytes, int flags) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, sizeof(Kept) + bytes) != 0) std::abort();
  std::memset(memory, 0, sizeof(Kept) + bytes);
  *static_cast<Kept*>(memory) = {bytes, flags, task_group};
  return reinterpret_cast<Task*>(static_cast<Kept*>(memory) + 1);
}

void free_task(Task* task) { std::free(kept(task)); }

void run_task(void* data) {
  Task* task = *static_cast<Task**>(data);
  const int thread = gomp().thread_number();
  TaskGroup* const around = std::exchange(task_group, kept(task)->group);
  task->body(thread, task);
  task_group = around;
  if (kept(task)->flags & kDestroys) task->destroy(thread, task);
  free_task(task);
}

struct Dependence {
  intptr_t address;
  size_t bytes;
  uint8_t kind;  // 1: reads
};

void start_task(Task* task, int count = 0, const Dependence* list = nullptr) {
  std::vector<void*> depends;
  if (count > 0) {
    for (int i = 0; i < count; ++i)
      if (list[i].kind != 1) depends.push_back(reinterpret_cast<void*>(list[i].address));
    const size_t writes = depends.size();
    for (int i = 0; i < count; ++i)
      if (list[i].kind == 1) depends.push_back(reinterpret_cast<void*>(list[i].address));
    depends.insert(depends.begin(), {reinterpret_cast<void*>(intptr_t(count)), reinterpret_cast<void*>(writes)});
  }
  const int flags = kept(task)->flags;
  const unsigned how =
      (flags & kTied ? 0 : kGompUntied) | (flags & kFinal ? kGompFinal : 0) | (count > 0 ? kGompDepends : 0);
  gomp().task(run_task, &task, nullptr, sizeof task, alignof(Task*), true, how, depends.data(), 0, nullptr);
}

using Duplicate = void (*)(Task*, Task*, int);

// `lower` and `upper` are fields of the task, each part of the loop has its own. The given task serves the last part.
void start_loop_of_tasks(Task* task, uint64_t* lower, uint64_t* upper, int64_t step, int how, uint64_t amount,
                         Duplicate duplicate) {
  const uint64_t first = *lower, end = *upper;
  const bool up = step > 0;
  if (up ? static_cast<int64_t>(end) < static_cast<int64_t>(first)
         : static_cast<int64_t>(first) < static_cast<int64_t>(end))
    return free_task(task);
  const uint64_t turns = (up ? (end - first) / static_cast<uint64_t>(step) : (first - end) / (0 - uint64_t(step))) + 1;
  uint64_t parts = how == 1 ? turns / amount : how == 2 ? amount : static_cast<uint64_t>(gomp().threads()) * 10;
  parts = parts < 1 ? 1 : parts > turns ? turns : parts;
  const auto lower_at = reinterpret_cast<char*>(lower) - reinterpret_cast<char*>(task);
  const auto upper_at = reinterpret_cast<char*>(upper) - reinterpret_cast<char*>(task);
  std::vector<Task*> made;
  for (uint64_t part = 0; part < parts; ++part) {
    const bool last = part + 1 == parts;
    Task* mine = last ? task : new_task(kept(task)->bytes, kept(task)->flags);
    if (!last) {
      std::memcpy(mine, task, kept(task)->bytes);
      const auto shared_at = static_cast<char*>(task->shared) - reinterpret_cast<char*>(task);
      if (task->shared) mine->shared = reinterpret_cast<char*>(mine) + shared_at;
    }
    if (duplicate) duplicate(mine, task, last);
    const uint64_t each = turns / parts, more = turns % parts;
    const uint64_t start = part * each + (part < more ? part : more), count = each + (part < more ? 1 : 0);
    const uint64_t own_lower = first + start * uint64_t(step), own_upper = first + (start + count - 1) * uint64_t(step);
    std::memcpy(reinterpret_cast<char*>(mine) + lower_at, &own_lower, sizeof own_lower);
    std::memcpy(reinterpret_cast<char*>(mine) + upper_at, &own_upper, sizeof own_upper);
    made.push_back(mine);
  }
  for (Task* each : made) start_task(each);
}

}  // namespace

// -- what compiled code calls; the first two arguments are its place in the source and its thread ----------------------

KMP int __kmpc_global_thread_num(void*) { return gomp().thread_number(); }
KMP void __kmpc_push_num_threads(void*, int, int threads) { asked_threads = threads > 0 ? unsigned(threads) : 0; }
KMP void __kmpc_push_proc_bind(void*, int, int) {}

KMP void __kmpc_fork_call(void*, int count, Microtask body, ...) {
  va_list values;
  va_start(values, body);
  Region region = region_of(count, body, values);
  va_end(values);
  gomp().parallel(run_region, &region, std::exchange(asked_threads, 0), 0);
}

KMP void __kmpc_fork_call_if(void*, int count, Microtask body, int condition, void* argument) {
  Region region{body, {argument}, count};
  gomp().parallel(run_region, &region, condition ? std::exchange(asked_threads, 0) : 1, 0);
}

KMP void __kmpc_serialized_parallel(void*, int) {
  asked_threads = 0;
  gomp().parallel_start(nullptr, nullptr, 1);
}
KMP void __kmpc_end_serialized_parallel(void*, int) { gomp().parallel_end(); }

KMP void __kmpc_push_num_teams(void*, int, int, int threads) { asked_threads = threads > 0 ? unsigned(threads) : 0; }
KMP void __kmpc_fork_teams(void*, int count, Microtask body, ...) {
  va_list values;
  va_start(values, body);
  Region region = region_of(count, body, values);
  va_end(values);
  run_region(&region);
}

KMP void __kmpc_barrier(void*, int) { gomp().barrier(); }
KMP int __kmpc_cancel_barrier(void*, int) {
  gomp().barrier();
  return 0;
}
KMP int __kmpc_cancel(void*, int, int) { return 0; }  // as with OMP_CANCELLATION=false, the default
KMP int __kmpc_cancellationpoint(void*, int, int) { return 0; }
KMP void __kmpc_flush(void*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

KMP void __kmpc_critical(void*, int, void** lock) { gomp().critical_start(lock); }
KMP void __kmpc_critical_with_hint(void*, int, void** lock, uint32_t) { gomp().critical_start(lock); }
KMP void __kmpc_end_critical(void*, int, void** lock) { gomp().critical_end(lock); }
KMP int __kmpc_master(void*, int) { return gomp().thread_number() == 0; }
KMP void __kmpc_end_master(void*, int) {}
KMP int __kmpc_masked(void*, int, int filter) { return gomp().thread_number() == filter; }
KMP void __kmpc_end_masked(void*, int) {}
KMP int __kmpc_single(void*, int) { return gomp().single(); }
KMP void __kmpc_end_single(void*, int) {}
KMP void __kmpc_ordered(void*, int) { gomp().ordered_start(); }
KMP void __kmpc_end_ordered(void*, int) { gomp().ordered_end(); }

KMP void __kmpc_copyprivate(void*, int, size_t, void* data, void (*copy)(void*, void*), int is_source) {
  void* own = nullptr;  // of whichever thread comes first
  void** source = static_cast<void**>(gomp().single_copy_start());
  if (!source) gomp().single_copy_end(source = &own);
  if (is_source) __atomic_store_n(source, data, __ATOMIC_RELEASE);
  gomp().barrier();
  if (!is_source) copy(data, __atomic_load_n(source, __ATOMIC_ACQUIRE));
  gomp().barrier();
}

KMP int __kmpc_reduce_nowait(void*, int, int, size_t, void*, void (*)(void*, void*), void** lock) {
  gomp().critical_start(lock);
  return 1;
}
KMP void __kmpc_end_reduce_nowait(void*, int, void** lock) { gomp().critical_end(lock); }
KMP int __kmpc_reduce(void*, int, int, size_t, void*, void (*)(void*, void*), void** lock) {
  gomp().critical_start(lock);
  return 1;
}
KMP void __kmpc_end_reduce(void*, int, void** lock) {
  gomp().critical_end(lock);
  gomp().barrier();
}

#define LOOPS(NAME, T, DISPENSE, WIDE)                                                                          \
  KMP void __kmpc_for_static_init_##NAME(void*, int, int schedule, int* last, T* lower, T* upper,               \
                                         std::make_signed_t<T>* stride, std::make_signed_t<T> step,             \
                                         std::make_signed_t<T> chunk) {                                         \
    share<T>(schedule, {last, lower, upper, stride, step, chunk});                                              \
  }                                                                                                             \
  KMP void __kmpc_dist_for_static_init_##NAME(void*, int, int schedule, int* last, T* lower, T* upper,          \
                                              T* upper_of_team, std::make_signed_t<T>* stride,                  \
                                              std::make_signed_t<T> step, std::make_signed_t<T> chunk) {        \
    *upper_of_team = *upper;                                                                                    \
    share<T>(schedule, {last, lower, upper, stride, step, chunk});                                              \
  }                                                                                                             \
  KMP void __kmpc_dispatch_init_##NAME(void*, int, int schedule, T lower, T upper, std::make_signed_t<T> step,  \
                                       std::make_signed_t<T> chunk) {                                           \
    DISPENSE(schedule, static_cast<WIDE>(lower), static_cast<WIDE>(upper), step, chunk < 1 ? 1 : chunk);        \
  }                                                                                                             \
  KMP int __kmpc_dispatch_next_##NAME(void*, int, int* last, T* lower, T* upper, std::make_signed_t<T>* step) { \
    return next_part<T>(last, lower, upper, step);                                                              \
  }                                                                                                             \
  KMP void __kmpc_dispatch_fini_##NAME(void*, int) {}
LOOPS(4, int32_t, dispense, long)
LOOPS(4u, uint32_t, dispense, long)
LOOPS(8, int64_t, dispense, long)
LOOPS(8u, uint64_t, dispense_outer, Outer)
KMP void __kmpc_for_static_fini(void*, int) {}
KMP void __kmpc_dispatch_deinit(void*, int) {}

KMP Task* __kmpc_omp_task_alloc(void*, int, int flags, size_t bytes, size_t shared, int (*body)(int, Task*)) {
  const size_t own = (bytes + 15) / 16 * 16;
  Task* task = new_task(own + shared, flags);
  task->shared = shared ? reinterpret_cast<char*>(task) + own : nullptr;
  task->body = body;
  return task;
}
KMP int __kmpc_omp_task(void*, int, Task* task) {
  start_task(task);
  return 0;
}
KMP int __kmpc_omp_task_with_deps(void*, int, Task* task, int count, Dependence* list, int, Dependence*) {
  start_task(task, count, list);
  return 0;
}
KMP void __kmpc_omp_task_begin_if0(void*, int, Task*) {}
KMP void __kmpc_omp_task_complete_if0(void*, int, Task* task) {
  if (kept(task)->flags & kDestroys) task->destroy(gomp().thread_number(), task);
  free_task(task);
}
KMP void __kmpc_omp_wait_deps(void*, int, int, Dependence*, int, Dependence*) { gomp().taskwait(); }
KMP void __kmpc_omp_taskwait_deps_51(void*, int, int, Dependence*, int, Dependence*, int) { gomp().taskwait(); }
KMP int __kmpc_omp_taskwait(void*, int) {
  gomp().taskwait();
  return 0;
}
KMP int __kmpc_omp_taskyield(void*, int, int) {
  gomp().taskyield();
  return 0;
}
KMP void __kmpc_taskloop(void*, int, Task* task, int, uint64_t* lower, uint64_t* upper, int64_t step, int no_group,
                         int how, uint64_t amount, Duplicate duplicate) {
  if (!no_group) gomp().taskgroup_start();
  start_loop_of_tasks(task, lower, upper, step, how, amount, duplicate);
  if (!no_group) gomp().taskgroup_end();
}
