// gcc's libgomp, as what answers clang's calls for OpenMP in host code uses it.
#pragma once

namespace simt {

using Work = void (*)(void*);

struct Gomp {
  void (*parallel)(Work, void*, unsigned, unsigned);
  void (*parallel_start)(Work, void*, unsigned);
  void (*parallel_end)();
  void (*barrier)();
  void (*critical_start)(void**);
  void (*critical_end)(void**);
  bool (*single)();
  void* (*single_copy_start)();
  void (*single_copy_end)(void*);
  void (*ordered_start)();
  void (*ordered_end)();
  void (*loop_end_nowait)();
  void (*task)(Work, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
  void (*taskwait)();
  void (*taskyield)();
  void (*taskgroup_start)();
  void (*taskgroup_end)();
  int (*thread_number)();
  int (*threads)();
};

const Gomp& gomp();

struct TaskGroup;
extern thread_local TaskGroup* task_group;  // that tasks which this thread makes now belong to; null: to none

}  // namespace simt
