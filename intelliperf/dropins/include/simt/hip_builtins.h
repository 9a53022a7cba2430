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
SIMT_D int signed_field(int value, unsigned int offset, unsigned int width) {
  if (width == 0) return 0;
  const unsigned int field = static_cast<unsigned int>(value) >> offset;
  return static_cast<int>(field << (32u - width)) >> (32u - width);
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

// Functions, not macros: programs and rocPRIM call them as ::__builtin_amdgcn_….
#define SIMT_BUILTIN(type, name, parameters, expression) \
  SIMT_D type __builtin_amdgcn_##name parameters { return expression; }
#define SIMT_BUILTIN_XYZ(name, function)                                     \
  SIMT_BUILTIN(unsigned int, name##_x, (), __simt::function##_x())           \
  SIMT_BUILTIN(unsigned int, name##_y, (), __simt::function##_y())           \
  SIMT_BUILTIN(unsigned int, name##_z, (), __simt::function##_z())
SIMT_BUILTIN_XYZ(workitem_id, thread_index)
SIMT_BUILTIN_XYZ(workgroup_id, block_index)
SIMT_BUILTIN_XYZ(workgroup_size, block_dim)
SIMT_BUILTIN(unsigned int, grid_size_x, (), __simt::grid_dim_x() * __simt::block_dim_x())
SIMT_BUILTIN(unsigned int, grid_size_y, (), __simt::grid_dim_y() * __simt::block_dim_y())
SIMT_BUILTIN(unsigned int, grid_size_z, (), __simt::grid_dim_z() * __simt::block_dim_z())
SIMT_BUILTIN(constexpr unsigned int, wavefrontsize, (), SIMT_WAVE_SIZE)

SIMT_BUILTIN(void, s_barrier, (), __simt::barrier())
SIMT_BUILTIN(void, wave_barrier, (), (void)__simt::collective(__simt::kSyncWave, 0, 0, 0, SIMT_WAVE_SIZE))
SIMT_BUILTIN(void, s_sleep, (int), __simt::fence_compiler())
SIMT_BUILTIN(void, s_setprio, (int), (void)0)
SIMT_BUILTIN(void, s_waitcnt, (int), (void)0)
SIMT_BUILTIN(void, sched_barrier, (int), (void)0)
SIMT_BUILTIN(void, sched_group_barrier, (int, int, int), (void)0)
SIMT_BUILTIN(void, iglp_opt, (int), (void)0)
SIMT_BUILTIN(void, endpgm, (), ::__simt_exit())
SIMT_BUILTIN(unsigned int, s_getreg, (int), 0u)
SIMT_BUILTIN(unsigned long long, s_memtime, (), __simt::clock())
SIMT_BUILTIN(unsigned long long, s_memrealtime, (), __simt::wall_clock())
SIMT_D void __builtin_amdgcn_fence(int order, const char* scope = "", ...) {
  ::__simt_fence(__simt::scope_code(scope) | __simt::order_code(order));
}
#define __builtin_readcyclecounter() __simt::clock()  // clang's own on every target

SIMT_BUILTIN(int, readlane, (int v, int lane), __simt::from_lane(v, static_cast<unsigned int>(lane)))
SIMT_BUILTIN(int, readfirstlane, (int v), __simt::from_lane(v, __simt::first_active_lane()))
SIMT_BUILTIN(int, writelane, (int v, int at, int old), __simt::lane() == static_cast<unsigned int>(at) ? v : old)
SIMT_BUILTIN(int, ds_bpermute, (int address, int v), __simt::ds_bpermute(address, v))
SIMT_BUILTIN(int, ds_permute, (int address, int v), __simt::ds_permute(address, v))
SIMT_BUILTIN(int, ds_swizzle, (int v, int pattern), __simt::ds_swizzle(v, static_cast<unsigned int>(pattern)))
SIMT_BUILTIN(unsigned int, mbcnt_lo, (unsigned int mask, unsigned int add),
             __simt::count_below(mask, __simt::lane(), add))
SIMT_BUILTIN(unsigned int, mbcnt_hi, (unsigned int mask, unsigned int add),
             __simt::count_below(mask, __simt::lane() < 32u ? 0u : __simt::lane() - 32u, add))
SIMT_BUILTIN(int, update_dpp, (int old, int v, int control, int rows, int banks, bool bound),
             __simt::update_dpp(old, v, static_cast<unsigned int>(control), static_cast<unsigned int>(rows),
                                static_cast<unsigned int>(banks), bound))
SIMT_BUILTIN(int, mov_dpp, (int v, int control, int rows, int banks, bool bound),
             __builtin_amdgcn_update_dpp(0, v, control, rows, banks, bound))
SIMT_BUILTIN(int, mov_dpp8, (int v, int order), __simt::mov_dpp8(v, static_cast<unsigned int>(order)))
SIMT_BUILTIN(int, permlane16, (int, int v, unsigned int low, unsigned int high, bool, bool),
             __simt::permute_row(v, low, high, 0))
SIMT_BUILTIN(int, permlanex16, (int, int v, unsigned int low, unsigned int high, bool, bool),
             __simt::permute_row(v, low, high, 1))
SIMT_BUILTIN(unsigned long long, ballot_w64, (bool p), __simt::ballot(0, p))
SIMT_BUILTIN(unsigned int, ballot_w32, (bool p), static_cast<unsigned int>(__simt::ballot(0, p)))
SIMT_BUILTIN(bool, inverse_ballot_w64, (unsigned long long mask), ((mask >> __simt::lane()) & 1u) != 0)
SIMT_BUILTIN(unsigned long long, read_exec, (), __simt::active())
SIMT_BUILTIN(bool, is_shared, (const void* p), __isShared(p) != 0)

SIMT_BUILTIN(float, sqrtf, (float v), __builtin_sqrtf(v))
SIMT_BUILTIN(double, sqrt, (double v), __builtin_sqrt(v))
SIMT_BUILTIN(float, rcpf, (float v), 1.0f / v)
SIMT_BUILTIN(double, rcp, (double v), 1.0 / v)
SIMT_BUILTIN(float, rsqf, (float v), 1.0f / __builtin_sqrtf(v))
SIMT_BUILTIN(double, rsq, (double v), 1.0 / __builtin_sqrt(v))
SIMT_BUILTIN(float, exp2f, (float v), __builtin_exp2f(v))
SIMT_BUILTIN(float, logf, (float v), __builtin_log2f(v))
SIMT_BUILTIN(float, sinf, (float v), __builtin_sinf(v * 6.2831853071795864769f))
SIMT_BUILTIN(float, cosf, (float v), __builtin_cosf(v * 6.2831853071795864769f))
SIMT_BUILTIN(float, fractf, (float v), v - __builtin_floorf(v))
SIMT_BUILTIN(double, fract, (double v), v - __builtin_floor(v))
SIMT_BUILTIN(float, fmed3f, (float a, float b, float c),
             __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c)))
SIMT_BUILTIN(float, ldexpf, (float v, int n), __builtin_ldexpf(v, n))
SIMT_BUILTIN(double, ldexp, (double v, int n), __builtin_ldexp(v, n))

// Bit fields as LLVM's amdgcn intrinsics have them: offset and width modulo 32; nothing of width 0.
SIMT_BUILTIN(unsigned int, ubfe, (unsigned int v, unsigned int offset, unsigned int width),
             (width & 31u) == 0 ? 0u : v >> (offset & 31u) & ~0u >> (32u - (width & 31u)))
SIMT_BUILTIN(int, sbfe, (int v, unsigned int offset, unsigned int width), __simt::signed_field(v, offset & 31u, width & 31u))
SIMT_BUILTIN(unsigned int, mul_u24, (unsigned int a, unsigned int b), __umul24(a, b))
SIMT_BUILTIN(int, mul_i24, (int a, int b), __mul24(a, b))
SIMT_BUILTIN(unsigned int, alignbyte, (unsigned int high, unsigned int low, unsigned int n),
             __funnelshift_r(low, high, 8u * (n & 3u)))
SIMT_BUILTIN(unsigned int, alignbit, (unsigned int high, unsigned int low, unsigned int n),
             __funnelshift_r(low, high, n))
SIMT_BUILTIN(unsigned int, perm, (unsigned int high, unsigned int low, unsigned int selector),
             __byte_perm(low, high, selector))
SIMT_BUILTIN(int, sdot4, (int a, int b, int c, bool clamp), __simt::mixed_dot(true, a, true, b, c, clamp))
SIMT_BUILTIN(unsigned int, udot4, (unsigned int a, unsigned int b, unsigned int c, bool), __dp4a(a, b, c))
SIMT_BUILTIN(int, sudot4, (bool a_signed, int a, bool b_signed, int b, int c, bool clamp),
             __simt::mixed_dot(a_signed, a, b_signed, b, c, clamp))
SIMT_BUILTIN(unsigned int, sad_u8, (unsigned int a, unsigned int b, unsigned int c),
             __simt::sum_of_differences(a, b, c))
SIMT_BUILTIN(float, cvt_f32_ubyte0, (unsigned int v), static_cast<float>(v & 255u))
SIMT_BUILTIN(float, cvt_f32_ubyte1, (unsigned int v), static_cast<float>((v >> 8) & 255u))
SIMT_BUILTIN(float, cvt_f32_ubyte2, (unsigned int v), static_cast<float>((v >> 16) & 255u))
SIMT_BUILTIN(float, cvt_f32_ubyte3, (unsigned int v), static_cast<float>((v >> 24) & 255u))
#undef SIMT_BUILTIN
#undef SIMT_BUILTIN_XYZ

#endif  // !__AMDGCN__
