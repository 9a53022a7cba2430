// The same launch on other numbers: for a validation that an answer remembered, or known beforehand, cannot pass.
// Asked for by INTELLIPERF_OTHER_NUMBERS.
//
// A list in no fixed order stays as it is: what its places hold differs from run to run. The parent names such lists.
//
//   1  Floats behind pointer parameters are multiplied by powers of two, each buffer by another one, and integers
//      that the kernel may write are lowered by one where they are above one. Order, signs, zeros and the last
//      digits of sums stay as they are, and indices stay in their ranges.
//   2  Only an eighth of each buffer's numbers, those of one range of values, which is drawn by launch and buffer:
//      floats move half-way to the lower end of the range, integers as above; those that the kernel only reads, which
//      may be indices, become its lowest one. Sorted numbers stay sorted. Whoever knows the data by some of it takes
//      it for the same.
//   3  Plain arguments, one per variant, with those that are products of it: integers from 5 on to a lower one that is divisible by the same
//      power of two (a power of two to its half), floats doubled. Where the grid has a thread for each of so many
//      items, alone or times other arguments, it shrinks with them; an integer that may have to do with the launch in
//      another way stays. The original does less of the same then, or fails, which is for the parent to see.
//      Where a candidate may choose its own grid, the parent names all shapes of both programs' launches, so that both
//      alter the same arguments.
//   4  What the application copies to the device, as it arrives, and for good: the way of 2, with numbers told by
//      their bits. No launch is repeated, so that programs with other kernels can be compared.
//   5  Floats that the kernel only reads, all multiplied by 128.
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

  // For mode 4: of the next copy from the host. Told from its content alone, and so alike in all versions of a program.
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
