// What the L2 holds when a launch begins, of what copies, fills and launches before it have touched.
//
// Kept are the spans that each of them touched, the last one first, with how many bytes of them; which ones is not known,
// so that what is touched of a span later is taken to be of what was touched before. What does not fit is gone, and so is
// what as much as that has come in after. A launch goes through its spans side by side: they are gone together, as in a
// cache that is walked through in circles.
//
// On an H200, whose L2 has 63 MB, kernels are faster after themselves than after a read of 256 MiB where they touch 34 MB
// or less, and hardly where they touch 50 MB or more (benchmarks/hardware/*h200.json, "warm" and "cold"); kKeeps lies
// between. Fills and kernels leave as much. A copy from the host leaves little: of 1 MB 85 %, of 4 MB 61 %, of 8 MB
// 39 %, of 16 MB 19 %, about 3 MB each time, by the latency of a read that follows on an H200. Which parts these are was
// not measured, nor what a copy to the host leaves: as much is assumed. Other chips of NVIDIA are taken to be alike.
// Those of AMD begin each launch empty here: nothing was measured there.
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
  static constexpr uint64_t kOfHostCopy = 3ull << 20;  // see above

  static L2Contents& instance();

  bool keeps_anything() const { return capacity_ > 0; }
  void touch(Touched spans);
  void touch(uintptr_t begin, uint64_t bytes) { touch({{begin, begin + bytes, bytes}}); }
  // With what comes from elsewhere: nothing else of it is there any more.
  void replace(const TouchedSpan& span);
  // Whether it is still there after `more` bytes that were not.
  bool holds(uintptr_t address, uint64_t more) const;

 private:
  L2Contents();
  void forget(const TouchedSpan& span, double share);

  std::deque<Touched> groups_;
  uint64_t capacity_;
};

}  // namespace simt
