// Reading sources and writing results of scalar and vector instructions, with every modifier of the encodings.
#pragma once
#include "instruction.h"

namespace machine {

// How wide an operand is, and whether "negative" and "absolute" mean its sign bit.
enum class Kind : uint8_t { kB16, kF16, kB32, kF32, kB64, kF64 };

template <class T>
struct KindOf;
template <>
struct KindOf<uint16_t> {
  static constexpr Kind value = Kind::kB16;
};
template <>
struct KindOf<int16_t> {
  static constexpr Kind value = Kind::kB16;
};
template <>
struct KindOf<Half> {
  static constexpr Kind value = Kind::kF16;
};
template <>
struct KindOf<uint32_t> {
  static constexpr Kind value = Kind::kB32;
};
template <>
struct KindOf<int32_t> {
  static constexpr Kind value = Kind::kB32;
};
template <>
struct KindOf<float> {
  static constexpr Kind value = Kind::kF32;
};
template <>
struct KindOf<uint64_t> {
  static constexpr Kind value = Kind::kB64;
};
template <>
struct KindOf<int64_t> {
  static constexpr Kind value = Kind::kB64;
};
template <>
struct KindOf<double> {
  static constexpr Kind value = Kind::kF64;
};

struct alignas(64) LaneValues {
  uint8_t bytes[8 * kWave];
  uint16_t* halves() { return reinterpret_cast<uint16_t*>(bytes); }
  uint32_t* words() { return reinterpret_cast<uint32_t*>(bytes); }
  uint64_t* longs() { return reinterpret_cast<uint64_t*>(bytes); }
};

uint32_t scalar_word(const Wave& wave, const Instruction& instruction, uint16_t code);
uint64_t scalar_long(const Wave& wave, const Instruction& instruction, uint16_t code, Kind kind = Kind::kB64);

// One value per lane, of 2, 4 or 8 bytes as the kind says; in `buffer` where the register cannot be used as it is.
const void* fetch(Wave& wave, Instruction& instruction, uint32_t n, Kind kind, LaneValues& buffer);

// Which lane each lane reads by DPP; -1 where there is none.
void dpp_sources(uint16_t control, int8_t* from);

// Lanes that a DPP instruction leaves alone are missing from the mask.
uint64_t written_lanes(const Wave& wave, const Instruction& instruction);

enum class HighHalf : uint8_t { kZero, kKeep };
void write_result(Wave& wave, Instruction& instruction, Kind kind, LaneValues& result,
                  HighHalf high_half = HighHalf::kZero);
void write_words(Wave& wave, uint32_t row, const uint32_t* values, uint64_t mask);
void write_longs(Wave& wave, uint32_t row, const uint64_t* values, uint64_t mask);

void flush_denormals(Kind kind, void* values);
bool flushes_inputs(const Wave& wave, Kind kind);
bool flushes_outputs(const Wave& wave, Kind kind);

}  // namespace machine
