// Floats of eight bits: a sign, three or two bits of mantissa. gfx942's have no infinities and no negative zero ("FNUZ"):
// 0x80 is not a number. gfx950's are those of OCP's "8-bit Floating Point Specification (OFP8)" 1.0: with two bits as IEEE
// 754 would have them, with three neither infinities nor more than one not-a-number of either sign.
#pragma once
#include <cstdint>

namespace machine {

struct MiniFormat {
  uint8_t mantissa_bits;
  bool ocp;
};

// The 256 numbers of a format.
const float* minis(MiniFormat format);

// To the nearest, halfway cases to even. Beyond the largest: that one if `saturates`, else an infinity or, where there is
// none, not a number.
uint8_t to_mini(float value, MiniFormat format, bool saturates);

}  // namespace machine
