// Scalar arithmetic, control flow and scalar memory.

#include <thread>
#include <unordered_map>

#include "arithmetic.h"
#include "decode.h"
#include "device_memory.h"
#include "operands.h"

namespace machine {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <class T>
T read(const Wave& wave, const Instruction& i, u32 n) {
  if (sizeof(T) == 8) return T(scalar_long(wave, i, i.source[n].code));
  return T(scalar_word(wave, i, i.source[n].code));
}

template <class T>
void write(Wave& wave, const Instruction& i, T value) {
  if (sizeof(T) == 8)
    wave.set_pair(i.scalar_destination, u64(value));
  else
    wave.s[i.scalar_destination] = u32(value);
}

std::unordered_map<std::string, Execute>& table() {
  static auto* const entries = new std::unordered_map<std::string, Execute>;
  return *entries;
}

struct Entry {
  Entry(const char* name, Execute execute) { table()[name] = execute; }
};

#define SCALAR(NAME)                     \
  void NAME(Wave& w, Instruction& i);    \
  const Entry NAME##_entry(#NAME, NAME); \
  void NAME([[maybe_unused]] Wave& w, [[maybe_unused]] Instruction& i)

// The result goes to the destination; SCC tells whether it is not zero.
#define LOGIC2(NAME, T, ...)                            \
  SCALAR(NAME) {                                        \
    const T a = read<T>(w, i, 0), b = read<T>(w, i, 1); \
    const T d = T(__VA_ARGS__);                         \
    write<T>(w, i, d);                                  \
    w.scc = d != 0;                                     \
  }
#define LOGIC1(NAME, T, ...)      \
  SCALAR(NAME) {                  \
    const T a = read<T>(w, i, 0); \
    const T d = T(__VA_ARGS__);   \
    write<T>(w, i, d);            \
    w.scc = d != 0;               \
  }
// SCC as the second expression says.
#define FLAGGED2(NAME, T, FLAG, ...)                    \
  SCALAR(NAME) {                                        \
    const T a = read<T>(w, i, 0), b = read<T>(w, i, 1); \
    const bool flag = FLAG;                             \
    write<T>(w, i, T(__VA_ARGS__));                     \
    w.scc = flag;                                       \
  }
#define PLAIN2(NAME, D, T, ...)                         \
  SCALAR(NAME) {                                        \
    const T a = read<T>(w, i, 0), b = read<T>(w, i, 1); \
    write<D>(w, i, D(__VA_ARGS__));                     \
  }
#define PLAIN1(NAME, D, T, ...)     \
  SCALAR(NAME) {                    \
    const T a = read<T>(w, i, 0);   \
    write<D>(w, i, D(__VA_ARGS__)); \
  }
#define SHIFT(NAME, T, ...)                                 \
  SCALAR(NAME) {                                            \
    const T a = read<T>(w, i, 0);                           \
    const u32 b = read<u32>(w, i, 1) & (8 * sizeof(T) - 1); \
    const T d = T(__VA_ARGS__);                             \
    write<T>(w, i, d);                                      \
    w.scc = d != 0;                                         \
  }
#define COMPARE(NAME, T, ...)                           \
  SCALAR(NAME) {                                        \
    const T a = read<T>(w, i, 0), b = read<T>(w, i, 1); \
    w.scc = __VA_ARGS__;                                \
  }
#define COMPAREK(NAME, T, CONSTANT, ...)                                    \
  SCALAR(NAME) {                                                            \
    const T a = T(w.s[i.scalar_destination]), b = T(CONSTANT(i.immediate)); \
    w.scc = __VA_ARGS__;                                                    \
  }

FLAGGED2(s_add_u32, u32, a + b < a, a + b)
FLAGGED2(s_sub_u32, u32, b > a, a - b)
FLAGGED2(s_add_i32, u32, i32((a ^ (a + b)) & (b ^ (a + b))) < 0, a + b)
FLAGGED2(s_sub_i32, u32, i32((a ^ b) & (a ^ (a - b))) < 0, a - b)
FLAGGED2(s_addc_u32, u32, high_half(u64(a) + b + w.scc) != 0, a + b + u32(w.scc))
FLAGGED2(s_subb_u32, u32, u64(b) + w.scc > a, a - b - u32(w.scc))
FLAGGED2(s_min_i32, i32, a < b, std::min(a, b))
FLAGGED2(s_min_u32, u32, a < b, std::min(a, b))
FLAGGED2(s_max_i32, i32, a > b, std::max(a, b))
FLAGGED2(s_max_u32, u32, a > b, std::max(a, b))
PLAIN2(s_cselect_b32, u32, u32, w.scc ? a : b)
PLAIN2(s_cselect_b64, u64, u64, w.scc ? a : b)
LOGIC2(s_and_b32, u32, a& b)
LOGIC2(s_and_b64, u64, a& b)
LOGIC2(s_or_b32, u32, a | b)
LOGIC2(s_or_b64, u64, a | b)
LOGIC2(s_xor_b32, u32, a ^ b)
LOGIC2(s_xor_b64, u64, a ^ b)
LOGIC2(s_andn2_b32, u32, a & ~b)
LOGIC2(s_andn2_b64, u64, a & ~b)
LOGIC2(s_orn2_b32, u32, a | ~b)
LOGIC2(s_orn2_b64, u64, a | ~b)
LOGIC2(s_nand_b32, u32, ~(a& b))
LOGIC2(s_nand_b64, u64, ~(a& b))
LOGIC2(s_nor_b32, u32, ~(a | b))
LOGIC2(s_nor_b64, u64, ~(a | b))
LOGIC2(s_xnor_b32, u32, ~(a ^ b))
LOGIC2(s_xnor_b64, u64, ~(a ^ b))
SHIFT(s_lshl_b32, u32, a << b)
SHIFT(s_lshl_b64, u64, a << b)
SHIFT(s_lshr_b32, u32, a >> b)
SHIFT(s_lshr_b64, u64, a >> b)
SHIFT(s_ashr_i32, i32, a >> b)
SHIFT(s_ashr_i64, i64, a >> b)
PLAIN2(s_bfm_b32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31))
PLAIN2(s_mul_i32, u32, u32, a* b)
PLAIN2(s_mul_hi_u32, u32, u32, u64(a) * b >> 32)
PLAIN2(s_mul_hi_i32, i32, i32, i64(a) * b >> 32)
LOGIC2(s_bfe_u32, u32, (b >> 16 & 127) >= 32 ? a >> (b & 31) : field_of(a, b & 31, b >> 16 & 31))
LOGIC2(s_bfe_i32, u32, (b >> 16 & 127) >= 32 ? u32(i32(a) >> (b & 31)) : signed_field_of(a, b & 31, b >> 16 & 31))
FLAGGED2(s_lshl1_add_u32, u32, high_half((u64(a) << 1) + b) != 0, (a << 1) + b)
FLAGGED2(s_lshl2_add_u32, u32, high_half((u64(a) << 2) + b) != 0, (a << 2) + b)
FLAGGED2(s_lshl3_add_u32, u32, high_half((u64(a) << 3) + b) != 0, (a << 3) + b)
FLAGGED2(s_lshl4_add_u32, u32, high_half((u64(a) << 4) + b) != 0, (a << 4) + b)
PLAIN2(s_pack_ll_b32_b16, u32, u32, (a & 0xFFFF) | b << 16)
PLAIN2(s_pack_lh_b32_b16, u32, u32, (a & 0xFFFF) | (b & 0xFFFF0000u))
PLAIN2(s_pack_hh_b32_b16, u32, u32, a >> 16 | (b & 0xFFFF0000u))
FLAGGED2(s_absdiff_i32, i32, a != b, i64(a) > b ? u32(a) - u32(b) : u32(b) - u32(a))

SCALAR(s_bfm_b64) {
  const u32 width = read<u32>(w, i, 0) & 63, offset = read<u32>(w, i, 1) & 63;
  write<u64>(w, i, ((1ull << width) - 1) << offset);
}

u64 field_of_long(u64 value, u32 control) {
  const u32 offset = control & 63, width = control >> 16 & 127;
  return width >= 64 ? value >> offset : value >> offset & ((1ull << width) - 1);
}
SCALAR(s_bfe_u64) {
  const u64 d = field_of_long(read<u64>(w, i, 0), read<u32>(w, i, 1));
  write<u64>(w, i, d);
  w.scc = d != 0;
}
SCALAR(s_bfe_i64) {
  const u32 control = read<u32>(w, i, 1), offset = control & 63, width = std::min(control >> 16 & 127, 64u - offset);
  const u64 value = read<u64>(w, i, 0);
  const u64 d = width == 0 ? 0 : u64(i64(value << (64 - offset - width)) >> (64 - width));
  write<u64>(w, i, d);
  w.scc = d != 0;
}

PLAIN1(s_mov_b32, u32, u32, a)
PLAIN1(s_mov_b64, u64, u64, a)
SCALAR(s_cmov_b32) {
  if (w.scc) write<u32>(w, i, read<u32>(w, i, 0));
}
SCALAR(s_cmov_b64) {
  if (w.scc) write<u64>(w, i, read<u64>(w, i, 0));
}
LOGIC1(s_not_b32, u32, ~a)
LOGIC1(s_not_b64, u64, ~a)
PLAIN1(s_brev_b32, u32, u32, reversed(a))
PLAIN1(s_brev_b64, u64, u64, reversed64(a))
LOGIC1(s_bcnt1_i32_b32, u32, __builtin_popcount(a))
LOGIC1(s_bcnt0_i32_b32, u32, __builtin_popcount(~a))
SCALAR(s_bcnt1_i32_b64) {
  const u32 d = lanes_in(read<u64>(w, i, 0));
  write<u32>(w, i, d);
  w.scc = d != 0;
}
SCALAR(s_bcnt0_i32_b64) {
  const u32 d = lanes_in(~read<u64>(w, i, 0));
  write<u32>(w, i, d);
  w.scc = d != 0;
}
PLAIN1(s_ff1_i32_b32, u32, u32, first_one_from_bottom(a))
PLAIN1(s_ff1_i32_b64, u32, u64, a ? u32(__builtin_ctzll(a)) : ~0u)
PLAIN1(s_ff0_i32_b32, u32, u32, first_one_from_bottom(~a))
PLAIN1(s_ff0_i32_b64, u32, u64, ~a ? u32(__builtin_ctzll(~a)) : ~0u)
PLAIN1(s_flbit_i32_b32, u32, u32, first_one_from_top(a))
PLAIN1(s_flbit_i32_b64, u32, u64, a ? u32(__builtin_clzll(a)) : ~0u)
PLAIN1(s_flbit_i32, u32, i32, sign_run(a))
SCALAR(s_flbit_i32_i64) {
  const u64 value = read<u64>(w, i, 0), run = value ^ u64(i64(value) >> 63);
  write<u32>(w, i, run ? u32(__builtin_clzll(run)) : ~0u);
}
PLAIN1(s_sext_i32_i8, i32, u32, int8_t(a))
PLAIN1(s_sext_i32_i16, i32, u32, int16_t(a))
LOGIC1(s_abs_i32, i32, a < 0 ? i32(0u - u32(a)) : a)
SCALAR(s_bitset0_b32) { w.s[i.scalar_destination] &= ~(1u << (read<u32>(w, i, 0) & 31)); }
SCALAR(s_bitset1_b32) { w.s[i.scalar_destination] |= 1u << (read<u32>(w, i, 0) & 31); }
SCALAR(s_bitset0_b64) { write<u64>(w, i, w.pair(i.scalar_destination) & ~(1ull << (read<u32>(w, i, 0) & 63))); }
SCALAR(s_bitset1_b64) { write<u64>(w, i, w.pair(i.scalar_destination) | 1ull << (read<u32>(w, i, 0) & 63)); }

u32 any_in_groups(u32 value, u32 group) {
  u32 d = 0;
  const u32 ones = group == 4 ? 0xFu : 0x3u;
  for (u32 n = 0; n < 32; n += group)
    if (value >> n & ones) d |= ones << n;
  return d;
}
LOGIC1(s_wqm_b32, u32, any_in_groups(a, 4))
LOGIC1(s_wqm_b64, u64, joined(any_in_groups(low_half(a), 4), any_in_groups(high_half(a), 4)))

// D = EXEC, then EXEC as computed from the source and the former EXEC.
#define SAVES_EXEC(NAME, ...)                          \
  SCALAR(NAME) {                                       \
    const u64 a = read<u64>(w, i, 0), exec = w.exec(); \
    const u64 d = __VA_ARGS__;                         \
    write<u64>(w, i, exec);                            \
    w.set_pair(kExec, d);                              \
    w.scc = d != 0;                                    \
  }
SAVES_EXEC(s_and_saveexec_b64, a& exec)
SAVES_EXEC(s_or_saveexec_b64, a | exec)
SAVES_EXEC(s_xor_saveexec_b64, a ^ exec)
SAVES_EXEC(s_andn2_saveexec_b64, a & ~exec)
SAVES_EXEC(s_orn2_saveexec_b64, a | ~exec)
SAVES_EXEC(s_andn1_saveexec_b64, ~a& exec)
SAVES_EXEC(s_orn1_saveexec_b64, ~a | exec)
SAVES_EXEC(s_nand_saveexec_b64, ~(a& exec))
SAVES_EXEC(s_nor_saveexec_b64, ~(a | exec))
SAVES_EXEC(s_xnor_saveexec_b64, ~(a ^ exec))
SCALAR(s_andn2_wrexec_b64) {
  const u64 d = read<u64>(w, i, 0) & ~w.exec();
  write<u64>(w, i, d);
  w.set_pair(kExec, d);
  w.scc = d != 0;
}
SCALAR(s_andn1_wrexec_b64) {
  const u64 d = ~read<u64>(w, i, 0) & w.exec();
  write<u64>(w, i, d);
  w.set_pair(kExec, d);
  w.scc = d != 0;
}

COMPARE(s_cmp_eq_i32, i32, a == b)
COMPARE(s_cmp_lg_i32, i32, a != b)
COMPARE(s_cmp_gt_i32, i32, a > b)
COMPARE(s_cmp_ge_i32, i32, a >= b)
COMPARE(s_cmp_lt_i32, i32, a < b)
COMPARE(s_cmp_le_i32, i32, a <= b)
COMPARE(s_cmp_eq_u32, u32, a == b)
COMPARE(s_cmp_lg_u32, u32, a != b)
COMPARE(s_cmp_gt_u32, u32, a > b)
COMPARE(s_cmp_ge_u32, u32, a >= b)
COMPARE(s_cmp_lt_u32, u32, a < b)
COMPARE(s_cmp_le_u32, u32, a <= b)
COMPARE(s_cmp_eq_u64, u64, a == b)
COMPARE(s_cmp_lg_u64, u64, a != b)
COMPARE(s_bitcmp0_b32, u32, !(a >> (b & 31) & 1))
COMPARE(s_bitcmp1_b32, u32, a >> (b & 31) & 1)
SCALAR(s_bitcmp0_b64) { w.scc = !(read<u64>(w, i, 0) >> (read<u32>(w, i, 1) & 63) & 1); }
SCALAR(s_bitcmp1_b64) { w.scc = read<u64>(w, i, 0) >> (read<u32>(w, i, 1) & 63) & 1; }

COMPAREK(s_cmpk_eq_i32, i32, i32, a == b)
COMPAREK(s_cmpk_lg_i32, i32, i32, a != b)
COMPAREK(s_cmpk_gt_i32, i32, i32, a > b)
COMPAREK(s_cmpk_ge_i32, i32, i32, a >= b)
COMPAREK(s_cmpk_lt_i32, i32, i32, a < b)
COMPAREK(s_cmpk_le_i32, i32, i32, a <= b)
COMPAREK(s_cmpk_eq_u32, u32, uint16_t, a == b)
COMPAREK(s_cmpk_lg_u32, u32, uint16_t, a != b)
COMPAREK(s_cmpk_gt_u32, u32, uint16_t, a > b)
COMPAREK(s_cmpk_ge_u32, u32, uint16_t, a >= b)
COMPAREK(s_cmpk_lt_u32, u32, uint16_t, a < b)
COMPAREK(s_cmpk_le_u32, u32, uint16_t, a <= b)
SCALAR(s_movk_i32) { write<i32>(w, i, i.immediate); }
SCALAR(s_cmovk_i32) {
  if (w.scc) write<i32>(w, i, i.immediate);
}
SCALAR(s_addk_i32) {
  const u32 a = w.s[i.scalar_destination], b = u32(i.immediate), d = a + b;
  write<u32>(w, i, d);
  w.scc = i32((a ^ d) & (b ^ d)) < 0;
}
SCALAR(s_mulk_i32) { write<u32>(w, i, w.s[i.scalar_destination] * u32(i.immediate)); }

enum : u32 { kHardwareMode = 1, kHardwareId = 4, kShMemBases = 15 };

u32 hardware_register(const Wave& w, u32 number) {
  switch (number) {
    case kHardwareMode:
      return w.mode;
    case kHardwareId:
      return w.number_in_group;
    case kShMemBases:
      return u32(kSharedAperture >> 48) << 16 | u32(kPrivateAperture >> 48);
    default:
      throw Stop("hardware register " + std::to_string(number));
  }
}

SCALAR(s_getreg_b32) {
  const u32 control = uint16_t(i.immediate), width = (control >> 11) + 1;
  const u32 value = hardware_register(w, control & 63) >> (control >> 6 & 31);
  write<u32>(w, i, value & u32((1ull << width) - 1));
}

void set_hardware_register(Wave& w, u32 control, u32 value) {
  const u32 offset = control >> 6 & 31, mask = u32((1ull << ((control >> 11) + 1)) - 1) << offset;
  if ((control & 63) != kHardwareMode) throw Stop("writing hardware register " + std::to_string(control & 63));
  w.mode = (w.mode & ~mask) | (value << offset & mask);
  if ((mask & 15) && (w.mode & 15)) throw Stop("a kernel that sets its rounding mode itself");
}
SCALAR(s_setreg_b32) { set_hardware_register(w, uint16_t(i.immediate), w.s[i.scalar_destination]); }
SCALAR(s_setreg_imm32_b32) { set_hardware_register(w, uint16_t(i.immediate), i.literal); }

void jump(Wave& w, const Instruction& i) { w.pc += u64(i64(i.immediate) * 4); }  // from the next instruction
SCALAR(s_branch) { jump(w, i); }
SCALAR(s_cbranch_scc0) {
  if (!w.scc) jump(w, i);
}
SCALAR(s_cbranch_scc1) {
  if (w.scc) jump(w, i);
}
SCALAR(s_cbranch_vccz) {
  if (!w.vcc()) jump(w, i);
}
SCALAR(s_cbranch_vccnz) {
  if (w.vcc()) jump(w, i);
}
SCALAR(s_cbranch_execz) {
  if (!w.exec()) jump(w, i);
}
SCALAR(s_cbranch_execnz) {
  if (w.exec()) jump(w, i);
}
SCALAR(s_getpc_b64) { write<u64>(w, i, w.pc); }
SCALAR(s_setpc_b64) { w.pc = read<u64>(w, i, 0); }
SCALAR(s_swappc_b64) {
  const u64 target = read<u64>(w, i, 0);
  write<u64>(w, i, w.pc);
  w.pc = target;
}
SCALAR(s_call_b64) {
  write<u64>(w, i, w.pc);
  jump(w, i);
}
SCALAR(s_endpgm) { w.state = State::kEnded; }
SCALAR(s_barrier) { w.state = State::kAtBarrier; }
SCALAR(s_trap) { throw Stop("s_trap " + std::to_string(i.immediate) + ": the kernel gave up (abort or assert)"); }

SCALAR(s_sendmsg) {
  constexpr int64_t kInterrupt = 1, kMessage = 0xF;
  if ((i.immediate & kMessage) != kInterrupt)
    throw Stop("message " + std::to_string(i.immediate) + " is not implemented");
  raise_interrupt();
}
// A wave sleeps where it waits for another or for the host, whose thread may need this very processor.
SCALAR(s_sleep) { std::this_thread::yield(); }

// Of the counters the one of requests to global memory (vmcnt) is in two parts.
SCALAR(s_waitcnt) {
  if ((i.immediate & 0xF) == 0 && (i.immediate >> 14 & 3) == 0) observe_order(w, Order::kWaited, true);
}

void nothing(Wave&, Instruction&) {}
const Entry kIgnored[] = {
    {"s_nop", nothing},
    {"s_setprio", nothing},
    {"s_sethalt", nothing},
    {"s_icache_inv", nothing},
    {"s_dcache_wb", nothing},
    {"s_dcache_inv", nothing},
    {"s_dcache_inv_vol", nothing},
    {"s_dcache_wb_vol", nothing},
    {"s_ttracedata", nothing},
    {"s_incperflevel", nothing},
    {"s_decperflevel", nothing},
    {"s_wakeup", nothing},
    {"s_set_gpr_idx_off", nothing},
};

u64 scalar_address(const Wave& w, const Instruction& i) {
  return (w.pair(i.source[0].code) + u64(i64(i.immediate)) + scalar_word(w, i, i.source[1].code)) & ~3ull;
}

template <u32 kWords>
void load_words(Wave& w, Instruction& i) {
  const u64 address = scalar_address(w, i);
  require_mapped(i, address, 4 * kWords);
  observe_uniform(w, i, address, 4 * kWords);
  std::memcpy(&w.s[i.scalar_destination], reinterpret_cast<const void*>(address), 4 * kWords);
}
template <u32 kWords>
void store_words(Wave& w, Instruction& i) {
  const u64 address = scalar_address(w, i);
  require_mapped(i, address, 4 * kWords);
  std::memcpy(reinterpret_cast<void*>(address), &w.s[i.scalar_destination], 4 * kWords);
}
const Entry kMemory[] = {
    {"s_load_dword", load_words<1>},     {"s_load_dwordx2", load_words<2>},   {"s_load_dwordx4", load_words<4>},
    {"s_load_dwordx8", load_words<8>},   {"s_load_dwordx16", load_words<16>}, {"s_store_dword", store_words<1>},
    {"s_store_dwordx2", store_words<2>}, {"s_store_dwordx4", store_words<4>},
};

SCALAR(s_memtime) { write<u64>(w, i, device_cycles()); }
SCALAR(s_memrealtime) { write<u64>(w, i, device_cycles() / 17); }  // a 100 MHz counter beside 1.7 GHz

}  // namespace

bool bind_scalar(const std::string& mnemonic, Instruction& i) {
  const auto found = table().find(mnemonic);
  if (found == table().end()) return false;
  i.execute = found->second;
  const size_t words = mnemonic.find("_dword");
  if (mnemonic.compare(0, 6, "s_load") == 0 && words != std::string::npos)
    i.scalar_bytes = uint8_t(4 * std::max(1, std::atoi(mnemonic.c_str() + std::min(words + 7, mnemonic.size()))));
  return true;
}

}  // namespace machine
