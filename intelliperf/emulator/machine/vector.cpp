#include "vector.h"

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
  i.execute = run_vector;
  return true;
}

}  // namespace machine
