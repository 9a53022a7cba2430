// Floats of eight bits as gfx942 has them: a sign, three or two bits of mantissa, no infinities and no negative zero
// (OCP's "FNUZ"): 0x80 is not a number.
#pragma once
#include <cstdint>

namespace machine {

// The 256 numbers with three or two bits of mantissa.
const float* minis(uint32_t mantissa_bits);

// To the nearest, halfway cases to even. Beyond the largest: that one if `saturates`, else not a number.
uint8_t to_mini(float value, uint32_t mantissa_bits, bool saturates);

}  // namespace machine
