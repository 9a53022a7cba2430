#include "minis.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

constexpr uint8_t kNotANumber = 0x80, kLargest = 0x7F;
constexpr uint32_t kOverflowClamps = 1u << 23;  // MODE.FP16_OVFL

struct Conversion {
  uint8_t mantissa_bits;
  bool pair;
};

int bias_of(uint32_t mantissa_bits) { return mantissa_bits == 3 ? 8 : 16; }

float mini_to_float(uint32_t byte, uint32_t mantissa_bits) {
  if (byte == kNotANumber) return NAN;
  const uint32_t mantissa = byte & ((1u << mantissa_bits) - 1),
                 exponent = byte >> mantissa_bits & (0x7Fu >> mantissa_bits);
  const int lowest = 1 - bias_of(mantissa_bits) - int(mantissa_bits);
  const float value = exponent ? std::ldexp(float(mantissa | 1u << mantissa_bits), lowest + int(exponent) - 1)
                               : std::ldexp(float(mantissa), lowest);
  return byte & 0x80 ? -value : value;
}

void widen(Wave& wave, Instruction& i) {
  const auto& conversion = *static_cast<const Conversion*>(i.semantics);
  const float* const table = minis(conversion.mantissa_bits);
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
  const uint32_t bits = static_cast<const Conversion*>(i.semantics)->mantissa_bits;
  const bool saturates = wave.mode & kOverflowClamps;
  LaneValues buffer[2], out;
  const auto* const low = static_cast<const float*>(fetch(wave, i, 0, Kind::kF32, buffer[0]));
  const auto* const high = static_cast<const float*>(fetch(wave, i, 1, Kind::kF32, buffer[1]));
  for (uint32_t lane = 0; lane < kWave; ++lane)
    out.halves()[lane] = uint16_t(to_mini(low[lane], bits, saturates) | to_mini(high[lane], bits, saturates) << 8);
  write_result(wave, i, Kind::kB16, out, HighHalf::kKeep);
}

}  // namespace

const float* minis(uint32_t mantissa_bits) {
  static const auto* const tables = [] {
    auto* made = new float[2][256];
    for (uint32_t byte = 0; byte < 256; ++byte)
      made[0][byte] = mini_to_float(byte, 3), made[1][byte] = mini_to_float(byte, 2);
    return made;
  }();
  return tables[mantissa_bits == 3 ? 0 : 1];
}

uint8_t to_mini(float value, uint32_t mantissa_bits, bool saturates) {
  if (!std::isfinite(value)) return kNotANumber;
  if (value == 0) return 0;
  const int lowest = 1 - bias_of(mantissa_bits) - int(mantissa_bits);
  const int exponent = std::max(std::ilogb(value) - int(mantissa_bits), lowest);
  const float steps = to_even(std::ldexp(std::fabs(value), -exponent));
  const float magnitude = std::ldexp(steps, exponent);
  const uint8_t sign = value < 0 && magnitude > 0 ? 0x80 : 0;
  if (magnitude > minis(mantissa_bits)[kLargest]) return saturates ? sign | kLargest : kNotANumber;
  // A carry out of the mantissa goes into the exponent, as it should.
  return uint8_t(sign | ((uint32_t(exponent - lowest) << mantissa_bits) + uint32_t(steps)));
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
