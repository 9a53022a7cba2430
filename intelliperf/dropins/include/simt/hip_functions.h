// Device functions that HIP has and CUDA has not: bit fields, moves between lanes by the instructions' names.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

// Offsets and widths are taken modulo the number of bits, and a field of no bits is 0, as HIP's headers have it.
namespace __simt {
template <class _U>
SIMT_DT _U extract_bits(_U value, unsigned int offset, unsigned int width) {
  constexpr unsigned int bits = 8 * sizeof(_U);
  offset %= bits;
  width %= bits;
  return static_cast<_U>(value >> offset) & ((_U(1) << width) - 1);
}
template <class _U>
SIMT_DT _U insert_bits(_U value, _U field, unsigned int offset, unsigned int width) {
  constexpr unsigned int bits = 8 * sizeof(_U);
  const _U mask = (_U(1) << (width % bits)) - 1;
  return (value & ~(mask << (offset % bits))) | ((field & mask) << (offset % bits));
}
}  // namespace __simt
SIMT_D unsigned int __bitextract_u32(unsigned int value, unsigned int offset, unsigned int width) {
  return __simt::extract_bits(value, offset, width);
}
SIMT_D uint64_t __bitextract_u64(uint64_t value, unsigned int offset, unsigned int width) {
  return __simt::extract_bits(value, offset, width);
}
SIMT_D unsigned int __bitinsert_u32(unsigned int value, unsigned int field, unsigned int offset, unsigned int width) {
  return __simt::insert_bits(value, field, offset, width);
}
SIMT_D uint64_t __bitinsert_u64(uint64_t value, uint64_t field, unsigned int offset, unsigned int width) {
  return __simt::insert_bits(value, field, offset, width);
}
SIMT_D unsigned int __lastbit_u32_u64(uint64_t value) {
  return value == 0 ? ~0u : static_cast<unsigned int>(__builtin_ctzll(value));
}
SIMT_D int __fns32(uint32_t mask, uint32_t base, int offset) { return static_cast<int>(__fns(mask, base, offset)); }

SIMT_D unsigned int __hip_ds_bpermute(int address, unsigned int value) {
  return static_cast<unsigned int>(__builtin_amdgcn_ds_bpermute(address, static_cast<int>(value)));
}
SIMT_D float __hip_ds_bpermutef(int address, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(address, __builtin_bit_cast(int, value)));
}
SIMT_D unsigned int __hip_ds_permute(int address, unsigned int value) {
  return static_cast<unsigned int>(__builtin_amdgcn_ds_permute(address, static_cast<int>(value)));
}
SIMT_D float __hip_ds_permutef(int address, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_permute(address, __builtin_bit_cast(int, value)));
}
template <int pattern>
SIMT_DT unsigned int __hip_ds_swizzle_N(unsigned int value) {
  return static_cast<unsigned int>(__builtin_amdgcn_ds_swizzle(static_cast<int>(value), pattern));
}
template <int pattern>
SIMT_DT float __hip_ds_swizzlef_N(float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), pattern));
}
template <int control, int row_mask, int bank_mask, bool bound_control>
SIMT_DT int __hip_move_dpp_N(int value) {
  return __builtin_amdgcn_mov_dpp(value, control, row_mask, bank_mask, bound_control);
}
#define __hip_ds_swizzle(value, pattern) __hip_ds_swizzle_N<(pattern)>((value))
#define __hip_ds_swizzlef(value, pattern) __hip_ds_swizzlef_N<(pattern)>((value))
#define __hip_move_dpp(value, control, row_mask, bank_mask, bound_control) \
  __hip_move_dpp_N<(control), (row_mask), (bank_mask), (bound_control)>((value))
