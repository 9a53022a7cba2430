// The same launch on other numbers: for a validation that an answer remembered, or known beforehand, cannot pass.
//
// Floats behind pointer parameters are multiplied by powers of two, each buffer by another one, and integers that
// the kernel may write are lowered by one where they are above one. Order, signs, zeros and the last digits of sums
// stay as they are, and indices stay in their ranges. Asked for by INTELLIPERF_OTHER_NUMBERS=1.
#pragma once
#include <cstdint>
#include <vector>

#include "launch.h"
#include "memory.h"

namespace simt {

// Alters memory when made and puts back all device memory, the launch's results included, when it goes.
class OtherNumbers {
 public:
  explicit OtherNumbers(const LaunchRequest& request);
  ~OtherNumbers();
  OtherNumbers(const OtherNumbers&) = delete;
  OtherNumbers& operator=(const OtherNumbers&) = delete;

  // Whether the `nth` launch of a kernel (from 0) is one to repeat: asked for, an early one or one of a thinning row,
  // and with little enough memory to put back. Equal for all versions of a program with the same allocations.
  static bool due(uint64_t nth);

 private:
  struct Saved {
    uintptr_t base;
    std::vector<char> content;
  };
  std::vector<Saved> saved_;
};

}  // namespace simt
