// What may come of the value that a load brings: the stores and atomic operations whose data, address or execution
// depend on it. Found in the code of a kernel without running it; where that cannot be told (a branch depends on the
// value, or code is called), any of them may.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "program.h"

namespace machine {

class Dataflow;

// Loads and stores are named by their sites.
class Consequences {
 public:
  Consequences(const Program& program, uint64_t entry);
  ~Consequences();

  bool may_come_of(uint32_t load, uint32_t store);

 private:
  struct Found {
    bool all = false;
    std::vector<bool> stores;
  };
  const Program& program_;
  uint64_t entry_;
  std::unique_ptr<Dataflow> flow_;  // once it is asked for
  std::unordered_map<uint32_t, Found> found_;
};

}  // namespace machine
