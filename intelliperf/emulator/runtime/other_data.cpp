#include "other_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "settings.h"

namespace simt {
namespace {

constexpr uint64_t kRare = 61;    // one of so many numbers is NaN or infinite; prime, so that it falls on all lanes
constexpr uint64_t kSparse = 8;   // one of so many bytes is 1 there, so that their sums reach no limit
constexpr int64_t kHalves = 512;  // so many numbers about zero
constexpr int64_t kReaches[] = {127, 7, 31, 15};  // of signed numbers of 8, 4, 6 and 5 bits, to which rows are scaled
constexpr uint64_t kReached = 16;                 // one of so many
constexpr uint64_t kStretches = 16;
constexpr uint64_t kStretch = 256;        // numbers in a row of which the same share is another one
constexpr uint64_t kFew = 24, kMore = 8;  // one of so many
constexpr uint64_t kFree = 64;            // one of so many places of a table that is nearly full
constexpr size_t kLeastChanges = 16;      // between free places and others in it
constexpr uint64_t kTail = 64;            // so many numbers at the end
constexpr int kFewValues = 5;
constexpr int kFarBelow = 32;  // zero, by the range of the numbers
constexpr uint64_t kEnd = 32;  // this part of a buffer is its end
constexpr uint32_t kPayload = 0x1234;
constexpr uint64_t kRaised = 32;  // one of so many is one more
constexpr uint64_t kBound = 16;   // one of so many reaches its bound
constexpr int kNearest = 12;      // the others miss it by at least this power of a half
constexpr int64_t kLeastTable = 64;
constexpr uint64_t kMostTable = 1 << 22;  // so that as many fit
constexpr uint64_t kChain = 300;          // so many different integers that may be told apart by comparing them alone
constexpr uint64_t kStretched = 1024;     // integers that are alike in one way, and then in another
constexpr uint64_t kSteps = 1 << 20;      // so many numbers between a limit and its double

template <class Value>
constexpr Value kLargeOnes = sizeof(Value) == 4 ? Value(1 << 22) : Value(1ull << 50);

template <class Value>
constexpr Value kFar = sizeof(Value) == 4 ? Value(1e18) : Value(1e150);  // its square can be told, a float of 16 bits:
constexpr float kFarHalf = 6e4F;

uint64_t mixed(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

template <class Value>
std::vector<Value> read(const char* at, uint64_t bytes) {
  std::vector<Value> values(bytes / sizeof(Value));
  std::memcpy(values.data(), at, values.size() * sizeof(Value));
  return values;
}

template <class Value>
Value quiet_nan(uint64_t chance) {
  if constexpr (sizeof(Value) == 4) {
    const uint32_t bits = 0x7FC00000u | (uint32_t(chance) & 0x80000000u) | kPayload;
    Value value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    const uint64_t bits = 0x7FF8000000000000ull | (chance & (1ull << 63)) | kPayload;
    Value value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

template <class Value>
Value at_bound(const Bounds& bounds, uint64_t chance) {
  const auto bound = Value(bounds.floats[chance % bounds.floats.size()]);
  const uint64_t side = chance / 1024 % 4;
  return side < 2 ? bound
                  : std::nextafter(bound, side == 2 ? -std::numeric_limits<Value>::infinity()
                                                    : std::numeric_limits<Value>::infinity());
}

// So many numbers are nothing at first: five eighths of them, where the other half is room behind them.
uint64_t late_start(uint64_t count) { return count / 16 * 5; }

template <class Value>
Value power_above(Value value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == Value(0.5) ? value : std::ldexp(Value(1), exponent);
}

template <class Value>
bool alter_floats(std::vector<Value>& values, bool constant, uint32_t order, uint64_t draw, DataKind kind,
                  const Bounds& bounds) {
  const auto finite = [](Value v) { return std::isfinite(v); };
  Value low = 0, high = 0;
  for (const Value v : values)
    if (finite(v)) low = std::min(low, v), high = std::max(high, v);
  const Value range = high - low;
  // Ascending numbers may be searched in.
  const bool ascending = values.size() > 2 && std::is_sorted(values.begin(), values.end());
  for (uint64_t i = 0; i < values.size(); ++i) {
    Value& value = values[i];
    const uint64_t chance = mixed(draw ^ i);
    const uint64_t of_32 = chance % 32;
    switch (kind) {
      case DataKind::kSigns:
      case DataKind::kEveryValue:
      case DataKind::kOutOfRange:  // of the integers beside them: what these decide would not show otherwise
        if (ascending || !constant) return false;
        if (of_32 < 8) value = -value;
        if (of_32 == 8) value = 0;
        if (of_32 == 9) value = -Value(0);
        if (of_32 >= 10 && of_32 < 14 && !bounds.floats.empty()) value = at_bound<Value>(bounds, chance / 32);
        break;
      case DataKind::kNan:
        if (chance % kRare == 0) value = quiet_nan<Value>(chance);
        break;
      case DataKind::kFarAbove:
      case DataKind::kFarBelow:
        if (chance % kRare == 0) value = kind == DataKind::kFarAbove ? kFar<Value> : -kFar<Value>;
        break;
      case DataKind::kInfinite:
        if (chance % kRare == 0) value = chance & (1ull << 40) ? -INFINITY : INFINITY;
        break;
      case DataKind::kNegative:
        if (!constant) return false;
        if (finite(value)) value = -std::abs(value) - kFarBelow * range;
        break;
      case DataKind::kOpposed:
      case DataKind::kOpposedToo: {
        if (!constant) return false;
        const bool below = (order % 2 == 0) == (kind == DataKind::kOpposed);
        if (finite(value)) value = (below ? -1 : 1) * (std::abs(value) + (below ? kFarBelow * range : 0));
        break;
      }
      case DataKind::kTies:
        if (range > 0 && finite(value)) value = low + range / kFewValues * Value(chance % kFewValues);
        break;
      case DataKind::kOffset:
        if (!constant) return false;
        value += 1000;
        break;
      case DataKind::kZeros:
        if (!constant) return false;
        value = 0;
        break;
      case DataKind::kTiny:
        if (!constant) return false;
        value *= Value(1) / Value(1 << 30);
        break;
      case DataKind::kNear: {
        if (!constant || ascending || range <= 0) return false;
        const Value bound = power_above(std::max(high, -low));
        const Value missed = chance % kBound ? std::ldexp(Value(1), -1 - int(chance / kBound % kNearest)) : Value(0);
        if (finite(value) && value != 0) value = std::copysign(bound - bound * missed, value);
        break;
      }
      case DataKind::kLateStart:
        if (!constant || ascending) return false;
        if (i < late_start(values.size())) value = 0;
        break;
      case DataKind::kRamp:
        if (!constant) return false;
        value = high * Value(i) / Value(values.size());
        break;
      case DataKind::kBelow:
      case DataKind::kAbove: {
        if (!constant) return false;
        const double beyond = std::abs(bounds.limit) * double(1 + chance % kSteps) / double(kSteps);
        value = Value(bounds.limit + (kind == DataKind::kBelow ? -beyond : beyond));
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

template <class Value>
Value most_frequent(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  Value found = values.front();
  for (size_t i = 0, first = 0, most = 0; i < values.size(); ++i) {
    if (values[i] != values[first]) first = i;
    if (i - first + 1 > most) most = i - first + 1, found = values[i];
  }
  return found;
}

// Whether what marks a free place stands between the others, as in a table, and not behind them, as in a list.
template <class Value>
bool is_scattered(const std::vector<Value>& values, Value mark) {
  const auto marks = size_t(std::count(values.begin(), values.end(), mark));
  size_t changes = 0;
  for (size_t i = 1; i < values.size(); ++i) changes += (values[i] == mark) != (values[i - 1] == mark);
  return changes >= std::max(kLeastChanges, std::min(marks, values.size() - marks) / 4);
}

// A rising list with long runs of one value: in its middle each value comes once.
template <class Value>
void crowd(std::vector<Value>& values, Value low, Value high) {
  const uint64_t range = uint64_t(int64_t(high)) - uint64_t(int64_t(low)), count = values.size();
  if (range >= count) return;
  const uint64_t first = (count - range) / 2;
  for (uint64_t i = 0; i < count; ++i)
    values[i] = Value(uint64_t(int64_t(low)) + (i < first ? 0 : std::min(range, i - first)));
}

// A rising list says where rows begin, or where each begins and ends in turn, or another list says where they end: one
// row about the middle, or the few where the two lists change, has all that there is.
template <class Value>
bool gather(std::vector<Value>& values, uint32_t order, int64_t row) {
  const auto length = size_t(std::is_sorted_until(values.begin(), values.end()) - values.begin());
  const Value first = values.front(), last = values[length - 1];
  const size_t middle = (length / 2) | 1, earlier = size_t(2) * (order % 16);
  size_t changes = middle > earlier ? middle - earlier : 1;
  if (row >= 0 && uint64_t(row) + 1 < length) changes = size_t(row) + 1;
  for (size_t i = 0; i < values.size(); ++i) values[i] = i < changes ? first : last;
  return true;
}

// A few of those that are not the least; of what rises, not the last one, which may say how much there is.
template <class Value>
bool raise_few(std::vector<Value>& values, Value low, bool rising, uint64_t draw) {
  std::vector<size_t> above;
  for (size_t i = 0; i + rising < values.size(); ++i)
    if (values[i] > low && values[i] < std::numeric_limits<Value>::max()) above.push_back(i);
  if (above.empty()) return false;
  const size_t sure = above[mixed(draw) % above.size()];
  for (const size_t i : above)
    if (i == sure || mixed(draw ^ i) % kRaised == 0) ++values[i];
  if (rising) std::sort(values.begin(), values.end());
  return true;
}

// Two buffers of one range have nothing in common before, and all behind.
template <class Value>
bool start_late(std::vector<Value>& values, Value low, Value high, uint32_t order) {
  const uint64_t range = uint64_t(int64_t(high)) - uint64_t(int64_t(low)), count = values.size();
  if (range == 0 || range == ~0ull) return false;
  for (uint64_t i = 0; i < count; ++i)
    values[i] = i < late_start(count) ? (order % 2 ? high : low)
                                      : Value(uint64_t(int64_t(low)) + mixed(count - i) % (range + 1));
  return true;
}

// What is hashed meets in one place: by its lowest bits, and by the remainder of what the launch is told.
template <class Value>
bool collide(std::vector<Value>& values, Value low, const Bounds& bounds) {
  if (sizeof(Value) < 4) return false;
  uint64_t divisor = 0;
  for (const int64_t one : bounds.integers)
    if (one >= kLeastTable && uint64_t(one) <= kMostTable) divisor = std::max(divisor, uint64_t(one));
  const uint64_t stretch = std::clamp<uint64_t>(values.size() / 2, 1, kStretched);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t kind = i / stretch, step = kind == 0 ? uint64_t(1) << 16 : divisor;
    values[i] = Value(uint64_t(int64_t(low)) + (kind < 2 ? i % kChain : i % 2) * step);
  }
  return true;
}

template <class Value>
bool alter_integers(std::vector<Value>& values, const BufferNumbers& numbers, uint64_t draw, DataKind kind,
                    const Bounds& bounds) {
  const bool constant = numbers.constant;
  if (constant == (kind == DataKind::kWritten) || values.empty()) return false;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const Value low = *least, high = *greatest;
  const std::vector<Value> before = values;
  const bool rising = constant && rises(values);
  if (kind == DataKind::kOneMore) return raise_few(values, low, rising, draw);
  if (kind == DataKind::kOneRow) return rising && gather(values, numbers.order, bounds.long_row);
  if (kind == DataKind::kColliding) return !rising && collide(values, low, bounds);
  if (kind == DataKind::kLateStart) return !rising && start_late(values, low, high, numbers.order);
  const auto usual = kind == DataKind::kAlike ? Value(bounds.usual(low, high, before[before.size() / 2])) : Value(0);
  std::vector<Value> others;
  if (kind == DataKind::kCrowded) {
    const Value most = most_frequent(before);
    std::copy_if(before.begin(), before.end(), std::back_inserter(others), [most](Value v) { return v != most; });
    std::sort(others.begin(), others.end());
    if (bounds.in_any_order) {  // what it becomes may not depend on the order that it came in
      std::sort(values.begin(), values.end());
      for (uint64_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[mixed(draw + i) % i]);
    }
    if (others.empty() || rising) return false;
    // Who looks for something in a table comes to an end where a place is free.
    const bool table = bounds.in_any_order && is_scattered(before, most);
    for (uint64_t i = 0; i < values.size(); ++i) {
      const uint64_t chance = mixed(draw ^ i);
      if (values[i] == most && !(table && chance % kFree == 0)) values[i] = others[chance / kFree % others.size()];
      if (table && chance % kFree == 1) values[i] = 0;
    }
    return true;
  }
  std::vector<int64_t> named = settings().constants;
  named.insert(named.end(), bounds.integers.begin(), bounds.integers.end());
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t chance = mixed(draw ^ i);
    Value& value = values[i];
    if (kind == DataKind::kAlike) {
      const bool apart = chance % (i / kStretch % 2 ? kMore : kFew) == 0 && low < high;
      const bool less = usual == high || (usual > low && (chance & 1024));
      value = apart ? Value(less ? usual - 1 : usual + 1) : usual;
    } else if (kind == DataKind::kNamed) {
      value = Value(bounds.named + (chance % 4 || values.size() == 1 ? 0 : chance / 4 % 2 ? 1 : -1));
    } else if (kind == DataKind::kRamp) {
      value = Value(double(high) * double(i) / double(values.size()));
    } else if (kind == DataKind::kEveryValue) {
      const uint64_t range = sizeof(Value) == 1 ? 255 : uint64_t(int64_t(high)) - uint64_t(int64_t(low));
      const uint64_t above = range == ~0ull ? chance : chance % (range + 1);
      value = Value(sizeof(Value) == 1 ? above : uint64_t(int64_t(low)) + above);
    } else if (kind == DataKind::kTies) {
      value = before[mixed(draw + chance % kFewValues) % before.size()];
    } else if (kind == DataKind::kWritten && i + kTail >= values.size() && i % 2 == 0) {
      const Value far =
          std::numeric_limits<Value>::max() - 1 - Value(i % 3);  // a padded end may take less for the greatest
      value = high > far / 2 ? far : Value(2 * high + 1 + Value(i % 3));
    } else if ((kind == DataKind::kOutOfRange || kind == DataKind::kWritten) && chance % 8 == 0) {
      const auto wide = [](Value v) { return uint64_t(int64_t(v)); };  // wraps
      const uint64_t above[] = {wide(high) + 1,
                                wide(low) - 1,
                                ~0ull,
                                wide(value) + 256,
                                2 * wide(high) + 1,
                                wide(value) + (1 << 16),
                                wide(std::numeric_limits<Value>::max()),
                                wide(std::numeric_limits<Value>::min()),
                                0,
                                1};
      const uint64_t which = chance / 8 % (std::size(above) + named.size());
      value =
          Value(which < named.size() ? uint64_t(named[which]) + chance / 1024 % 3 - 1 : above[which - named.size()]);
    }
  }
  if (rising) std::sort(values.begin(), values.end());
  if (rising && kind == DataKind::kEveryValue) crowd(values, low, high);
  return kind == DataKind::kTies || kind == DataKind::kRamp || kind == DataKind::kOutOfRange ||
         kind == DataKind::kEveryValue || kind == DataKind::kWritten || kind == DataKind::kNamed ||
         kind == DataKind::kAlike;
}

template <class Value>
bool alter_as(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t draw, DataKind kind,
              const Bounds& bounds) {
  const bool constant = numbers.constant;
  std::vector<Value> values = read<Value>(at, bytes);
  bool altered = true;
  if (kind == DataKind::kSorted || kind == DataKind::kReversed) {
    if (!constant) return false;
    const auto usual = [](Value v) {
      if constexpr (std::is_floating_point_v<Value>) return !std::isnan(v);
      return true;
    };
    if (!std::all_of(values.begin(), values.end(), usual)) return false;
    if (std::is_integral_v<Value> && kind == DataKind::kReversed && rises(values)) return false;
    if (kind == DataKind::kSorted)
      std::sort(values.begin(), values.end());
    else
      std::reverse(values.begin(), values.end());
  } else if constexpr (std::is_floating_point_v<Value>) {
    altered = alter_floats(values, constant, numbers.order, draw, kind, bounds);
  } else {
    altered = alter_integers(values, numbers, draw, kind, bounds);
  }
  if (altered) std::memcpy(at, values.data(), values.size() * sizeof(Value));
  return altered;
}

// 16-bit floats, as floats.
bool alter_narrow(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t draw, DataKind kind,
                  const Bounds& bounds) {
  const NumberKind type = numbers.number.kind;
  const std::vector<uint16_t> halves = read<uint16_t>(at, bytes);
  std::vector<float> wide(halves.size());
  for (size_t i = 0; i < halves.size(); ++i) wide[i] = widened(halves[i], type);
  const std::vector<float> before = wide;
  auto* const first = reinterpret_cast<char*>(wide.data());
  if (!alter_as<float>(first, wide.size() * sizeof(float), numbers, draw, kind, bounds)) return false;
  for (size_t i = 0; i < halves.size(); ++i) {
    if (std::memcmp(&wide[i], &before[i], sizeof(float)) == 0) continue;
    if (type == NumberKind::kFloat && std::abs(wide[i]) == kFar<float>) wide[i] = std::copysign(kFarHalf, wide[i]);
    uint16_t narrow = narrowed(wide[i], halves[i], type);
    const uint16_t infinite = type == NumberKind::kBrain ? 0x7F80 : 0x7C00,
                   payload = type == NumberKind::kBrain ? 0x41 : 0x201;
    if (!std::isfinite(wide[i]))
      narrow = uint16_t((std::signbit(wide[i]) ? 0x8000 : 0) | infinite | (std::isnan(wide[i]) ? payload : 0));
    std::memcpy(at + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return true;
}

bool alter_booleans(char* at, uint64_t bytes, bool constant, uint64_t draw, DataKind kind) {
  if (!constant) return false;
  for (uint64_t i = 0; i < bytes; ++i) {
    if (kind == DataKind::kEveryValue || kind == DataKind::kSigns)
      at[i] = char(mixed(draw ^ i) & 1);
    else if (kind == DataKind::kZeros)
      at[i] = 0;
    else if (kind == DataKind::kNegative)
      at[i] = 1;
    else
      return false;
  }
  return true;
}

template <class Value>
bool about(char* at, uint64_t bytes, const std::vector<int64_t>& sizes) {
  std::vector<Value> values = read<Value>(at, bytes);
  const bool rising = rises(values);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t chance = mixed(i);
    if (chance % 8) continue;
    values[i] = Value(sizes[chance / 8 % sizes.size()] + int64_t(chance / 64 % 3) - 1);
  }
  if (rising) std::sort(values.begin(), values.end());
  std::memcpy(at, values.data(), values.size() * sizeof(Value));
  return true;
}

}  // namespace

const char* name_of(DataKind kind) {
  switch (kind) {
    case DataKind::kSigns:
      return "other signs and zeros";
    case DataKind::kOutOfRange:
      return "integers out of their range";
    case DataKind::kEveryValue:
      return "integers of all values";
    case DataKind::kOneMore:
      return "a few integers one more";
    case DataKind::kOneRow:
      return "one part of a list with all of it";
    case DataKind::kNear:
      return "numbers just below their bound";
    case DataKind::kLateStart:
      return "nothing at first";
    case DataKind::kNan:
      return "some numbers NaN";
    case DataKind::kFarAbove:
      return "some numbers large";
    case DataKind::kFarBelow:
      return "some numbers large and negative";
    case DataKind::kNegative:
      return "all numbers negative";
    case DataKind::kTies:
      return "few different values";
    case DataKind::kCrowded:
      return "the most frequent integers replaced";
    case DataKind::kColliding:
      return "integers with the same remainders";
    case DataKind::kOpposed:
    case DataKind::kOpposedToo:
      return "some lists of numbers all negative, the others positive";
    case DataKind::kOffset:
      return "1000 added to all numbers";
    case DataKind::kZeros:
      return "all numbers zero";
    case DataKind::kSorted:
      return "sorted numbers";
    case DataKind::kInfinite:
      return "some numbers infinite";
    case DataKind::kReversed:
      return "numbers in reverse order";
    case DataKind::kRamp:
      return "ascending numbers from zero on";
    case DataKind::kWritten:
      return "integers to be updated out of their range";
    case DataKind::kAlike:
      return "numbers that are nearly equal";
    case DataKind::kTiny:
      return "a billionth of all numbers";
    case DataKind::kCancelling:
      return "large numbers that cancel";
    case DataKind::kBelow:
      return "all numbers below a limit of the code";
    case DataKind::kAbove:
      return "all numbers above a limit of the code";
    case DataKind::kNamed:
      return "integers that the code names";
    case DataKind::kCount:
      break;
  }
  return "";
}

// Floats alone stay as they are, or become what they are by kSigns.
static bool is_of_integers(DataKind kind) {
  return kind == DataKind::kOutOfRange || kind == DataKind::kEveryValue || kind == DataKind::kOneMore ||
         kind == DataKind::kOneRow || kind == DataKind::kCrowded || kind == DataKind::kColliding ||
         kind == DataKind::kAlike || kind == DataKind::kWritten;
}

static bool is_of_floats(DataKind kind) {
  return kind == DataKind::kSigns || kind == DataKind::kNan || kind == DataKind::kFarAbove ||
         kind == DataKind::kFarBelow || kind == DataKind::kNegative || kind == DataKind::kOpposed ||
         kind == DataKind::kOpposedToo || kind == DataKind::kOffset || kind == DataKind::kZeros ||
         kind == DataKind::kNear || kind == DataKind::kInfinite || kind == DataKind::kTiny ||
         kind == DataKind::kCancelling;
}

int64_t Bounds::usual(int64_t low, int64_t high, int64_t own) const {
  for (const int64_t one : shared)
    if (low <= one && one <= high) return one;
  shared.push_back(own);
  return own;
}

const std::vector<DataKind>& data_kinds() {
  static std::vector<DataKind> of_types[2][2];
  std::vector<DataKind>& kinds = of_types[settings().without_integers][settings().without_floats];
  if (kinds.empty())
    for (auto each = DataKind(0); each < DataKind::kCount; each = DataKind(uint8_t(each) + 1)) {
      const bool idle = (settings().without_integers && is_of_integers(each)) ||
                        (settings().without_floats && is_of_floats(each)) ||
                        (!settings().cancelling && each == DataKind::kCancelling);
      if (!idle) kinds.push_back(each);
    }
  return kinds;
}

bool needs_watching(DataKind kind) {
  return kind == DataKind::kOutOfRange || kind == DataKind::kEveryValue || kind == DataKind::kOneMore ||
         kind == DataKind::kOneRow || kind == DataKind::kColliding || kind == DataKind::kLateStart ||
         kind == DataKind::kWritten || kind == DataKind::kNamed || kind == DataKind::kAlike;
}

bool scale_doubles(char* at, uint64_t bytes, const BufferNumbers& numbers, int power) {
  if (numbers.number.kind != NumberKind::kFloat || numbers.number.bytes != 8) return false;
  std::vector<double> values = read<double>(at, bytes);
  for (double& value : values) value = std::ldexp(value, power);
  std::memcpy(at, values.data(), values.size() * sizeof(double));
  return true;
}

bool alter_halves(char* at, uint64_t bytes, const BufferNumbers& numbers, bool ones) {
  if (numbers.constant && numbers.number.kind == NumberKind::kInteger && numbers.number.bytes == 1) {
    for (uint64_t i = 0; i < bytes; ++i) at[i] = mixed(i) % kSparse == 0;
    return true;
  }
  if (!numbers.constant || numbers.number.kind != NumberKind::kFloat) return false;
  const auto fill = [&](auto value) {
    using Value = decltype(value);
    const uint64_t count = bytes / sizeof value;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t chance = mixed(i);
      // Some rows reach just so far, by which they may be divided: halves remain halves.
      const uint64_t stretch = i * kStretches / count;
      const int64_t reach = kReaches[stretch / 2 % std::size(kReaches)];
      if (stretch % 2)
        value = chance % kReached == 0 ? Value(reach) : Value(int64_t(chance / 64 % (2 * reach)) - reach) + Value(0.5);
      else
        value = Value(int64_t(chance % kHalves) - kHalves / 2) + Value(0.5);
      if (ones) value = 1;
      std::memcpy(at + i * sizeof value, &value, sizeof value);
    }
    return true;
  };
  return numbers.number.bytes == 4 ? fill(float()) : numbers.number.bytes == 8 && fill(double());
}

bool alter_edges(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t row) {
  if (!numbers.constant || numbers.number.kind != NumberKind::kFloat || row == 0) return false;
  const auto fill = [&](auto value) {
    value = quiet_nan<decltype(value)>(0);
    for (uint64_t i = row; i < bytes / sizeof value; i += 2 * row)
      std::memcpy(at + i * sizeof value, &value, sizeof value);
    return true;
  };
  return numbers.number.bytes == 4 ? fill(float()) : numbers.number.bytes == 8 && fill(double());
}

bool alter_about(char* at, uint64_t bytes, const BufferNumbers& numbers, const std::vector<int64_t>& sizes) {
  if (numbers.number.kind != NumberKind::kInteger || sizes.empty()) return false;
  if (numbers.number.bytes == 4) return about<int32_t>(at, bytes, sizes);
  return numbers.number.bytes == 8 && about<int64_t>(at, bytes, sizes);
}

bool alter_cancelling(char* at, uint64_t bytes, const Number& number, uint64_t row) {
  if (number.kind != NumberKind::kFloat) return false;
  const auto fill = [&](auto value) {
    using Value = decltype(value);
    // Neighbours in a row, and those below each other, are a large number, a small one, the large one negated, another.
    const uint64_t slope = row ? (1 - row) & 3 : 0;
    for (uint64_t i = 0; i < bytes / sizeof value; ++i) {
      const uint64_t phase = (i + (row ? i / row * slope : 0)) & 3, chance = mixed(i);
      const Value small = 1 + Value(chance >> 11) / Value(1ull << 53);
      value = phase == 0 ? kLargeOnes<Value> : phase == 2 ? -kLargeOnes<Value> : chance & 1 ? -small : small;
      std::memcpy(at + i * sizeof value, &value, sizeof value);
    }
    return true;
  };
  return number.bytes == 4 ? fill(float()) : number.bytes == 8 && fill(double());
}

bool alter_kind(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t draw, DataKind kind,
                const Bounds& bounds) {
  const auto [type, each] = numbers.number;
  const uint64_t own = mixed(draw * 64 + numbers.order);
  const auto as = [&](auto value) { return alter_as<decltype(value)>(at, bytes, numbers, own, kind, bounds); };
  if ((type == NumberKind::kFloat || type == NumberKind::kBrain) && each == 2)
    return alter_narrow(at, bytes, numbers, own, kind, bounds);
  if (type == NumberKind::kBoolean && each == 1) return alter_booleans(at, bytes, numbers.constant, own, kind);
  if (type == NumberKind::kFloat && each == 4) return as(float());
  if (type == NumberKind::kFloat && each == 8) return as(double());
  if (type != NumberKind::kInteger) return false;
  if (each == 1) return as(uint8_t());
  if (each == 2) return as(int16_t());
  if (each == 4) return as(int32_t());
  return each == 8 && as(int64_t());
}

void double_integers(char* at, uint64_t bytes, uint32_t each) {
  const auto as = [&](auto value) {
    for (uint64_t i = 0; i + sizeof value <= bytes; i += sizeof value) {
      std::memcpy(&value, at + i, sizeof value);
      if (std::abs(int64_t(value)) <= std::numeric_limits<decltype(value)>::max() / 2) value *= 2;
      std::memcpy(at + i, &value, sizeof value);
    }
  };
  if (each == 4) as(int32_t());
  if (each == 8) as(int64_t());
}

void bare_end(char* at, uint64_t bytes, uint64_t room, const Number& number) {
  if (number.kind != NumberKind::kFloat || (number.bytes != 4 && number.bytes != 8)) return;
  const uint64_t count = bytes / number.bytes, kept = count - std::max<uint64_t>(1, count / kEnd);
  for (uint64_t i = kept; i < count + room / number.bytes; ++i) {
    const float narrow = quiet_nan<float>(0);
    const double wide = quiet_nan<double>(0);
    std::memcpy(at + i * number.bytes, number.bytes == 4 ? static_cast<const void*>(&narrow) : &wide, number.bytes);
  }
}

}  // namespace simt
