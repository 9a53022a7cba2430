#include "vector.h"

#include <algorithm>
#include <unordered_map>

#include "decode.h"

namespace machine {
namespace {

std::unordered_map<std::string, VectorOperation>& operations() {
  static auto* const table = new std::unordered_map<std::string, VectorOperation>;
  return *table;
}

const void* literal_values(Kind kind, uint32_t literal, LaneValues& buffer) {
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    if (kind == Kind::kF16)
      buffer.halves()[lane] = uint16_t(literal);
    else
      buffer.words()[lane] = literal;
  }
  return buffer.bytes;
}

const void* destination_values(Wave& wave, Instruction& i, Kind kind, LaneValues& buffer) {
  const uint32_t* row = wave.v(i.destination);
  if (kind == Kind::kF32 || kind == Kind::kB32) return row;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    if (kind == Kind::kF64)
      buffer.longs()[lane] = joined(row[lane], wave.v(i.destination + 1u)[lane]);
    else
      buffer.halves()[lane] = uint16_t(row[lane]);
  }
  return buffer.bytes;
}

const void* source_values(Wave& wave, Instruction& i, const VectorOperation& operation, uint32_t n,
                          LaneValues& buffer) {
  const Kind kind = operation.source[n];
  if (n == 2 && (operation.traits & kAccumulates)) return destination_values(wave, i, kind, buffer);
  if (n == 2 && (operation.traits & kLiteralThird)) return literal_values(kind, i.literal, buffer);
  if (n == 1 && (operation.traits & kLiteralSecond)) return literal_values(kind, i.literal, buffer);
  if (n == 2 && (operation.traits & kLiteralSecond)) return fetch(wave, i, 1, kind, buffer);
  return fetch(wave, i, n, kind, buffer);
}

void run_vector(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const VectorOperation*>(i.semantics);
  LaneValues buffer[3], out;
  const void* source[3] = {};
  for (uint32_t n = 0; n < operation.sources; ++n) {
    source[n] = source_values(wave, i, operation, n, buffer[n]);
    if (!(operation.traits & kFlushes)) continue;
    if (source[n] != buffer[n].bytes) std::memcpy(buffer[n].bytes, source[n], sizeof(Row));
    flush_denormals(operation.source[n], buffer[n].bytes);
    source[n] = buffer[n].bytes;
  }
  operation.run(source[0], source[1], source[2], out.bytes);
  if (operation.traits & kFlushes) flush_denormals(operation.destination, out.bytes);
  write_result(wave, i, operation.destination, out,
               operation.traits & kKeepsHighHalf ? HighHalf::kKeep : HighHalf::kZero);
}

bool is_word(Kind kind) { return kind == Kind::kB32 || kind == Kind::kF32; }

// Words as they are, without a modifier of any kind.
bool is_plain(const VectorOperation& operation, const Instruction& i) {
  if (i.dpp || i.sdwa || i.clamp || i.output_modifier || (operation.traits & ~kAccumulates)) return false;
  if (!is_word(operation.destination)) return false;
  for (uint32_t n = 0; n < operation.sources; ++n)
    if (!is_word(operation.source[n]) || i.source[n].negate || i.source[n].absolute) return false;
  return true;
}

bool computes_floats(const VectorOperation& operation) {
  bool floats = operation.destination == Kind::kF32;
  for (uint32_t n = 0; n < operation.sources; ++n) floats |= operation.source[n] == Kind::kF32;
  return floats;
}

const void* plain_words(Wave& wave, Instruction& i, const VectorOperation& operation, uint32_t n, LaneValues& buffer) {
  if (n == 2 && (operation.traits & kAccumulates)) return wave.v(i.destination);
  const Source& source = i.source[n];
  if (source.is_vector()) return wave.v(source.row());
  std::fill_n(buffer.words(), kWave, scalar_word(wave, i, source.code));
  return buffer.bytes;
}

void run_plain(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const VectorOperation*>(i.semantics);
  LaneValues buffer[3], out;
  const void* source[3] = {};
  for (uint32_t n = 0; n < operation.sources; ++n) source[n] = plain_words(wave, i, operation, n, buffer[n]);
  operation.run(source[0], source[1], source[2], out.bytes);
  write_words(wave, i.destination, out.words(), wave.exec());
}

void run_plain_floats(Wave& wave, Instruction& i) {
  if (flushes_inputs(wave, Kind::kF32) || flushes_outputs(wave, Kind::kF32)) return run_vector(wave, i);
  run_plain(wave, i);
}

}  // namespace

Registered::Registered(const VectorOperation& operation) { operations()[operation.name] = operation; }

const VectorOperation* find_vector_operation(const std::string& name) {
  const auto found = operations().find(name);
  return found == operations().end() ? nullptr : &found->second;
}

bool bind_vector(const std::string& mnemonic, Instruction& i) {
  const VectorOperation* operation = find_vector_operation(mnemonic);
  if (!operation) return false;
  const Kind kind = operation->destination;
  const bool integer = kind == Kind::kB16 || kind == Kind::kB32 || kind == Kind::kB64;
  if (integer && i.clamp) {
    operation = find_vector_operation(mnemonic + "_clamped");
    if (!operation) return false;
  }
  i.semantics = operation;
  i.execute = !is_plain(*operation, i) ? run_vector : computes_floats(*operation) ? run_plain_floats : run_plain;
  return true;
}

}  // namespace machine
