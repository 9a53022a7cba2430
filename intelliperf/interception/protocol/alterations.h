// How a launch is altered for a validation that an answer remembered, or known beforehand, cannot pass. Needs nothing
// of a device: the emulator's runtime and the libraries that are injected on hardware both do it so.
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
//   3  Plain arguments, one per variant, with those that are products of it: integers from 5 on to a lower one that
//      is divisible by the same power of two (a power of two to its half), floats doubled. Where the grid has a thread
//      for each of so many items, alone or times other arguments, it shrinks with them; an integer that may have to do
//      with the launch in another way stays. The original does less of the same then, or fails, which is for the
//      parent to see. Where a candidate may choose its own grid, the parent names all shapes of both programs'
//      launches, so that both alter the same arguments.
//      The emulator alters more of them, in more ways: see other_sizes.h and other_data.h.
//   4  What the application copies to the device, as it arrives, and for good: the way of 2, with numbers told by
//      their bits. No launch is repeated, so that programs with other kernels can be compared.
//   5  Floats that the kernel only reads, all multiplied by 128; on the emulator, all doubles also by powers of two that no
//      float has.
//   6  On the emulator: sizes and numbers that some bits do not hold, see wide_launches.h.
//   7  On the emulator: another value of a plain argument, most of all of one that chooses what is done, together with
//      other data.
//   8  On the emulator: arguments and data that only the candidate's code compares with, see named_launches.h.
//   9  As 4, but an eighth of the integers become the one before them with another second or third byte: whoever
//      compares the lowest ones alone takes the two for equal.
//  10  As 4, but half of the numbers, one after another, become the one before them: runs of equal numbers are long, one
//      row has half of a list that rises, and most candidates for a maximum are as good.
//  11  On the emulator, of kernels that are compiled for each launch: other constants of the compilation.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

enum class OtherNumbersMode : uint8_t {
  kNone,
  kAll,
  kSome,
  kArguments,
  kCopies,
  kLarge,
  kWide,
  kTogether,
  kNamed,
  kCopiesAbove,
  kCopiesAlike,
  kConstants
};

// Are copies altered, and no launch repeated?
constexpr bool alters_copies(OtherNumbersMode mode) {
  return mode == OtherNumbersMode::kCopies || mode == OtherNumbersMode::kCopiesAbove ||
         mode == OtherNumbersMode::kCopiesAlike;
}

enum class NumberKind : uint8_t { kNone, kFloat, kInteger, kBoolean, kBrain };  // kBrain: bfloat16

struct Number {
  NumberKind kind = NumberKind::kNone;
  uint32_t bytes = 0;
  bool operator==(const Number& o) const { return kind == o.kind && bytes == o.bytes; }
};

using GridSize = std::array<uint32_t, 3>;

struct LaunchShape {
  GridSize grid, block;
};

struct BufferNumbers {
  Number number;         // what the buffer consists of
  bool constant = true;  // the kernel only reads it
  uint32_t order = 0;    // its own, among those of the launch
};

// A half as a float, and back: towards zero; what is too large or too small keeps its former value.
float widened(uint16_t half);
uint16_t narrowed(float value, uint16_t former);
// The same of either format of 16 bits.
float widened(uint16_t bits, NumberKind kind);
uint16_t narrowed(float value, uint16_t former, NumberKind kind);

// Whether the `nth` launch of a kernel (from 0) is altered: an early one, or one of a thinning row.
bool worth_repeating(uint64_t nth);

// Overwrites the numbers with others, by modes 1, 2 and 5.
void alter(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t nth, OtherNumbersMode mode);

// The same for what the `nth` copy to the device holds, by mode 4. Told from its content alone, and so alike in all
// versions of a program.
void alter_copied(char* at, uint64_t bytes, uint64_t nth);
void alter_copied_above(char* at, uint64_t bytes, uint64_t nth);  // by mode 9
void alter_copied_alike(char* at, uint64_t bytes);                // by mode 10

struct PlainArgument {
  size_t index;
  Number number;
  const void* value;
};

// Another value for a plain argument, and the grid that goes with it.
struct OtherArgument {
  struct Value {
    size_t index;
    uint64_t bytes;
  };
  std::vector<Value> values;  // its own first, then those of arguments that are products of it and another
  GridSize grid;
};

// `beside`: shapes of other launches that the values must suit as well.
std::vector<OtherArgument> other_arguments(const std::vector<PlainArgument>& arguments, const LaunchShape& shape,
                                           const std::vector<LaunchShape>& beside);

}  // namespace simt
