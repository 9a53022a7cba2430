// What the L2 holds when a launch begins, of what copies, fills and launches before it have touched.
//
// Kept are the spans that each of them touched, the last one first, with how many bytes of them. What does not fit is
// gone, and so is what as much as that has come in after. A launch goes through its spans side by side: they are gone
// together, as in a cache that is walked through in circles.
//
// On an H200, whose L2 has 63 MB, kernels are faster after themselves than after a read of 256 MiB where they touch 34 MB
// or less, and hardly where they touch 50 MB or more (benchmarks/hardware/*h200.json, "warm" and "cold"); kKeeps lies
// between. A program whose kernel follows the copy of its input is timed as the former. Other chips of NVIDIA are taken to
// be alike. Those of AMD begin each launch empty here: nothing was measured there.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

namespace simt {

struct TouchedSpan {
  uintptr_t begin, end;
  uint64_t bytes;  // of it, anywhere
};
using Touched = std::vector<TouchedSpan>;

class L2Contents {
 public:
  static L2Contents& instance();

  bool keeps_anything() const { return capacity_ > 0; }
  void touch(Touched spans);
  void touch(uintptr_t begin, uint64_t bytes) { touch({{begin, begin + bytes, bytes}}); }
  // Whether it is still there after `more` bytes that were not.
  bool holds(uintptr_t address, uint64_t more) const;

 private:
  L2Contents();
  void forget(const TouchedSpan& span);

  std::deque<Touched> groups_;
  uint64_t capacity_;
};

}  // namespace simt
