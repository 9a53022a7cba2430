// The same launch on other numbers: for a validation that an answer remembered, or known beforehand, cannot pass.
// Asked for by INTELLIPERF_OTHER_NUMBERS; see alterations.h for its values.
#pragma once
#include <cstdint>
#include <vector>

#include "launch.h"
#include "memory.h"

namespace simt {

// Alters memory when made and puts back all device memory, the launch's results included, when it goes.
class OtherNumbers {
 public:
  OtherNumbers(const LaunchRequest& request, uint64_t nth, uint32_t variant);
  ~OtherNumbers();
  OtherNumbers(const OtherNumbers&) = delete;
  OtherNumbers& operator=(const OtherNumbers&) = delete;

  // The launch to run instead.
  const LaunchRequest& request() const { return altered_; }

  // For mode 4: of the next copy from the host.
  static void alter_copy(void* at, uint64_t bytes);

  // How often the `nth` launch of a kernel (from 0) is to be repeated: 0 unless that is asked for, it is an early one
  // or one of a thinning row, and there is little enough memory to put back. Equal for all versions of a program with
  // the same allocations and parameters.
  static uint32_t variants(const LaunchRequest& request, uint64_t nth);

 private:
  struct Saved {
    uintptr_t base;
    std::vector<char> content;
  };
  LaunchRequest altered_;
  std::vector<void*> arguments_;
  std::vector<uint64_t> values_;  // of the altered ones
  std::vector<Saved> saved_;
};

}  // namespace simt
