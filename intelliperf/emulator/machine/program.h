// The text of a code object, decoded once.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "instruction.h"

namespace machine {

// Decoded where it lies. What is not an instruction, or none that is known, stops the wave that comes to it.
class Program {
 public:
  Program(Family family, uint64_t begin, uint64_t bytes);

  uint64_t begin() const { return begin_; }
  std::vector<Instruction>& instructions() { return instructions_; }  // by address
  const std::vector<Instruction>& instructions() const { return instructions_; }
  bool contains(uint64_t address) const { return address - begin_ < 4 * by_word_.size(); }

  // The instruction that begins at an address; raises `Stop` where none does.
  Instruction& at(uint64_t address) {
    const uint64_t word = (address - begin_) / 4;
    if (word >= by_word_.size() || address % 4 || by_word_[word] == kNone) stray(address);
    return instructions_[by_word_[word]];
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  [[noreturn]] void stray(uint64_t address) const;

  uint64_t begin_;
  std::vector<uint32_t> by_word_;
  std::vector<Instruction> instructions_;
};

// What a wave that went wrong met.
struct Stopped {
  bool stopped = false;
  std::string why;
  const Instruction* at = nullptr;  // null: no instruction
  bool memory = false;              // an access to what is not memory of the device
  uint64_t address = 0;             // then
  uint32_t lane = 0;
};

// The basic blocks of a wave's path, as it enters them.
class Path {
 public:
  virtual void enter(Wave& wave, const Instruction& first) = 0;

 protected:
  ~Path() = default;
};

// Told of each instruction of a wave, before and after it runs.
class Follower {
 public:
  virtual void before(Wave& wave, Instruction& instruction) = 0;
  virtual void after(Wave& wave, Instruction& instruction) = 0;

 protected:
  ~Follower() = default;
};

// Runs an instruction for its effect on registers alone; false where it stops the wave.
bool tried(Wave& wave, Instruction& instruction);

// Lets the wave run until it ends, comes to a barrier, has executed so many instructions, or its observer or `path`
// takes the turn away by clearing `wave.turn`. Answers how many instructions it executed.
uint64_t run_wave(Program& program, Wave& wave, uint64_t most, Path* path, Stopped& stopped);

}  // namespace machine
