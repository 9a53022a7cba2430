#include "named_launches.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "settings.h"

namespace simt {
namespace {

constexpr int kBeside[] = {0, 1, -1};  // the conditions that ask for equality first
constexpr size_t kMostArguments = 6, kMostData = 6;
constexpr uint32_t kPatterns = 12;  // of two values at two places, each is where it has to be in one of four

uint64_t mixed(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

double beside(double value, int side, bool floating) {
  if (!floating) return value + side;
  return value + side * std::max(1.0, std::fabs(value) / 4);
}

uint64_t bits_of(double value, uint32_t bytes) {
  uint64_t bits = 0;
  const auto narrow = float(value);
  std::memcpy(&bits, bytes == 4 ? static_cast<const void*>(&narrow) : &value, bytes);
  return bits;
}

bool names(const NamedValue& one, const Quantity& slot) {
  const bool floating = slot.number.kind == NumberKind::kFloat;
  return one.parameter >= 0 && one.parameter == slot.parameter && one.offset == slot.offset &&
         one.bytes == slot.number.bytes && one.floating == floating;
}

// All arguments that are named, each with the `turn`th of its values.
OtherSize arguments(const LaunchRequest& request, size_t turn, int side, bool may_grow) {
  const std::vector<Quantity>& slots = settings().slots;
  OtherSize found;
  found.grid = request.grid;
  for (size_t i = 0; i < slots.size(); ++i) {
    std::vector<double> values;
    for (const NamedValue& one : settings().named)
      if (names(one, slots[i]) && slot_address(slots[i], request)) values.push_back(one.value);
    if (values.empty()) continue;
    const bool floating = slots[i].number.kind == NumberKind::kFloat;
    const double value = beside(values[turn % values.size()], side, floating);
    if (floating) {
      found.values.push_back({i, bits_of(value, slots[i].number.bytes)});
      continue;
    }
    OtherSize other;
    if (!other_size(slots, request, settings().shapes, may_grow, i, int64_t(value), other)) continue;
    for (const OtherSize::Value& one : other.values) found.values.push_back(one);
    if (!(other.grid.x == request.grid.x && other.grid.y == request.grid.y && other.grid.z == request.grid.z))
      found.grid = other.grid;
    found.larger |= other.larger;
  }
  return found;
}

template <class Value>
bool fill(char* at, uint64_t bytes, const NamedLaunch& launch, bool floating) {
  std::vector<Value> values;
  for (const NamedValue& one : launch.data) {
    const double value = beside(one.value, launch.beside, floating);
    const bool fits = floating ? std::isfinite(Value(value))
                               : value >= double(std::numeric_limits<Value>::min()) &&
                                     value <= double(std::numeric_limits<Value>::max());
    if (one.floating == floating && fits) values.push_back(Value(value));
  }
  if (values.empty()) return false;
  std::vector<Value> numbers(bytes / sizeof(Value));
  std::memcpy(numbers.data(), at, numbers.size() * sizeof(Value));
  // What rises throughout may say where other things begin and end.
  const bool rising = !floating && numbers.size() > 2 && numbers.front() < numbers.back() &&
                      std::is_sorted(numbers.begin(), numbers.end());
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    const uint64_t chance = mixed(i + (uint64_t(launch.pattern) << 40));
    // One value alone is looked for in places that nobody knows; of several, each place may have to hold a certain one.
    if (values.size() == 1 && chance % 4 == 0) continue;
    numbers[i] = values[chance / 4 % values.size()];
  }
  if (rising) std::sort(numbers.begin(), numbers.end());
  std::memcpy(at, numbers.data(), numbers.size() * sizeof(Value));
  return true;
}

bool fill_narrow(char* at, uint64_t bytes, const NamedLaunch& launch, NumberKind kind) {
  std::vector<float> wide(bytes / 2);
  std::vector<uint16_t> narrow(bytes / 2);
  std::memcpy(narrow.data(), at, narrow.size() * 2);
  std::transform(narrow.begin(), narrow.end(), wide.begin(), [&](uint16_t half) { return widened(half, kind); });
  if (!fill<float>(reinterpret_cast<char*>(wide.data()), wide.size() * sizeof(float), launch, true)) return false;
  for (size_t i = 0; i < wide.size(); ++i)
    if (wide[i] != widened(narrow[i], kind)) narrow[i] = narrowed(wide[i], narrow[i], kind);
  std::memcpy(at, narrow.data(), narrow.size() * 2);
  return true;
}

}  // namespace

std::vector<NamedValue> read_named(const char* text) {
  std::vector<NamedValue> found;
  while (text && *text) {
    double fields[5] = {};
    char* end = nullptr;
    for (double& field : fields) {
      field = std::strtod(text, &end);
      text = *end == ',' ? end + 1 : end;
    }
    found.push_back({int64_t(fields[0]), uint64_t(fields[1]), uint32_t(fields[2]), fields[3] != 0, fields[4]});
    if (*end != ';') break;
    text = end + 1;
  }
  return found;
}

std::vector<NamedLaunch> named_launches(const LaunchRequest& request, bool may_grow) {
  std::vector<NamedValue> data;
  size_t turns = 0;
  for (const Quantity& slot : settings().slots) {
    const auto of = [&](const NamedValue& one) { return names(one, slot); };
    turns = std::max(turns, size_t(std::count_if(settings().named.begin(), settings().named.end(), of)));
  }
  for (const NamedValue& one : settings().named)
    if (one.parameter < 0 && data.size() < kMostData) data.push_back(one);
  std::vector<NamedLaunch> found;
  const uint32_t patterns = data.size() > 1 ? kPatterns : 1;
  for (const int side : kBeside) {
    std::vector<OtherSize> sizes;
    for (size_t turn = 0; turn < std::min(turns, kMostArguments); ++turn) {
      const OtherSize size = arguments(request, turn, side, may_grow);
      if (!size.values.empty()) sizes.push_back(size);
    }
    for (const OtherSize& size : sizes) found.push_back({size, {}, side, 0});
    if (data.empty()) continue;
    OtherSize own;
    own.grid = request.grid;
    sizes.push_back(own);
    for (const OtherSize& size : sizes)
      for (uint32_t pattern = 0; pattern < (side ? 1 : patterns); ++pattern)
        found.push_back({size, data, side, pattern});
  }
  return found;
}

bool alter_named(char* at, uint64_t bytes, const Number& number, const NamedLaunch& launch) {
  const auto [kind, each] = number;
  if ((kind == NumberKind::kFloat || kind == NumberKind::kBrain) && each == 2)
    return fill_narrow(at, bytes, launch, kind);
  if (kind == NumberKind::kFloat && each == 4) return fill<float>(at, bytes, launch, true);
  if (kind == NumberKind::kFloat && each == 8) return fill<double>(at, bytes, launch, true);
  if (kind != NumberKind::kInteger) return false;
  if (each == 1) return fill<uint8_t>(at, bytes, launch, false);
  if (each == 2) return fill<int16_t>(at, bytes, launch, false);
  if (each == 4) return fill<int32_t>(at, bytes, launch, false);
  return each == 8 && fill<int64_t>(at, bytes, launch, false);
}

}  // namespace simt
