// Barriers, fences, shuffles, votes, matches and reductions across a wave.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#if !defined(__NVPTX__)  // whose compiler has it built in
SIMT_D void __syncthreads() { __simt::barrier(); }
#endif
SIMT_D int __syncthreads_count(int predicate) { return __simt::barrier_reduce(__simt::kCount, predicate); }
SIMT_D int __syncthreads_and(int predicate) { return __simt::barrier_reduce(__simt::kAnd, predicate); }
SIMT_D int __syncthreads_or(int predicate) { return __simt::barrier_reduce(__simt::kOr, predicate); }
SIMT_D void __barrier_sync(unsigned int) { __simt::barrier(); }

SIMT_D void __threadfence() { __simt::fence_device(); }
SIMT_D void __threadfence_block() { __simt::fence_block(); }
SIMT_D void __threadfence_system() { __simt::fence_system(); }

#if defined(__HIP__)
SIMT_D unsigned int __lane_id() { return __simt::lane(); }
#endif

namespace __simt {
template <class _M>
SIMT_DT constexpr unsigned long long checked_mask(_M mask) {
#if defined(__HIP__)
  static_assert(sizeof(_M) == 8, "HIP's lane masks are 64 bits wide: write 0xffffffffffffffffull");
#endif
  return static_cast<unsigned long long>(mask);
}

// Moves the bytes of a value, four or eight at a time. CUB does so with any type.
template <class _T>
SIMT_DT _T shuffle(collective_operation operation, unsigned long long mask, _T value, unsigned int argument,
                  unsigned int width) {
  void* const place = __builtin_addressof(value);
  if constexpr (sizeof(_T) <= 4) {
    unsigned int bits = 0;
    __builtin_memcpy(&bits, place, sizeof(_T));
    bits = collective32(operation, mask, bits, argument, width);
    __builtin_memcpy(place, &bits, sizeof(_T));
  } else {
    constexpr size_t words = (sizeof(_T) + 7) / 8;
    unsigned long long bits[words] = {};
    __builtin_memcpy(bits, place, sizeof(_T));
    for (size_t i = 0; i < words; ++i) bits[i] = collective(operation, mask, bits[i], argument, width);
    __builtin_memcpy(place, bits, sizeof(_T));
  }
  return value;
}
SIMT_D lane_mask ballot(unsigned long long mask, int predicate) {
  return static_cast<lane_mask>(collective(kBallot, mask, predicate != 0, 0, SIMT_WAVE_SIZE));
}
SIMT_D lane_mask active() {
  return static_cast<lane_mask>(collective(kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE));
}
template <class _T>
SIMT_DT unsigned long long match_bits(_T value) {
  static_assert(sizeof(_T) <= 8, "only values of up to 8 bytes can be matched");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(_T));
  return bits;
}
}  // namespace __simt

#define SIMT_SHUFFLE(name, operation, argument_t)                                                      \
  template <class _T>                                                                                   \
  SIMT_DT _T name(_T value, argument_t argument, int width = warpSize) {                                 \
    static_assert(__is_trivially_copyable(_T), "only trivially copyable values can be shuffled");      \
    return __simt::shuffle(__simt::operation, 0, value, static_cast<unsigned int>(argument),           \
                           static_cast<unsigned int>(width));                                          \
  }                                                                                                    \
  template <class _M, class _T>                                                                          \
  SIMT_DT _T name##_sync(_M mask, _T value, argument_t argument, int width = warpSize) {                  \
    static_assert(__is_trivially_copyable(_T), "only trivially copyable values can be shuffled");      \
    return __simt::shuffle(__simt::operation, __simt::checked_mask(mask), value,                       \
                           static_cast<unsigned int>(argument), static_cast<unsigned int>(width));     \
  }
SIMT_SHUFFLE(__shfl, kShuffle, int)
SIMT_SHUFFLE(__shfl_up, kShuffleUp, unsigned int)
SIMT_SHUFFLE(__shfl_down, kShuffleDown, unsigned int)
SIMT_SHUFFLE(__shfl_xor, kShuffleXor, int)
#undef SIMT_SHUFFLE

SIMT_D __simt::lane_mask __activemask() { return __simt::active(); }
SIMT_D __simt::lane_mask __ballot(int predicate) { return __simt::ballot(0, predicate); }
SIMT_D int __any(int predicate) { return __simt::ballot(0, predicate) != 0; }
SIMT_D int __all(int predicate) { return __simt::ballot(0, predicate == 0) == 0; }
template <class _M>
SIMT_DT __simt::lane_mask __ballot_sync(_M mask, int predicate) {
  return __simt::ballot(__simt::checked_mask(mask), predicate);
}
template <class _M>
SIMT_DT int __any_sync(_M mask, int predicate) {
  return __simt::ballot(__simt::checked_mask(mask), predicate) != 0;
}
template <class _M>
SIMT_DT int __all_sync(_M mask, int predicate) {
  return __simt::ballot(__simt::checked_mask(mask), predicate == 0) == 0;
}
template <class _M>
SIMT_DT int __uni_sync(_M mask, int predicate) {
  const auto yes = __simt::ballot(__simt::checked_mask(mask), predicate);
  return yes == 0 || yes == static_cast<__simt::lane_mask>(mask);
}
template <class _M, class _T>
SIMT_DT __simt::lane_mask __match_any_sync(_M mask, _T value) {
  return static_cast<__simt::lane_mask>(__simt::collective(__simt::kMatchAny, __simt::checked_mask(mask),
                                                           __simt::match_bits(value), 0, SIMT_WAVE_SIZE));
}
template <class _M, class _T>
SIMT_DT __simt::lane_mask __match_all_sync(_M mask, _T value, int* predicate) {
  const auto same = static_cast<__simt::lane_mask>(__simt::collective(
      __simt::kMatchAll, __simt::checked_mask(mask), __simt::match_bits(value), 0, SIMT_WAVE_SIZE));
  *predicate = same != 0;
  return same;
}
#if defined(__HIP__)
template <class _T>
SIMT_DT __simt::lane_mask __match_any(_T value) {
  return static_cast<__simt::lane_mask>(
      __simt::collective(__simt::kMatchAny, 0, __simt::match_bits(value), 0, SIMT_WAVE_SIZE));
}
template <class _T>
SIMT_DT __simt::lane_mask __match_all(_T value, int* predicate) {
  const auto same = static_cast<__simt::lane_mask>(
      __simt::collective(__simt::kMatchAll, 0, __simt::match_bits(value), 0, SIMT_WAVE_SIZE));
  *predicate = same != 0;
  return same;
}
SIMT_D unsigned long long __ballot64(int predicate) { return __simt::ballot(0, predicate); }
// Of the lanes that are active.
SIMT_D unsigned long __lanemask_lt() { return __simt::ballot(0, 1) & ((1ul << __simt::lane()) - 1); }
SIMT_D unsigned long __lanemask_gt() { return __simt::ballot(0, 1) & ~((2ul << __simt::lane()) - 1); }
SIMT_D unsigned long __lanemask_eq() { return 1ul << __simt::lane(); }
SIMT_D void __syncwarp() { __simt::collective(__simt::kSyncWave, 0, 0, 0, SIMT_WAVE_SIZE); }
template <class _M>
SIMT_DT void __syncwarp(_M mask) {
  __simt::collective(__simt::kSyncWave, __simt::checked_mask(mask), 0, 0, SIMT_WAVE_SIZE);
}
#else
SIMT_D void __syncwarp(unsigned int mask = 0xffffffffu) {
  __simt::collective(__simt::kSyncWave, mask, 0, 0, SIMT_WAVE_SIZE);
}
#endif

// Reductions over the lanes of a mask, whatever their positions: each lane visits the others' values.
namespace __simt {
template <class _T, class _F>
SIMT_DT _T reduce_lanes(unsigned long long mask, _T value, _F combine) {
  _T total = value;
  bool first = true;
  for (unsigned long long left = mask; left != 0; left &= left - 1) {
    const _T other = shuffle(kShuffle, mask, value, static_cast<unsigned int>(__builtin_ctzll(left)), SIMT_WAVE_SIZE);
    total = first ? other : combine(total, other);
    first = false;
  }
  return total;
}
}  // namespace __simt
#define SIMT_REDUCE(name, type, expression)                                                                      \
  template <class _M>                                                                                             \
  SIMT_DT type name(_M mask, type value) {                                                                        \
    return __simt::reduce_lanes(__simt::checked_mask(mask), value, [](type a, type b) { return expression; });   \
  }
SIMT_REDUCE(__reduce_add_sync, int, a + b)
SIMT_REDUCE(__reduce_add_sync, unsigned int, a + b)
SIMT_REDUCE(__reduce_min_sync, int, a < b ? a : b)
SIMT_REDUCE(__reduce_min_sync, unsigned int, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, int, a > b ? a : b)
SIMT_REDUCE(__reduce_max_sync, unsigned int, a > b ? a : b)
SIMT_REDUCE(__reduce_and_sync, unsigned int, a & b)
SIMT_REDUCE(__reduce_or_sync, unsigned int, a | b)
SIMT_REDUCE(__reduce_xor_sync, unsigned int, a ^ b)
#undef SIMT_REDUCE

// ---- clocks and traps ---------------------------------------------------------------------------------
SIMT_D long int clock() { return static_cast<long int>(__simt::clock()); }
SIMT_D long long clock64() { return static_cast<long long>(__simt::clock()); }
#if defined(__HIP__)
SIMT_D long long wall_clock64() { return static_cast<long long>(__simt::wall_clock()); }
SIMT_D long long __clock64() { return clock64(); }
SIMT_D long int __clock() { return clock(); }
#endif
SIMT_D void __trap() { __simt::trap(); }
SIMT_D void __brkpt() { __simt::trap(); }
SIMT_D void __nanosleep(unsigned int) { __simt::yield(); }
SIMT_D void __prof_trigger(int) {}
