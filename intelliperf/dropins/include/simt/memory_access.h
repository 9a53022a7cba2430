// Loads and stores with a cache hint, address spaces. A hint changes nothing that the emulator counts.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_LOAD(name)             \
  template <class _T>                \
  SIMT_DT _T name(const _T* address) { \
    return *address;                \
  }
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
// Through a cache that sees no stores of the launch, on NVIDIA: the hint tells it from other loads.
template <class _T>
SIMT_DT _T __ldg(const _T* address) {
#if defined(__SIMT_CUDA__) && !defined(__AMDGCN__) && !defined(__NVPTX__)
  if constexpr (__is_arithmetic(_T)) return __builtin_nontemporal_load(address);
#endif
  return *address;
}
template <class _T>
SIMT_DT _T __ldcv(const _T* address) {  // fetches again every time
  __simt::fence_compiler();
  return *address;
}
#define SIMT_STORE(name)                                         \
  template <class _T>                                             \
  SIMT_DT void name(_T* address, __simt::same_as_t<_T> value) {    \
    *address = value;                                            \
  }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE

#if !defined(__AMDGCN__) && !defined(__NVPTX__)
extern "C" __device__ char* __simt_shared_range[2];
extern "C" __attribute__((const)) __device__ unsigned int __simt_is_shared(const void* address);
SIMT_D unsigned int __isShared(const void* address) { return ::__simt_is_shared(address); }
SIMT_D unsigned int __isGlobal(const void* address) { return !__isShared(address); }
SIMT_D unsigned int __isConstant(const void*) { return 0; }
SIMT_D unsigned int __isLocal(const void*) { return 0; }
SIMT_D size_t __cvta_generic_to_shared(const void* address) {
  return static_cast<size_t>(static_cast<const char*>(address) - ::__simt_shared_range[0]);
}
SIMT_D void* __cvta_shared_to_generic(size_t offset) { return ::__simt_shared_range[0] + offset; }
SIMT_D size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
SIMT_D void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
#endif

#if defined(__AMDGCN__)
SIMT_D unsigned int __isShared(const void* address) {
  return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)address);
}
SIMT_D unsigned int __isGlobal(const void* address) { return !__isShared(address); }
#elif defined(__NVPTX__)
SIMT_D unsigned int __isShared(const void* address) { return __nvvm_isspacep_shared(address); }
SIMT_D unsigned int __isGlobal(const void* address) { return __nvvm_isspacep_global(address); }
SIMT_D size_t __cvta_generic_to_shared(const void* address) {
  return (size_t)(__attribute__((address_space(3))) void*)address;
}
SIMT_D size_t __cvta_generic_to_global(const void* address) {
  return (size_t)(__attribute__((address_space(1))) void*)address;
}
SIMT_D size_t __cvta_generic_to_constant(const void* address) {
  return (size_t)(__attribute__((address_space(4))) void*)address;
}
SIMT_D size_t __cvta_generic_to_local(const void* address) {
  return (size_t)(__attribute__((address_space(5))) void*)address;
}
SIMT_D void* __cvta_shared_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(3))) void*)(unsigned int)address;
}
SIMT_D void* __cvta_global_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(1))) void*)address;
}
#endif

#if defined(__SIMT_CUDA__)
// A launch without clusters has clusters of one block.
SIMT_D unsigned int __isClusterShared(const void* address) { return __isShared(address); }
// Kernels run one after another: what a dependent launch waits for has happened.
SIMT_D void cudaGridDependencySynchronize() { __simt::fence_compiler(); }
SIMT_D void cudaTriggerProgrammaticLaunchCompletion() { __simt::fence_compiler(); }
#endif
