// Other values for the plain numbers of a launch: arguments, members of structs among them, device variables. The
// parent names them (INTELLIPERF_OTHER_SLOTS) with what the original's code does with each, see ir/quantities.py, so
// that both versions of a program are altered alike.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "launch.h"

namespace simt {

constexpr int64_t kMostOfAModule = 4096;   // constants of the original beyond it are not sizes that a launch could have
constexpr int64_t kFarthest = 400 * 1024;  // nor those of a candidate beyond this, for which memory has room then

constexpr int64_t kLeastSize = 5;            // what is below is often a mode
constexpr uint64_t kMostAltered = 2u << 20;  // accesses of a launch with more than it has itself

struct Quantity {
  int64_t parameter = -1;  // -1: a device variable
  std::string variable;    // mangled
  uint64_t offset = 0;
  Number number;
  bool open = false;  // it may be promised to be a multiple of something that is not known
  bool compared = false;
  bool only_calculated = false;  // unsigned, and no limit of anything
  bool boolean = false;
  bool bound = false;              // other numbers are cut to it
  bool mask = false;               // other numbers are masked with it
  std::vector<int64_t> divisors;   // it may be promised to be a multiple of these
  std::vector<int64_t> constants;  // that it is compared with
};

struct OtherSize {
  struct Value {
    size_t slot;
    uint64_t bytes;
  };
  std::vector<Value> values;  // its own first, then those of slots that are products of it and another
  Dim3 grid;
  bool larger = false;  // than the allocations were meant for
  bool mode = false;    // of a number that is so small that it may choose what is done
  bool keyed = false;   // some integers that are only read lie about the old size and the new one
  bool edges = false;   // every other row of this size begins with NaN
  bool halves = false;  // they lie half-way between integers; `ones`: the longest list of them, and the others are 1
  bool ones = false;
  bool bare =
      false;  // what only larger sizes would reach is NaN: nobody may read it, not to multiply it by zero either
  bool alike = false;    // integers that are only read are nearly equal: what tells them apart stands anywhere
  bool rows = false;     // one part of each list that rises throughout has all of it
  int list = -1;         // one list of integers that are only read, twice as large: they may say how long things are
  bool alone = false;    // of its grid the first block
  bool extreme = false;  // the largest value of a number that is only calculated with
};

// "where:offset:bytes:kind:flags:divisors:constants", with semicolons between.
std::vector<Quantity> read_slots(const std::string& text);

// Where the slot's bytes are now; null if the launch has no such number.
uint64_t size_in(const Quantity& slot, const LaunchRequest& request);  // 0 where it is not a positive integer
const void* slot_address(const Quantity& slot, const LaunchRequest& request);

// Every other value of every slot, one by one. `constants`: values of special interest, which only one version's
// code names. `beside`: other shapes of the launch that the values must suit as well.
std::vector<OtherSize> other_sizes(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                   const std::vector<int64_t>& constants, const std::vector<LaunchShape>& beside,
                                   bool may_grow);

// The launch with one value for one slot; false where no launch suits it.
bool other_size(const std::vector<Quantity>& slots, const LaunchRequest& request,
                const std::vector<LaunchShape>& beside, bool may_grow, size_t slot, int64_t value, OtherSize& other);

// Every size that is not a mode, so many times as large.
std::vector<OtherSize> multiples(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                 const std::vector<int64_t>& factors, const std::vector<LaunchShape>& beside);

// Every size that is not a mode, `factor` times as large, beside one other size that is so much smaller that the launch
// makes no more than `most` accesses, of the `accesses` that it makes as it is.
std::vector<OtherSize> lopsided(const std::vector<Quantity>& slots, const LaunchRequest& request, int64_t factor,
                                uint64_t accesses, uint64_t most);

// Other grids alone, for kernels whose code goes by the grid's size.
std::vector<OtherSize> other_grids(const LaunchRequest& request);

}  // namespace simt
