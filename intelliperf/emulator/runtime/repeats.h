// Launches that repeat an earlier one. Programs that take time launch a kernel hundreds of times; with the same shape,
// arguments and memory it leaves the same memory each time, since blocks and lanes run in one order. Such a launch is
// not run again: what it changed is written from what was kept. All memory that kernels may touch is compared by a
// digest of 128 bits under secrets of the process; it need not be looked at again where such a launch changed nothing
// and the program has done nothing since but wait and launch it once more.
//
// Not for kernels that print, read a clock, allocate, or are given pointers to memory that the runtime does not know.
// The caller holds api_lock().
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch.h"

namespace simt {

class Repeats {
 public:
  static Repeats& instance();

  // For launches that are not the program's own, such as those on altered numbers: they would be taken for a sign that
  // memory keeps changing.
  class Aside {
   public:
    Aside() { ++asides_; }
    ~Aside() { --asides_; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
  };

  // True: memory is now as the launch leaves it. Otherwise the caller runs it and tells by `ran`.
  bool replay(const LaunchRequest& request);
  void ran(bool ok, double host_ns);

 private:
  struct Digest {
    uint64_t low = 0, high = 0;
    bool operator==(const Digest& o) const { return low == o.low && high == o.high; }
  };
  struct Piece {
    uintptr_t base;
    uint64_t bytes;
  };
  struct State {  // of all memory that kernels may touch
    std::vector<Piece> pieces;
    std::vector<Digest> digests;
    Digest whole;
  };
  struct Change {
    uintptr_t base;
    std::vector<char> content;
  };
  struct Known {
    uint64_t seen = 0, next_try = 2;
    double host_ns = 0;  // of the last run
    bool kept = false;
    Digest before;
    std::vector<Change> changes;
  };

  static uint32_t asides_;  // alive

  Repeats();
  bool look(State& state);
  Digest digest(const void* data, uint64_t bytes) const;
  bool keep(Known& known, const State& before);
  void forget(Known& known);
  bool nothing_since(const Known& known) const;

  std::unordered_map<std::string, Known> known_;
  Known* current_ = nullptr;        // the launch that runs
  const Known* settled_ = nullptr;  // the last launch, if it was left out and changes nothing
  uint64_t settled_at_ = 0;         // calls with an effect until then
  State before_;                    // its memory, where its changes are to be kept
  bool keeping_ = false;
  uint64_t kept_bytes_ = 0;
  double ns_per_byte_;
  bool exported_;  // whoever has the export may write to memory between launches
  uint64_t secrets_[12];
};

// Device code did what memory does not show, or read what memory does not hold.
void note_outside_effect();

}  // namespace simt
