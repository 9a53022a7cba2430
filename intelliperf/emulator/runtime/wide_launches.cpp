#include "wide_launches.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace simt {
namespace {

constexpr uint64_t kMostAccesses = 8u << 20;  // accesses of a widened launch, each checked: a second or so
constexpr size_t kMostFactors = 4, kMostWidths = 2, kMostLaunches = 40;
constexpr uint32_t kWidest = 18;         // bits of an index into the room that memory has
constexpr uint32_t kWord = 32;           // of a total that was one of 64 bits
constexpr uint32_t kLarge = 0x3FFFFFFF;  // four of them are more than a word holds

uint64_t mixed(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// How many times as large a launch has to be for each buffer to have more elements than the bits can count.
std::vector<int64_t> factors(const std::vector<WideBuffer>& buffers, uint32_t bits, uint64_t accesses) {
  const uint64_t wanted = (1ull << bits) * 9 / 8;
  std::set<int64_t> found;
  for (const WideBuffer& buffer : buffers) {
    if (buffer.elements == 0) continue;
    const uint64_t factor = wanted / buffer.elements + 1;
    if (factor > 1 && factor * accesses <= kMostAccesses) found.insert(int64_t(factor));
  }
  std::vector<int64_t> kept(found.begin(), found.end());
  if (kept.size() > kMostFactors) kept.resize(kMostFactors);
  return kept;
}

template <class Value>
Value median(const char* at, uint64_t count) {
  std::vector<Value> values(count);
  std::memcpy(values.data(), at, count * sizeof(Value));
  std::nth_element(values.begin(), values.begin() + int64_t(count / 2), values.end());
  return values[count / 2];
}

template <class Value>
void widen_as(char* at, uint64_t bytes, WideLaunch::Data data, uint32_t bits) {
  const uint64_t count = bytes / sizeof(Value), held = 1ull << bits;
  if (count == 0) return;
  const Value usual = median<Value>(at, count);
  for (uint64_t i = 0; i < count; ++i) {
    Value value;
    std::memcpy(&value, at + i * sizeof value, sizeof value);
    const uint64_t chance = mixed(i + bits);
    if (data == WideLaunch::Data::kEqual) value = usual;
    if (data == WideLaunch::Data::kFull) value = bits == kWord ? Value(kLarge - i % 7) : Value(~uint64_t(0));
    if (data == WideLaunch::Data::kCarry) value = Value(held - 1 - i % 3);
    if (data == WideLaunch::Data::kRaised) value = Value(uint64_t(value) + held + 5);
    if (data == WideLaunch::Data::kBeyond && chance % 8 == 0)
      value = Value(uint64_t(value) + (chance & 64 ? held : held / 2));
    std::memcpy(at + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

std::vector<WideLaunch> wide_launches(const LaunchRequest& request, const std::vector<Quantity>& slots,
                                      const std::vector<WideBuffer>& buffers, const std::vector<uint32_t>& widths,
                                      const std::vector<LaunchShape>& beside, uint64_t accesses, bool may_grow,
                                      bool alone) {
  using Data = WideLaunch::Data;
  std::vector<WideLaunch> found;
  const auto has = [&](auto what) { return std::any_of(buffers.begin(), buffers.end(), what); };
  const bool equal = has([](const WideBuffer& b) { return b.integers && b.constant; });
  const bool full = has([](const WideBuffer& b) { return b.narrow && b.constant; });
  const bool written = has([](const WideBuffer& b) { return b.integers && !b.constant; });
  const auto add = [&](const OtherSize& size, uint32_t bits) {
    if (size.larger) found.push_back({size, Data::kOwn, 0, bits});
    if (equal) found.push_back({size, Data::kEqual, 0, bits});
    if (full) found.push_back({size, Data::kFull, 0, bits});
    if (!alone || !equal) return;
    found.push_back({size, Data::kEqual, 0, bits});
    found.back().size.grid = Dim3{};
  };
  size_t added = 0;
  OtherSize own;
  own.grid = request.grid;
  for (const uint32_t bits : widths) {
    if (bits == kWord && equal) found.push_back({own, Data::kFull, 0, bits});
    if (bits <= kWord && written) found.push_back({own, Data::kCarry, 0, bits});
    if (bits > kWidest || added++ == kMostWidths) continue;
    add(own, bits);
    for (size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].integers && buffers[b].constant && !buffers[b].narrow)
        found.push_back({own, Data::kBeyond, b, bits});
    if (written) found.push_back({own, Data::kRaised, 0, bits});
    if (!may_grow) continue;
    for (const OtherSize& size : multiples(slots, request, factors(buffers, bits, accesses), beside)) add(size, bits);
  }
  if (found.size() > kMostLaunches) found.resize(kMostLaunches);
  return found;
}

void widen(char* at, uint64_t bytes, uint32_t each, WideLaunch::Data data, uint32_t bits) {
  if (each == 1) widen_as<uint8_t>(at, bytes, data, bits);
  if (each == 2) widen_as<uint16_t>(at, bytes, data, bits);
  if (each == 4) widen_as<uint32_t>(at, bytes, data, bits);
  if (each == 8) widen_as<uint64_t>(at, bytes, data, bits);
}

const char* name_of(WideLaunch::Data data) {
  switch (data) {
    case WideLaunch::Data::kOwn:
      return "a larger launch";
    case WideLaunch::Data::kEqual:
      return "equal integers";
    case WideLaunch::Data::kFull:
      return "all bits of small integers set, or large integers";
    case WideLaunch::Data::kBeyond:
      return "integers beyond the narrower width";
    case WideLaunch::Data::kRaised:
      return "results that begin beyond the narrower width";
    case WideLaunch::Data::kCarry:
      return "results that begin at the largest that the narrower width holds";
  }
  return "";
}

}  // namespace simt
