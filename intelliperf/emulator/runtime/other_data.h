// Data of other kinds than the application's: what holds only for its signs, its range, its order or the absence of
// NaN shows. Beside the alterations that are made on hardware as well, see alterations.h.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "alterations.h"

namespace simt {

enum class DataKind : uint8_t {  // the most telling first
  kSigns,  // a quarter of the floats negated, some zero, of both signs, some just what an argument is, or beside it;
           // ascending ones stay so
  kOutOfRange,  // integers that are only read: some below the least, above the greatest, or beyond a narrower type;
                // floats as by kSigns
  kEveryValue,  // integers that are only read: any of their range, bytes any at all
  kOneMore,     // integers that are only read: a few that are not the least become one more
  kOneRow,      // integers that are only read and rise throughout: the least up to some place, the greatest from there
  kNan,         // some floats, with payloads of their own
  kFarAbove,    // those in whose place kNan puts NaN are large,
  kFarBelow,    // or large and negative
  kNegative,    // all floats
  kTies,        // floats of few values; as many integers, all from those that are there
  kCrowded,     // integers that are only read: the most frequent one, which may mark what is free, is none of them
  kColliding,   // integers that are only read: equal in their lowest bits, and then by remainder, but different
  kOpposed,     // every other list of floats that is only read negative, the others positive: see kOpposedToo
  kOffset,      // floats plus 1000
  kZeros,       // all floats that are only read
  kSorted,      // ascending
  kNear,        // floats that are only read: just below the power of two that bounds them, which some reach
  kInfinite,    // some floats, of both signs
  kReversed,
  kOpposedToo,  // the same of the other lists
  kRamp,        // ascending from zero to the greatest
  kAlike,       // integers that are only read: nearly equal in all buffers, few of them one more or one less
  kLateStart,   // a long beginning without anything: floats that are only read zero, integers of two buffers apart, and
                // alike at their ends
  kTiny,        // floats that are only read, a billionth of them
  kWritten,     // integers that may be written, as by kOutOfRange: what is sorted or updated in its place
  kCancelling,  // floats that are only read: large ones that cancel in every sum, among small ones; if that is asked for
  kCount,
  kBelow,  // floats that are only read, all below `Bounds::limit`
  kAbove,  // or above it
  kNamed,  // integers that are only read: three of four are `Bounds::named`, the others beside it
};

// Plain numbers of the launch, which data may be compared with.
struct Bounds {
  std::vector<double> floats;
  std::vector<int64_t> integers;
  double limit = 0;
  int64_t named = 0;
  int64_t long_row = -1;                     // which row has all, of those that a list says the beginnings of; -1: any
  mutable bool in_any_order = false;         // the numbers that are altered now are a list in no fixed order
  mutable std::vector<int64_t> shared = {};  // what numbers of the buffers so far nearly all are

  // For numbers of that range: equal in as many buffers as it can be, for these may be compared with each other.
  int64_t usual(int64_t low, int64_t high, int64_t own) const;
};

// What rises throughout may say where things begin and end, in this array or in another: it still does afterwards.
// Its room, where it has as much again, holds a copy.
template <class Value>
bool rises(const std::vector<Value>& values) {
  const auto end = std::is_sorted_until(values.begin(), values.end());
  const auto length = size_t(end - values.begin());
  if (length < 3 || values.front() >= *(end - 1)) return false;
  return length == values.size() || (2 * length == values.size() && std::is_sorted(end, values.end()));
}

// Those that change something in this run, whose buffers may hold floats alone, or integers alone.
const std::vector<DataKind>& data_kinds();

const char* name_of(DataKind kind);

// Whether an original may go wrong on it in ways that only a watched run shows.
bool needs_watching(DataKind kind);

// Overwrites the numbers; `draw` tells the launch. False: left as they are.
bool alter_kind(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t draw, DataKind kind,
                const Bounds& bounds);

// Doubles are multiplied by a power of two that no float has.
bool scale_doubles(char* at, uint64_t bytes, const BufferNumbers& numbers, int power);

// Floats that are read become numbers that lie half-way between two integers, as rounding has to break ties there; those
// of one value only, when `ones`, for what they are multiplied by. Integers of a byte become few ones among noughts.
bool alter_halves(char* at, uint64_t bytes, const BufferNumbers& numbers, bool ones);

// Floats that are read, taken for rows of so many: the first one of every other row becomes NaN. Nobody may read it for
// the row before, not to multiply it by zero either.
bool alter_edges(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t row);

// The longest of a launch's buffers of floats, taken for rows of so many: see kCancelling.
bool alter_cancelling(char* at, uint64_t bytes, const Number& number, uint64_t row);

// An eighth of the integers become ones about these sizes, above and below.
bool alter_about(char* at, uint64_t bytes, const BufferNumbers& numbers, const std::vector<int64_t>& sizes);

// Integers of so many bytes, where twice as much fits.
void double_integers(char* at, uint64_t bytes, uint32_t each);

// NaN for the last numbers of `bytes`, and for all of the `room` behind them.
void bare_end(char* at, uint64_t bytes, uint64_t room, const Number& number);

}  // namespace simt
