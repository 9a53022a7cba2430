#include "alterations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <type_traits>

namespace simt {
namespace {

constexpr uint64_t kEarlyLaunches = 8;
constexpr int kPowers[] = {1, -1, 2, -2, 3, -3};
constexpr int kLargePower = 7;     // what a step that keeps numbers small is there for overflows, the original need not
constexpr size_t kSample = 1024;   // numbers of a buffer that its range is drawn from
constexpr size_t kShare = 8;       // an eighth of the numbers lies in the range
constexpr int64_t kLeastSize = 5;  // of an integer argument that is altered: what is below is often a mode

uint64_t count(const GridSize& extent) { return uint64_t(extent[0]) * extent[1] * extent[2]; }

template <class Value>
void scale(char* at, uint64_t bytes, int power) {
  Value factor = 1;
  for (int i = 0; i < power; ++i) factor *= 2;
  for (int i = 0; i > power; --i) factor /= 2;
  for (uint64_t i = 0; i + sizeof(Value) <= bytes; i += sizeof(Value)) {
    Value value;
    std::memcpy(&value, at + i, sizeof value);
    value *= factor;
    std::memcpy(at + i, &value, sizeof value);
  }
}

template <class Value>
void lower(char* at, uint64_t bytes) {
  for (uint64_t i = 0; i + sizeof(Value) <= bytes; i += sizeof(Value)) {
    Value value;
    std::memcpy(&value, at + i, sizeof value);
    if (value > 1) --value;
    std::memcpy(at + i, &value, sizeof value);
  }
}

uint64_t mixed(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

template <class Value>
bool usual(Value value) {
  if constexpr (std::is_floating_point_v<Value>) return std::isfinite(value);
  return true;
}

template <class Value>
Value lowered(Value value, Value towards) {
  if constexpr (std::is_floating_point_v<Value>) return (value - towards) / 2 + towards;
  return value > 1 ? Value(value - 1) : value;
}

// Moves the numbers of one range of values; where all are equal, an eighth of them. Indices only ever become others
// that are there already.
template <class Value>
void alter_some(char* at, uint64_t bytes, uint64_t draw, bool indices) {
  const uint64_t count = bytes / sizeof(Value);
  std::vector<Value> sample;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, kSample); ++i) {
    Value value;
    std::memcpy(&value, at + (count <= kSample ? i : mixed(draw + i) % count) * sizeof value, sizeof value);
    if (usual(value)) sample.push_back(value);
  }
  if (sample.empty()) return;
  std::sort(sample.begin(), sample.end());
  const size_t first = mixed(draw) % sample.size();
  auto low = std::lower_bound(sample.begin(), sample.end(), sample[first]);
  auto high = std::upper_bound(low, sample.end(), sample[std::min(first + sample.size() / kShare, sample.size() - 1)]);
  if (*low == *(high - 1)) high = sample.end();
  if (*low == *(high - 1)) low = sample.begin();
  const Value floor = *low, top = *(high - 1);
  for (uint64_t i = 0; i < count; ++i) {
    Value value;
    std::memcpy(&value, at + i * sizeof value, sizeof value);
    const bool equal = floor == top && mixed(draw ^ i) % kShare == 0;
    if (!usual(value) || !(equal || (value > floor && value <= top))) continue;
    value = indices ? floor : lowered(value, equal ? Value(0) : floor);
    std::memcpy(at + i * sizeof value, &value, sizeof value);
  }
}

template <class Value>
void alter_as(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t nth, OtherNumbersMode mode) {
  constexpr bool kFloating = std::is_floating_point_v<Value>;
  const bool large = mode == OtherNumbersMode::kLarge;
  if (large && !numbers.constant) return;
  if (mode == OtherNumbersMode::kSome)
    return alter_some<Value>(at, bytes, mixed(nth * 64 + numbers.order), !kFloating && numbers.constant);
  if constexpr (kFloating)
    scale<Value>(at, bytes, large ? kLargePower : kPowers[numbers.order % std::size(kPowers)]);
  else if (!numbers.constant)
    lower<Value>(at, bytes);
}

}  // namespace

float widened(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float fraction = float(half & 1023);
  const float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) return half & 1023 ? NAN : half & 0x8000 ? -INFINITY : INFINITY;
  return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t narrowed(float value, uint16_t former) {
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 to 1
  if (value == 0) return std::signbit(value) ? 0x8000 : 0;
  if (!std::isfinite(value) || exponent > 16 || exponent < -13) return former;
  const auto digits = uint16_t(std::ldexp(fraction, 11));
  return uint16_t((std::signbit(value) ? 0x8000 : 0) | (exponent + 14) << 10 | (digits & 1023));
}

float widened(uint16_t bits, NumberKind kind) {
  if (kind != NumberKind::kBrain) return widened(bits);
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t narrowed(float value, uint16_t former, NumberKind kind) {
  if (kind != NumberKind::kBrain) return narrowed(value, former);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return std::isfinite(value) ? uint16_t(bits >> 16) : former;
}

namespace {

// 16-bit floats, as floats.
void alter_halves(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t nth, OtherNumbersMode mode) {
  auto* const halves = reinterpret_cast<uint16_t*>(at);
  const NumberKind kind = numbers.number.kind;
  std::vector<float> wide(bytes / 2);
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = widened(halves[i], kind);
  const std::vector<float> before = wide;
  alter_as<float>(reinterpret_cast<char*>(wide.data()), wide.size() * sizeof(float), numbers, nth, mode);
  for (size_t i = 0; i < wide.size(); ++i)
    if (wide[i] != before[i]) halves[i] = narrowed(wide[i], halves[i], kind);
}

// An eighth of them become the other one of the two.
void alter_booleans(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t nth) {
  const uint64_t draw = mixed(nth * 64 + numbers.order);
  for (uint64_t i = 0; i < bytes; ++i)
    if (mixed(draw ^ i) % kShare == 0 && (at[i] == 0 || at[i] == 1)) at[i] = char(1 - at[i]);
}

// Whether most of a copy's content are numbers of a usual size if it is read so. Small integers are not, as floats.
template <class Value>
bool reads_as(const char* at, uint64_t bytes) {
  if (bytes == 0 || bytes % sizeof(Value) != 0) return false;
  const uint64_t count = bytes / sizeof(Value), looked_at = std::min<uint64_t>(count, kSample);
  uint64_t numbers = 0, zeros = 0;
  for (uint64_t i = 0; i < looked_at; ++i) {
    Value value;
    std::memcpy(&value, at + (count <= kSample ? i : mixed(i) % count) * sizeof value, sizeof value);
    zeros += value == 0;
    numbers += std::isfinite(value) && std::abs(value) > Value(1e-9) && std::abs(value) < Value(1e9);
  }
  return numbers > 0 && numbers >= (looked_at - zeros) * 9 / 10;
}

// Whether `threads` in blocks of `block` are those that `size` items need, one each.
bool covers(uint64_t threads, uint64_t block, int64_t size) {
  return size > 0 && uint64_t(size) <= threads && threads - uint64_t(size) < block;
}

// Whether two other arguments make it, so that it goes with them.
bool is_product(int64_t size, const std::vector<int64_t>& others) {
  for (size_t i = 0; i < others.size(); ++i)
    for (size_t k = i + 1; k < others.size(); ++k)
      if (others[i] > 1 && others[k] > 1 && others[i] * others[k] == size) return true;
  return false;
}

enum class Fit { kNone, kTight, kGood };

// Whether so many blocks may be just those that `size` items need: several for each item, or of a block's items as many
// as its threads can share out evenly.
bool in_proportion(uint64_t blocks, const GridSize& block, uint64_t size) {
  if (blocks % size == 0) return true;
  const uint64_t each = size / blocks;
  const auto even = [&](uint64_t threads) { return threads > 1 && (each % threads == 0 || threads % each == 0); };
  return size % blocks == 0 && (even(block[0]) || even(block[1]) || even(block[2]) || even(count(block)));
}

struct Fitted {
  Fit fit;
  GridSize grid;
  bool goes = false;  // a dimension goes with the size
};

// The grid for `other` items where the launch has one for `size`. kNone: the two may have to do with each other in a
// way that is not known, so that a launch with the one changed and the other not means nothing. kTight: no thread is
// left over now, as some were before, so that nobody's check of the size matters.
Fitted fit_grid(const LaunchShape& shape, const std::vector<int64_t>& others, int64_t size, int64_t other) {
  const GridSize& block = shape.block;
  GridSize grid = shape.grid;
  const auto named = [&](uint64_t figure) {
    return std::find(others.begin(), others.end(), int64_t(figure)) != others.end();
  };
  const auto resized = [&](int d, int64_t factor) {
    const uint32_t before = grid[d];
    grid[d] = uint32_t((uint64_t(factor * other) + block[d] - 1) / block[d]);
    const bool unsure = grid[d] != before && (named(before) || named(uint64_t(before) * block[d]));
    const bool tight = factor * size % block[d] != 0 && factor * other % block[d] == 0;
    return Fitted{unsure ? Fit::kNone : tight ? Fit::kTight : Fit::kGood, grid, true};
  };
  for (int d = 0; d < 3; ++d)
    if (covers(uint64_t(grid[d]) * block[d], block[d], size)) return resized(d, 1);
  if (grid[1] == 1 && grid[2] == 1) {
    const uint64_t threads = uint64_t(grid[0]) * block[0];
    for (size_t i = 0; i < others.size(); ++i)
      for (size_t k = i; k < others.size(); ++k) {
        const int64_t factor = k == i ? others[i] : others[i] * others[k];
        if (others[i] > 1 && others[k] > 1 && factor <= int64_t(threads) && covers(threads, block[0], factor * size))
          return resized(0, factor);
      }
  }
  for (const uint64_t blocks : {uint64_t(grid[0]), uint64_t(grid[1]), uint64_t(grid[2]), count(grid)})
    if (blocks > 4 && in_proportion(blocks, block, uint64_t(size))) return {Fit::kNone, grid};
  const uint64_t threads[] = {block[0],
                              block[1],
                              block[2],
                              uint64_t(grid[0]) * block[0],
                              uint64_t(grid[1]) * block[1],
                              uint64_t(grid[2]) * block[2],
                              count(grid) * count(block)};
  for (const uint64_t figure : threads)
    if (figure > 4 && (figure % uint64_t(size) == 0 || uint64_t(size) % figure == 0)) return {Fit::kNone, grid};
  return {Fit::kGood, grid};
}

// As `fit_grid`; also kNone where the grid of one version goes with the size and that of another does not: one of them
// has its extent by chance.
Fitted fit_grids(const LaunchShape& shape, const std::vector<LaunchShape>& beside, const std::vector<int64_t>& others,
                 int64_t size, int64_t other) {
  Fitted own = fit_grid(shape, others, size, other);
  for (const LaunchShape& one : beside) {
    const Fitted theirs = fit_grid(one, others, size, other);
    own.fit = theirs.goes == own.goes ? std::min(own.fit, theirs.fit) : Fit::kNone;
  }
  return own;
}

template <class Value>
bool doubled(const void* at, uint64_t& value) {
  Value number;
  std::memcpy(&number, at, sizeof number);
  if (number == 0 || !std::isfinite(number * 2)) return false;
  number *= 2;
  std::memcpy(&value, &number, sizeof number);
  return true;
}

int64_t integer(const PlainArgument& argument) {
  int64_t wide = 0;
  int32_t narrow = 0;
  void* const into = argument.number.bytes == 8 ? static_cast<void*>(&wide) : static_cast<void*>(&narrow);
  std::memcpy(into, argument.value, argument.number.bytes);
  return argument.number.bytes == 8 ? wide : narrow;
}

bool is_integer(const PlainArgument& argument) {
  return argument.number.kind == NumberKind::kInteger && (argument.number.bytes == 4 || argument.number.bytes == 8);
}

// Arguments that are the altered one times another one change with it.
void add_products(const std::vector<PlainArgument>& arguments, const PlainArgument& argument, OtherArgument& other) {
  const int64_t size = integer(argument), lower = int64_t(other.values.front().bytes);
  for (const PlainArgument& beside : arguments) {
    if (&beside == &argument || !is_integer(beside)) continue;
    const int64_t product = integer(beside);
    for (const PlainArgument& factor : arguments) {
      const bool apart = &factor != &beside && &factor != &argument && is_integer(factor);
      if (!apart || integer(factor) < 2 || integer(factor) * size != product) continue;
      other.values.push_back({beside.index, uint64_t(integer(factor) * lower)});
      break;
    }
  }
}

}  // namespace

bool worth_repeating(uint64_t nth) { return nth < kEarlyLaunches || (nth & (nth - 1)) == 0; }

void alter(char* at, uint64_t bytes, const BufferNumbers& numbers, uint64_t nth, OtherNumbersMode mode) {
  const auto as = [&](auto value) { alter_as<decltype(value)>(at, bytes, numbers, nth, mode); };
  const auto [kind, each] = numbers.number;
  if ((kind == NumberKind::kFloat || kind == NumberKind::kBrain) && each == 2)
    alter_halves(at, bytes, numbers, nth, mode);
  if (kind == NumberKind::kBoolean && each == 1 && mode == OtherNumbersMode::kSome)
    alter_booleans(at, bytes, numbers, nth);
  if (kind == NumberKind::kFloat && each == 4) as(float());
  if (kind == NumberKind::kFloat && each == 8) as(double());
  if (kind != NumberKind::kInteger) return;
  if (each == 1) as(int8_t());
  if (each == 2) as(int16_t());
  if (each == 4) as(int32_t());
  if (each == 8) as(int64_t());
}

void alter_copied(char* at, uint64_t bytes, uint64_t nth) {
  const uint64_t draw = mixed(nth * 64);
  if (reads_as<float>(at, bytes)) return alter_some<float>(at, bytes, draw, false);
  if (reads_as<double>(at, bytes)) return alter_some<double>(at, bytes, draw, false);
  if (bytes % 4 == 0) return alter_some<int32_t>(at, bytes, draw, true);
  alter_some<int8_t>(at, bytes, draw, true);
}

void alter_copied_above(char* at, uint64_t bytes, uint64_t nth) {
  const uint64_t draw = mixed(nth * 64), count = bytes / sizeof(uint32_t);
  if (bytes % sizeof(uint32_t) || reads_as<float>(at, bytes) || reads_as<double>(at, bytes)) return;
  std::vector<uint32_t> values(count);
  std::memcpy(values.data(), at, bytes);
  for (uint64_t i = 1; i < count; ++i) {
    const uint64_t chance = mixed(draw ^ i);
    if (chance % kShare == 0) values[i] = values[i - 1] + (chance / kShare % 2 ? 1u << 8 : 1u << 16);
  }
  std::memcpy(at, values.data(), bytes);
}

// The second and third quarter: a list that rises does so still, and begins and ends as it did.
void alter_copied_alike(char* at, uint64_t bytes) {
  constexpr uint32_t kBeyondMost = 1u << 24;  // of integers: what is larger is several bytes, as letters are
  const uint64_t words = bytes / sizeof(uint32_t);
  uint64_t large = 0, signs = 0;
  for (uint64_t i = 0; i < words; ++i) {
    int32_t word;
    std::memcpy(&word, at + i * sizeof word, sizeof word);
    large += uint32_t(std::abs(int64_t(word))) >= kBeyondMost;
    signs += i % 2 && (word == 0 || word == -1);
  }
  const bool pairs = words % 2 == 0 && signs == words / 2;  // integers of 64 bits
  const bool wide = pairs || (reads_as<double>(at, bytes) && !reads_as<float>(at, bytes));
  const bool narrow = bytes % sizeof(uint32_t) || (large > words / 2 && !reads_as<float>(at, bytes));
  const uint64_t each = wide ? sizeof(double) : narrow ? 1 : sizeof(uint32_t), count = bytes / each;
  for (uint64_t i = count / 4 + 1; i < count - count / 4; ++i) std::memcpy(at + i * each, at + count / 4 * each, each);
}

std::vector<OtherArgument> other_arguments(const std::vector<PlainArgument>& arguments, const LaunchShape& shape,
                                           const std::vector<LaunchShape>& beside) {
  std::vector<OtherArgument> found;
  for (const PlainArgument& argument : arguments) {
    OtherArgument other{{{argument.index, 0}}, shape.grid};
    uint64_t& value = other.values.front().bytes;
    bool usable = false;
    if (argument.number.kind == NumberKind::kFloat && argument.number.bytes == 4)
      usable = doubled<float>(argument.value, value);
    if (argument.number.kind == NumberKind::kFloat && argument.number.bytes == 8)
      usable = doubled<double>(argument.value, value);
    if (is_integer(argument)) {
      const int64_t size = integer(argument), lowest = size & -size;
      std::vector<int64_t> others;
      for (const PlainArgument& one : arguments)
        if (&one != &argument && is_integer(one)) others.push_back(integer(one));
      for (const int64_t times : {2, 1}) {  // as many powers of two go into it, or more
        const int64_t lower = size == lowest ? size / 2 : size - times * lowest;
        if (size < kLeastSize || lower < kLeastSize - 2 || is_product(size, others)) continue;
        const auto [fit, fitted, goes] = fit_grids(shape, beside, others, size, lower);
        if (fit == Fit::kNone) break;
        if (fit == Fit::kTight && usable) break;
        usable = true;
        value = uint64_t(lower), other.grid = fitted;
        if (fit == Fit::kGood) break;
      }
      if (usable) add_products(arguments, argument, other);
    }
    if (usable) found.push_back(other);
  }
  return found;
}

}  // namespace simt
