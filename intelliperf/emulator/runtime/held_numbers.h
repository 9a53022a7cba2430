// Values that a plain number of a launch may take: with others the program would have launched other code. See
// `deriving.py`. Asked for by INTELLIPERF_OTHER_HELD, of both versions alike.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace simt {

struct HeldNumber {
  int64_t parameter = -1;
  std::vector<std::pair<int64_t, int64_t>> ranges;  // first and last
  bool contains(int64_t value) const;
};

// "parameter,first,last,first,last…", with semicolons between.
std::vector<HeldNumber> read_held(const std::string& text);

// Whether a launch may have `value` instead of `now`: of what was told, that counts which holds for `now`.
bool may_be(const std::vector<HeldNumber>& held, int64_t parameter, int64_t now, int64_t value);

// `value`, or where it may not be that the nearest that it may, multiples of `step` further from `now`; else `now`.
int64_t held_beyond(const std::vector<HeldNumber>& held, int64_t parameter, int64_t now, int64_t value, int64_t step);

}  // namespace simt
