// The primitives on AMD hardware, as compiler builtins without device libraries. Compiled for static facts only
// (registers, LDS, scratch): nothing built from here is run, and printf, malloc and grid barriers are empty.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace __simt {
enum collective_operation : uint32_t {
  kShuffle = 0, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kSyncWave, kMatchAny, kMatchAll, kActiveMask, kYield,
};
enum barrier_operation : uint32_t { kCount = 0, kAnd, kOr };

SIMT_D unsigned int thread_index_x() { return __builtin_amdgcn_workitem_id_x(); }
SIMT_D unsigned int thread_index_y() { return __builtin_amdgcn_workitem_id_y(); }
SIMT_D unsigned int thread_index_z() { return __builtin_amdgcn_workitem_id_z(); }
SIMT_D unsigned int block_index_x() { return __builtin_amdgcn_workgroup_id_x(); }
SIMT_D unsigned int block_index_y() { return __builtin_amdgcn_workgroup_id_y(); }
SIMT_D unsigned int block_index_z() { return __builtin_amdgcn_workgroup_id_z(); }
SIMT_D unsigned int block_dim_x() { return __builtin_amdgcn_workgroup_size_x(); }
SIMT_D unsigned int block_dim_y() { return __builtin_amdgcn_workgroup_size_y(); }
SIMT_D unsigned int block_dim_z() { return __builtin_amdgcn_workgroup_size_z(); }
SIMT_D unsigned int grid_dim_x() { return __builtin_amdgcn_grid_size_x() / block_dim_x(); }
SIMT_D unsigned int grid_dim_y() { return __builtin_amdgcn_grid_size_y() / block_dim_y(); }
SIMT_D unsigned int grid_dim_z() { return __builtin_amdgcn_grid_size_z() / block_dim_z(); }
SIMT_D unsigned int thread_rank() {
  return (thread_index_z() * block_dim_y() + thread_index_y()) * block_dim_x() + thread_index_x();
}
SIMT_D unsigned int lane() {
  const unsigned int low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#if SIMT_WAVE_SIZE == 64
  return __builtin_amdgcn_mbcnt_hi(~0u, low);
#else
  return low;
#endif
}

SIMT_D void fence_compiler() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
SIMT_D void fence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
SIMT_D void fence_device() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
SIMT_D void fence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
SIMT_D void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
SIMT_D unsigned long long ballot_bits(bool predicate) {
#if SIMT_WAVE_SIZE == 64
  return __builtin_amdgcn_ballot_w64(predicate);
#else
  return __builtin_amdgcn_ballot_w32(predicate);
#endif
}
static __attribute__((device)) int barrier_reduce(barrier_operation operation, int predicate) {
  __attribute__((shared)) static int total;
  const bool wanted = operation == kAnd ? predicate == 0 : predicate != 0;
  if (thread_rank() == 0) total = 0;
  barrier();
  const unsigned long long votes = ballot_bits(wanted);
  if (votes != 0 && lane() == static_cast<unsigned int>(__builtin_ctzll(votes)))
    __scoped_atomic_fetch_add(&total, __builtin_popcountll(votes), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  barrier();
  return operation == kCount ? total : operation == kAnd ? total == 0 : total != 0;
}
SIMT_D void grid_barrier() { barrier(); }

SIMT_D unsigned int source_lane(collective_operation operation, unsigned int argument, unsigned int width) {
  const unsigned int self = lane(), base = self & ~(width - 1u);
  unsigned int from = self;
  if (operation == kShuffle) from = base + (argument & (width - 1u));
  if (operation == kShuffleUp) from = self - base >= argument ? self - argument : self;
  if (operation == kShuffleDown) from = self - base + argument < width ? self + argument : self;
  if (operation == kShuffleXor) from = (self ^ argument) < base + width ? self ^ argument : self;
  return from;
}
SIMT_D unsigned int collective32(collective_operation operation, unsigned long long, unsigned int value,
                                 unsigned int argument, unsigned int width) {
  return static_cast<unsigned int>(__builtin_amdgcn_ds_bpermute(
      static_cast<int>(source_lane(operation, argument, width) << 2), static_cast<int>(value)));
}
SIMT_D unsigned long long match(unsigned long long value) {
  unsigned long long out = 0;
  for (bool done = false; !done;) {
    const unsigned long long low = static_cast<unsigned int>(__builtin_amdgcn_readfirstlane(static_cast<int>(value)));
    const unsigned long long high =
        static_cast<unsigned int>(__builtin_amdgcn_readfirstlane(static_cast<int>(value >> 32)));
    done = value == (high << 32 | low);
    const unsigned long long same = ballot_bits(done);
    if (done) out = same;
  }
  return out;
}
SIMT_D void yield() { __builtin_amdgcn_s_sleep(1); }
SIMT_D unsigned long long collective(collective_operation operation, unsigned long long mask,
                                     unsigned long long value, unsigned int argument, unsigned int width) {
  switch (operation) {
    case kBallot: return ballot_bits(value != 0);
    case kActiveMask: return ballot_bits(true);
    case kSyncWave:
      __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
      __builtin_amdgcn_wave_barrier();
      return 0;
    case kMatchAny: return match(value);
    case kMatchAll: {
      const unsigned long long same = match(value);
      return same == ballot_bits(true) ? same : 0;
    }
    default: break;
  }
  const unsigned long long low = collective32(operation, mask, static_cast<unsigned int>(value), argument, width);
  const unsigned long long high = collective32(operation, mask, static_cast<unsigned int>(value >> 32), argument, width);
  return high << 32 | low;
}

SIMT_D unsigned long long clock() { return __builtin_readcyclecounter(); }
SIMT_D unsigned long long wall_clock() { return __builtin_readsteadycounter(); }
SIMT_D void trap() { __builtin_trap(); }
SIMT_D void assert_fail(const char*, const char*, unsigned int, const char*) { __builtin_trap(); }
template <class... _A>
SIMT_DT int print(const char*, _A... values) {
  ((void)values, ...);
  return 0;
}
SIMT_D void* allocate(size_t) {
  void* unknown;
  __asm__ volatile("; device heap" : "=v"(unknown));
  return unknown;
}
SIMT_D void release(void*) {}
SIMT_D float fast_sin(float x) { return __builtin_amdgcn_sinf(x * 0.15915494309189533577f); }
SIMT_D float fast_cos(float x) { return __builtin_amdgcn_cosf(x * 0.15915494309189533577f); }
SIMT_D float fast_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
SIMT_D float fast_log2(float x) { return __builtin_amdgcn_logf(x); }
}  // namespace __simt
