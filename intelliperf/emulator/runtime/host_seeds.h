// What a program may seed its input by, which differs from one run of it to the next.
#pragma once
#include <cstdint>

namespace simt {

constexpr uint32_t kAskedTime = 1, kAskedRandom = 2;
uint32_t asked_by_program();  // both together, by code of the program's own file

}  // namespace simt
