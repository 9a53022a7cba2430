// The primitives on NVIDIA hardware, as compiler builtins without libdevice. Compiled for static facts only
// (registers, shared memory): nothing built from here is run, and printf, malloc and grid barriers are empty.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace __simt {
enum collective_operation : uint32_t {
  kShuffle = 0, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kSyncWave, kMatchAny, kMatchAll, kActiveMask, kYield,
};
enum barrier_operation : uint32_t { kCount = 0, kAnd, kOr };

SIMT_D unsigned int thread_index_x() { return __nvvm_read_ptx_sreg_tid_x(); }
SIMT_D unsigned int thread_index_y() { return __nvvm_read_ptx_sreg_tid_y(); }
SIMT_D unsigned int thread_index_z() { return __nvvm_read_ptx_sreg_tid_z(); }
SIMT_D unsigned int block_index_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
SIMT_D unsigned int block_index_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
SIMT_D unsigned int block_index_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
SIMT_D unsigned int block_dim_x() { return __nvvm_read_ptx_sreg_ntid_x(); }
SIMT_D unsigned int block_dim_y() { return __nvvm_read_ptx_sreg_ntid_y(); }
SIMT_D unsigned int block_dim_z() { return __nvvm_read_ptx_sreg_ntid_z(); }
SIMT_D unsigned int grid_dim_x() { return __nvvm_read_ptx_sreg_nctaid_x(); }
SIMT_D unsigned int grid_dim_y() { return __nvvm_read_ptx_sreg_nctaid_y(); }
SIMT_D unsigned int grid_dim_z() { return __nvvm_read_ptx_sreg_nctaid_z(); }
SIMT_D unsigned int thread_rank() {
  return (thread_index_z() * block_dim_y() + thread_index_y()) * block_dim_x() + thread_index_x();
}
SIMT_D unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }

SIMT_D void fence_compiler() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
SIMT_D void fence_block() { __nvvm_membar_cta(); }
SIMT_D void fence_device() { __nvvm_membar_gl(); }
SIMT_D void fence_system() { __nvvm_membar_sys(); }
SIMT_D void barrier() { __nvvm_bar_sync(0); }
SIMT_D int barrier_reduce(barrier_operation operation, int predicate) {
  if (operation == kCount) return __nvvm_bar0_popc(predicate);
  return operation == kAnd ? __nvvm_bar0_and(predicate) : __nvvm_bar0_or(predicate);
}
SIMT_D void grid_barrier() { barrier(); }
SIMT_D void named_barrier(unsigned int number, unsigned int threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(number % 16), "r"(threads) : "memory");
}

SIMT_D unsigned int members(unsigned long long mask) {
  return mask == 0 ? __nvvm_activemask() : static_cast<unsigned int>(mask);
}
SIMT_D unsigned int collective32(collective_operation operation, unsigned long long mask, unsigned int value,
                                 unsigned int argument, unsigned int width) {
  const int lanes = static_cast<int>(members(mask)), bits = static_cast<int>(value), at = static_cast<int>(argument);
  const int clamp = static_cast<int>((SIMT_WAVE_SIZE - width) << 8);
  switch (operation) {
    case kShuffleUp: return static_cast<unsigned int>(__nvvm_shfl_sync_up_i32(lanes, bits, at, clamp));
    case kShuffleDown: return static_cast<unsigned int>(__nvvm_shfl_sync_down_i32(lanes, bits, at, clamp | 31));
    case kShuffleXor: return static_cast<unsigned int>(__nvvm_shfl_sync_bfly_i32(lanes, bits, at, clamp | 31));
    default: return static_cast<unsigned int>(__nvvm_shfl_sync_idx_i32(lanes, bits, at, clamp | 31));
  }
}
SIMT_D void yield() { __asm__ volatile("nanosleep.u32 20;"); }
SIMT_D unsigned long long collective(collective_operation operation, unsigned long long mask,
                                     unsigned long long value, unsigned int argument, unsigned int width) {
  switch (operation) {
    case kBallot: return __nvvm_vote_ballot_sync(members(mask), value != 0);
    case kActiveMask: return __nvvm_activemask();
    case kSyncWave: __nvvm_bar_warp_sync(members(mask)); return 0;
    case kMatchAny: return __nvvm_match_any_sync_i64(members(mask), static_cast<long>(value));
    case kMatchAll: {
      int all;
      return __nvvm_match_all_sync_i64p(members(mask), static_cast<long>(value), &all);
    }
    default: break;
  }
  const unsigned long long low = collective32(operation, mask, static_cast<unsigned int>(value), argument, width);
  const unsigned long long high = collective32(operation, mask, static_cast<unsigned int>(value >> 32), argument, width);
  return high << 32 | low;
}

SIMT_D unsigned long long clock() { return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_clock64()); }
SIMT_D unsigned long long wall_clock() { return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_globaltimer()); }
SIMT_D void trap() { __builtin_trap(); }
SIMT_D void assert_fail(const char*, const char*, unsigned int, const char*) { __builtin_trap(); }
template <class... _A>
SIMT_DT int print(const char*, _A... values) {
  ((void)values, ...);
  return 0;
}
SIMT_D void* allocate(size_t) {
  void* unknown;
  __asm__ volatile("// device heap" : "=l"(unknown));
  return unknown;
}
SIMT_D void release(void*) {}
SIMT_D float fast_sin(float x) { return __nvvm_sin_approx_f(x); }
SIMT_D float fast_cos(float x) { return __nvvm_cos_approx_f(x); }
SIMT_D float fast_exp2(float x) { return __nvvm_ex2_approx_f(x); }
SIMT_D float fast_log2(float x) { return __nvvm_lg2_approx_f(x); }
}  // namespace __simt
