#include "other_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <type_traits>

#include "settings.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to copy, twice per launch
constexpr uint64_t kEarlyLaunches = 8;
constexpr uint32_t kMostArguments = 6;
constexpr int kPowers[] = {1, -1, 2, -2, 3, -3};
constexpr int kLargePower = 7;  // what a step that keeps numbers small is there for overflows, the original need not
constexpr size_t kSample = 1024;     // numbers of a buffer that its range is drawn from
constexpr size_t kShare = 8;         // an eighth of the numbers lies in the range
constexpr int64_t kLeastSize = 5;    // of an integer argument that is altered: what is below is often a mode

struct Numbers {  // what a parameter says that an allocation holds
  Number number;
  bool constant = true;  // as far as all parameters say
  bool mixed = false;    // two parameters disagree
  uint32_t order = 0;
};

bool is_kept(const Allocation& a) {
  const auto& kept = settings().kept;
  return std::find(kept.begin(), kept.end(), a.id) != kept.end();
}

bool movable(const Allocation& a) { return a.kind != MemoryKind::kStaging && a.kind != MemoryKind::kRegistered; }

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
void alter_as(char* at, uint64_t bytes, const Numbers& numbers, uint64_t nth, bool some) {
  constexpr bool kFloating = std::is_floating_point_v<Value>;
  const bool large = settings().other_numbers == OtherNumbersMode::kLarge;
  if (large && !numbers.constant) return;
  if (some) return alter_some<Value>(at, bytes, mixed(nth * 64 + numbers.order), !kFloating && numbers.constant);
  if constexpr (kFloating)
    scale<Value>(at, bytes, large ? kLargePower : kPowers[numbers.order % std::size(kPowers)]);
  else if (!numbers.constant)
    lower<Value>(at, bytes);
}

float widened(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float fraction = float(half & 1023);
  const float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) return half & 1023 ? NAN : half & 0x8000 ? -INFINITY : INFINITY;
  return half & 0x8000 ? -magnitude : magnitude;
}

// Towards zero; what is too large or too small for a half keeps its former value.
uint16_t narrowed(float value, uint16_t former) {
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 to 1
  if (value == 0) return std::signbit(value) ? 0x8000 : 0;
  if (!std::isfinite(value) || exponent > 16 || exponent < -13) return former;
  const auto digits = uint16_t(std::ldexp(fraction, 11));
  return uint16_t((std::signbit(value) ? 0x8000 : 0) | (exponent + 14) << 10 | (digits & 1023));
}

// 16-bit floats, as floats.
void alter_halves(char* at, uint64_t bytes, const Numbers& numbers, uint64_t nth, bool some) {
  auto* const halves = reinterpret_cast<uint16_t*>(at);
  std::vector<float> wide(bytes / 2);
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = widened(halves[i]);
  const std::vector<float> before = wide;
  alter_as<float>(reinterpret_cast<char*>(wide.data()), wide.size() * sizeof(float), numbers, nth, some);
  for (size_t i = 0; i < wide.size(); ++i)
    if (wide[i] != before[i]) halves[i] = narrowed(wide[i], halves[i]);
}

void alter(const Allocation& a, const Numbers& numbers, uint64_t nth, bool some) {
  auto* at = reinterpret_cast<char*>(a.base);  // NOLINT(performance-no-int-to-ptr)
  const auto as = [&](auto value) { alter_as<decltype(value)>(at, a.bytes, numbers, nth, some); };
  const auto [kind, bytes] = numbers.number;
  if (kind == NumberKind::kFloat && bytes == 2) alter_halves(at, a.bytes, numbers, nth, some);
  if (kind == NumberKind::kFloat && bytes == 4) as(float());
  if (kind == NumberKind::kFloat && bytes == 8) as(double());
  if (kind != NumberKind::kInteger) return;
  if (bytes == 1) as(int8_t());
  if (bytes == 2) as(int16_t());
  if (bytes == 4) as(int32_t());
  if (bytes == 8) as(int64_t());
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

// Another value for a plain argument, and the grid that goes with it.
struct OtherArgument {
  struct Value {
    const Parameter* parameter;
    uint64_t bytes;
  };
  std::vector<Value> values;  // its own first, then those of arguments that are products of it and another
  Dim3 grid;
};

int64_t integer(const LaunchRequest& request, const Parameter& parameter) {
  int64_t wide = 0;
  int32_t narrow = 0;
  void* const into = parameter.size == 8 ? static_cast<void*>(&wide) : static_cast<void*>(&narrow);
  std::memcpy(into, request.arguments[parameter.index], parameter.size);
  return parameter.size == 8 ? wide : narrow;
}

bool is_integer(const Parameter& parameter) {
  return !parameter.pointer && parameter.number.kind == NumberKind::kInteger && parameter.size == parameter.number.bytes &&
         (parameter.size == 4 || parameter.size == 8);
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
bool in_proportion(uint64_t blocks, const uint32_t* block, uint64_t size) {
  if (blocks % size == 0) return true;
  const uint64_t each = size / blocks;
  const auto even = [&](uint64_t threads) { return threads > 1 && (each % threads == 0 || threads % each == 0); };
  return size % blocks == 0 && (even(block[0]) || even(block[1]) || even(block[2]) || even(uint64_t(block[0]) * block[1] * block[2]));
}

// The grid for `other` items where the launch has one for `size`. kNone: the two may have to do with each other in a
// way that is not known, so that a launch with the one changed and the other not means nothing. kTight: no thread is
// left over now, as some were before, so that nobody's check of the size matters.
Fit fit_grid(const LaunchShape& shape, const std::vector<int64_t>& others, int64_t size, int64_t other, Dim3& grid) {
  uint32_t* const blocks[3] = {&grid.x, &grid.y, &grid.z};
  const uint32_t* const block = shape.block;
  const auto named = [&](uint64_t figure) { return std::find(others.begin(), others.end(), int64_t(figure)) != others.end(); };
  const auto resize = [&](int d, int64_t factor) {
    const uint32_t before = *blocks[d];
    *blocks[d] = uint32_t((uint64_t(factor * other) + block[d] - 1) / block[d]);
    if (*blocks[d] != before && (named(before) || named(uint64_t(before) * block[d]))) return Fit::kNone;
    return factor * size % block[d] != 0 && factor * other % block[d] == 0 ? Fit::kTight : Fit::kGood;
  };
  for (int d = 0; d < 3; ++d)
    if (covers(uint64_t(*blocks[d]) * block[d], block[d], size)) return resize(d, 1);
  if (grid.y == 1 && grid.z == 1) {
    const uint64_t threads = uint64_t(grid.x) * block[0];
    for (size_t i = 0; i < others.size(); ++i)
      for (size_t k = i; k < others.size(); ++k) {
        const int64_t factor = k == i ? others[i] : others[i] * others[k];
        if (others[i] > 1 && others[k] > 1 && factor <= int64_t(threads) && covers(threads, block[0], factor * size))
          return resize(0, factor);
      }
  }
  const uint64_t in_block = uint64_t(block[0]) * block[1] * block[2];
  for (const uint64_t blocks_in_row : {uint64_t(grid.x), uint64_t(grid.y), uint64_t(grid.z), grid.count()})
    if (blocks_in_row > 4 && in_proportion(blocks_in_row, block, uint64_t(size))) return Fit::kNone;
  const uint64_t threads[] = {block[0], block[1], block[2], uint64_t(grid.x) * block[0], uint64_t(grid.y) * block[1],
                              uint64_t(grid.z) * block[2], grid.count() * in_block};
  for (const uint64_t figure : threads)
    if (figure > 4 && (figure % uint64_t(size) == 0 || uint64_t(size) % figure == 0)) return Fit::kNone;
  return Fit::kGood;
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

// Arguments that are the altered one times another one change with it.
void add_products(const LaunchRequest& request, const Parameter& parameter, OtherArgument& other) {
  const int64_t size = integer(request, parameter), lower = int64_t(other.values.front().bytes);
  for (const Parameter& beside : request.kernel->parameters) {
    if (&beside == &parameter || !is_integer(beside)) continue;
    const int64_t product = integer(request, beside);
    for (const Parameter& factor : request.kernel->parameters) {
      const bool apart = &factor != &beside && &factor != &parameter && is_integer(factor);
      if (!apart || integer(request, factor) < 2 || integer(request, factor) * size != product) continue;
      other.values.push_back({&beside, uint64_t(integer(request, factor) * lower)});
      break;
    }
  }
}

LaunchShape shape_of(const LaunchRequest& request) {
  return {{request.grid.x, request.grid.y, request.grid.z}, {request.block.x, request.block.y, request.block.z}};
}

std::vector<OtherArgument> other_arguments(const LaunchRequest& request) {
  std::vector<OtherArgument> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    OtherArgument other{{{&parameter, 0}}, request.grid};
    uint64_t& value = other.values.front().bytes;
    const void* at = request.arguments[parameter.index];
    bool usable = false;
    if (!parameter.pointer && parameter.number.kind == NumberKind::kFloat && parameter.size == parameter.number.bytes)
      usable = parameter.size == 4 ? doubled<float>(at, value) : parameter.size == 8 && doubled<double>(at, value);
    if (is_integer(parameter)) {
      const int64_t size = integer(request, parameter), lowest = size & -size;
      std::vector<int64_t> others;
      for (const Parameter& beside : request.kernel->parameters)
        if (&beside != &parameter && is_integer(beside)) others.push_back(integer(request, beside));
      for (const int64_t times : {2, 1}) {  // as many powers of two go into it, or more
        const int64_t lower = size == lowest ? size / 2 : size - times * lowest;
        if (size < kLeastSize || lower < kLeastSize - 2 || is_product(size, others)) continue;
        Dim3 grid = request.grid;
        Fit fit = fit_grid(shape_of(request), others, size, lower, grid);
        for (const LaunchShape& shape : settings().shapes) {
          Dim3 unused{shape.grid[0], shape.grid[1], shape.grid[2]};
          fit = std::min(fit, fit_grid(shape, others, size, lower, unused));
        }
        if (fit == Fit::kNone) break;
        if (fit == Fit::kTight && usable) break;
        usable = true;
        value = uint64_t(lower), other.grid = grid;
        if (fit == Fit::kGood) break;
      }
      if (usable) add_products(request, parameter, other);
    }
    if (usable) found.push_back(other);
  }
  return found;
}

std::map<const Allocation*, Numbers> altered_with(const LaunchRequest& request) {
  std::map<const Allocation*, Numbers> found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (!parameter.pointer || parameter.size != sizeof(uintptr_t)) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[parameter.index], sizeof address);
    const Allocation* a = find(address);
    if (!a || !movable(*a) || !in_arena(a->base) || is_kept(*a)) continue;
    const uint32_t each = parameter.number.bytes;
    const bool aligned = each && (address - a->base) % each == 0;
    const auto order = static_cast<uint32_t>(found.size());
    const auto [entry, fresh] = found.try_emplace(a);
    Numbers& numbers = entry->second;
    if (fresh) numbers = {parameter.number, true, false, order};
    numbers.mixed |= !aligned || !(numbers.number == parameter.number);
    numbers.constant &= parameter.constant;
  }
  for (const auto& variable : request.kernel->module->variables) {
    const Allocation* a = variable->managed ? nullptr : find(variable->address);
    if (!a || a->kind != MemoryKind::kSymbol) continue;
    uint32_t order = 0;  // of its name, for a candidate may add variables
    for (const char c : variable->name) order = order * 31 + static_cast<unsigned char>(c);
    found.try_emplace(a, Numbers{variable->number, variable->constant, false, order % 1024});
  }
  return found;
}

void add_bytes(const Allocation& a, void* into) {
  if (movable(a) && a.kind != MemoryKind::kSymbol) *static_cast<uint64_t*>(into) += a.bytes;
}

void collect(const Allocation& a, void* into) {
  if (movable(a)) static_cast<std::vector<const Allocation*>*>(into)->push_back(&a);
}

}  // namespace

uint32_t OtherNumbers::variants(const LaunchRequest& request, uint64_t nth) {
  const OtherNumbersMode mode = settings().other_numbers;
  if (mode == OtherNumbersMode::kNone || mode == OtherNumbersMode::kCopies || (nth >= kEarlyLaunches && (nth & (nth - 1)) != 0)) return 0;
  uint64_t bytes = 0;
  for_each_allocation(add_bytes, &bytes);
  if (bytes > kMostBytes) return 0;
  if (mode != OtherNumbersMode::kArguments) return 1;
  if (!request.kernel->has_parameters || request.cooperative) return 0;
  return std::min(kMostArguments, uint32_t(other_arguments(request).size()));
}

OtherNumbers::OtherNumbers(const LaunchRequest& request, uint64_t nth, uint32_t variant) : altered_(request) {
  std::vector<const Allocation*> live;
  for_each_allocation(collect, &live);
  for (const Allocation* a : live) {
    const auto* from = reinterpret_cast<const char*>(a->base);  // NOLINT(performance-no-int-to-ptr)
    saved_.push_back({a->base, std::vector<char>(from, from + a->bytes)});
  }
  if (settings().other_numbers != OtherNumbersMode::kArguments) {
    const bool some = settings().other_numbers == OtherNumbersMode::kSome;
    for (const auto& [allocation, numbers] : altered_with(request))
      if (!numbers.mixed) alter(*allocation, numbers, nth, some);
    return;
  }
  const OtherArgument other = other_arguments(request)[variant];
  arguments_.assign(request.arguments, request.arguments + request.kernel->parameters.size());
  for (const OtherArgument::Value& one : other.values) values_.push_back(one.bytes);
  for (size_t i = 0; i < values_.size(); ++i) arguments_[other.values[i].parameter->index] = &values_[i];
  altered_.arguments = arguments_.data();
  altered_.grid = other.grid;
}

void OtherNumbers::alter_copy(void* at, uint64_t bytes) {
  static uint64_t copies = 0;
  const uint64_t draw = mixed(++copies * 64);
  auto* const to = static_cast<char*>(at);
  if (reads_as<float>(to, bytes)) return alter_some<float>(to, bytes, draw, false);
  if (reads_as<double>(to, bytes)) return alter_some<double>(to, bytes, draw, false);
  if (bytes % 4 == 0) alter_some<int32_t>(to, bytes, draw, true);
  else alter_some<int8_t>(to, bytes, draw, true);
}

OtherNumbers::~OtherNumbers() {
  for (const Saved& saved : saved_) {
    auto* to = reinterpret_cast<char*>(saved.base);  // NOLINT(performance-no-int-to-ptr)
    // Constants of a module may lie in pages that cannot be written.
    if (std::memcmp(to, saved.content.data(), saved.content.size()) != 0)
      std::memcpy(to, saved.content.data(), saved.content.size());
  }
}

}  // namespace simt
