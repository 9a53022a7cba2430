#include "held_numbers.h"

#include <algorithm>
#include <cstdlib>

namespace simt {
namespace {

constexpr int64_t kFarthest = 2048;

}  // namespace

bool HeldNumber::contains(int64_t value) const {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return range.first <= value && value <= range.second; });
}

std::vector<HeldNumber> read_held(const std::string& text) {
  std::vector<HeldNumber> found;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(';', from), text.size());
    std::vector<int64_t> numbers;
    for (size_t at = from; at < to; at = std::min(text.find(',', at), to) + 1)
      numbers.push_back(strtoll(text.c_str() + at, nullptr, 10));
    HeldNumber one;
    one.parameter = numbers.empty() ? -1 : numbers[0];
    for (size_t i = 1; i + 1 < numbers.size(); i += 2) one.ranges.push_back({numbers[i], numbers[i + 1]});
    found.push_back(one);
    from = to + 1;
  }
  return found;
}

bool may_be(const std::vector<HeldNumber>& held, int64_t parameter, int64_t now, int64_t value) {
  return std::all_of(held.begin(), held.end(), [&](const HeldNumber& one) {
    return one.parameter != parameter || !one.contains(now) || one.contains(value);
  });
}

int64_t held_beyond(const std::vector<HeldNumber>& held, int64_t parameter, int64_t now, int64_t value, int64_t step) {
  const int64_t away = value < now ? -step : step;
  for (int64_t other = value; other >= 0 && std::abs(other - value) <= kFarthest; other += away)
    if (may_be(held, parameter, now, other)) return other;
  return now;
}

}  // namespace simt
