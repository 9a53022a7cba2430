#include "decode.h"

#include <cstdio>
#include <cstring>

#include "opcodes.h"

namespace machine {
namespace {

constexpr uint32_t kLongest = 12;
constexpr uint16_t kLiteral = 255, kSdwa = 249, kDpp = 250, kNoScalarAddress = 0x7F;

uint32_t field(uint32_t word, uint32_t first, uint32_t last) {
  return word >> first & uint32_t((1ull << (last - first + 1)) - 1);
}

bool bit(uint32_t word, uint32_t place) { return word >> place & 1; }

int32_t sign_extended(uint32_t value, uint32_t bits) { return int32_t(value << (32 - bits)) >> (32 - bits); }

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
  if (i.source[0].code == kSdwa)
    read_sdwa(i);
  else if (i.source[0].code == kDpp)
    read_dpp(i);
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
  if (register_too)
    i.source[1] = any_source(field(more, 25, 31));
  else if (!immediate)
    i.source[1] = any_source(field(more, 0, 6));
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

void read_flat(Instruction& i, Family family) {
  const uint32_t word = i.words[0], more = i.words[1];
  const bool accumulator = bit(more, 23);
  i.op_sel = uint8_t(field(word, 14, 15));  // segment: flat, scratch, global
  i.immediate = i.op_sel == 0 ? int32_t(field(word, 0, 11)) : sign_extended(field(word, 0, 12), 13);
  i.glc = bit(word, 16);
  i.system = family != Family::kGfx90a && bit(word, 25);
  i.source[0] = vector_source(field(more, 0, 7));
  i.source[1] = vector_source(data_register(field(more, 8, 15), accumulator));
  i.source[2] = any_source(field(more, 16, 22));  // scalar address; 0x7F: none
  if (i.op_sel == 1)
    i.vector_address = family == Family::kGfx90a ? i.source[2].code == kNoScalarAddress : bit(word, 13);
  i.destination = data_register(field(more, 24, 31), accumulator);
}

void read_buffer(Instruction& i, Family family) {
  const uint32_t word = i.words[0], more = i.words[1];
  const bool accumulator = bit(more, 23);
  i.immediate = int32_t(field(word, 0, 11));
  i.glc = bit(word, 14);
  i.system = family != Family::kGfx90a && bit(word, 15);
  i.op_sel = uint8_t(field(word, 12, 13));  // offen, idxen
  i.to_lds = bit(word, 16);
  i.source[0] = vector_source(field(more, 0, 7));
  i.source[1] = vector_source(data_register(field(more, 8, 15), accumulator));
  i.source[2] = any_source(field(more, 24, 31));
  i.scalar_destination = uint16_t(field(more, 16, 20) * 4);  // the descriptor
  i.destination = data_register(field(more, 8, 15), accumulator);
}

// Bytes, with a literal or the word that an SDWA or DPP form adds.
uint8_t length_of(const Instruction& i) {
  const uint32_t word = i.words[0], vector_code = field(word, 0, 8), scalar_code = field(word, 0, 7);
  switch (i.format) {
    case Format::kSop1:
      return scalar_code == kLiteral ? 8 : 4;
    case Format::kSop2:
    case Format::kSopc:
      return scalar_code == kLiteral || field(word, 8, 15) == kLiteral ? 8 : 4;
    case Format::kSopk:
      return i.text == "s_setreg_imm32_b32" ? 8 : 4;
    case Format::kSopp:
      return 4;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc: {
      const bool constant = i.text.compare(0, 6, "v_fmaa") == 0 || i.text.compare(0, 6, "v_fmam") == 0 ||
                            i.text.compare(0, 6, "v_mada") == 0 || i.text.compare(0, 6, "v_madm") == 0;
      const bool more = vector_code == kLiteral || vector_code == kSdwa || vector_code == kDpp;
      return constant || more ? 8 : 4;
    }
    default:
      return 8;
  }
}

std::string operand_name(uint16_t code) {
  if (code >= kFirstAccumulator) return "a" + std::to_string(code - kFirstAccumulator);
  if (code >= kFirstVector) return "v" + std::to_string(code - kFirstVector);
  if (code == kVcc) return "vcc";
  if (code == kExec) return "exec";
  if (code < kVcc) return "s" + std::to_string(code);
  if (code >= kFirstConstant && code <= kFirstConstant + 64) return std::to_string(code - kFirstConstant);
  return "#" + std::to_string(code);
}

std::string range_name(uint16_t first, uint32_t count) {
  if (count < 2 || first == kVcc || first == kExec) return operand_name(first);
  const uint16_t space = first >= kFirstAccumulator ? kFirstAccumulator : first >= kFirstVector ? kFirstVector : 0;
  const uint32_t number = first - space;
  return operand_name(first).substr(0, 1) + "[" + std::to_string(number) + ":" + std::to_string(number + count - 1) +
         "]";
}

std::string offset_text(const Instruction& i) {
  return i.immediate ? " offset:" + std::to_string(i.immediate) : std::string();
}

// "v0, v10, s[2:3] offset:16" of "global_load_dword"; once the width is known.
std::string memory_operands(const Instruction& i) {
  const uint32_t words = (i.access_bytes + 3u) / 4u;
  const std::string result = range_name(uint16_t(kFirstVector + i.destination), words);
  std::string address = operand_name(i.source[0].code), data = range_name(i.source[1].code, words), base;
  if (i.format == Format::kFlat) {
    const bool scalar = i.source[2].code != kNoScalarAddress && i.op_sel != 0;
    if (!scalar && i.op_sel != 1) address = range_name(i.source[0].code, 2);
    base = ", " + (scalar ? range_name(i.source[2].code, i.op_sel == 1 ? 1 : 2) : std::string("off"));
    if (i.op_sel == 0) base.clear();
  } else if (i.format == Format::kBuffer) {
    base = ", " + range_name(i.scalar_destination, 4) + ", " + operand_name(i.source[2].code);
  }
  const std::string lds = i.to_lds ? " lds" : "";
  if (i.format == Format::kBuffer && i.to_lds) return " " + address + base + offset_text(i) + lds;
  if (i.to_lds) return " " + address + base + offset_text(i);
  const bool loads = i.access == Access::kLoad, returns = loads || (i.access == Access::kAtomic && i.glc);
  if (i.format == Format::kBuffer) return " " + result + ", " + address + base + offset_text(i);
  return " " + (returns ? result + ", " : std::string()) + address + (loads ? std::string() : ", " + data) + base +
         offset_text(i);
}

// For people: not all modifiers.
std::string operands_of(const Instruction& i) {
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSmem:
      return " " + operand_name(i.scalar_destination) + ", " + operand_name(i.source[0].code);
    case Format::kSopc:
      return " " + operand_name(i.source[0].code) + ", " + operand_name(i.source[1].code);
    case Format::kSopp:
      return " " + std::to_string(i.immediate);
    default:
      break;
  }
  std::string text = " " + operand_name(uint16_t(kFirstVector + i.destination));
  for (uint32_t n = 0; n < 3; ++n)
    if (n == 0 || i.source[n].code) text += ", " + operand_name(i.source[n].code);
  return text;
}

void read_fields(Instruction& i, Family family) {
  const bool matrix = i.text.compare(0, 7, "v_mfma_") == 0 || i.text.compare(0, 10, "v_accvgpr_") == 0;
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSopc:
    case Format::kSopp:
      read_scalar(i);
      break;
    case Format::kSmem:
      read_scalar_memory(i);
      break;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
      read_vop_short(i);
      break;
    case Format::kVop3p:
      if (matrix) i.format = Format::kMfma;
      read_vop_long(i);
      break;
    case Format::kVop3:
    case Format::kMfma:
      read_vop_long(i);
      break;
    case Format::kDs:
      read_lds(i);
      break;
    case Format::kFlat:
      read_flat(i, family);
      break;
    case Format::kBuffer:
      read_buffer(i, family);
      break;
    case Format::kFormats:
      break;
  }
  if (i.bytes > 4) i.literal = i.words[i.bytes / 4 - 1];
}

bool bind(const std::string& mnemonic, Instruction& i) {
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSopc:
    case Format::kSopp:
    case Format::kSmem:
      return bind_scalar(mnemonic, i);
    case Format::kDs:
      return bind_lds(mnemonic, i);
    case Format::kFlat:
    case Format::kBuffer:
      return bind_memory(mnemonic, i);
    case Format::kMfma:
      return bind_matrix(mnemonic, i);
    case Format::kVop3p:
      return bind_packed(mnemonic, i);
    default:
      break;
  }
  return bind_compare(mnemonic, i) || bind_cross_lane(mnemonic, i) || bind_matrix(mnemonic, i) ||
         bind_minis(mnemonic, i) || bind_cdna4(mnemonic, i) || bind_vector(mnemonic, i);
}

}  // namespace

void decode(uint64_t address, Family family, Instruction& i) {
  i = Instruction();
  i.address = address;
  std::memcpy(i.words, reinterpret_cast<const void*>(address), kLongest);
  std::string mnemonic;
  try {
    i.format = format_of(i.words[0]);
    mnemonic = mnemonic_of(family, i.format, i.words[0]);
  } catch (const Stop&) {
  }
  if (mnemonic.empty()) {
    char text[64];
    std::snprintf(text, sizeof text, "not an instruction: %08x %08x", i.words[0], i.words[1]);
    throw Stop(text);
  }
  i.text = mnemonic;
  i.bytes = length_of(i);
  for (uint32_t n = i.bytes / 4; n < 3; ++n) i.words[n] = 0;
  bool known = false;
  i.infinite_minis = family == Family::kGfx950;
  try {
    read_fields(i, family);
    i.text += operands_of(i);
    known = bind(mnemonic, i);
    if (known && i.access != Access::kNone) i.text = mnemonic + memory_operands(i);
  } catch (const Stop& stop) {
    throw Stop(std::string(stop.what()) + " is not implemented: '" + i.text + "'");
  }
  if (!known) throw Stop("instruction not implemented: '" + i.text + "'");
}

}  // namespace machine
