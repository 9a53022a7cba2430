// Which registers an instruction reads and writes, and how a mark on some of them spreads along a kernel's paths.
#pragma once
#include <bitset>
#include <cstdint>
#include <vector>

#include "program.h"

namespace machine {

class Dataflow {
 public:
  explicit Dataflow(const Program& program);

  // Marks what the loads of that site bring, and spreads the marks from the kernel's first instruction on. Sets
  // `stores` by the sites of those that are reached; false where any may be.
  bool follow(uint64_t entry, uint32_t load, std::vector<bool>& stores) const;

 private:
  enum Place : uint16_t { kScalars = kVectorRegisters + kAccumulators, kScc = kScalars + 128, kScratch, kPlaces };
  enum class Role : uint8_t {
    kPlain,
    kSavesExec,   // and keeps some of the lanes
    kCopiesExec,  // to a pair of scalar registers
    kSetsExec,    // from a pair, or to all lanes
    kJoinsExec,   // with the lanes of a pair
    kNarrowsExec,
    kBranch,
    kDecides,  // a branch by what it reads
    kSkips,    // a branch where no lane is left
    kEnds,
    kLeaves  // to where is not known
  };
  struct Span {
    uint16_t first, count;
  };
  struct Flow {
    std::vector<Span> reads, writes;
    Role role = Role::kPlain;
    bool keeps = false;   // some of what it writes to
    bool vector = false;  // done by the lanes that EXEC says
    bool effect = false;  // seen by others
    uint16_t pair = 0;    // of scalar registers, where `role` speaks of one; 0xFFFF: all lanes
    uint32_t target = 0;  // of a branch: number of an instruction
  };
  struct Marks {
    std::bitset<kPlaces> on;
    bool whole = true;             // all lanes that the wave began with are on
    std::bitset<128> holds_whole;  // pairs of scalar registers, by the first, that have them
    bool operator==(const Marks& other) const {
      return on == other.on && whole == other.whole && holds_whole == other.holds_whole;
    }
  };

  Flow flow_of(const Instruction& i) const;
  void read_vector(const Instruction& i, Flow& flow) const;
  void read_matrix(const Instruction& i, Flow& flow) const;
  void read_scalar(const Instruction& i, Flow& flow) const;
  void read_memory(const Instruction& i, Flow& flow) const;
  void read_exec(const Instruction& i, Flow& flow) const;
  uint32_t number_of(uint64_t address) const;
  static bool any(const Marks& marks, const std::vector<Span>& spans);
  static void set(Marks& marks, const Flow& flow, bool on);
  static bool exec_on(const Marks& marks);
  static void save_exec(Marks& marks, const Flow& flow, bool on);
  static void change_exec(Marks& marks, const Flow& flow);
  static bool join(Marks& into, const Marks& from);

  const std::vector<Instruction>& instructions_;
  std::vector<Flow> flows_;
  std::vector<bool> leads_;  // a branch goes there, or past it
};

}  // namespace machine
