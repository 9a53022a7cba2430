// A launch on more numbers, and on larger ones, than some bits hold: for a candidate whose code keeps integers in
// fewer bits than the original's. An index, a count or a total that is too narrow goes wrong there.
#pragma once
#include <cstdint>
#include <vector>

#include "other_sizes.h"

namespace simt {

struct WideLaunch {
  enum class Data : uint8_t {
    kOwn,
    kEqual,     // integers that are only read all have one value: what counts them counts all of them in one place
    kFull,      // those of one and two bytes have all bits set: what adds them up
    kBeyond,    // an eighth of the integers of one buffer that is only read, raised by what the bits hold or half of it
    kRaised,    // all integers that may be written, raised by what the bits hold
    kLong,      // one part of a list that rises throughout gets longer: it may say where rows begin
    kCarry,     // the same, to the largest that the bits hold and a little less: the next addition carries
    kLowest,    // those of one and two bytes that are only read are the least that they can be: products of two add up
    kFolded,    // integers of one buffer that is in no fixed order, alike in those bits, of which few differ
    kGreatest,  // or odd numbers near the greatest: sums of them have all their digits
  };
  OtherSize size;
  Data data = Data::kOwn;
  size_t buffer = 0;  // for kBeyond: which of `elements`
  uint32_t bits = 0;
  // Its first block alone, for sizes at which the whole takes too long; of the size that it has, it shows whether both
  // versions do the same there.
  bool part = false;
  bool far = false;  // one plain number alone is beyond the bits
};

struct WideBuffer {
  uint64_t elements = 0;
  bool integers = false, narrow = false;  // narrow: of one or two bytes
  bool constant = false;
  bool rising = false;  // throughout
  bool kept = false;    // in no fixed order: what becomes of a number may go by itself alone
};

// Those that a launch with these buffers may have. `accesses`: those that it makes as it is; more than some
// are not worth their time. `alone`: its grid may be one block.
std::vector<WideLaunch> wide_launches(const LaunchRequest& request, const std::vector<Quantity>& slots,
                                      const std::vector<WideBuffer>& buffers, const std::vector<uint32_t>& widths,
                                      const std::vector<LaunchShape>& beside, uint64_t accesses, bool may_grow,
                                      bool alone);

// Overwrites `bytes` of integers of `each` bytes. `by_value`: which of them are others goes by what they are.
void widen(char* at, uint64_t bytes, uint32_t each, WideLaunch::Data data, uint32_t bits, bool by_value);

// From the middle of the `asked` first bytes on, integers of `each` bytes are raised by more than the bits hold.
void lengthen(char* at, uint64_t asked, uint32_t each, uint32_t bits);

// Whether these integers do not fall, and begin below their last one.
bool rise(const char* at, uint64_t bytes, uint32_t each);

// The numbers of the room behind the `asked` first bytes, which are copies of those, become others between two of them:
// what is looked for in more of them may lie anywhere. Floats keep to the middle of their range, and reach farther the
// farther behind they stand. The extremes lie beyond what `bits` count, unless there are none.
void vary_room(char* at, uint64_t asked, uint64_t bytes, const Number& number, uint32_t bits);

// In words, for people.
const char* name_of(const WideLaunch& launch);

}  // namespace simt
