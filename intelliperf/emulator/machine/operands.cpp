#include "operands.h"

#include <algorithm>
#include <array>

namespace machine {
namespace {

enum : uint16_t {
  kLastPositive = 192,
  kLastNegative = 208,
  kSharedLimit = 236,
  kPrivateBase = 237,
  kPrivateLimit = 238,
  kFirstFloat = 240,
  kLastFloat = 248,
  kVccZero = 251,
  kExecZero = 252,
  kScc = 253,
  kLiteral = 255
};

constexpr double kFloats[] = {0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532};
constexpr uint16_t kHalfOfInverseTwoPi = 0x3118;

bool is_long(Kind kind) { return kind == Kind::kB64 || kind == Kind::kF64; }
bool is_short(Kind kind) { return kind == Kind::kB16 || kind == Kind::kF16; }
bool is_float(Kind kind) { return kind == Kind::kF16 || kind == Kind::kF32 || kind == Kind::kF64; }

bool is_integer_constant(uint16_t code) { return code >= kFirstConstant && code <= kLastNegative; }

int64_t integer_constant(uint16_t code) {
  return code <= kLastPositive ? int64_t(code) - kFirstConstant : int64_t(kLastPositive) - code;
}

uint64_t aperture(uint16_t code) {
  switch (code) {
    case kSharedBase:
      return kSharedAperture;
    case kSharedLimit:
      return kSharedAperture + kApertureBytes - 1;
    case kPrivateBase:
      return kPrivateAperture;
    default:
      return kPrivateAperture + kApertureBytes - 1;
  }
}

uint16_t half_constant(uint16_t code) {
  return code == kLastFloat ? kHalfOfInverseTwoPi : double_to_half(kFloats[code - kFirstFloat]);
}

uint32_t selected(uint32_t word, const Source& source) {
  switch (source.select) {
    case kDword:
      return word;
    case kWord0:
    case kWord1: {
      const uint16_t part = uint16_t(word >> (source.select == kWord1 ? 16 : 0));
      return source.sign_extend ? uint32_t(int32_t(int16_t(part))) : part;
    }
    default: {
      const uint8_t part = uint8_t(word >> 8 * source.select);
      return source.sign_extend ? uint32_t(int32_t(int8_t(part))) : part;
    }
  }
}

template <class Word>
void change_signs(Word* values, const Source& source) {
  constexpr Word sign = Word(Word(1) << (8 * sizeof(Word) - 1));
  const Word keep = source.absolute ? Word(~sign) : Word(~Word(0)), flip = source.negate ? sign : Word(0);
  for (uint32_t lane = 0; lane < kWave; ++lane) values[lane] = Word((values[lane] & keep) ^ flip);
}

}  // namespace

void dpp_sources(uint16_t control, int8_t* from) {
  for (int lane = 0; lane < int(kWave); ++lane) {
    const int row = lane & ~15, place = lane & 15, amount = control & 15;
    int source = -1;
    if (control <= 0xFF)
      source = (lane & ~3) | (control >> 2 * (lane & 3) & 3);
    else if (control >= 0x101 && control <= 0x10F)
      source = place + amount < 16 ? lane + amount : -1;
    else if (control >= 0x111 && control <= 0x11F)
      source = place - amount >= 0 ? lane - amount : -1;
    else if (control >= 0x121 && control <= 0x12F)
      source = row + ((place - amount) & 15);
    else if (control == 0x130)
      source = lane < 63 ? lane + 1 : -1;
    else if (control == 0x134)
      source = (lane + 1) & 63;
    else if (control == 0x138)
      source = lane - 1;
    else if (control == 0x13C)
      source = (lane - 1) & 63;
    else if (control == 0x140)
      source = row + 15 - place;
    else if (control == 0x141)
      source = (lane & ~7) + 7 - (lane & 7);
    else if (control == 0x142)
      source = row - 1;
    else if (control == 0x143)
      source = lane >= 32 ? 31 : -1;
    else if (control >= 0x150 && control <= 0x15F)
      source = row + amount;
    else
      throw Stop("this DPP control");
    from[lane] = int8_t(source);
  }
}

namespace {

// Of a control: which lane each lane reads, and the lanes that read one.
struct DppLanes {
  bool known = false;
  int8_t from[kWave];
  uint64_t reading = 0;
  int32_t place[kWave];   // `from`, or any lane
  uint32_t reads[kWave];  // all bits where there is one
  int32_t shift = 0;      // what each adds to its own number, if all add the same; else 0
  bool by_row = false;    // the 16 lanes of a row read one lane
};

constexpr uint32_t kDppControls = 0x160, kDppRow = 16;

int32_t common_shift(const DppLanes& lanes) {
  int32_t shift = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    if (!lanes.reads[lane]) continue;
    const int32_t own = lanes.place[lane] - int32_t(lane);
    if (shift != 0 && own != shift) return 0;
    shift = own;
  }
  return shift;
}

bool reads_by_row(const DppLanes& lanes) {
  for (uint32_t lane = 0; lane < kWave; ++lane)
    if (lanes.from[lane] != lanes.from[lane - lane % kDppRow]) return false;
  return true;
}

std::array<DppLanes, kDppControls> make_dpp_table() {
  std::array<DppLanes, kDppControls> table;
  for (uint32_t control = 0; control < kDppControls; ++control) {
    DppLanes& lanes = table[control];
    try {
      dpp_sources(uint16_t(control), lanes.from);
      lanes.known = true;
    } catch (const Stop&) {  // there is no such control
      continue;
    }
    for (uint32_t lane = 0; lane < kWave; ++lane) {
      const bool reads = lanes.from[lane] >= 0;
      lanes.reading |= uint64_t(reads) << lane;
      lanes.place[lane] = reads ? lanes.from[lane] : 0;
      lanes.reads[lane] = reads ? ~0u : 0;
    }
    lanes.shift = common_shift(lanes);
    lanes.by_row = reads_by_row(lanes);
  }
  return table;
}

const DppLanes& dpp_lanes(const Instruction& i) {
  static const auto table = make_dpp_table();  // all controls, made once
  const uint16_t control = i.lanes.control;
  if (control >= kDppControls || !table[control].known) throw Stop("this DPP control");
  return table[control];
}

// The lanes that find a value where they read.
uint64_t dpp_found(const Wave& wave, const DppLanes& lanes) {
  const uint64_t exec = wave.exec();
  if (exec == ~0ull) return lanes.reading;
  uint64_t found = 0;
  for (uint64_t rest = lanes.reading; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    found |= (exec >> lanes.from[lane] & 1) << lane;
  }
  return found;
}

// Whether lanes beyond the ends of a row of registers lie in other registers: what is there is masked.
bool has_neighbours(const Wave& wave, const uint32_t* row) {
  const uint32_t* const first = wave.registers[0];
  return row > first && row < first + (kVectorRegisters + kAccumulators - 1) * kWave;
}

void apply_dpp(const Wave& wave, const Instruction& i, const uint32_t* row, uint32_t* __restrict out) {
  const DppLanes& lanes = dpp_lanes(i);
  if (wave.exec() == ~0ull) {
    if (lanes.by_row) {
      for (uint32_t first = 0; first < kWave; first += kDppRow)
        std::fill(out + first, out + first + kDppRow, row[lanes.place[first]] & lanes.reads[first]);
      return;
    }
    if (lanes.shift != 0 && has_neighbours(wave, row)) {
      const uint32_t* const shifted = row + lanes.shift;
      for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = shifted[lane] & lanes.reads[lane];
      return;
    }
    for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = row[lanes.place[lane]] & lanes.reads[lane];
    return;
  }
  const uint64_t found = dpp_found(wave, lanes);
  for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = found >> lane & 1 ? row[lanes.from[lane] & 63] : 0;
}

// Those that the masks of rows of 16 lanes and of banks of 4 leave on.
uint64_t dpp_enabled(const Dpp& dpp) {
  uint64_t rows = 0, banks = 0;
  for (uint32_t n = 0; n < 4; ++n) {
    rows |= dpp.row_mask >> n & 1 ? 0xFFFFull << 16 * n : 0;
    banks |= dpp.bank_mask >> n & 1 ? 0x000F000F000F000Full << 4 * n : 0;
  }
  return rows & banks;
}

const void* fetch_long(Wave& wave, Instruction& i, const Source& source, Kind kind, LaneValues& buffer) {
  uint64_t* out = buffer.longs();
  if (source.is_vector()) {
    LaneValues moved[2];
    const uint32_t* half[2] = {wave.v(source.row()), wave.v(source.row() + 1)};
    if (i.dpp && &source == &i.source[0])
      for (uint32_t n = 0; n < 2; ++n) {
        apply_dpp(wave, i, half[n], moved[n].words());
        half[n] = moved[n].words();
      }
    for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = joined(half[0][lane], half[1][lane]);
  } else {
    std::fill(out, out + kWave, scalar_long(wave, i, source.code, kind));
  }
  if (kind == Kind::kF64 && (source.negate || source.absolute)) change_signs(out, source);
  return out;
}

const uint32_t* fetch_word(Wave& wave, Instruction& i, const Source& source, uint32_t* out) {
  if (!source.is_vector()) {
    const uint32_t word = scalar_word(wave, i, source.code);
    std::fill(out, out + kWave, i.sdwa ? selected(word, source) : word);
    return out;
  }
  const uint32_t* row = wave.v(source.row());
  if (i.dpp && &source == &i.source[0]) {
    apply_dpp(wave, i, row, out);
    return out;
  }
  if (!i.sdwa || source.select == kDword) return row;
  for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = selected(row[lane], source);
  return out;
}

const void* fetch_short(Wave& wave, Instruction& i, uint32_t n, Kind kind, LaneValues& buffer) {
  const Source& source = i.source[n];
  uint16_t* out = buffer.halves();
  if (source.code >= kFirstFloat && source.code <= kLastFloat) {
    std::fill(out, out + kWave, half_constant(source.code));
  } else {
    LaneValues words;
    const uint32_t* row = fetch_word(wave, i, source, words.words());
    const uint32_t shift = i.format == Format::kVop3 && (i.op_sel >> n & 1) ? 16 : 0;
    for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = uint16_t(row[lane] >> shift);
  }
  if (kind == Kind::kF16 && (source.negate || source.absolute)) change_signs(out, source);
  return out;
}

template <class Value>
Value modified(Value value, const Instruction& i) {
  static constexpr Value kFactor[] = {1, 2, 4, Value(0.5)};
  value *= kFactor[i.output_modifier];
  if (!i.clamp) return value;
  return value > 0 ? (value < 1 ? value : Value(1)) : Value(0);  // not a number becomes 0 (DX10_CLAMP)
}

void modify(const Instruction& i, Kind kind, LaneValues& result) {
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    if (kind == Kind::kF32) {
      uint32_t& word = result.words()[lane];
      word = bits_as<uint32_t>(modified(bits_as<float>(word), i));
    } else if (kind == Kind::kF64) {
      uint64_t& word = result.longs()[lane];
      word = bits_as<uint64_t>(modified(bits_as<double>(word), i));
    } else {
      uint16_t& half = result.halves()[lane];
      half = double_to_half(modified(half_to_double(half), i));
    }
  }
}

void write_part(Wave& wave, const Instruction& i, uint32_t* values, uint64_t mask) {
  const bool whole_word = i.destination_select >= kWord0;
  const uint32_t shift = whole_word ? 16u * (i.destination_select - kWord0) : 8u * i.destination_select;
  const uint32_t part = (whole_word ? 0xFFFFu : 0xFFu) << shift;
  const uint32_t* before = wave.v(i.destination);
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const uint32_t moved = (values[lane] << shift) & part;
    uint32_t rest = 0;
    if (i.destination_unused == 2)
      rest = before[lane] & ~part;
    else if (i.destination_unused == 1 && (moved & part & ~(part >> 1)))
      rest = ~part & ~((1u << shift) - 1);
    values[lane] = moved | rest;
  }
  write_words(wave, i.destination, values, mask);
}

template <class Value, class Word>
void flush(Word* values) {
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const Value value = bits_as<Value>(values[lane]);
    if (std::fpclassify(value) == FP_SUBNORMAL) values[lane] = bits_as<Word>(std::copysign(Value(0), value));
  }
}

uint32_t denormal_mode(const Wave& wave, Kind kind) {
  if (!is_float(kind)) return 3;
  return kind == Kind::kF32 ? wave.mode >> 4 & 3 : wave.mode >> 6 & 3;
}

}  // namespace

uint32_t scalar_word(const Wave& wave, const Instruction& i, uint16_t code) {
  if (code < kFirstConstant) return wave.s[code];
  if (is_integer_constant(code)) return uint32_t(integer_constant(code));
  if (code >= kFirstFloat && code <= kLastFloat) return bits_as<uint32_t>(float(kFloats[code - kFirstFloat]));
  switch (code) {
    case kSharedBase:
    case kSharedLimit:
    case kPrivateBase:
    case kPrivateLimit:
      return high_half(aperture(code));
    case kVccZero:
      return wave.vcc() == 0;
    case kExecZero:
      return wave.exec() == 0;
    case kScc:
      return wave.scc;
    case kLiteral:
      return i.literal;
    default:
      throw Stop("scalar operand " + std::to_string(code));
  }
}

uint64_t scalar_long(const Wave& wave, const Instruction& i, uint16_t code, Kind kind) {
  if (code < kFirstConstant) return wave.pair(code);
  if (is_integer_constant(code)) return uint64_t(integer_constant(code));
  if (code >= kFirstFloat && code <= kLastFloat) return bits_as<uint64_t>(kFloats[code - kFirstFloat]);
  if (code == kLiteral) return kind == Kind::kF64 ? joined(0, i.literal) : i.literal;
  if (code >= kSharedBase && code <= kPrivateLimit) return aperture(code);
  return scalar_word(wave, i, code);
}

const void* fetch(Wave& wave, Instruction& i, uint32_t n, Kind kind, LaneValues& buffer) {
  const Source& source = i.source[n];
  const void* values;
  if (is_long(kind)) {
    values = fetch_long(wave, i, source, kind, buffer);
  } else if (is_short(kind)) {
    values = fetch_short(wave, i, n, kind, buffer);
  } else {
    uint32_t* out = buffer.words();
    const uint32_t* row = fetch_word(wave, i, source, out);
    if (kind == Kind::kF32 && (source.negate || source.absolute)) {
      if (row != out) std::copy(row, row + kWave, out);
      change_signs(out, source);
      row = out;
    }
    values = row;
  }
  if (!flushes_inputs(wave, kind)) return values;
  if (values != buffer.bytes) std::memcpy(buffer.bytes, values, sizeof(Row));
  flush_denormals(kind, buffer.bytes);
  return buffer.bytes;
}

uint64_t written_lanes(const Wave& wave, const Instruction& i) {
  const uint64_t mask = wave.exec();
  if (!i.dpp) return mask;
  const uint64_t enabled = mask & dpp_enabled(i.lanes);
  return i.lanes.bound_control ? enabled : enabled & dpp_found(wave, dpp_lanes(i));
}

void write_words(Wave& wave, uint32_t row, const uint32_t* __restrict values, uint64_t mask) {
  uint32_t* __restrict out = wave.v(row);
  if (mask == ~0ull) {
    for (uint32_t lane = 0; lane < kWave; ++lane) out[lane] = values[lane];  // in wider pieces than memcpy
    return;
  }
  const uint32_t half[2] = {low_half(mask), high_half(mask)};  // shifts of words become vectors
  for (uint32_t n = 0; n < 2; ++n, out += 32, values += 32)
    for (uint32_t lane = 0; lane < 32; ++lane) out[lane] = half[n] >> lane & 1 ? values[lane] : out[lane];
}

void write_longs(Wave& wave, uint32_t row, const uint64_t* values, uint64_t mask) {
  LaneValues low, high;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    low.words()[lane] = low_half(values[lane]);
    high.words()[lane] = high_half(values[lane]);
  }
  write_words(wave, row, low.words(), mask);
  write_words(wave, row + 1, high.words(), mask);
}

void write_result(Wave& wave, Instruction& i, Kind kind, LaneValues& result, HighHalf high_half) {
  if (is_float(kind) && (i.clamp || i.output_modifier)) modify(i, kind, result);
  if (flushes_outputs(wave, kind)) flush_denormals(kind, result.bytes);
  const uint64_t mask = written_lanes(wave, i);
  if (is_long(kind)) {
    write_longs(wave, i.destination, result.longs(), mask);
    return;
  }
  LaneValues widened;
  uint32_t* words = result.words();
  if (is_short(kind)) {
    words = widened.words();
    const bool to_high = i.format == Format::kVop3 && (i.op_sel & 8);
    const bool keep = to_high || (high_half == HighHalf::kKeep && i.format == Format::kVop3);
    const uint32_t* before = wave.v(i.destination);
    for (uint32_t lane = 0; lane < kWave; ++lane) {
      const uint32_t half = result.halves()[lane];
      const uint32_t rest = !keep ? 0 : to_high ? before[lane] & 0xFFFF : before[lane] & 0xFFFF0000u;
      words[lane] = rest | (to_high ? half << 16 : half);
    }
  }
  if (i.sdwa && i.destination_select != kDword)
    write_part(wave, i, words, mask);
  else
    write_words(wave, i.destination, words, mask);
}

void flush_denormals(Kind kind, void* values) {
  if (kind == Kind::kF32) {
    flush<float>(static_cast<uint32_t*>(values));
  } else if (kind == Kind::kF64) {
    flush<double>(static_cast<uint64_t*>(values));
  } else if (kind == Kind::kF16) {
    uint16_t* halves = static_cast<uint16_t*>(values);
    for (uint32_t lane = 0; lane < kWave; ++lane)
      if ((halves[lane] & 0x7C00) == 0) halves[lane] &= 0x8000;
  }
}

bool flushes_inputs(const Wave& wave, Kind kind) { return !(denormal_mode(wave, kind) & 1); }
bool flushes_outputs(const Wave& wave, Kind kind) { return !(denormal_mode(wave, kind) & 2); }

}  // namespace machine
