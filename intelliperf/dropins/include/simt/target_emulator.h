// The primitives on the emulator: calls into its runtime. The contract is runtime/abi.h.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

// Where a thread stands does not depend on who else asks: calls may be moved and merged.
#if __has_cpp_attribute(clang::noconvergent)
#define SIMT_NOT_CONVERGENT [[clang::noconvergent]]
#else
#define SIMT_NOT_CONVERGENT
#endif

struct __simt_thread_record {
  unsigned int index[3];
  unsigned int linear;
};
struct __simt_grid_record {
  unsigned int block_index[3], wave_size;
  unsigned int block_dim[3], pad0;
  unsigned int grid_dim[3], pad1;
};

extern "C" {
SIMT_NOT_CONVERGENT __attribute__((const)) __device__ const __simt_thread_record* __simt_thread();
extern __device__ const __simt_grid_record __simt_grid;  // does not change while a thread lives
__device__ void __simt_barrier();
__device__ int __simt_barrier_reduce(uint32_t operation, int predicate);
__device__ uint64_t __simt_collective(uint32_t operation, uint64_t mask, uint64_t value, uint32_t argument,
                                      uint32_t width);
__device__ void __simt_grid_barrier();
__device__ void __simt_named_barrier(uint32_t number, uint32_t threads, uint32_t waits);
__attribute__((nothrow, nomerge)) __device__ void __simt_fence(uint32_t code);
// The next atomic operation holds among the threads of a block (1) or a wave (2) only.
__attribute__((nothrow, nomerge)) __device__ void __simt_scope(uint32_t code);
__device__ uint64_t __simt_clock();
__device__ uint64_t __simt_wall_clock();
__device__ void __simt_trap();
__device__ void __simt_exit();
__device__ void __simt_assert_fail(const char* expression, const char* file, uint32_t line, const char* function);
__device__ int __simt_printf(const char* format, ...);
__device__ void* __simt_device_malloc(uint64_t bytes);
__device__ void __simt_device_free(void* pointer);
__device__ void* __simt_dynamic_shared();
__device__ uint32_t __simt_dynamic_shared_size();
}

namespace __simt {
enum collective_operation : uint32_t {
  kShuffle = 0, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kSyncWave, kMatchAny, kMatchAll, kActiveMask, kYield, kMatrix,
};
enum barrier_operation : uint32_t { kCount = 0, kAnd, kOr };

SIMT_D unsigned int thread_index_x() { return ::__simt_thread()->index[0]; }
SIMT_D unsigned int thread_index_y() { return ::__simt_thread()->index[1]; }
SIMT_D unsigned int thread_index_z() { return ::__simt_thread()->index[2]; }
SIMT_D unsigned int block_index_x() { return ::__simt_grid.block_index[0]; }
SIMT_D unsigned int block_index_y() { return ::__simt_grid.block_index[1]; }
SIMT_D unsigned int block_index_z() { return ::__simt_grid.block_index[2]; }
SIMT_D unsigned int block_dim_x() { return ::__simt_grid.block_dim[0]; }
SIMT_D unsigned int block_dim_y() { return ::__simt_grid.block_dim[1]; }
SIMT_D unsigned int block_dim_z() { return ::__simt_grid.block_dim[2]; }
SIMT_D unsigned int grid_dim_x() { return ::__simt_grid.grid_dim[0]; }
SIMT_D unsigned int grid_dim_y() { return ::__simt_grid.grid_dim[1]; }
SIMT_D unsigned int grid_dim_z() { return ::__simt_grid.grid_dim[2]; }
SIMT_D unsigned int thread_rank() { return ::__simt_thread()->linear; }
SIMT_D unsigned int lane() { return ::__simt_thread()->linear % SIMT_WAVE_SIZE; }

SIMT_D void barrier() { ::__simt_barrier(); }
SIMT_D int barrier_reduce(barrier_operation operation, int predicate) {
  return ::__simt_barrier_reduce(operation, predicate != 0);
}
SIMT_D void grid_barrier() { ::__simt_grid_barrier(); }
SIMT_D void named_barrier(unsigned int number, unsigned int threads) { ::__simt_named_barrier(number, threads, 1); }
// mask 0: all active lanes. Values travel as the low bits of 64.
SIMT_D unsigned long long collective(collective_operation operation, unsigned long long mask,
                                     unsigned long long value, unsigned int argument, unsigned int width) {
  return ::__simt_collective(operation, mask, value, argument, width);
}
SIMT_D void yield() { ::__simt_collective(kYield, 0, 0, 0, SIMT_WAVE_SIZE); }
SIMT_D unsigned int collective32(collective_operation operation, unsigned long long mask, unsigned int value,
                                 unsigned int argument, unsigned int width) {
  return static_cast<unsigned int>(::__simt_collective(operation, mask, value, argument, width));
}
// The compiler moves no access past them; who may count on the order is found by the runtime.
enum fence_code : uint32_t { kFenceDevice = 0, kFenceBlock = 1, kFenceWave = 2, kFenceAcquire = 4, kFenceRelease = 8, kFenceBoth = 12 };
SIMT_D void fence_block() { ::__simt_fence(kFenceBlock | kFenceBoth); }
SIMT_D void fence_device() { ::__simt_fence(kFenceDevice | kFenceBoth); }
SIMT_D void fence_system() { ::__simt_fence(kFenceDevice | kFenceBoth); }
SIMT_D void fence_compiler() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
SIMT_D constexpr uint32_t order_code(int order) {
  return order == __ATOMIC_RELAXED ? 0u
         : order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ? uint32_t(kFenceAcquire)
         : order == __ATOMIC_RELEASE ? uint32_t(kFenceRelease) : uint32_t(kFenceBoth);
}
// A scope of AMDGPU's names, which may end in "-one-as".
SIMT_D constexpr uint32_t scope_code(const char* name = "") {
  return name[0] == 'w' ? (name[1] == 'o' ? uint32_t(kFenceBlock) : uint32_t(kFenceWave))
         : name[0] == 's' && name[1] == 'i' ? uint32_t(kFenceWave) : uint32_t(kFenceDevice);
}
SIMT_D void in_scope(uint32_t code) {
  if (code == kFenceBlock) ::__simt_scope(1);
  if (code == kFenceWave) ::__simt_scope(2);
}
// As __HIP_MEMORY_SCOPE_… are numbered.
SIMT_D void in_hip_scope(int scope) { in_scope(scope == 3 ? kFenceBlock : scope < 3 ? kFenceWave : kFenceDevice); }
SIMT_D unsigned long long clock() { return ::__simt_clock(); }
SIMT_D unsigned long long wall_clock() { return ::__simt_wall_clock(); }
SIMT_D void trap() { ::__simt_trap(); }
SIMT_D void assert_fail(const char* expression, const char* file, unsigned int line, const char* function) {
  ::__simt_assert_fail(expression, file, line, function);
}
template <class... _A>
SIMT_DT int print(const char* format, _A... values) {
  return ::__simt_printf(format, values...);
}
SIMT_D void* allocate(size_t bytes) { return ::__simt_device_malloc(bytes); }
SIMT_D void release(void* pointer) { ::__simt_device_free(pointer); }
SIMT_D void* dynamic_shared() { return ::__simt_dynamic_shared(); }
SIMT_D unsigned int dynamic_shared_size() { return ::__simt_dynamic_shared_size(); }
}  // namespace __simt
