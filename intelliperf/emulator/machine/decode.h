// Machine code to `Instruction`: the fields from the encoding's documented places (AMD Instinct MI200 ISA, chapter
// "Microcode Formats").
#pragma once
#include <string>

#include "instruction.h"

namespace machine {

// Semantics by mnemonic: each family fills in `execute` and what it needs, or answers false for a stranger.
bool bind_scalar(const std::string& mnemonic, Instruction& instruction);
bool bind_vector(const std::string& mnemonic, Instruction& instruction);
bool bind_compare(const std::string& mnemonic, Instruction& instruction);
bool bind_cross_lane(const std::string& mnemonic, Instruction& instruction);
bool bind_cdna4(const std::string& mnemonic, Instruction& instruction);
bool bind_minis(const std::string& mnemonic, Instruction& instruction);
bool bind_packed(const std::string& mnemonic, Instruction& instruction);
bool bind_matrix(const std::string& mnemonic, Instruction& instruction);
bool bind_lds(const std::string& mnemonic, Instruction& instruction);
bool bind_memory(const std::string& mnemonic, Instruction& instruction);

// Raises `Stop` with the instruction's text where nothing is known about it.
void decode(uint64_t address, Family family, Instruction& instruction);

}  // namespace machine
