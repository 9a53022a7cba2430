// Accumulation registers and matrix multiplication.
#include <map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace gfx90a {
namespace {

enum class Element : uint8_t { kFloat, kHalf, kBrain, kByte, kDouble };

// Blocks of M x M results; each lane holds `together` neighbours along K.
struct Shape {
  uint8_t side, depth, blocks, together;
  Element element;
};

const std::map<std::string, Shape>& shapes() {
  static const std::map<std::string, Shape> table = {
      {"v_mfma_f32_32x32x1f32", {32, 1, 2, 1, Element::kFloat}},
      {"v_mfma_f32_16x16x1f32", {16, 1, 4, 1, Element::kFloat}},
      {"v_mfma_f32_4x4x1f32", {4, 1, 16, 1, Element::kFloat}},
      {"v_mfma_f32_32x32x2f32", {32, 2, 1, 1, Element::kFloat}},
      {"v_mfma_f32_16x16x4f32", {16, 4, 1, 1, Element::kFloat}},
      {"v_mfma_f32_32x32x4f16", {32, 4, 2, 4, Element::kHalf}},
      {"v_mfma_f32_16x16x4f16", {16, 4, 4, 4, Element::kHalf}},
      {"v_mfma_f32_4x4x4f16", {4, 4, 16, 4, Element::kHalf}},
      {"v_mfma_f32_32x32x8f16", {32, 8, 1, 4, Element::kHalf}},
      {"v_mfma_f32_16x16x16f16", {16, 16, 1, 4, Element::kHalf}},
      {"v_mfma_f32_32x32x2bf16", {32, 2, 2, 2, Element::kBrain}},
      {"v_mfma_f32_16x16x2bf16", {16, 2, 4, 2, Element::kBrain}},
      {"v_mfma_f32_4x4x2bf16", {4, 2, 16, 2, Element::kBrain}},
      {"v_mfma_f32_32x32x4bf16", {32, 4, 1, 2, Element::kBrain}},
      {"v_mfma_f32_16x16x8bf16", {16, 8, 1, 2, Element::kBrain}},
      {"v_mfma_f32_32x32x4bf16_1k", {32, 4, 2, 4, Element::kBrain}},
      {"v_mfma_f32_16x16x4bf16_1k", {16, 4, 4, 4, Element::kBrain}},
      {"v_mfma_f32_4x4x4bf16_1k", {4, 4, 16, 4, Element::kBrain}},
      {"v_mfma_f32_32x32x8bf16_1k", {32, 8, 1, 4, Element::kBrain}},
      {"v_mfma_f32_16x16x16bf16_1k", {16, 16, 1, 4, Element::kBrain}},
      {"v_mfma_i32_32x32x4i8", {32, 4, 2, 4, Element::kByte}},
      {"v_mfma_i32_16x16x4i8", {16, 4, 4, 4, Element::kByte}},
      {"v_mfma_i32_4x4x4i8", {4, 4, 16, 4, Element::kByte}},
      {"v_mfma_i32_32x32x8i8", {32, 8, 1, 4, Element::kByte}},
      {"v_mfma_i32_16x16x16i8", {16, 16, 1, 4, Element::kByte}},
      {"v_mfma_f64_16x16x4f64", {16, 4, 1, 1, Element::kDouble}},
      {"v_mfma_f64_4x4x4f64", {4, 4, 4, 1, Element::kDouble}},
  };
  return table;
}

struct Place {
  uint32_t lane, item;
};

// Of the factor's element in row (or column) `index` and depth `k`.
Place factor_place(const Shape& s, uint32_t block, uint32_t index, uint32_t k) {
  return Place{index + s.side * (block + s.blocks * (k / s.together)), k % s.together};
}

// Of the result's element: four neighbouring rows make a group, but for doubles.
Place result_place(const Shape& s, uint32_t block, uint32_t row, uint32_t column) {
  if (s.element == Element::kDouble)
    return s.side == 4 ? Place{column + 4 * block + 16 * row, 0} : Place{column + 16 * (row % 4), row / 4};
  if (s.side == 32) return Place{column + 32 * (row / 4 % 2), 16 * block + row / 8 * 4 + row % 4};
  if (s.side == 16) return Place{column + 16 * (row / 4), 4 * block + row % 4};
  return Place{column + 4 * block, row};
}

double element(Wave& wave, const Shape& s, uint32_t row, const Place& place) {
  switch (s.element) {
    case Element::kFloat: return double(bits_as<float>(wave.v(row)[place.lane]));
    case Element::kDouble: return bits_as<double>(joined(wave.v(row)[place.lane], wave.v(row + 1)[place.lane]));
    case Element::kByte: return double(int8_t(wave.v(row)[place.lane] >> 8 * place.item));
    default: break;
  }
  const uint16_t half = uint16_t(wave.v(row + place.item / 2)[place.lane] >> 16 * (place.item % 2));
  return s.element == Element::kHalf ? half_to_double(half) : double(bits_as<float>(uint32_t(half) << 16));
}

struct Results {
  uint32_t words[32][kWave];
};

uint64_t addend(Wave& wave, const Instruction& i, const Shape& s, const Place& place) {
  const Source& source = i.source[2];
  const bool wide = s.element == Element::kDouble;
  if (!source.is_vector()) return wide ? scalar_long(wave, i, source.code, Kind::kF64) : scalar_word(wave, i, source.code);
  const uint32_t row = source.row() + place.item * (wide ? 2 : 1);
  return wide ? joined(wave.v(row)[place.lane], wave.v(row + 1)[place.lane]) : wave.v(row)[place.lane];
}

void multiply(Wave& wave, Instruction& i) {
  const Shape& s = *static_cast<const Shape*>(i.semantics);
  if (i.immediate) throw Stop("a broadcast or permutation of matrix blocks");
  const uint32_t a = i.source[0].row(), b = i.source[1].row(), registers = s.element == Element::kDouble ? 2 : 1;
  Results out;
  uint32_t items = 0;
  for (uint32_t block = 0; block < s.blocks; ++block)
    for (uint32_t row = 0; row < s.side; ++row)
      for (uint32_t column = 0; column < s.side; ++column) {
        const Place place = result_place(s, block, row, column);
        const uint64_t start = addend(wave, i, s, place);
        uint64_t result = start;
        double sum = s.element == Element::kDouble ? bits_as<double>(start) : double(bits_as<float>(uint32_t(start)));
        for (uint32_t k = 0; k < s.depth; ++k) {
          const double x = element(wave, s, a, factor_place(s, block, row, k));
          const double y = element(wave, s, b, factor_place(s, block, column, k));
          if (s.element == Element::kByte) result += uint64_t(int64_t(x) * int64_t(y));
          else if (s.element == Element::kDouble) sum = std::fma(x, y, sum);
          else sum = double(float(fused_for_rounding(x * y, sum)));
        }
        if (s.element == Element::kDouble) result = bits_as<uint64_t>(sum);
        else if (s.element != Element::kByte) result = bits_as<uint32_t>(float(sum));
        out.words[place.item * registers][place.lane] = low_half(result);
        if (registers == 2) out.words[place.item * 2 + 1][place.lane] = high_half(result);
        items = std::max(items, place.item + 1);
      }
  for (uint32_t n = 0; n < items * registers; ++n)  // whatever EXEC says
    std::memcpy(wave.v(i.destination + n), out.words[n], sizeof(Row));
}

void read_accumulator(Wave& wave, Instruction& i) {
  LaneValues copy;
  std::memcpy(copy.bytes, wave.v(i.source[0].row() % kVectorRegisters + kVectorRegisters), sizeof(Row));
  write_words(wave, i.destination, copy.words(), wave.exec());
}

void write_accumulator(Wave& wave, Instruction& i) {
  LaneValues buffer;
  const void* values = fetch(wave, i, 0, Kind::kB32, buffer);
  write_words(wave, i.destination % kVectorRegisters + kVectorRegisters, static_cast<const uint32_t*>(values),
              wave.exec());
}

void move_accumulator(Wave& wave, Instruction& i) {
  LaneValues copy;
  std::memcpy(copy.bytes, wave.v(i.source[0].row() + kVectorRegisters), sizeof(Row));
  write_words(wave, i.destination + kVectorRegisters, copy.words(), wave.exec());
}

}  // namespace

bool bind_matrix(const std::string& mnemonic, Instruction& i) {
  static const std::map<std::string, Execute> moves = {{"v_accvgpr_read_b32", read_accumulator},
                                                       {"v_accvgpr_write_b32", write_accumulator},
                                                       {"v_accvgpr_mov_b32", move_accumulator}};
  const auto move = moves.find(mnemonic);
  if (move != moves.end()) {
    i.execute = move->second;
    return true;
  }
  const auto shape = shapes().find(mnemonic);
  if (shape == shapes().end()) return false;
  i.semantics = &shape->second;
  i.execute = multiply;
  return true;
}

}  // namespace gfx90a
