#include "wide_launches.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "other_data.h"

namespace simt {
namespace {

constexpr uint64_t kMostAccesses = 8u << 20;  // accesses of a widened launch, each checked: a second or so
constexpr uint64_t kFolds = 8;                // different integers in the lowest bits, and so many squared above them
constexpr size_t kMostFactors = 4, kMostWidths = 2, kMostLaunches = 40;
constexpr uint64_t kMostOfPart = 24u << 20;
constexpr uint64_t kLeastCount = 5;  // what is below is often a mode
constexpr size_t kFewFactors = 3, kFewLopsided = 4, kMostParts = 6, kMostFar = 6, kMostOfDigits = 16;
constexpr uint64_t kFarthest = 8;              // one of so many reaches as far as the range does
constexpr uint32_t kWidest = 18;               // bits of an index into the room that memory has
constexpr uint64_t kRoomyElements = 1u << 19;  // of four bytes, that memory has room for
constexpr int64_t kLeastRow = 3;
constexpr size_t kFewShort = 2;
constexpr uint32_t kWord = 32;                       // of a total that was one of 64 bits
constexpr uint32_t kProductOfBytes = 14, kByte = 7;  // digits of the greatest
constexpr uint32_t kLarge = 0x3FFFFFFF;              // four of them are more than a word holds

uint64_t mixed(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// What a launch has so many of: elements of its buffers, and what its sizes say, of rows for instance.
std::vector<uint64_t> counts(const LaunchRequest& request, const std::vector<Quantity>& slots,
                             const std::vector<WideBuffer>& buffers) {
  std::vector<uint64_t> found;
  for (const Quantity& slot : slots) found.push_back(size_in(slot, request));
  for (const WideBuffer& buffer : buffers) found.push_back(buffer.elements);
  return found;
}

// How many times as large a launch has to be for each of the counts to be more than the bits hold.
std::vector<int64_t> factors(const std::vector<uint64_t>& counted, uint32_t bits, uint64_t accesses, uint64_t most,
                             size_t kept_ones) {
  const uint64_t wanted = (1ull << bits) * 9 / 8;
  std::set<int64_t> found;
  for (const uint64_t one : counted) {
    if (one < kLeastCount) continue;
    const uint64_t factor = wanted / one + 1;
    if (factor > 1 && factor * accesses <= most) found.insert(int64_t(factor));
  }
  std::vector<int64_t> kept(found.begin(), found.end());
  if (kept.size() > kept_ones) kept.resize(kept_ones);
  return kept;
}

// Each plain number beyond the bits by itself: a score or a limit, which no size of the launch goes by. Where it is a size
// after all, the original goes astray. Large data may be cut to such a limit, so that a word needs both.
void add_far(const LaunchRequest& request, const std::vector<Quantity>& slots, uint32_t bits, bool full,
             std::vector<WideLaunch>& found) {
  const uint64_t value = bits == kWord ? kLarge : (1ull << bits) * 9 / 8;
  size_t added = 0;
  for (size_t i = 0; i < slots.size() && added < kMostFar; ++i) {
    const Quantity& slot = slots[i];
    const bool holds = slot.number.kind == NumberKind::kInteger && value >> (8 * slot.number.bytes - 1) == 0;
    if (!holds || slot.boolean || slot.mask || !slot_address(slot, request) || size_in(slot, request) >= value)
      continue;
    if (bits == kWord && !(full && (slot.compared || slot.bound))) continue;
    WideLaunch launch;
    launch.size.values = {{i, value}};
    launch.size.grid = request.grid;
    launch.size.larger = launch.far = true;
    launch.data = bits == kWord ? WideLaunch::Data::kFull : WideLaunch::Data::kOwn;
    launch.bits = bits;
    found.push_back(launch);
    ++added;
  }
}

// Those for which the whole launch would take too long: of one size that grows another one shrinks, or of the grid one
// block is left.
void add_expensive(const LaunchRequest& request, const std::vector<Quantity>& slots,
                   const std::vector<uint64_t>& counted, uint32_t bits, uint64_t accesses,
                   std::vector<WideLaunch>& lopsided_ones, std::vector<WideLaunch>& parts) {
  const uint64_t own = std::max<uint64_t>(1, accesses), blocks = request.grid.count();
  for (const int64_t factor : factors(counted, bits, 1, UINT64_MAX >> 1, kFewFactors)) {
    if (uint64_t(factor) * own <= kMostAccesses) continue;
    for (const OtherSize& size : lopsided(slots, request, factor, own, kMostAccesses))
      if (lopsided_ones.size() < kFewLopsided) lopsided_ones.push_back({size, WideLaunch::Data::kOwn, 0, bits});
    if (blocks < 2 || uint64_t(factor) * (own / blocks) > kMostOfPart) continue;
    for (OtherSize size : multiples(slots, request, {factor}, {})) {
      if (parts.size() >= kMostParts) return;
      size.grid = Dim3{}, size.alone = true;
      if (parts.empty()) {
        WideLaunch control;
        control.part = control.size.alone = true;
        parts.push_back(control);
      }
      parts.push_back({size, WideLaunch::Data::kOwn, 0, bits});
      parts.back().part = true;
    }
  }
}

// Rows of fewer elements, of which memory has room for more than the bits count: an index of rows is beyond them there.
std::vector<OtherSize> of_short_rows(const LaunchRequest& request, const std::vector<Quantity>& slots, uint32_t bits,
                                     const std::vector<LaunchShape>& beside) {
  std::vector<OtherSize> found;
  const auto most = int64_t(kRoomyElements / ((1ull << bits) * 9 / 8));
  for (size_t i = 0; i < slots.size() && most >= kLeastRow; ++i) {
    OtherSize other;
    if (int64_t(size_in(slots[i], request)) <= most || found.size() >= kFewShort) continue;
    if (other_size(slots, request, beside, false, i, most, other)) found.push_back(other);
  }
  return found;
}

// What stands in a quarter of the places or more may mark those that are free.
template <class Value>
Value usual_of(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  Value found = values[values.size() / 2];
  size_t most = 0;
  for (size_t first = 0, end = 0; first < values.size(); first = end) {
    while (end < values.size() && values[end] == values[first]) ++end;
    if (end - first > most) most = end - first, found = values[first];
  }
  return most >= values.size() / 4 ? found : values[values.size() / 2];
}

// A float of so many binary digits: so many bytes, and products of two, add up to more than these, and so do integers
// beyond them.
void add_digits(const LaunchRequest& request, const std::vector<Quantity>& slots,
                const std::vector<WideBuffer>& buffers, uint32_t bits, const std::vector<LaunchShape>& beside,
                uint64_t accesses, bool may_grow, std::vector<WideLaunch>& found) {
  OtherSize own;
  own.grid = request.grid;
  bool bytes = false, written = false;
  for (size_t b = 0; b < buffers.size(); ++b) {
    bytes |= buffers[b].narrow && buffers[b].constant && !buffers[b].kept;
    written |= buffers[b].integers && !buffers[b].constant && !buffers[b].kept;
    if (buffers[b].integers && buffers[b].constant && !buffers[b].narrow)
      found.push_back({own, WideLaunch::Data::kBeyond, b, bits});
  }
  if (written) found.push_back({own, WideLaunch::Data::kRaised, 0, bits});
  if (written) found.push_back({own, WideLaunch::Data::kCarry, 0, bits});
  if (!bytes || !may_grow) return;
  const std::vector<uint64_t> counted = counts(request, slots, buffers);
  for (const uint32_t digits : {bits - kProductOfBytes, bits - kByte}) {
    std::vector<OtherSize> sizes =
        multiples(slots, request, factors(counted, digits, accesses, kMostAccesses, kMostFactors), beside);
    for (const int64_t factor : factors(counted, digits, 1, UINT64_MAX >> 1, kFewFactors)) {
      if (!beside.empty() || uint64_t(factor) * std::max<uint64_t>(1, accesses) <= kMostAccesses) continue;
      const std::vector<OtherSize> more = lopsided(slots, request, factor, accesses, kMostAccesses);
      sizes.insert(sizes.end(), more.begin(), more.end());
    }
    for (const OtherSize& size : sizes)
      if (size.larger) found.push_back({size, WideLaunch::Data::kGreatest, 0, digits});
  }
}

template <class Value>
Value median(const char* at, uint64_t count) {
  std::vector<Value> values(count);
  std::memcpy(values.data(), at, count * sizeof(Value));
  std::nth_element(values.begin(), values.begin() + int64_t(count / 2), values.end());
  return values[count / 2];
}

template <class Value>
void widen_as(char* at, uint64_t bytes, WideLaunch::Data data, uint32_t bits, bool by_value) {
  const uint64_t count = bytes / sizeof(Value), held = 1ull << bits;
  if (count == 0) return;
  // What rises throughout may say where other things begin and end: counts of less than nothing, where it falls.
  std::vector<Value> values(count);
  std::memcpy(values.data(), at, count * sizeof(Value));
  const bool rising = rises(values);
  const bool filled =
      data == WideLaunch::Data::kFull || data == WideLaunch::Data::kLowest || data == WideLaunch::Data::kGreatest;
  if (rising && filled) return;
  const Value usual = by_value ? usual_of(values) : median<Value>(at, count);
  for (uint64_t i = 0; i < count; ++i) {
    Value value = values[i];
    const uint64_t chance = mixed((by_value ? uint64_t(value) : i) + bits);
    if (data == WideLaunch::Data::kEqual) value = usual;
    if (data == WideLaunch::Data::kFull) value = bits == kWord ? Value(kLarge - i % 7) : Value(~uint64_t(0));
    if (data == WideLaunch::Data::kLowest) value = Value(1ull << (8 * sizeof(Value) - 1));
    if (data == WideLaunch::Data::kGreatest) value = Value((1ull << (8 * sizeof(Value) - 1)) - 1 - chance % 2 * 2);
    if (data == WideLaunch::Data::kCarry) value = Value(held - 1 - i % 3);
    if (data == WideLaunch::Data::kRaised) value = Value(uint64_t(value) + held + 5);
    if (data == WideLaunch::Data::kFolded && uint64_t(value) / kFolds < kFolds * kFolds)
      value = Value(uint64_t(value) % kFolds + uint64_t(value) / kFolds * held);
    if (data == WideLaunch::Data::kBeyond && !(by_value && value == usual) && chance % 8 == 0)
      value = Value(uint64_t(value) + (chance & 64 ? held : held / 2));
    values[i] = value;
  }
  if (rising) std::sort(values.begin(), values.end());
  std::memcpy(at, values.data(), count * sizeof(Value));
}

// The farther behind what there was, the farther numbers reach from the middle of their range, which none leaves: the
// largest of more of them is one that is farther behind. Rows that are sorted remain so.
template <class Value>
void spread(std::vector<Value>& numbers, size_t count, bool sorted, bool falling) {
  Value low = std::numeric_limits<Value>::max(), high = std::numeric_limits<Value>::lowest();
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(numbers[i])) low = std::min(low, numbers[i]), high = std::max(high, numbers[i]);
  if (!(low < high)) return;
  const double middle = double(low) / 2 + double(high) / 2, half = double(high) / 2 - double(low) / 2;
  double reach = 0.5;
  Value before = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Value own = numbers[i];
    const bool begins = i > 0 && (falling ? own > before : own < before);
    if (i >= count && (!sorted || begins)) reach = 0.5 + 0.5 * double(i - count + 1) / double(numbers.size() - count);
    before = own;
    const uint64_t chance = mixed(i ^ 0x5EED);
    if (i >= count && !sorted && chance % kFarthest == 0)
      numbers[i] = Value(middle + (chance & (1u << 20) ? reach : -reach) * half);
    else if (std::isfinite(own))
      numbers[i] = Value(middle + (double(own) - middle) * reach);
  }
}

}  // namespace

std::vector<WideLaunch> wide_launches(const LaunchRequest& request, const std::vector<Quantity>& slots,
                                      const std::vector<WideBuffer>& buffers, const std::vector<uint32_t>& widths,
                                      const std::vector<LaunchShape>& beside, uint64_t accesses, bool may_grow,
                                      bool alone) {
  using Data = WideLaunch::Data;
  std::vector<WideLaunch> found;
  const auto has = [&](auto what) {
    return std::any_of(buffers.begin(), buffers.end(), [&](const WideBuffer& b) { return !b.kept && what(b); });
  };
  const bool equal = has([](const WideBuffer& b) { return b.integers && b.constant; });
  const bool full = has([](const WideBuffer& b) { return b.narrow && b.constant; });
  const bool written = has([](const WideBuffer& b) { return b.integers && !b.constant; });
  const auto add = [&](const OtherSize& size, uint32_t bits) {
    if (size.larger) found.push_back({size, Data::kOwn, 0, bits});
    if (equal) found.push_back({size, Data::kEqual, 0, bits});
    if (full) found.push_back({size, Data::kFull, 0, bits});
    if (!alone || !equal) return;
    found.push_back({size, Data::kEqual, 0, bits});
    found.back().size.grid = Dim3{}, found.back().size.alone = true;
  };
  const std::vector<uint64_t> counted = counts(request, slots, buffers);
  std::vector<WideLaunch> lopsided_ones, parts, digits;
  size_t added = 0;
  OtherSize own;
  own.grid = request.grid;
  for (const uint32_t bits : widths) {
    if (bits > kWidest && bits < kWord) {
      add_digits(request, slots, buffers, bits, beside, accesses, may_grow, digits);
      continue;
    }
    if (bits == kWord && equal) found.push_back({own, Data::kFull, 0, bits});
    if (bits <= kWord && written) found.push_back({own, Data::kCarry, 0, bits});
    if (bits <= kWord && may_grow && beside.empty()) add_far(request, slots, bits, equal, found);
    if (bits > kWidest || added++ == kMostWidths) continue;
    add(own, bits);
    if (full) found.push_back({own, Data::kLowest, 0, bits});
    for (size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].integers && !buffers[b].constant && !buffers[b].narrow && buffers[b].kept)
        found.push_back({own, Data::kFolded, b, bits});
    for (size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].integers && buffers[b].constant && !buffers[b].narrow) {
        found.push_back({own, Data::kBeyond, b, bits});
        for (const OtherSize& size : of_short_rows(request, slots, bits, beside))
          found.push_back({size, Data::kBeyond, b, bits});
      }
    if (written) found.push_back({own, Data::kRaised, 0, bits});
    if (has([](const WideBuffer& b) { return b.rising; })) found.push_back({own, Data::kLong, 0, bits});
    if (!may_grow) continue;
    const std::vector<int64_t> cheap = factors(counted, bits, accesses, kMostAccesses, kMostFactors);
    for (const OtherSize& size : multiples(slots, request, cheap, beside)) add(size, bits);
    if (beside.empty()) add_expensive(request, slots, counted, bits, accesses, lopsided_ones, parts);
  }
  if (found.size() > kMostLaunches) found.resize(kMostLaunches);
  if (digits.size() > kMostOfDigits) digits.resize(kMostOfDigits);
  found.insert(found.end(), digits.begin(), digits.end());
  found.insert(found.end(), lopsided_ones.begin(), lopsided_ones.end());
  found.insert(found.end(), parts.begin(), parts.end());
  return found;
}

void vary_room(char* at, uint64_t asked, uint64_t bytes, const Number& number, uint32_t bits) {
  const auto vary = [&](auto value) {
    using Value = decltype(value);
    std::vector<Value> numbers(bytes / sizeof value);
    std::memcpy(numbers.data(), at, numbers.size() * sizeof value);
    const size_t count = asked / sizeof value;
    size_t rises = 0;
    for (size_t i = 1; i < count; ++i) rises += numbers[i - 1] <= numbers[i];
    // Rows that are sorted, each of them, may have to be; one list that is may be searched in.
    const bool sorted = rises > count * 7 / 10 || rises < count * 3 / 10;
    if (count < 2 || (sorted && (!std::is_floating_point_v<Value> || bits || rises == 0 || rises + 1 == count))) return;
    if constexpr (std::is_floating_point_v<Value>) {
      if (sorted) {
        spread(numbers, count, true, rises < count / 2);
        std::memcpy(at, numbers.data(), numbers.size() * sizeof value);
        return;
      }
    }
    for (size_t i = count; i < numbers.size(); ++i) {
      const uint64_t chance = mixed(i);
      const Value other = numbers[chance % count];
      const auto share = double(chance >> 40 & 1023) / 1024;
      numbers[i] = Value(double(numbers[i]) + (double(other) - double(numbers[i])) * share);
    }
    const double pivot = double(numbers[count / 2]);
    for (size_t i = 0; bits && i < std::min<size_t>(numbers.size(), size_t(1) << bits); ++i)
      numbers[i] = Value(pivot + (double(numbers[i]) - pivot) / 2);
    if constexpr (std::is_floating_point_v<Value>)
      if (!bits) spread(numbers, count, false, false);
    std::memcpy(at, numbers.data(), numbers.size() * sizeof value);
  };
  if (number.kind == NumberKind::kFloat && number.bytes == 4) vary(float());
  if (number.kind == NumberKind::kFloat && number.bytes == 8) vary(double());
  if (number.kind == NumberKind::kInteger && number.bytes == 4) vary(int32_t());
}

void widen(char* at, uint64_t bytes, uint32_t each, WideLaunch::Data data, uint32_t bits, bool by_value) {
  if (each == 1) widen_as<uint8_t>(at, bytes, data, bits, by_value);
  if (each == 2) widen_as<uint16_t>(at, bytes, data, bits, by_value);
  if (each == 4) widen_as<uint32_t>(at, bytes, data, bits, by_value);
  if (each == 8) widen_as<uint64_t>(at, bytes, data, bits, by_value);
}

void lengthen(char* at, uint64_t asked, uint32_t each, uint32_t bits) {
  const auto raise = [&](auto value) {
    using Value = decltype(value);
    for (uint64_t i = asked / sizeof value / 2; i < asked / sizeof value; ++i) {
      std::memcpy(&value, at + i * sizeof value, sizeof value);
      value = Value(uint64_t(value) + (2ull << bits));
      std::memcpy(at + i * sizeof value, &value, sizeof value);
    }
  };
  if (each == 4) raise(uint32_t());
  if (each == 8) raise(uint64_t());
}

bool rise(const char* at, uint64_t bytes, uint32_t each) {
  const auto ascend = [&](auto value) {
    std::vector<decltype(value)> numbers(bytes / sizeof value);
    std::memcpy(numbers.data(), at, numbers.size() * sizeof value);
    return rises(numbers);
  };
  return (each == 4 && ascend(int32_t())) || (each == 8 && ascend(int64_t()));
}

const char* name_of(const WideLaunch& launch) {
  if (launch.far) return "a number beyond the narrower width";
  if (launch.part) return launch.size.larger ? "a part of a larger launch" : "a part of the grid";
  switch (launch.data) {
    case WideLaunch::Data::kOwn:
      return "a larger launch";
    case WideLaunch::Data::kEqual:
      return "equal integers";
    case WideLaunch::Data::kFull:
      return "all bits of small integers set, or large integers";
    case WideLaunch::Data::kBeyond:
      return "integers beyond the narrower width";
    case WideLaunch::Data::kFolded:
      return "integers alike in the narrower width";
    case WideLaunch::Data::kRaised:
      return "results that begin beyond the narrower width";
    case WideLaunch::Data::kLong:
      return "a longer part of a list";
    case WideLaunch::Data::kLowest:
      return "small integers the least that they can be";
    case WideLaunch::Data::kGreatest:
      return "larger sums of small integers";
    case WideLaunch::Data::kCarry:
      return "results that begin at the largest that the narrower width holds";
  }
  return "";
}

}  // namespace simt
