// Atomic functions, each a single LLVM atomic operation wherever one exists. Device scope unless the name
// says otherwise; the emulator runs one lane at a time, so that a mark before the operation tells its scope.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#if defined(__AMDGCN__) || defined(__NVPTX__)
#define SIMT_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define SIMT_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#else
#define SIMT_SCOPE_BLOCK __MEMORY_SCOPE_SYSTEM
#define SIMT_SCOPE_DEVICE __MEMORY_SCOPE_SYSTEM
#endif
#define SIMT_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM
#define SIMT_MARK
#if defined(__AMDGCN__) || defined(__NVPTX__)
#define SIMT_MARK_block
#else
#define SIMT_MARK_block ::__simt_scope(1);
#endif
#define SIMT_MARK_system

namespace __simt {
// The atomics of a type that has no hardware operation: exchange the enclosing word until nobody interfered.
template <class Word, class _T, class _F>
SIMT_DT _T update(_T* address, _F combine) {
  static_assert(sizeof(Word) == sizeof(_T), "a value is updated through a word of its size");
  Word* place = reinterpret_cast<Word*>(address);
  Word seen = __atomic_load_n(place, __ATOMIC_RELAXED);
  Word wanted;
  do {
    wanted = __builtin_bit_cast(Word, static_cast<_T>(combine(__builtin_bit_cast(_T, seen))));
  } while (!__atomic_compare_exchange_n(place, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return __builtin_bit_cast(_T, seen);
}
}  // namespace __simt

#define SIMT_COMPARE_FLOAT(_T, Word, suffix, scope)                                          \
  SIMT_D _T atomicCAS##suffix(_T* address, _T expected, _T value) {                             \
    return __builtin_bit_cast(_T, atomicCAS##suffix(reinterpret_cast<Word*>(address),        \
                                                   __builtin_bit_cast(Word, expected),      \
                                                   __builtin_bit_cast(Word, value)));       \
  }
#define SIMT_FETCH(name, operation, _T, suffix, scope)                                       \
  SIMT_D _T name##suffix(_T* address, _T value) {                                              \
    SIMT_MARK##suffix return __scoped_atomic_##operation(address, value, __ATOMIC_RELAXED, scope);            \
  }
#define SIMT_EXCHANGE(_T, suffix, scope)                                                     \
  SIMT_D _T atomicExch##suffix(_T* address, _T value) {                                        \
    _T old;                                                                                  \
    SIMT_MARK##suffix __scoped_atomic_exchange(address, &value, &old, __ATOMIC_RELAXED, scope);               \
    return old;                                                                             \
  }
#define SIMT_COMPARE(_T, suffix, scope)                                                      \
  SIMT_D _T atomicCAS##suffix(_T* address, _T expected, _T value) {                             \
    SIMT_MARK##suffix __scoped_atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED,  \
                                       __ATOMIC_RELAXED, scope);                            \
    return expected;                                                                        \
  }
#if __has_builtin(__scoped_atomic_fetch_uinc)
#define SIMT_WRAPPING(suffix, scope)                                                        \
  SIMT_D unsigned int atomicInc##suffix(unsigned int* address, unsigned int limit) {        \
    SIMT_MARK##suffix return __scoped_atomic_fetch_uinc(address, limit, __ATOMIC_RELAXED, scope);              \
  }                                                                                         \
  SIMT_D unsigned int atomicDec##suffix(unsigned int* address, unsigned int limit) {        \
    SIMT_MARK##suffix return __scoped_atomic_fetch_udec(address, limit, __ATOMIC_RELAXED, scope);              \
  }
#else  // clang 19
#define SIMT_WRAPPING(suffix, scope)                                                                     \
  SIMT_D unsigned int atomicInc##suffix(unsigned int* address, unsigned int limit) {                     \
    return __simt::update<unsigned int>(                                                                 \
        address, [=](unsigned int seen) { return seen >= limit ? 0u : seen + 1u; });                     \
  }                                                                                                      \
  SIMT_D unsigned int atomicDec##suffix(unsigned int* address, unsigned int limit) {                     \
    return __simt::update<unsigned int>(                                                                 \
        address, [=](unsigned int seen) { return seen == 0u || seen > limit ? limit : seen - 1u; });     \
  }
#endif
#define SIMT_SUM(_T, suffix, scope) SIMT_FETCH(atomicAdd, fetch_add, _T, suffix, scope) SIMT_EXCHANGE(_T, suffix, scope)
#define SIMT_DIFFERENCE(_T, suffix, scope) SIMT_FETCH(atomicSub, fetch_sub, _T, suffix, scope)
#define SIMT_ORDER(_T, suffix, scope)                                                        \
  SIMT_FETCH(atomicMin, fetch_min, _T, suffix, scope)                                        \
  SIMT_FETCH(atomicMax, fetch_max, _T, suffix, scope)
#define SIMT_LOGIC(_T, suffix, scope)                                                        \
  SIMT_FETCH(atomicAnd, fetch_and, _T, suffix, scope)                                        \
  SIMT_FETCH(atomicOr, fetch_or, _T, suffix, scope)                                          \
  SIMT_FETCH(atomicXor, fetch_xor, _T, suffix, scope)                                        \
  SIMT_COMPARE(_T, suffix, scope)

// Only what the vendor has: programs supply the rest themselves, under the same names.
#define SIMT_ATOMICS_COMMON(suffix, scope)                                                              \
  SIMT_SUM(int, suffix, scope) SIMT_SUM(unsigned int, suffix, scope)                                    \
  SIMT_SUM(unsigned long long, suffix, scope) SIMT_SUM(float, suffix, scope)                            \
  SIMT_DIFFERENCE(int, suffix, scope) SIMT_DIFFERENCE(unsigned int, suffix, scope)                      \
  SIMT_ORDER(int, suffix, scope) SIMT_ORDER(unsigned int, suffix, scope)                                \
  SIMT_ORDER(unsigned long long, suffix, scope) SIMT_ORDER(long long, suffix, scope)                    \
  SIMT_LOGIC(int, suffix, scope) SIMT_LOGIC(unsigned int, suffix, scope)                                \
  SIMT_LOGIC(unsigned long long, suffix, scope)                                                         \
  SIMT_COMPARE(unsigned short, suffix, scope)                                                           \
  SIMT_WRAPPING(suffix, scope)
#if defined(__HIP__)
#define SIMT_ATOMICS(suffix, scope)                                                                     \
  SIMT_ATOMICS_COMMON(suffix, scope)                                                                    \
  SIMT_SUM(double, suffix, scope) SIMT_SUM(unsigned long, suffix, scope)                                \
  SIMT_DIFFERENCE(unsigned long long, suffix, scope) SIMT_DIFFERENCE(unsigned long, suffix, scope)      \
  SIMT_DIFFERENCE(float, suffix, scope) SIMT_DIFFERENCE(double, suffix, scope)                          \
  SIMT_ORDER(unsigned long, suffix, scope) SIMT_ORDER(float, suffix, scope)                             \
  SIMT_ORDER(double, suffix, scope) SIMT_LOGIC(unsigned long, suffix, scope)                            \
  SIMT_COMPARE_FLOAT(float, unsigned int, suffix, scope)                                                \
  SIMT_COMPARE_FLOAT(double, unsigned long long, suffix, scope)
#else
#define SIMT_ATOMICS(suffix, scope)                                                                     \
  SIMT_ATOMICS_COMMON(suffix, scope)                                                                    \
  SIMT_FETCH(atomicAdd, fetch_add, double, suffix, scope)
#endif
SIMT_ATOMICS(, SIMT_SCOPE_DEVICE)
SIMT_ATOMICS(_block, SIMT_SCOPE_BLOCK)
SIMT_ATOMICS(_system, SIMT_SCOPE_SYSTEM)
#undef SIMT_MARK
#undef SIMT_MARK_block
#undef SIMT_MARK_system
#undef SIMT_ATOMICS
#undef SIMT_ATOMICS_COMMON
#undef SIMT_WRAPPING
#undef SIMT_SUM
#undef SIMT_DIFFERENCE
#undef SIMT_ORDER
#undef SIMT_LOGIC
#undef SIMT_COMPARE_FLOAT
#undef SIMT_COMPARE
#undef SIMT_EXCHANGE
#undef SIMT_FETCH

#if defined(__HIP__)
SIMT_D float unsafeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
SIMT_D double unsafeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
SIMT_D float safeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
SIMT_D double safeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
SIMT_D float unsafeAtomicMin(float* address, float value) { return atomicMin(address, value); }
SIMT_D double unsafeAtomicMin(double* address, double value) { return atomicMin(address, value); }
SIMT_D float unsafeAtomicMax(float* address, float value) { return atomicMax(address, value); }
SIMT_D double unsafeAtomicMax(double* address, double value) { return atomicMax(address, value); }
SIMT_D float safeAtomicMin(float* address, float value) { return atomicMin(address, value); }
SIMT_D double safeAtomicMin(double* address, double value) { return atomicMin(address, value); }
SIMT_D float safeAtomicMax(float* address, float value) { return atomicMax(address, value); }
SIMT_D double safeAtomicMax(double* address, double value) { return atomicMax(address, value); }
SIMT_D void atomicAddNoRet(float* address, float value) { atomicAdd(address, value); }
#endif

#if defined(__HIP__)
#ifndef __HIP_MEMORY_SCOPE_SINGLETHREAD
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif
#endif

// What an operation's scope is where the compiler, which works for a CPU, does not keep it.
#if defined(__HIP__) && defined(__HIP_DEVICE_COMPILE__) && !defined(__AMDGCN__)
#define __hip_atomic_load(p, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_load(p, order, scope))
#define __hip_atomic_store(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_store(p, v, order, scope))
#define __hip_atomic_exchange(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_exchange(p, v, order, scope))
#define __hip_atomic_compare_exchange_strong(p, e, v, good, bad, scope) \
  (__simt::in_hip_scope(scope), __hip_atomic_compare_exchange_strong(p, e, v, good, bad, scope))
#define __hip_atomic_compare_exchange_weak(p, e, v, good, bad, scope) \
  (__simt::in_hip_scope(scope), __hip_atomic_compare_exchange_weak(p, e, v, good, bad, scope))
#define __hip_atomic_fetch_add(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_add(p, v, order, scope))
#define __hip_atomic_fetch_sub(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_sub(p, v, order, scope))
#define __hip_atomic_fetch_and(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_and(p, v, order, scope))
#define __hip_atomic_fetch_or(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_or(p, v, order, scope))
#define __hip_atomic_fetch_xor(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_xor(p, v, order, scope))
#define __hip_atomic_fetch_min(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_min(p, v, order, scope))
#define __hip_atomic_fetch_max(p, v, order, scope) (__simt::in_hip_scope(scope), __hip_atomic_fetch_max(p, v, order, scope))
#endif
