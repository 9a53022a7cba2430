#include "program.h"

#include <algorithm>
#include <cstring>

#include "decode.h"

namespace machine {
namespace {

void refuse(Wave&, Instruction& i) { throw Stop(i.text); }

}  // namespace

Program::Program(Family family, uint64_t begin, uint64_t bytes) : begin_(begin), by_word_(bytes / 4, kNone) {
  instructions_.reserve(bytes / 6);
  for (uint64_t word = 0; word < by_word_.size();) {
    uint32_t words[3] = {};  // decoding looks at three
    std::memcpy(words, reinterpret_cast<const uint32_t*>(begin) + word,
                4 * std::min<uint64_t>(3, by_word_.size() - word));
    Instruction& made = instructions_.emplace_back();
    try {
      decode(reinterpret_cast<uint64_t>(words), family, made);
    } catch (const Stop& stop) {
      const uint8_t length = made.bytes ? made.bytes : 4;
      made = Instruction();
      made.bytes = length;
      made.text = stop.what();
      made.execute = refuse;
    }
    made.address = begin + 4 * word;
    by_word_[word] = uint32_t(instructions_.size() - 1);
    word += made.bytes / 4;
  }
}

void Program::stray(uint64_t address) const {
  throw Stop(address % 4 ? "the program counter is not a multiple of 4"
                         : "the program counter leads out of the kernel's code");
}

bool tried(Wave& wave, Instruction& i) {
  try {
    i.execute(wave, i);
    return true;
  } catch (const Stop&) {
    return false;
  }
}

uint64_t run_wave(Program& program, Wave& wave, uint64_t most, Path* path, Stopped& stopped) {
  uint64_t ran = 0;
  const Instruction* at = nullptr;
  wave.turn = true;
  try {
    Instruction* next = nullptr;
    const Instruction* const end = program.instructions().data() + program.instructions().size();
    while (wave.state == State::kRunning && wave.turn && ran < most) {
      const bool straight = next && next != end && next->address == wave.pc;
      Instruction& instruction = straight ? *next : program.at(wave.pc);
      at = &instruction;
      next = &instruction + 1;
      if (path && instruction.block != ~0u) path->enter(wave, instruction);
      wave.pc += instruction.bytes;
      if (wave.follower) wave.follower->before(wave, instruction);
      instruction.execute(wave, instruction);
      if (wave.follower) wave.follower->after(wave, instruction);
      ++ran;
    }
  } catch (const Fault& fault) {
    stopped = Stopped{true, fault.what(), at, true, fault.address, fault.lane};
  } catch (const Stop& stop) {
    stopped = Stopped{true, stop.what(), at, false, 0, 0};
  }
  return ran;
}

}  // namespace machine
