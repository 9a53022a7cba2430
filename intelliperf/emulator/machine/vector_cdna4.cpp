// Instructions that gfx950 has beside gfx942's: bfloat numbers, any function of three bits, rows of lanes that change
// places, and the least and greatest of IEEE 754-2019. After LLVM's intrinsics and
// encodings; no hardware has confirmed them here.
#include <algorithm>
#include <cmath>
#include <utility>

#include "arithmetic.h"
#include "decode.h"
#include "vector.h"

namespace machine {
namespace {

constexpr uint32_t kLaneRow = 16;
constexpr uint32_t kFeedback = 197;  // of V_PRNG_B32

uint32_t to_brain(float value) {
  const uint32_t bits = bits_as<uint32_t>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;  // quiet
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;  // to the nearest, halfway cases to even
}

// Not a number where either is none; -0 below +0.
float minimum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return quieted(std::isnan(a) ? a : b);
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return quieted(std::isnan(a) ? a : b);
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

MACHINE_UNARY(v_prng_b32, uint32_t, uint32_t, kPlain, (a << 1) ^ (a >> 31 ? kFeedback : 0))
MACHINE_UNARY(v_cvt_f32_bf16, float, uint16_t, kPlain, bits_as<float>(uint32_t(a) << 16))
MACHINE_BINARY(v_cvt_pk_bf16_f32, uint32_t, float, float, kPlain, to_brain(a) | to_brain(b) << 16)
MACHINE_BINARY(v_cvt_pk_f16_f32, uint32_t, float, float, kPlain, Half(a).bits | uint32_t(Half(b).bits) << 16)
MACHINE_TERNARY(v_minimum3_f32, float, float, float, float, kPlain, minimum(minimum(a, b), c))
MACHINE_TERNARY(v_maximum3_f32, float, float, float, float, kPlain, maximum(maximum(a, b), c))

// The table has a bit for each of the eight values of a bit of the first, second and third source; it stands where other
// instructions have their modifiers.
uint32_t truth_table(const Instruction& i) {
  uint32_t table = uint32_t(i.output_modifier) << 6;
  for (uint32_t n = 0; n < 3; ++n)
    table |= uint32_t(i.source[n].negate) << n | uint32_t(i.source[n].absolute) << (3 + n);
  return table;
}

void combine_bits(Wave& wave, Instruction& i) {
  const uint32_t table = truth_table(i);
  LaneValues buffer[3], out;
  const uint32_t* source[3];
  for (uint32_t n = 0; n < 3; ++n) source[n] = static_cast<const uint32_t*>(fetch(wave, i, n, Kind::kB32, buffer[n]));
  std::fill_n(out.words(), kWave, 0);
  for (uint32_t term = 0; term < 8; ++term) {
    if (!(table >> term & 1)) continue;
    const uint32_t first = term & 4 ? 0 : ~0u, second = term & 2 ? 0 : ~0u, third = term & 1 ? 0 : ~0u;
    for (uint32_t lane = 0; lane < kWave; ++lane)
      out.words()[lane] |= (source[0][lane] ^ first) & (source[1][lane] ^ second) & (source[2][lane] ^ third);
  }
  write_words(wave, i.destination, out.words(), wave.exec());
}

// Lanes `apart` further on in the destination change places with those in the source.
template <uint32_t kApart>
void swap_rows(Wave& wave, Instruction& i) {
  if (wave.exec() != ~0ull) throw Stop(i.text + " while lanes are off");
  uint32_t *const first = wave.v(i.destination), *const second = wave.v(i.source[0].row());
  for (uint32_t at = 0; at < kWave; at += 2 * kApart)
    for (uint32_t n = at; n < at + kApart; ++n) std::swap(first[n + kApart], second[n]);
}

}  // namespace

bool bind_cdna4(const std::string& mnemonic, Instruction& i) {
  const bool modified = i.clamp || i.sdwa || i.dpp || i.op_sel;
  if (mnemonic == "v_bitop3_b32" && !modified)
    i.execute = combine_bits;
  else if (mnemonic == "v_permlane16_swap_b32" && !modified)
    i.execute = swap_rows<kLaneRow>;
  else if (mnemonic == "v_permlane32_swap_b32" && !modified)
    i.execute = swap_rows<2 * kLaneRow>;
  else
    return false;
  return true;
}

}  // namespace machine
