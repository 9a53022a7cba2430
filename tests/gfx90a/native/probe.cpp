// Runs single instructions on given register values, without ROCr: cases on standard input, results on output.
// The layout is that of opcode_cases.py; all words are little-endian.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "code.h"
#include "device_memory.h"

namespace {

using namespace machine;

constexpr uint32_t kMemoryPointer = 2;  // s[2:3]
constexpr size_t kReadAhead = 16;       // decoding looks at three words

void read_exactly(void* to, size_t bytes) {
  if (bytes && std::fread(to, bytes, 1, stdin) != 1) std::exit(2);
}

uint32_t read_word() {
  uint32_t word;
  read_exactly(&word, sizeof word);
  return word;
}

std::vector<uint8_t> read_bytes() {
  std::vector<uint8_t> bytes(read_word());
  read_exactly(bytes.data(), bytes.size());
  return bytes;
}

void write_bytes(const void* from, size_t bytes) { std::fwrite(from, 1, bytes, stdout); }
void write_word(uint32_t word) { write_bytes(&word, sizeof word); }

std::vector<uint32_t> read_numbers() {
  std::vector<uint32_t> numbers(read_word());
  for (uint32_t& number : numbers) number = read_word();
  return numbers;
}

std::vector<uint8_t> memory, code;
Family family = Family::kGfx90a;

bool find_memory(uint64_t address, uint64_t& begin, uint64_t& end) {
  for (const std::vector<uint8_t>* place : {&memory, &code}) {
    begin = reinterpret_cast<uint64_t>(place->data());
    end = begin + place->size();
    if (address >= begin && address < end) return true;
  }
  return false;
}

std::string run(Wave& wave) {
  Code decoded(family);
  decoded.begin_dispatch();
  const size_t length = code.size();
  code.resize(length + kReadAhead);
  wave.pc = reinterpret_cast<uint64_t>(code.data());
  const uint64_t end = wave.pc + length;
  try {
    while (wave.pc < end) {
      Instruction& instruction = decoded.at(wave.pc);
      wave.pc += instruction.bytes;
      instruction.execute(wave, instruction);
    }
  } catch (const Stop& stop) {
    return stop.what();
  }
  return {};
}

void run_case() {
  code = read_bytes();
  Wave wave;
  wave.mode = read_word();
  wave.scc = read_word() != 0;
  memory = read_bytes();
  std::vector<uint8_t> lds = read_bytes();
  wave.lds = lds.data();
  wave.lds_bytes = lds.size();
  for (uint32_t left = read_word(); left; --left) {
    const uint32_t index = read_word();
    wave.s[index] = read_word();
  }
  for (uint32_t left = read_word(); left; --left) {
    const uint32_t index = read_word();
    read_exactly(wave.v(index), sizeof(Row));
  }
  const std::vector<uint32_t> scalars = read_numbers(), rows = read_numbers();
  if (!memory.empty()) wave.set_pair(kMemoryPointer, reinterpret_cast<uint64_t>(memory.data()));
  const std::string stopped = run(wave);
  write_word(uint32_t(stopped.size()));
  write_bytes(stopped.data(), stopped.size());
  write_word(wave.scc);
  for (const uint32_t index : scalars) write_word(wave.s[index]);
  for (const uint32_t index : rows) write_bytes(wave.v(index), sizeof(Row));
  write_bytes(memory.data(), memory.size());
  write_bytes(lds.data(), lds.size());
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string(words[1]) == "gfx942") family = Family::kGfx942;
  set_memory(find_memory);
  for (uint32_t left = read_word(); left; --left) run_case();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
