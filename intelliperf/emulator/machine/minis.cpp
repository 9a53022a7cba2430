#include "minis.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

constexpr uint32_t kOverflowClamps = 1u << 23;  // MODE.FP16_OVFL

struct Conversion {
  uint8_t mantissa_bits;
  bool pair;
};

int bias_of(MiniFormat format) { return (format.mantissa_bits == 3 ? 7 : 15) + (format.ocp ? 0 : 1); }

// Of the largest finite number; above it, but for the sign, stand infinity and what is not a number.
uint8_t largest_of(MiniFormat format) { return !format.ocp ? 0x7F : format.mantissa_bits == 3 ? 0x7E : 0x7B; }

uint8_t not_a_number(MiniFormat format) { return format.ocp ? 0x7F : 0x80; }

float mini_to_float(uint32_t byte, MiniFormat format) {
  const uint32_t bits = format.mantissa_bits, magnitude = byte & 0x7F;
  if (byte == 0x80 && !format.ocp) return NAN;
  if (magnitude > largest_of(format)) return bits == 3 || (magnitude & 3) ? NAN : byte & 0x80 ? -INFINITY : INFINITY;
  const uint32_t mantissa = byte & ((1u << bits) - 1), exponent = magnitude >> bits;
  const int lowest = 1 - bias_of(format) - int(bits);
  const float value = exponent ? std::ldexp(float(mantissa | 1u << bits), lowest + int(exponent) - 1)
                               : std::ldexp(float(mantissa), lowest);
  return byte & 0x80 ? -value : value;
}

void widen(Wave& wave, Instruction& i) {
  const auto& conversion = *static_cast<const Conversion*>(i.semantics);
  const float* const table = minis({conversion.mantissa_bits, i.infinite_minis});
  LaneValues buffer, out;
  const auto* const words = static_cast<const uint32_t*>(fetch(wave, i, 0, Kind::kB32, buffer));
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const uint32_t low = bits_as<uint32_t>(table[words[lane] & 0xFF]);
    if (conversion.pair)
      out.longs()[lane] = joined(low, bits_as<uint32_t>(table[words[lane] >> 8 & 0xFF]));
    else
      out.words()[lane] = low;
  }
  write_result(wave, i, conversion.pair ? Kind::kB64 : Kind::kF32, out);
}

void narrow(Wave& wave, Instruction& i) {
  const MiniFormat format = {static_cast<const Conversion*>(i.semantics)->mantissa_bits, i.infinite_minis};
  const bool saturates = wave.mode & kOverflowClamps;
  LaneValues buffer[2], out;
  const auto* const low = static_cast<const float*>(fetch(wave, i, 0, Kind::kF32, buffer[0]));
  const auto* const high = static_cast<const float*>(fetch(wave, i, 1, Kind::kF32, buffer[1]));
  for (uint32_t lane = 0; lane < kWave; ++lane)
    out.halves()[lane] = uint16_t(to_mini(low[lane], format, saturates) | to_mini(high[lane], format, saturates) << 8);
  write_result(wave, i, Kind::kB16, out, HighHalf::kKeep);
}

}  // namespace

const float* minis(MiniFormat format) {
  static const auto* const tables = [] {
    auto* made = new float[4][256];
    for (uint32_t byte = 0; byte < 256; ++byte)
      for (uint32_t n = 0; n < 4; ++n) made[n][byte] = mini_to_float(byte, {uint8_t(n & 1 ? 2 : 3), n >= 2});
    return made;
  }();
  return tables[(format.mantissa_bits == 3 ? 0 : 1) + (format.ocp ? 2 : 0)];
}

uint8_t to_mini(float value, MiniFormat format, bool saturates) {
  if (std::isnan(value) || (std::isinf(value) && !format.ocp)) return not_a_number(format);
  const uint8_t sign = std::signbit(value) ? 0x80 : 0, largest = largest_of(format);
  const uint8_t beyond = saturates                                 ? sign | largest
                         : format.ocp && format.mantissa_bits == 2 ? sign | 0x7C
                                                                   : not_a_number(format);
  if (std::isinf(value)) return beyond;
  if (value == 0) return format.ocp ? sign : 0;
  const int bits = format.mantissa_bits, lowest = 1 - bias_of(format) - bits;
  const int exponent = std::max(std::ilogb(value) - bits, lowest);
  const float steps = to_even(std::ldexp(std::fabs(value), -exponent));
  if (std::ldexp(steps, exponent) > minis(format)[largest]) return beyond;
  if (steps == 0 && !format.ocp) return 0;
  // A carry out of the mantissa goes into the exponent, as it should.
  return uint8_t(sign | ((uint32_t(exponent - lowest) << bits) + uint32_t(steps)));
}

bool bind_minis(const std::string& mnemonic, Instruction& i) {
  struct Entry {
    Conversion conversion;
    Execute execute;
  };
  static const std::map<std::string, Entry> entries{
      {"v_cvt_f32_fp8", {{3, false}, widen}},    {"v_cvt_f32_bf8", {{2, false}, widen}},
      {"v_cvt_pk_f32_fp8", {{3, true}, widen}},  {"v_cvt_pk_f32_bf8", {{2, true}, widen}},
      {"v_cvt_pk_fp8_f32", {{3, true}, narrow}}, {"v_cvt_pk_bf8_f32", {{2, true}, narrow}}};
  const auto found = entries.find(mnemonic);
  if (found == entries.end() || i.clamp || i.output_modifier) return false;
  i.semantics = &found->second.conversion;
  i.execute = found->second.execute;
  return true;
}

}  // namespace machine
