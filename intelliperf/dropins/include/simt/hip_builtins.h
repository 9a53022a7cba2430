// The __builtin_amdgcn_* that HIP programs use, on targets whose compiler does not know them.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#if !defined(__AMDGCN__)

namespace __simt {
SIMT_D unsigned int first_active_lane() {
  return static_cast<unsigned int>(__builtin_ctzll(collective(kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE)));
}
SIMT_D unsigned int dpp_source(unsigned int control, unsigned int lane) {
  const unsigned int row = lane & ~15u, in_row = lane & 15u;
  if (control <= 0xffu) return (lane & ~3u) + ((control >> (2 * (lane & 3u))) & 3u);      // quad_perm
  if (control >= 0x101u && control <= 0x10fu) {                                           // row_shl
    return in_row + (control & 15u) < 16u ? lane + (control & 15u) : ~0u;
  }
  if (control >= 0x111u && control <= 0x11fu) {                                           // row_shr
    return in_row >= (control & 15u) ? lane - (control & 15u) : ~0u;
  }
  if (control >= 0x121u && control <= 0x12fu) return row + ((in_row - (control & 15u)) & 15u);  // row_ror
  if (control == 0x130u) return lane + 1 < SIMT_WAVE_SIZE ? lane + 1 : ~0u;               // wave_shl:1
  if (control == 0x138u) return lane >= 1 ? lane - 1 : ~0u;                               // wave_shr:1
  if (control == 0x134u) return (lane + 1) % SIMT_WAVE_SIZE;                              // wave_rol:1
  if (control == 0x13cu) return (lane + SIMT_WAVE_SIZE - 1) % SIMT_WAVE_SIZE;             // wave_ror:1
  if (control == 0x140u) return row + 15u - in_row;                                       // row_mirror
  if (control == 0x141u) return (lane & ~7u) + 7u - (lane & 7u);                          // row_half_mirror
  if (control == 0x142u) return lane >= 16u ? row - 1u : ~0u;                             // row_bcast:15
  if (control == 0x143u) return lane >= 32u ? 31u : ~0u;                                  // row_bcast:31
  return ~0u;
}
// LLVM AMDGPU manual, "update.dpp": masks choose rows and banks that take part; others keep `old`.
SIMT_D int update_dpp(int old, int source, unsigned int control, unsigned int row_mask, unsigned int bank_mask,
                      bool bound_control) {
  const unsigned int lane = __simt::lane(), from = dpp_source(control, lane);
  const int moved = static_cast<int>(collective32(kShuffle, 0, static_cast<unsigned int>(source),
                                                  from == ~0u ? lane : from, SIMT_WAVE_SIZE));
  if (!((row_mask >> (lane / 16u)) & 1u) || !((bank_mask >> ((lane / 4u) & 3u)) & 1u)) return old;
  if (from == ~0u) return bound_control ? 0 : old;
  return moved;
}
// Lanes are read by byte address / 4, modulo the wave.
SIMT_D int ds_bpermute(int address, int value) {
  return static_cast<int>(collective32(kShuffle, 0, static_cast<unsigned int>(value),
                                       (static_cast<unsigned int>(address) >> 2) % SIMT_WAVE_SIZE, SIMT_WAVE_SIZE));
}
// The opposite: lanes send. Of several that send to one lane the last wins; a lane that none sends to gets 0.
SIMT_D int ds_permute(int address, int value) {
  const unsigned int to = (static_cast<unsigned int>(address) >> 2) % SIMT_WAVE_SIZE, lane = __simt::lane();
  unsigned long long senders = 0;
  for (unsigned int bit = 0; bit < 6; ++bit) {
    const unsigned long long ones = collective(kBallot, 0, (to >> bit) & 1u, 0, SIMT_WAVE_SIZE);
    const unsigned long long alike = (lane >> bit) & 1u ? ones : ~ones;
    senders = bit == 0 ? alike : senders & alike;
  }
  senders &= collective(kActiveMask, 0, 1, 0, SIMT_WAVE_SIZE);
  const unsigned int from = senders ? 63u - static_cast<unsigned int>(__builtin_clzll(senders)) : lane;
  const int sent = static_cast<int>(collective32(kShuffle, 0, static_cast<unsigned int>(value), from, SIMT_WAVE_SIZE));
  return senders ? sent : 0;
}
SIMT_D int ds_swizzle(int value, unsigned int pattern) {
  const unsigned int lane = __simt::lane();
  unsigned int from;
  if (pattern & 0x8000u) {
    from = (lane & ~3u) + ((pattern >> (2 * (lane & 3u))) & 3u);
  } else {
    from = (lane & ~31u) | ((((lane & 31u) & (pattern & 31u)) | ((pattern >> 5) & 31u)) ^ ((pattern >> 10) & 31u));
  }
  return static_cast<int>(collective32(kShuffle, 0, static_cast<unsigned int>(value), from, SIMT_WAVE_SIZE));
}
// RDNA: any order within groups of eight lanes; any within rows of sixteen, from the own or the other row of a pair.
SIMT_D int from_lane(int value, unsigned int from) {
  return static_cast<int>(collective32(kShuffle, 0, static_cast<unsigned int>(value), from, SIMT_WAVE_SIZE));
}
SIMT_D int mov_dpp8(int value, unsigned int order) {
  const unsigned int lane = __simt::lane();
  return from_lane(value, (lane & ~7u) + ((order >> (3 * (lane & 7u))) & 7u));
}
SIMT_D int permute_row(int value, unsigned int low, unsigned int high, unsigned int other_row) {
  const unsigned int lane = __simt::lane(), in_row = lane & 15u;
  const unsigned int from = ((in_row < 8u ? low : high) >> (4 * (in_row & 7u))) & 15u;
  return from_lane(value, ((lane & ~15u) ^ (16u * other_row)) + from);
}
SIMT_D unsigned int sum_of_differences(unsigned int a, unsigned int b, unsigned int add) {
  for (unsigned int shift = 0; shift < 32; shift += 8) {
    const unsigned int left = (a >> shift) & 255u, right = (b >> shift) & 255u;
    add += left < right ? right - left : left - right;
  }
  return add;
}
SIMT_D int mixed_dot(bool a_signed, int a, bool b_signed, int b, int add, bool clamp) {
  long long sum = add;
  for (int shift = 0; shift < 32; shift += 8) {
    const int left = static_cast<int>(static_cast<unsigned int>(a) >> shift & 255u);
    const int right = static_cast<int>(static_cast<unsigned int>(b) >> shift & 255u);
    sum += (a_signed ? static_cast<signed char>(left) : left) * (b_signed ? static_cast<signed char>(right) : right);
  }
  if (clamp) sum = sum > 0x7fffffffll ? 0x7fffffffll : sum < -0x80000000ll ? -0x80000000ll : sum;
  return static_cast<int>(sum);
}
SIMT_D unsigned int count_below(unsigned int mask, unsigned int lanes_below, unsigned int add) {
  const unsigned int below = lanes_below >= 32u ? ~0u : (1u << lanes_below) - 1u;
  return add + static_cast<unsigned int>(__builtin_popcount(mask & below));
}
}  // namespace __simt

#define __builtin_amdgcn_workitem_id_x() (__simt::thread_index_x())
#define __builtin_amdgcn_workitem_id_y() (__simt::thread_index_y())
#define __builtin_amdgcn_workitem_id_z() (__simt::thread_index_z())
#define __builtin_amdgcn_workgroup_id_x() (__simt::block_index_x())
#define __builtin_amdgcn_workgroup_id_y() (__simt::block_index_y())
#define __builtin_amdgcn_workgroup_id_z() (__simt::block_index_z())
#define __builtin_amdgcn_workgroup_size_x() (__simt::block_dim_x())
#define __builtin_amdgcn_workgroup_size_y() (__simt::block_dim_y())
#define __builtin_amdgcn_workgroup_size_z() (__simt::block_dim_z())
#define __builtin_amdgcn_wavefrontsize() (static_cast<unsigned int>(SIMT_WAVE_SIZE))
#define __builtin_amdgcn_s_barrier() (__simt::barrier())
#define __builtin_amdgcn_wave_barrier() ((void)__simt::collective(__simt::kSyncWave, 0, 0, 0, SIMT_WAVE_SIZE))
#define __builtin_amdgcn_fence(order, ...) (__simt::fence_device())
#define __builtin_amdgcn_sched_barrier(mask) ((void)0)
#define __builtin_amdgcn_sched_group_barrier(...) ((void)0)
#define __builtin_amdgcn_s_sleep(n) (__simt::fence_device())
#define __builtin_amdgcn_s_setprio(n) ((void)0)
#define __builtin_amdgcn_s_waitcnt(n) ((void)0)
#define __builtin_amdgcn_s_memtime() (__simt::clock())
#define __builtin_amdgcn_s_memrealtime() (__simt::wall_clock())
#define __builtin_readcyclecounter() (__simt::clock())
#define __builtin_amdgcn_readfirstlane(v) \
  (static_cast<int>(__simt::collective32(__simt::kShuffle, 0, static_cast<unsigned int>(v), __simt::first_active_lane(), SIMT_WAVE_SIZE)))
#define __builtin_amdgcn_readlane(v, lane) \
  (static_cast<int>(__simt::collective32(__simt::kShuffle, 0, static_cast<unsigned int>(v), static_cast<unsigned int>(lane), SIMT_WAVE_SIZE)))
#define __builtin_amdgcn_ds_bpermute(address, v) (__simt::ds_bpermute(address, v))
#define __builtin_amdgcn_ds_permute(address, v) (__simt::ds_permute(address, v))
#define __builtin_amdgcn_ds_swizzle(v, pattern) (__simt::ds_swizzle(v, pattern))
#define __builtin_amdgcn_mbcnt_lo(mask, add) (__simt::count_below(mask, __simt::lane(), add))
#define __builtin_amdgcn_mbcnt_hi(mask, add) \
  (__simt::count_below(mask, __simt::lane() < 32u ? 0u : __simt::lane() - 32u, add))
#define __builtin_amdgcn_update_dpp(old, v, control, rows, banks, bound) \
  (__simt::update_dpp(old, v, control, rows, banks, bound))
#define __builtin_amdgcn_mov_dpp(v, control, rows, banks, bound) \
  (__simt::update_dpp(0, v, control, rows, banks, bound))
#define __builtin_amdgcn_mov_dpp8(v, order) (__simt::mov_dpp8(static_cast<int>(v), order))
#define __builtin_amdgcn_permlane16(old, v, low, high, inactive, bound) \
  (__simt::permute_row(static_cast<int>(v), low, high, 0))
#define __builtin_amdgcn_permlanex16(old, v, low, high, inactive, bound) \
  (__simt::permute_row(static_cast<int>(v), low, high, 1))
#define __builtin_amdgcn_ballot_w64(p) (static_cast<unsigned long long>(__simt::ballot(0, p)))
#define __builtin_amdgcn_ballot_w32(p) (static_cast<unsigned int>(__simt::ballot(0, p)))
#define __builtin_amdgcn_read_exec() (static_cast<unsigned long long>(__simt::active()))
#define __builtin_amdgcn_is_shared(p) (__isShared(p))
#define __builtin_amdgcn_sqrtf(v) (__builtin_sqrtf(v))
#define __builtin_amdgcn_sqrt(v) (__builtin_sqrt(v))
#define __builtin_amdgcn_rcpf(v) (1.0f / (v))
#define __builtin_amdgcn_rcp(v) (1.0 / (v))
#define __builtin_amdgcn_rsqf(v) (1.0f / __builtin_sqrtf(v))
#define __builtin_amdgcn_rsq(v) (1.0 / __builtin_sqrt(v))
#define __builtin_amdgcn_exp2f(v) (__builtin_exp2f(v))
#define __builtin_amdgcn_logf(v) (__builtin_log2f(v))
#define __builtin_amdgcn_sinf(v) (__builtin_sinf((v) * 6.2831853071795864769f))
#define __builtin_amdgcn_cosf(v) (__builtin_cosf((v) * 6.2831853071795864769f))
#define __builtin_amdgcn_fractf(v) ((v) - __builtin_floorf(v))
#define __builtin_amdgcn_fmed3f(a, b, c) (__builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c)))
#define __builtin_amdgcn_ubfe(v, offset, width) \
  ((width) == 0 ? 0u : (static_cast<unsigned int>(v) >> (offset)) & (~0u >> (32 - (width))))
#define __builtin_amdgcn_sbfe(v, offset, width) \
  ((width) == 0 ? 0 : static_cast<int>(static_cast<unsigned int>(v) << (32 - (offset) - (width))) >> (32 - (width)))
#define __builtin_amdgcn_mul_u24(a, b) (__umul24(a, b))
#define __builtin_amdgcn_mul_i24(a, b) (__mul24(a, b))
#define __builtin_amdgcn_ldexpf(v, n) (__builtin_ldexpf(v, n))
#define __builtin_amdgcn_ldexp(v, n) (__builtin_ldexp(v, n))
#define __builtin_amdgcn_fract(v) ((v) - __builtin_floor(v))
#define __builtin_amdgcn_inverse_ballot_w64(mask) ((((mask) >> __simt::lane()) & 1u) != 0)
#define __builtin_amdgcn_grid_size_x() (__simt::grid_dim_x() * __simt::block_dim_x())
#define __builtin_amdgcn_grid_size_y() (__simt::grid_dim_y() * __simt::block_dim_y())
#define __builtin_amdgcn_grid_size_z() (__simt::grid_dim_z() * __simt::block_dim_z())
#define __builtin_amdgcn_writelane(v, lane_index, old) (__simt::lane() == static_cast<unsigned int>(lane_index) ? (v) : (old))
#define __builtin_amdgcn_s_getreg(id) (0u)
#define __builtin_amdgcn_iglp_opt(n) ((void)0)
#define __builtin_amdgcn_alignbyte(high, low, n) (__funnelshift_r(low, high, 8u * ((n) & 3u)))
#define __builtin_amdgcn_alignbit(high, low, n) (__funnelshift_r(low, high, n))
#define __builtin_amdgcn_perm(high, low, selector) (__byte_perm(low, high, selector))
#define __builtin_amdgcn_sdot4(a, b, c, clamp) (__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)))
#define __builtin_amdgcn_udot4(a, b, c, clamp) \
  (__dp4a(static_cast<unsigned int>(a), static_cast<unsigned int>(b), static_cast<unsigned int>(c)))
#define __builtin_amdgcn_sudot4(a_signed, a, b_signed, b, c, clamp) (__simt::mixed_dot(a_signed, a, b_signed, b, c, clamp))
#define __builtin_amdgcn_sad_u8(a, b, c) (__simt::sum_of_differences(a, b, c))
#define __builtin_amdgcn_cvt_f32_ubyte0(v) (static_cast<float>((v) & 255u))
#define __builtin_amdgcn_cvt_f32_ubyte1(v) (static_cast<float>(((v) >> 8) & 255u))
#define __builtin_amdgcn_cvt_f32_ubyte2(v) (static_cast<float>(((v) >> 16) & 255u))
#define __builtin_amdgcn_cvt_f32_ubyte3(v) (static_cast<float>(((v) >> 24) & 255u))
#define __builtin_amdgcn_endpgm() (__simt::trap())

#endif  // !__AMDGCN__
