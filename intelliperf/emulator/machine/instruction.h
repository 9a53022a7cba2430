// A decoded instruction: what the interpreter runs. Decoding happens once per code address.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "wave.h"

namespace machine {

enum class Format : uint8_t {
  kSop1,
  kSop2,
  kSopk,
  kSopc,
  kSopp,
  kSmem,
  kVop1,
  kVop2,
  kVopc,
  kVop3,
  kVop3p,
  kMfma,
  kDs,
  kFlat,
  kBuffer,
  kFormats
};
enum class Family : uint8_t { kGfx90a, kGfx942, kGfx950 };  // chips with one encoding
enum class Space : uint8_t { kNone, kGlobal, kLds, kScratch };
enum class Access : uint8_t { kNone, kLoad, kStore, kAtomic };

// Numbers of source operands in the encoding.
enum SourceCode : uint16_t { kFirstConstant = 128, kSharedBase = 235, kFirstVector = 256, kFirstAccumulator = 512 };

enum Select : uint8_t { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };

struct Source {
  uint16_t code = 0;  // scalar register or constant below 256, vector register from 256, accumulator from 512
  bool negate = false, absolute = false;
  uint8_t select = kDword;  // SDWA
  bool sign_extend = false;
  bool is_vector() const { return code >= kFirstVector; }
  uint32_t row() const { return code - kFirstVector; }
};

struct Dpp {
  uint16_t control = 0;
  uint8_t row_mask = 15, bank_mask = 15;
  bool bound_control = false;
};

struct Counts {
  uint64_t executions = 0, lanes = 0;
  uint64_t lines = 0, lines_ideal = 0, lds_cycles = 0, lds_cycles_ideal = 0, atomic_same_address = 0;
};

struct Instruction;
using Execute = void (*)(Wave&, Instruction&);

struct Instruction {
  Execute execute = nullptr;
  const void* semantics = nullptr;  // a table entry that `execute` knows
  uint64_t address = 0;
  uint64_t dispatch = 0;   // the one that the counts belong to
  uint32_t words[3] = {};  // as encoded, literal included
  uint8_t bytes = 0;
  Format format = Format::kSopp;
  uint8_t operation = 0;     // what a family's table says: width, kind of atomic, ...
  uint16_t destination = 0;  // scalar or vector register, accumulator from 256 on
  uint16_t scalar_destination = 0;
  Source source[3];
  uint32_t literal = 0;
  int32_t immediate = 0;  // SIMM16, memory offset
  bool clamp = false, glc = false, sdwa = false, dpp = false;
  bool system = false;          // gfx942's SC1: seen by other groups
  bool to_lds = false;          // what a load finds goes into LDS, lane behind lane from M0 on
  bool infinite_minis = false;  // floats of eight bits are gfx950's, see minis.h
  bool vector_address = true;   // scratch: the address has a part in a vector register
  uint8_t output_modifier = 0;  // 1: times 2, 2: times 4, 3: half
  uint8_t op_sel = 0, op_sel_high = 7, negate_high = 0;
  uint8_t destination_select = kDword, destination_unused = 0;
  Dpp lanes;
  Space space = Space::kNone;
  Access access = Access::kNone;
  uint8_t access_bytes = 0;  // per lane
  uint8_t scalar_bytes = 0;  // of a scalar load
  uint8_t passes = 0;        // of a matrix product: how many vector instructions last as long
  uint8_t addresses = 1;     // of a lane, each with its part of the bytes: two of ds_read2
  Counts counts;
  uint64_t range_begin = 0, range_end = 0;  // the allocation that it touched last
  uint32_t site = ~0u, block = ~0u;         // its numbers in a module's metadata; ~0: none
  uint32_t lds_site = ~0u;                  // likewise of what it stores there, see `to_lds`
  std::shared_ptr<const void> followed;     // what a follower has found out about it
  std::string text;
};

}  // namespace machine
