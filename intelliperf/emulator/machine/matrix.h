// Where a product of matrices has its elements: in which lane, and which of the numbers that it holds.
#pragma once
#include <cstdint>

namespace machine {

// kMini…: eight bits, see minis.h, of which the first factor's comes first; kShortened: floats of which the lower mantissa is left out.
enum class Element : uint8_t { kFloat, kHalf, kBrain, kByte, kDouble, kShortened, kMini44, kMini45, kMini54, kMini55 };

// Blocks of M x M results; each lane holds `together` neighbours along K.
struct Shape {
  uint8_t side, depth, blocks, together;
  Element element;
  uint16_t rate = 0;  // products of two numbers in the time of a vector instruction; 0: that of gfx90a
};

struct Place {
  uint32_t lane, item;
};

// Of the factor's element in row (or column) `index` and depth `k`.
inline Place factor_place(const Shape& s, uint32_t block, uint32_t index, uint32_t k) {
  return Place{index + s.side * (block + s.blocks * (k / s.together)), k % s.together};
}

// Of the result's element: four neighbouring rows make a group, but for doubles.
inline Place result_place(const Shape& s, uint32_t block, uint32_t row, uint32_t column) {
  if (s.element == Element::kDouble)
    return s.side == 4 ? Place{column + 4 * block + 16 * row, 0} : Place{column + 16 * (row % 4), row / 4};
  if (s.side == 32) return Place{column + 32 * (row / 4 % 2), 16 * block + row / 8 * 4 + row % 4};
  if (s.side == 16) return Place{column + 16 * (row / 4), 4 * block + row % 4};
  return Place{column + 4 * block, row};
}

}  // namespace machine
