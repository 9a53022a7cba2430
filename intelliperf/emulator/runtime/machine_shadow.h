// The algebraic shadow of machine code (see shadow.h): beside each register of a wave, what memory has beside its words.
//
// Arithmetic on floats is done in the fields too. Whatever only moves words or halves is found by running it on marks in
// their place, so that no such instruction has to be listed. What does neither, and takes a number that a kernel
// calculated, loses the shadow, and says so.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device_memory.h"
#include "program.h"
#include "shadow.h"
#include "vector_memory.h"

namespace simt {

struct LaunchRequest;

// Of a word of a register: records as memory has them, for the whole and for either half.
struct WordShadow {
  ShadowRecord whole = {}, half[2] = {};
  bool empty() const { return !(whole.word | half[0].word | half[1].word); }
};

bool is_calculated(const WordShadow& shadow);
bool is_mixed(const WordShadow& shadow);
WordShadow exclusive_or(const WordShadow& x, uint32_t x_bits, const WordShadow& y, uint32_t y_bits);
ShadowRecord half_of(const WordShadow& shadow, uint32_t half);

struct FloatArguments {                             // of the launch
  std::vector<std::pair<uint32_t, uint64_t>> bits;  // and the argument's number
};
FloatArguments float_arguments(const LaunchRequest& request);

class RegisterShadows {
 public:
  static constexpr uint32_t kScalars =
      machine::kVectorRegisters + machine::kAccumulators;  // their first row; lane 0 counts
  static constexpr uint32_t kRows = kScalars + 128;

  void clear();
  bool has(uint32_t row) const { return rows_[row] && rows_[row]->used; }
  const WordShadow& at(uint32_t row, uint32_t lane) const { return has(row) ? rows_[row]->lane[lane] : kNone; }
  const WordShadow* lanes(uint32_t row) const { return has(row) ? rows_[row]->lane : nullptr; }
  WordShadow* opened(uint32_t row);  // to be written
  void set(uint32_t row, uint32_t lane, const WordShadow& shadow);
  void drop(uint32_t row, uint64_t lanes);

 private:
  struct Row {
    bool used = false;
    WordShadow lane[machine::kWave] = {};
  };
  static const WordShadow kNone;
  std::array<std::unique_ptr<Row>, kRows> rows_;
};

struct NumberPlan;
struct Facts;

class WaveShadow final : public machine::Follower, machine::Observer {
 public:
  void begin(const FloatArguments* arguments, const machine::Program* program);
  void before(machine::Wave& wave, machine::Instruction& instruction) override;
  void after(machine::Wave& wave, machine::Instruction& instruction) override;

 private:
  static constexpr uint32_t kMost = 3;
  struct Request {
    machine::Space space;
    machine::LaneAddresses lanes;
  };
  struct Operand {
    Shadow exact[machine::kWave];
    double value[machine::kWave];
  };

  void request(machine::Wave& wave, machine::Instruction& instruction, machine::Space space,
               const machine::LaneAddresses& lanes, uint32_t bytes) override;
  void order(machine::Wave& wave, machine::Order what, bool wide) override;

  // Arithmetic: machine_shadow_numbers.cpp.
  void read(machine::Wave& wave, const machine::Instruction& i, uint32_t n, const machine::Source& source,
            ShadowKind kind, uint32_t part, Operand& into);
  bool read_floats(machine::Wave& wave, uint32_t row, Operand& into);
  void read_constant(machine::Wave& wave, const machine::Instruction& i, uint32_t n, const machine::Source& source,
                     ShadowKind kind, uint32_t part, Operand& into);
  struct Half {  // which part of a register an operand is
    bool upper = false;
    uint32_t next = 0;  // register further on
    bool negate = false, absolute = false;
  };
  Half half_read(const machine::Instruction& i, uint32_t n, const machine::Source& source, ShadowKind kind,
                 uint32_t part) const;
  void read_literal(const machine::Instruction& i, ShadowKind kind, Operand& into);
  ShadowKind kind_of(const machine::Instruction& i, uint32_t n) const;
  Shadow exact(const WordShadow& low, const WordShadow& high, uint64_t bits, ShadowKind kind, bool upper, bool scalar);
  Shadow of_constant(uint64_t bits, ShadowKind kind, bool scalar);
  Shadow result(const machine::Instruction& i, uint32_t part, uint32_t lane, double value);
  void before_number(machine::Wave& wave, const machine::Instruction& i);
  void after_number(machine::Wave& wave, const machine::Instruction& i);
  bool after_floats(machine::Wave& wave, const machine::Instruction& i);
  void decide_integers(const machine::Instruction& i);
  void compare(machine::Wave& wave, const machine::Instruction& i);

  // What moves, and what is lost.
  void before_move(machine::Wave& wave, machine::Instruction& i);
  void after_move(machine::Wave& wave, const machine::Instruction& i);
  void find_rows(machine::Wave& wave, const machine::Instruction& i);
  void put_marks(machine::Wave& wave, uint16_t base);
  void find_marks(machine::Wave& wave, uint16_t base, bool first);
  void follow_marks();
  bool changes_little(machine::Wave& wave, uint32_t row);
  void change_signs(machine::Wave& wave, uint32_t row);
  void lose(const machine::Instruction& i);
  void before_exchange(machine::Wave& wave, const machine::Instruction& i);  // machine_shadow_exchange.cpp
  void after_exchange(const machine::Instruction& i);

  // Memory and matrices: machine_shadow_memory.cpp.
  void load(machine::Wave& wave, const machine::MemoryOperation& operation, const Request& request, uint32_t row);
  void store(machine::Wave& wave, const machine::Instruction& i, const machine::MemoryOperation& operation,
             const Request& request, uint32_t row);
  void after_atomic(machine::Wave& wave, const machine::Instruction& i);
  void after_memory(machine::Wave& wave, const machine::Instruction& i);
  void after_transposed(machine::Wave& wave, const machine::Instruction& i, const machine::MemoryOperation& operation);
  void after_load_to_lds(machine::Wave& wave, const machine::MemoryOperation& operation);
  void before_atomic(machine::Wave& wave, const machine::Instruction& i, const Request& request);
  uint64_t place(const machine::Wave& wave, const Request& request, uint32_t lane) const;
  void before_matrix(machine::Wave& wave, const machine::Instruction& i);
  void after_matrix(machine::Wave& wave, const machine::Instruction& i);

  RegisterShadows registers_;
  const FloatArguments* arguments_ = nullptr;
  const machine::Program* program_ = nullptr;
  machine::Observer* others_ = nullptr;
  std::vector<Request> requests_;
  const Facts* facts_ = nullptr;  // of the instruction at hand
  const NumberPlan* plan_ = nullptr;
  uint64_t mask_ = 0;
  std::vector<Operand> operands_ = std::vector<Operand>(2 * kMost);
  struct Moved {  // of the rows that the instruction writes: where each half came from
    uint32_t row = 0;
    uint16_t half[machine::kWave][2] = {};
    WordShadow shadow[machine::kWave];
  };
  std::vector<Moved> moved_;
  uint32_t before_[kMost][machine::kWave] = {};  // words of the operands, and what went with them
  WordShadow taken_[kMost][machine::kWave] = {};
  uint32_t taken_count_ = 0;
  std::vector<uint32_t> rows_;  // of the operands
  uint64_t exchanged_ = 0;      // lanes that an exclusive or mixed, or led back
  WordShadow exchange_[machine::kWave] = {};
  bool calculated_ = false;  // an operand had a number that was calculated
  bool mixed_ = false;       // an operand is an exclusive or of two such
  struct Held {
    uint64_t address;
    uint32_t bits;
    WordShadow shadow;
  };
  std::vector<Held> held_;  // what an atomic may leave in memory
  std::vector<Shadow> sums_;
  struct Product {
    uint32_t row, lane;
    Shadow shadow;
  };
  std::vector<Product> products_;
  std::unordered_map<uint64_t, Shadow> literals_;
};

}  // namespace simt
