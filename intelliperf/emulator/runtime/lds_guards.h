// Keeps accesses beyond LDS from the rest of this process, and notices those that meet its unused bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "launch.h"

namespace simt {

constexpr uint64_t kSharedGuard = 256;           // ir/variables.py: unused bytes around each static variable
constexpr uint64_t kDynamicGuard = 1024 * 1024;  // before and behind the buffer of dynamic LDS

// Pages that nobody may touch, until the process ends.
void close_lds_guards(char* before, char* before_end, char* behind, char* behind_end);

struct SharedSpan {
  uint64_t begin = 0, end = 0;  // addresses
};

// Of the running launch the variable that an access to a closed page was meant for; empty: it is none of these pages.
SharedSpan beside_lds(uint64_t address);

// Whether it lies in pages of dynamic LDS that are closed now.
bool in_closed_lds(const void* address);

// For one altered launch of a module's own code: unused bytes hold a pattern, which has to be there still whenever a
// block stops. Pages of dynamic LDS that it did not ask for are closed, too, unless every access is checked.
class LdsGuards {
 public:
  LdsGuards(const LaunchRequest& request, bool checked);
  ~LdsGuards();
  LdsGuards(const LdsGuards&) = delete;
  LdsGuards& operator=(const LdsGuards&) = delete;

  void fill() const;
  // Where it is not, that is noted as an access out of bounds.
  bool intact() const;

 private:
  struct Unused {
    char* begin;
    uint64_t bytes;
    SharedSpan variable;  // that it lies behind, or before
  };
  std::vector<Unused> unused_;
};

}  // namespace simt
