// The instruction that a word begins, by the numbers of the ISA documents (AMD Instinct MI200 and MI300 ISA, "Microcode
// Formats"). A test compares every number with LLVM's disassembler.
#pragma once
#include <cstdint>
#include <string>

#include "instruction.h"

namespace machine {

// Throws `Stop` where the encoding is none that is known.
Format format_of(uint32_t word);

// The mnemonic without a suffix for its encoding; empty where the number means nothing.
std::string mnemonic_of(Family family, Format format, uint32_t word);

}  // namespace machine
