#include "decode.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <cstdio>
#include <cstring>

namespace gfx90a {
namespace {

constexpr uint32_t kLongest = 12;
constexpr uint16_t kLiteral = 255, kSdwa = 249, kDpp = 250;

uint32_t field(uint32_t word, uint32_t first, uint32_t last) {
  return word >> first & uint32_t((1ull << (last - first + 1)) - 1);
}

bool bit(uint32_t word, uint32_t place) { return word >> place & 1; }

int32_t sign_extended(uint32_t value, uint32_t bits) { return int32_t(value << (32 - bits)) >> (32 - bits); }

LLVMDisasmContextRef disassembler() {
  static const LLVMDisasmContextRef context = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", "gfx90a", nullptr, 0, nullptr, nullptr);
  }();
  if (!context) throw Stop("LLVM 19 has no disassembler for gfx90a");
  return context;
}

std::string trimmed(const char* text) {
  std::string line = text;
  const size_t comment = line.find("//");
  if (comment != std::string::npos) line.resize(comment);
  const size_t first = line.find_first_not_of(" \t");
  const size_t last = line.find_last_not_of(" \t");
  return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
}

Source vector_source(uint32_t number) {
  Source source;
  source.code = uint16_t(kFirstVector + number);
  return source;
}

Source any_source(uint32_t code) {
  Source source;
  source.code = uint16_t(code);
  return source;
}

void read_sdwa_operand(Source& source, uint32_t bits, bool scalar) {
  source.select = uint8_t(bits & 7);
  source.sign_extend = bit(bits, 3);
  source.negate = bit(bits, 4);
  source.absolute = bit(bits, 5);
  if (scalar) source.code = uint16_t(source.code - kFirstVector);
}

void read_sdwa(Instruction& i) {
  const uint32_t word = i.words[1];
  i.sdwa = true;
  i.source[0] = vector_source(field(word, 0, 7));
  read_sdwa_operand(i.source[0], field(word, 16, 21), bit(word, 23));
  read_sdwa_operand(i.source[1], field(word, 24, 29), bit(word, 31));
  if (i.format == Format::kVopc) {
    i.scalar_destination = bit(word, 15) ? uint16_t(field(word, 8, 14)) : uint16_t(kVcc);
    return;
  }
  i.destination_select = uint8_t(field(word, 8, 10));
  i.destination_unused = uint8_t(field(word, 11, 12));
  i.clamp = bit(word, 13);
  i.output_modifier = uint8_t(field(word, 14, 15));
}

void read_dpp(Instruction& i) {
  const uint32_t word = i.words[1];
  i.dpp = true;
  i.source[0] = vector_source(field(word, 0, 7));
  i.lanes.control = uint16_t(field(word, 8, 16));
  i.lanes.bound_control = bit(word, 19);
  i.source[0].negate = bit(word, 20);
  i.source[0].absolute = bit(word, 21);
  i.source[1].negate = bit(word, 22);
  i.source[1].absolute = bit(word, 23);
  i.lanes.bank_mask = uint8_t(field(word, 24, 27));
  i.lanes.row_mask = uint8_t(field(word, 28, 31));
}

void read_vop_short(Instruction& i) {
  const uint32_t word = i.words[0];
  i.source[0] = any_source(field(word, 0, 8));
  i.destination = uint16_t(field(word, 17, 24));
  i.scalar_destination = kVcc;
  if (i.format != Format::kVop1) i.source[1] = vector_source(field(word, 9, 16));
  if (i.format == Format::kVop2) i.source[2] = any_source(kVcc);
  if (i.source[0].code == kSdwa) read_sdwa(i);
  else if (i.source[0].code == kDpp) read_dpp(i);
}

void read_vop_long(Instruction& i) {
  const uint32_t word = i.words[0], more = i.words[1];
  i.destination = uint16_t(field(word, 0, 7));
  i.source[0] = any_source(field(more, 0, 8));
  i.source[1] = any_source(field(more, 9, 17));
  i.source[2] = any_source(field(more, 18, 26));
  i.clamp = bit(word, 15);
  const bool packed = i.format == Format::kVop3p;
  if (i.format == Format::kMfma) {
    const bool moves = i.text.compare(0, 10, "v_accvgpr_") == 0;  // these know where theirs are
    for (uint32_t n = 0; n < 2 && !moves; ++n)
      if (bit(more, 27 + n)) i.source[n].code = uint16_t(i.source[n].code + kFirstVector);
    if (bit(word, 15)) {
      i.destination = uint16_t(i.destination + kVectorRegisters);
      if (i.source[2].is_vector()) i.source[2].code = uint16_t(i.source[2].code + kFirstVector);
    }
    i.immediate = int32_t(field(word, 8, 14) | field(more, 29, 31) << 7);  // cbsz, abid, blgp
    return;
  }
  for (uint32_t n = 0; n < 3; ++n) {
    i.source[n].negate = bit(more, 29 + n);
    i.source[n].absolute = !packed && bit(word, 8 + n);
  }
  i.scalar_destination = uint16_t(field(word, 8, 14));
  i.op_sel = uint8_t(field(word, 11, packed ? 13 : 14));
  if (packed) {
    i.negate_high = uint8_t(field(word, 8, 10));
    i.op_sel_high = uint8_t(field(more, 27, 28) | uint32_t(bit(word, 14)) << 2);
  } else {
    i.output_modifier = uint8_t(field(more, 27, 28));
  }
}

void read_scalar(Instruction& i) {
  const uint32_t word = i.words[0];
  i.source[0] = any_source(field(word, 0, 7));
  i.source[1] = any_source(field(word, 8, 15));
  i.scalar_destination = uint16_t(field(word, 16, 22));
  i.immediate = int16_t(field(word, 0, 15));
}

void read_scalar_memory(Instruction& i) {
  const uint32_t word = i.words[0], more = i.words[1];
  i.source[0] = any_source(field(word, 0, 5) * 2);
  i.scalar_destination = uint16_t(field(word, 6, 12));
  const bool immediate = bit(word, 17), register_too = bit(word, 14);
  i.immediate = immediate ? sign_extended(field(more, 0, 20), 21) : 0;
  i.source[1] = any_source(kFirstConstant);  // zero
  if (register_too) i.source[1] = any_source(field(more, 25, 31));
  else if (!immediate) i.source[1] = any_source(field(more, 0, 6));
}

uint16_t data_register(uint32_t number, bool accumulator) {
  return uint16_t(number + (accumulator ? kVectorRegisters : 0));
}

// Sources of all vector memory: 0 is the address, 1 and 2 are data.
void read_lds(Instruction& i) {
  const uint32_t word = i.words[0], more = i.words[1];
  const bool accumulator = bit(word, 25);
  if (bit(word, 16)) throw Stop("global data share");
  i.source[0] = vector_source(field(more, 0, 7));
  i.source[1] = vector_source(data_register(field(more, 8, 15), accumulator));
  i.source[2] = vector_source(data_register(field(more, 16, 23), accumulator));
  i.destination = data_register(field(more, 24, 31), accumulator);
  i.immediate = int32_t(field(word, 0, 15));
}

void read_flat(Instruction& i) {
  const uint32_t word = i.words[0], more = i.words[1];
  const bool accumulator = bit(more, 23);
  i.op_sel = uint8_t(field(word, 14, 15));  // segment: flat, scratch, global
  i.immediate = i.op_sel == 0 ? int32_t(field(word, 0, 11)) : sign_extended(field(word, 0, 12), 13);
  i.glc = bit(word, 16);
  i.source[0] = vector_source(field(more, 0, 7));
  i.source[1] = vector_source(data_register(field(more, 8, 15), accumulator));
  i.source[2] = any_source(field(more, 16, 22));  // scalar address; 0x7F: none
  i.destination = data_register(field(more, 24, 31), accumulator);
}

void read_buffer(Instruction& i) {
  const uint32_t word = i.words[0], more = i.words[1];
  const bool accumulator = bit(more, 23);
  i.immediate = int32_t(field(word, 0, 11));
  i.glc = bit(word, 14);
  i.op_sel = uint8_t(field(word, 12, 13));  // offen, idxen
  if (bit(word, 16)) throw Stop("buffer access to LDS");
  i.source[0] = vector_source(field(more, 0, 7));
  i.source[1] = vector_source(data_register(field(more, 8, 15), accumulator));
  i.source[2] = any_source(field(more, 24, 31));
  i.scalar_destination = uint16_t(field(more, 16, 20) * 4);  // the descriptor
  i.destination = data_register(field(more, 8, 15), accumulator);
}

Format format_of(uint32_t word) {
  if (field(word, 31, 31) == 0) {
    const uint32_t seven = field(word, 25, 31);
    return seven == 0x3F ? Format::kVop1 : seven == 0x3E ? Format::kVopc : Format::kVop2;
  }
  const uint32_t nine = field(word, 23, 31), six = field(word, 26, 31);
  if (nine == 0x17D) return Format::kSop1;
  if (nine == 0x17E) return Format::kSopc;
  if (nine == 0x17F) return Format::kSopp;
  if (field(word, 28, 31) == 0xB) return Format::kSopk;
  if (field(word, 30, 31) == 2) return Format::kSop2;
  if (nine == 0x1A7) return Format::kVop3p;
  if (six == 0x34) return Format::kVop3;
  if (six == 0x30) return Format::kSmem;
  if (six == 0x36) return Format::kDs;
  if (six == 0x37) return Format::kFlat;
  if (six == 0x38) return Format::kBuffer;
  throw Stop("this encoding");
}

void read_fields(Instruction& i) {
  i.format = format_of(i.words[0]);
  const bool matrix = i.text.compare(0, 7, "v_mfma_") == 0 || i.text.compare(0, 10, "v_accvgpr_") == 0;
  switch (i.format) {
    case Format::kSop1: case Format::kSop2: case Format::kSopk: case Format::kSopc: case Format::kSopp:
      read_scalar(i);
      break;
    case Format::kSmem: read_scalar_memory(i); break;
    case Format::kVop1: case Format::kVop2: case Format::kVopc: read_vop_short(i); break;
    case Format::kVop3p:
      if (matrix) i.format = Format::kMfma;
      read_vop_long(i);
      break;
    case Format::kVop3: case Format::kMfma: read_vop_long(i); break;
    case Format::kDs: read_lds(i); break;
    case Format::kFlat: read_flat(i); break;
    case Format::kBuffer: read_buffer(i); break;
  }
  if (i.bytes > 4) i.literal = i.words[i.bytes / 4 - 1];
}

bool bind(const std::string& mnemonic, Instruction& i) {
  switch (i.format) {
    case Format::kSop1: case Format::kSop2: case Format::kSopk: case Format::kSopc: case Format::kSopp:
    case Format::kSmem:
      return bind_scalar(mnemonic, i);
    case Format::kDs: return bind_lds(mnemonic, i);
    case Format::kFlat: case Format::kBuffer: return bind_memory(mnemonic, i);
    case Format::kMfma: return bind_matrix(mnemonic, i);
    case Format::kVop3p: return bind_packed(mnemonic, i);
    default: break;
  }
  return bind_compare(mnemonic, i) || bind_cross_lane(mnemonic, i) || bind_matrix(mnemonic, i) ||
         bind_vector(mnemonic, i);
}

}  // namespace

std::string base_mnemonic(const std::string& text) {
  std::string mnemonic = text.substr(0, text.find(' '));
  for (const char* suffix : {"_e32", "_e64", "_sdwa", "_dpp"}) {
    const size_t length = std::strlen(suffix);
    if (mnemonic.size() > length && mnemonic.compare(mnemonic.size() - length, length, suffix) == 0)
      mnemonic.resize(mnemonic.size() - length);
  }
  return mnemonic;
}

void decode(uint64_t address, Instruction& i) {
  i = Instruction();
  i.address = address;
  std::memcpy(i.words, reinterpret_cast<const void*>(address), kLongest);
  char text[256];
  const size_t length =
      LLVMDisasmInstruction(disassembler(), reinterpret_cast<uint8_t*>(i.words), kLongest, address, text, sizeof text);
  if (length == 0) {
    std::snprintf(text, sizeof text, "not an instruction: %08x %08x", i.words[0], i.words[1]);
    throw Stop(text);
  }
  i.bytes = uint8_t(length);
  for (uint32_t n = i.bytes / 4; n < 3; ++n) i.words[n] = 0;
  i.text = trimmed(text);
  bool known = false;
  try {
    read_fields(i);
    known = bind(base_mnemonic(i.text), i);
  } catch (const Stop& stop) {
    throw Stop(std::string(stop.what()) + " is not implemented: '" + i.text + "'");
  }
  if (!known) throw Stop("instruction not implemented: '" + i.text + "'");
}

}  // namespace gfx90a
