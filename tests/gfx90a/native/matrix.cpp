// Accumulation registers and matrix multiplication.
#include <map>

#include "decode.h"
#include "operands.h"

namespace gfx90a {
namespace {

void read_accumulator(Wave& wave, Instruction& i) {
  LaneValues copy;
  std::memcpy(copy.bytes, wave.v(i.source[0].row()), sizeof(Row));
  write_words(wave, i.destination, copy.words(), wave.exec());
}

void write_accumulator(Wave& wave, Instruction& i) {
  LaneValues buffer;
  const void* values = fetch(wave, i, 0, Kind::kB32, buffer);
  write_words(wave, i.destination % kVectorRegisters + kVectorRegisters, static_cast<const uint32_t*>(values),
              wave.exec());
}

}  // namespace

bool bind_matrix(const std::string& mnemonic, Instruction& i) {
  static const std::map<std::string, Execute> moves = {
      {"v_accvgpr_read_b32", read_accumulator}, {"v_accvgpr_write_b32", write_accumulator}};
  const auto move = moves.find(mnemonic);
  if (move == moves.end()) return false;
  i.execute = move->second;
  return true;
}

}  // namespace gfx90a
