// VOP3P: two halves at once, pairs of 32-bit floats, dot products and mixed precision.
#include <map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

using HalfFunction = uint16_t (*)(uint16_t a, uint16_t b, uint16_t c);
using FloatFunction = float (*)(float a, float b, float c);
using DotFunction = uint32_t (*)(const Instruction& i, uint32_t a, uint32_t b, uint32_t c);

struct HalfOperation {
  HalfFunction run;
  HalfFunction clamped;
  bool floating;
};

Half h(uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}
template <class Integer>
uint16_t saturated16(int64_t value) {
  return uint16_t(saturated_integer<Integer>(value));
}
int64_t i(uint16_t value) { return int16_t(value); }

#define INTEGER(NAME, EXPRESSION)              \
  {                                            \
    NAME, {                                    \
      [](uint16_t a, uint16_t b, uint16_t c) { \
        (void)a;                               \
        (void)b;                               \
        (void)c;                               \
        return uint16_t(EXPRESSION);           \
      },                                       \
          nullptr, false                       \
    }                                          \
  }
#define SATURATING(NAME, TYPE, EXPRESSION)         \
  {                                                \
    NAME, {                                        \
      [](uint16_t a, uint16_t b, uint16_t c) {     \
        (void)c;                                   \
        return uint16_t(EXPRESSION);               \
      },                                           \
          [](uint16_t a, uint16_t b, uint16_t c) { \
            (void)c;                               \
            return saturated16<TYPE>(EXPRESSION);  \
          },                                       \
          false                                    \
    }                                              \
  }
#define FLOATING(NAME, EXPRESSION)             \
  {                                            \
    NAME, {                                    \
      [](uint16_t a, uint16_t b, uint16_t c) { \
        (void)c;                               \
        return Half(EXPRESSION).bits;          \
      },                                       \
          nullptr, true                        \
    }                                          \
  }

const std::map<std::string, HalfOperation>& half_operations() {
  static const std::map<std::string, HalfOperation> table = {
      SATURATING("v_pk_mad_i16", int16_t, i(a) * i(b) + i(c)),
      SATURATING("v_pk_mad_u16", uint16_t, int64_t(a) * b + c),
      SATURATING("v_pk_add_i16", int16_t, i(a) + i(b)),
      SATURATING("v_pk_sub_i16", int16_t, i(a) - i(b)),
      SATURATING("v_pk_add_u16", uint16_t, int64_t(a) + b),
      SATURATING("v_pk_sub_u16", uint16_t, int64_t(a) - b),
      INTEGER("v_pk_mul_lo_u16", uint32_t(a) * b),
      INTEGER("v_pk_lshlrev_b16", b << (a & 15)),
      INTEGER("v_pk_lshrrev_b16", b >> (a & 15)),
      INTEGER("v_pk_ashrrev_i16", int16_t(b) >> (a & 15)),
      INTEGER("v_pk_max_i16", std::max(i(a), i(b))),
      INTEGER("v_pk_min_i16", std::min(i(a), i(b))),
      INTEGER("v_pk_max_u16", std::max(a, b)),
      INTEGER("v_pk_min_u16", std::min(a, b)),
      FLOATING("v_pk_fma_f16", fused_half(h(a), h(b), h(c))),
      FLOATING("v_pk_add_f16", double(h(a)) + double(h(b))),
      FLOATING("v_pk_mul_f16", double(h(a)) * double(h(b))),
      FLOATING("v_pk_min_f16", least(h(a), h(b))),
      FLOATING("v_pk_max_f16", greatest(h(a), h(b))),
  };
  return table;
}

const std::map<std::string, FloatFunction>& float_operations() {
  static const std::map<std::string, FloatFunction> table = {
      {"v_pk_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"v_pk_mul_f32", [](float a, float b, float) { return a * b; }},
      {"v_pk_add_f32", [](float a, float b, float) { return a + b; }},
  };
  return table;
}

constexpr bool chooses_high(const Instruction& i, uint32_t n, bool high) {
  return (high ? i.op_sel_high : i.op_sel) >> n & 1;
}

bool negates(const Instruction& i, uint32_t n, bool high) { return high ? i.negate_high >> n & 1 : i.source[n].negate; }

uint32_t bounded_half(uint16_t half) {
  const double value = half_to_double(half);
  return double_to_half(value > 0 ? std::min(value, 1.0) : 0.0);
}

// A constant stands in the low half alone: a float of 16 bits for these instructions.
const uint32_t* packed_source(Wave& wave, Instruction& i, uint32_t n, bool floating, LaneValues& buffer) {
  const uint16_t code = i.source[n].code;
  if (floating && code >= 240 && code <= 248) {
    LaneValues halves;
    const auto* constant = static_cast<const uint16_t*>(fetch(wave, i, n, Kind::kB16, halves));
    std::fill(buffer.words(), buffer.words() + kWave, constant[0]);
    return buffer.words();
  }
  return static_cast<const uint32_t*>(fetch(wave, i, n, Kind::kB32, buffer));
}

void run_halves(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const HalfOperation*>(i.semantics);
  const HalfFunction run = i.clamp && operation.clamped ? operation.clamped : operation.run;
  LaneValues buffer[3], out;
  const uint32_t* source[3];
  for (uint32_t n = 0; n < 3; ++n) source[n] = packed_source(wave, i, n, operation.floating, buffer[n]);
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    uint32_t halves[2];
    for (uint32_t part = 0; part < 2; ++part) {
      uint16_t value[3];
      for (uint32_t n = 0; n < 3; ++n) {
        value[n] = uint16_t(source[n][lane] >> (chooses_high(i, n, part) ? 16 : 0));
        if (operation.floating && negates(i, n, part)) value[n] ^= 0x8000;
      }
      halves[part] = run(value[0], value[1], value[2]);
      if (i.clamp && operation.floating) halves[part] = bounded_half(uint16_t(halves[part]));
    }
    out.words()[lane] = halves[0] | halves[1] << 16;
  }
  write_words(wave, i.destination, out.words(), wave.exec());
}

// A pair of registers; scalars are pairs too, constants stand for both halves' low one.
void float_pair(Wave& wave, Instruction& i, uint32_t n, uint32_t lane, float* values) {
  const Source& source = i.source[n];
  uint32_t words[2];
  for (uint32_t part = 0; part < 2; ++part) {
    if (source.is_vector())
      words[part] = wave.v(source.row() + part)[lane];
    else if (source.code < kFirstConstant)
      words[part] = wave.s[source.code + part];
    else
      words[part] = part == 0 ? scalar_word(wave, i, source.code) : 0;
  }
  for (uint32_t part = 0; part < 2; ++part) {
    const float value = bits_as<float>(words[chooses_high(i, n, part)]);
    values[part] = negates(i, n, part) ? -value : value;
  }
}

void run_floats(Wave& wave, Instruction& i) {
  const auto& run = *static_cast<const FloatFunction*>(i.semantics);
  LaneValues low, high;
  const bool three = run == float_operations().at("v_pk_fma_f32");
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    float value[3][2] = {};
    for (uint32_t n = 0; n < (three ? 3u : 2u); ++n) float_pair(wave, i, n, lane, value[n]);
    for (uint32_t part = 0; part < 2; ++part) {
      float result = run(value[0][part], value[1][part], value[2][part]);
      if (i.clamp) result = result > 0 ? std::min(result, 1.0f) : 0.0f;
      (part ? high : low).words()[lane] = bits_as<uint32_t>(result);
    }
  }
  write_words(wave, i.destination, low.words(), wave.exec());
  write_words(wave, i.destination + 1u, high.words(), wave.exec());
}

void move_pair(Wave& wave, Instruction& i) {
  LaneValues out[2];
  for (uint32_t part = 0; part < 2; ++part) {
    const Source& source = i.source[part];
    const uint32_t chosen = chooses_high(i, part, false);
    for (uint32_t lane = 0; lane < kWave; ++lane) {
      uint32_t& word = out[part].words()[lane];
      if (source.is_vector())
        word = wave.v(source.row() + chosen)[lane];
      else if (source.code < kFirstConstant)
        word = wave.s[source.code + chosen];
      else
        word = scalar_word(wave, i, source.code);
    }
  }
  for (uint32_t part = 0; part < 2; ++part) write_words(wave, i.destination + part, out[part].words(), wave.exec());
}

enum class MixTo : uint8_t { kFloat, kLow, kHigh };

// op_sel_hi tells a source of 16 bits from one of 32, op_sel which half; neg_hi is "absolute" here.
float mixed_source(Wave& wave, Instruction& i, uint32_t n, uint32_t word) {
  float value = bits_as<float>(word);
  if (i.op_sel_high >> n & 1) {
    const bool constant = i.source[n].code >= 240 && i.source[n].code <= 248;
    if (!constant) value = float(half_to_double(uint16_t(word >> (i.op_sel >> n & 1 ? 16 : 0))));
  }
  (void)wave;
  if (i.negate_high >> n & 1) value = std::fabs(value);
  return i.source[n].negate ? -value : value;
}

template <MixTo kTo>
void run_mixed(Wave& wave, Instruction& i) {
  LaneValues buffer[3], out;
  const uint32_t* source[3];
  Instruction plain = i;
  for (Source& operand : plain.source) operand.negate = operand.absolute = false;
  for (uint32_t n = 0; n < 3; ++n)
    source[n] = static_cast<const uint32_t*>(fetch(wave, plain, n, Kind::kB32, buffer[n]));
  const uint32_t* before = wave.v(i.destination);
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    float value[3];
    for (uint32_t n = 0; n < 3; ++n) value[n] = mixed_source(wave, i, n, source[n][lane]);
    float result = std::fma(value[0], value[1], value[2]);
    if (i.clamp) result = result > 0 ? std::min(result, 1.0f) : 0.0f;
    uint32_t& word = out.words()[lane];
    if (kTo == MixTo::kFloat) {
      word = bits_as<uint32_t>(result);
      continue;
    }
    const uint32_t half = double_to_half(
        i.clamp ? double(result) : fused_for_rounding(double(value[0]) * double(value[1]), double(value[2])));
    word = kTo == MixTo::kLow ? (before[lane] & 0xFFFF0000u) | half : (before[lane] & 0xFFFF) | half << 16;
  }
  write_words(wave, i.destination, out.words(), wave.exec());
}

uint32_t word_half(const Instruction& i, uint32_t n, uint32_t word, bool high) {
  return word >> (chooses_high(i, n, high) ? 16 : 0) & 0xFFFF;
}

template <class Integer, uint32_t kBits>
int64_t element(uint32_t word, uint32_t n) {
  const uint32_t part = word >> kBits * n & uint32_t((1ull << kBits) - 1);
  return std::is_signed<Integer>::value ? int64_t(int32_t(part << (32 - kBits)) >> (32 - kBits)) : int64_t(part);
}

template <class Integer, uint32_t kBits>
uint32_t integer_dot(const Instruction& i, uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = std::is_signed<Integer>::value ? int64_t(int32_t(c)) : int64_t(c);
  for (uint32_t n = 0; n < 32 / kBits; ++n) {
    const uint32_t x = kBits == 16 ? word_half(i, 0, a, n) : a, y = kBits == 16 ? word_half(i, 1, b, n) : b;
    const uint32_t place = kBits == 16 ? 0 : n;
    sum += element<Integer, kBits>(x, place) * element<Integer, kBits>(y, place);
  }
  return i.clamp ? uint32_t(saturated_integer<Integer>(sum)) : uint32_t(sum);
}

uint32_t float_dot(const Instruction& i, uint32_t a, uint32_t b, uint32_t c) {
  float sum = bits_as<float>(c ^ (i.source[2].negate ? 0x80000000u : 0));
  for (uint32_t n = 0; n < 2; ++n) {
    double x = half_to_double(uint16_t(word_half(i, 0, a, n))), y = half_to_double(uint16_t(word_half(i, 1, b, n)));
    if (negates(i, 0, n)) x = -x;
    if (negates(i, 1, n)) y = -y;
    sum = std::fma(float(x), float(y), sum);
  }
  return bits_as<uint32_t>(i.clamp ? (sum > 0 ? std::min(sum, 1.0f) : 0.0f) : sum);
}

const std::map<std::string, DotFunction>& dots() {
  static const std::map<std::string, DotFunction> table = {
      {"v_dot2_f32_f16", float_dot},
      {"v_dot2_i32_i16", integer_dot<int32_t, 16>},
      {"v_dot2_u32_u16", integer_dot<uint32_t, 16>},
      {"v_dot4_i32_i8", integer_dot<int32_t, 8>},
      {"v_dot4_u32_u8", integer_dot<uint32_t, 8>},
      {"v_dot8_i32_i4", integer_dot<int32_t, 4>},
      {"v_dot8_u32_u4", integer_dot<uint32_t, 4>},
  };
  return table;
}

void run_dot(Wave& wave, Instruction& i) {
  const auto& dot = *static_cast<const DotFunction*>(i.semantics);
  LaneValues buffer[3], out;
  const uint32_t* source[3];
  for (uint32_t n = 0; n < 3; ++n) source[n] = static_cast<const uint32_t*>(fetch(wave, i, n, Kind::kB32, buffer[n]));
  for (uint32_t lane = 0; lane < kWave; ++lane)
    out.words()[lane] = dot(i, source[0][lane], source[1][lane], source[2][lane]);
  write_words(wave, i.destination, out.words(), wave.exec());
}

template <class Table>
bool bind_from(const Table& table, const std::string& mnemonic, Instruction& i, Execute execute) {
  const auto found = table.find(mnemonic);
  if (found == table.end()) return false;
  i.semantics = &found->second;
  i.execute = execute;
  return true;
}

}  // namespace

bool bind_packed(const std::string& mnemonic, Instruction& i) {
  static const std::map<std::string, Execute> others = {{"v_pk_mov_b32", move_pair},
                                                        {"v_fma_mix_f32", run_mixed<MixTo::kFloat>},
                                                        {"v_fma_mixlo_f16", run_mixed<MixTo::kLow>},
                                                        {"v_fma_mixhi_f16", run_mixed<MixTo::kHigh>}};
  const auto other = others.find(mnemonic);
  if (other != others.end()) {
    i.execute = other->second;
    return true;
  }
  return bind_from(half_operations(), mnemonic, i, run_halves) ||
         bind_from(float_operations(), mnemonic, i, run_floats) || bind_from(dots(), mnemonic, i, run_dot);
}

}  // namespace machine
