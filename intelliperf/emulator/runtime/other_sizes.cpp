#include "other_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <numeric>

#include "own_grids.h"
#include "settings.h"
#include "tiles.h"

namespace simt {
namespace {

constexpr int64_t kLeastExponent = 3, kMostExponent = 20;
constexpr size_t kMostConstants = 12;
constexpr size_t kMostLimits = 6;
constexpr size_t kMostPairs = 12;         // two ways for six pairs
constexpr int64_t kMostStretched = 16;    // so many times as large as it is
constexpr int64_t kMostRaised = 1 << 20;  // so that no product of two overflows
constexpr int64_t kManyTimesAsFew = 8;
constexpr int64_t kManyTimes =
    27;  // as large a size, where launches are small: magic numbers in place of divisions end

std::vector<std::string> parts(const std::string& text, char mark) {
  std::vector<std::string> found;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(mark, from), text.size());
    found.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return found;
}

std::vector<int64_t> integers(const std::string& text) {
  std::vector<int64_t> found;
  for (const std::string& part : parts(text, ','))
    if (!part.empty()) found.push_back(strtoll(part.c_str(), nullptr, 10));
  return found;
}

bool is_integer(const Quantity& slot) {
  const auto bytes = slot.number.bytes;
  return slot.number.kind == NumberKind::kInteger && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
}

template <class Value>
int64_t read(const void* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

int64_t value_of(const Quantity& slot, const LaunchRequest& request) {
  const void* at = slot_address(slot, request);
  switch (slot.number.bytes) {
    case 1:
      return read<int8_t>(at);
    case 2:
      return read<int16_t>(at);
    case 4:
      return read<int32_t>(at);
    default:
      return read<int64_t>(at);
  }
}

// No more than this fits into the number, whatever its sign.
int64_t most_of(const Quantity& slot) {
  return slot.number.bytes < 4 ? (int64_t(1) << (8 * slot.number.bytes - 1)) - 1 : INT32_MAX - 1;
}

bool is_prime(int64_t number) {
  for (int64_t d = 2; d * d <= number; ++d)
    if (number % d == 0) return false;
  return number > 1;
}

// A value that is a multiple of what the code divides by may have to stay one.
int64_t step_of(const Quantity& slot, int64_t value, int64_t multiple) {
  int64_t step = multiple;
  for (const int64_t divisor : slot.divisors)
    if (divisor > 1 && value % divisor == 0) step = std::lcm(step, divisor);
  if (!slot.open) return step;
  const int64_t lowest = value & -value;
  return std::lcm(step, lowest == value ? std::max<int64_t>(1, value / 2) : lowest);
}

// What the compiler took a number for a multiple of.
int64_t multiple_of(const Quantity& slot, const LaunchRequest& request) {
  for (const Parameter& parameter : request.kernel->parameters)
    if (parameter.index == uint64_t(slot.parameter) && slot.offset == 0)
      return std::max<int64_t>(1, parameter.multiple);
  return 1;
}

// The largest size that is worth a launch, which has to do so many times as much.
int64_t most_size(int64_t value) {
  if (!settings().far_constants) return std::max(kMostOfAModule, 2 * value);
  const double times = double(kMostAltered) / double(std::max<uint64_t>(1, settings().accesses));
  return std::max(std::max(kMostOfAModule, 2 * value), int64_t(std::min(double(kFarthest), double(value) * times)));
}

// A power of two less 1, by which others are masked, stays one: what is masked counts in a circle.
bool masks_all_below(const Quantity& slot, int64_t value) {
  return slot.mask && value >= 3 && (value & (value + 1)) == 0;
}

// Sizes for which a guard, a tail or a remainder may be forgotten, the most telling first. Other code runs for what is
// no multiple of `taken`; where there is no such code, every value has to be a multiple of `least`.
std::vector<int64_t> candidates(const Quantity& slot, int64_t value, const std::vector<int64_t>& constants,
                                int64_t taken, int64_t least) {
  std::vector<int64_t> wanted;
  if (masks_all_below(slot, value)) {
    for (const int64_t one : {value / 2, 2 * value + 1, value / 8, 8 * value + 7})
      if (one > 0) wanted.push_back(one);
  } else if (slot.boolean) {
    wanted.push_back(value == 0);
  } else if (value < kLeastSize) {
    if (value < -1 && 2 * value >= -most_of(slot)) return {value - 1, 2 * value};  // a cost, an offset
    if (value < 0) return wanted;
    for (const int64_t c : slot.constants)
      for (const int64_t one : {c, c + 1})
        if (one >= 0 && one < 16) wanted.push_back(one);
    for (const int64_t one : {value - 1, value + 1, value + 2})  // 0 is the other value of a switch
      if (one >= 0) wanted.push_back(one);
    // Of a radius or an order, that bounds a loop, as many as LDS or a list in registers may be too small for.
    const auto ends_loops = [](int64_t c) { return c == 0 || c == 1; };
    const bool counts =
        value > 1 && slot.compared && std::all_of(slot.constants.begin(), slot.constants.end(), ends_loops);
    if (counts && settings().accesses * kManyTimesAsFew < kMostAltered) wanted.push_back(kManyTimesAsFew * value);
  } else {
    const int64_t step = step_of(slot, value, least);
    const auto down_to_step = [&](int64_t one) { return one / step * step; };
    int64_t prime = value - 2;
    while (prime > 2 && value - prime < 200 && !is_prime(prime)) --prime;
    for (const int64_t one : {value - step, value + step, down_to_step(value / 2) + step, value + 3 * step})
      wanted.push_back(one);
    for (const int64_t one : {value - taken, value + taken})
      if (taken % step == 0) wanted.push_back(one);
    if (step == 1) wanted.push_back(prime);
    wanted.push_back(step == 1 ? 3 : step);
    if (2 * value <= most_size(value)) wanted.push_back(2 * value);  // all that allocations have room for
    if (settings().accesses * kManyTimes < kMostAltered) wanted.push_back(kManyTimes * value + step);
    size_t added = 0;
    const auto name = [&](int64_t c, int64_t one) {
      if (c < 2 || c >= most_size(value) || one % step != 0 || added >= kMostConstants) return;
      added += std::find(wanted.begin(), wanted.end(), one) == wanted.end();
      wanted.push_back(one);
    };
    for (const int64_t c : constants) name(c, c), name(c, c + 1);
    for (const int64_t c : constants) name(c, c - 1);
    for (const int64_t c : slot.constants)
      for (const int64_t one : {c, c + 1})
        if (c >= 2 && c <= kMostOfAModule && one % step == 0 && one <= 2 * value) wanted.push_back(one);
  }
  std::vector<int64_t> values;
  for (const int64_t size : wanted) {
    const int64_t one = held_beyond(settings().held, slot.parameter, value, size, step_of(slot, value, least));
    if (one >= 0 && one <= most_of(slot) && one != value && one % least == 0 &&
        std::find(values.begin(), values.end(), one) == values.end())
      values.push_back(one);
  }
  return values;
}

struct Extent {  // of one dimension
  uint32_t grid, block;
};

bool has_thread_each(const Extent& e, int64_t size) {
  const uint64_t threads = uint64_t(e.grid) * e.block;
  return size > 0 && uint64_t(size) <= threads && threads - uint64_t(size) < e.block;
}

bool has_block_each(const Extent& e, int64_t size) { return e.grid > 1 && e.grid == uint64_t(size); }

struct Fitted {
  bool usable = false, matched = false;
  GridSize grid{};
  unsigned dimensions = 0;  // a bit for each that goes with the number by itself
};

// The grid for `other` instead of `size`, where it has a thread or a block for each, times another number perhaps.
// `alike`: another number has the same value, so that nobody knows which of them the grid goes with: it never shrinks.
Fitted fit(const GridSize& grid, const GridSize& block, const std::vector<int64_t>& others, int64_t size, int64_t other,
           bool alike) {
  Fitted fitted{true, false, grid, 0};
  for (int d = 0; d < 3; ++d) {
    const Extent extent{grid[d], block[d]};
    uint64_t needed = 0;
    if (has_thread_each(extent, size))
      needed = (uint64_t(other) + block[d] - 1) / block[d];
    else if (has_block_each(extent, size))
      needed = uint64_t(other);
    if (needed == 0) continue;
    fitted.matched = true;
    fitted.dimensions |= 1u << d;
    fitted.grid[d] = uint32_t(alike ? std::max<uint64_t>(needed, grid[d]) : needed);
  }
  if (fitted.matched || grid[1] != 1 || grid[2] != 1) return fitted;
  const Extent extent{grid[0], block[0]};
  for (const int64_t factor : others) {
    if (factor < 2 || factor > INT32_MAX / std::max<int64_t>(1, std::max(size, other))) continue;
    const bool threads = has_thread_each(extent, factor * size), blocks = has_block_each(extent, factor * size);
    if (!threads && !blocks) continue;
    fitted.matched = true;
    fitted.grid[0] = uint32_t(blocks ? factor * other : (factor * other + block[0] - 1) / block[0]);
    if (alike) fitted.grid[0] = std::max(fitted.grid[0], grid[0]);
    break;
  }
  return fitted;
}

GridSize extent_of(const Dim3& size) { return {size.x, size.y, size.z}; }

// What a block has of each dimension: threads, or in a language of tiles a tile, however many threads work on it.
GridSize block_of(const LaunchRequest& request, const std::vector<int64_t>& sizes) {
  const std::vector<uint32_t>& tiles = request.kernel->tiles;
  if (tiles.empty()) return extent_of(request.block);
  const GridSize grid = extent_of(request.grid);
  GridSize block{1, 1, 1};
  std::vector<bool> taken(sizes.size(), false);
  // A dimension goes by a number of its own, if there is one: others may fit by chance, with another tile.
  for (const bool also_taken : {false, true})
    for (int d = 0; d < 3; ++d)
      for (size_t i = 0; i < sizes.size(); ++i)
        for (const uint32_t tile : tiles)
          if (block[d] == 1 && grid[d] > 1 && taken[i] == also_taken && has_thread_each({grid[d], tile}, sizes[i])) {
            block[d] = tile;
            taken[i] = true;
          }
  return block;
}

template <class Value>
void add_floats(size_t index, const void* at, const Dim3& grid, std::vector<OtherSize>& found) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  std::vector<Value> others = {value * 2, -value, value + 1};
  for (const double limit : settings().limits)  // both sides of what only one version compares with
    for (const double times : {0.75, 1.5}) others.push_back(Value(limit * times));
  for (const Value other : others) {
    if (other == value || !std::isfinite(other)) continue;
    uint64_t bytes = 0;
    std::memcpy(&bytes, &other, sizeof other);
    found.push_back({{{index, bytes}}, grid});
  }
}

// Unsigned numbers wrap: their largest values are as good as any other. What is a distance after all, the original
// does not survive.
void add_extremes(size_t index, const Quantity& slot, int64_t now, const Dim3& grid, std::vector<OtherSize>& found) {
  const uint64_t all = slot.number.bytes == 4 ? UINT32_MAX : UINT64_MAX;
  for (const uint64_t value : {all / 2, all, all - all / 5}) {
    if (slot.number.bytes < 4 || (uint64_t(now) & all) == value) continue;
    if (!may_be(settings().held, slot.parameter, now, int64_t(value))) continue;
    OtherSize other{{{index, value}}, grid, true};
    other.extreme = true;
    found.push_back(other);
  }
}

// The most telling ones of each number first: a launch may have fewer than there are.
std::vector<OtherSize> in_turn(const std::vector<std::vector<OtherSize>>& every) {
  std::vector<OtherSize> found;
  size_t longest = 0;
  for (const auto& one : every) longest = std::max(longest, one.size());
  for (size_t i = 0; i < longest; ++i)
    for (const auto& one : every)
      if (i < one.size()) found.push_back(one[i]);
  return found;
}

// All floats 1, so that products leave halves as they are.
std::vector<OtherSize> halves(const std::vector<Quantity>& slots, const LaunchRequest& request) {
  const std::vector<Parameter>& parameters = request.kernel->parameters;
  const auto floats = [](const Parameter& p) { return p.pointer && p.number.kind == NumberKind::kFloat; };
  if (std::none_of(parameters.begin(), parameters.end(), floats)) return {};
  OtherSize other;
  other.grid = request.grid;
  other.halves = true;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].number.kind != NumberKind::kFloat || !slot_address(slots[i], request)) continue;
    const float narrow = 1;
    const double wide = 1;
    uint64_t bytes = 0;
    std::memcpy(&bytes, slots[i].number.bytes == 4 ? static_cast<const void*>(&narrow) : &wide, slots[i].number.bytes);
    other.values.push_back({i, bytes});
  }
  OtherSize ones = other;
  ones.ones = true;
  return {other, ones};
}

// The launch's integers, and what it takes to give one of them another value.
class Resizing {
 public:
  Resizing(const std::vector<Quantity>& slots, const LaunchRequest& request, const std::vector<LaunchShape>& beside,
           bool may_grow)
      : kernel_(request.kernel),
        slots_(slots),
        beside_(beside),
        grid_(extent_of(request.grid)),
        tiled_(!request.kernel->tiles.empty()),
        may_grow_(may_grow),
        now_(slots.size(), 0) {
    for (size_t i = 0; i < slots.size(); ++i)
      if (is_integer(slots[i]) && slot_address(slots[i], request)) now_[i] = value_of(slots[i], request);
    block_ = block_of(request, now_);
  }

  int64_t now(size_t i) const { return now_[i]; }

  // The launch with that size, to be resized once more, and so the other shapes that both versions have to suit.
  Resizing after(const OtherSize& other) const {
    Resizing next = *this;
    next.grid_ = extent_of(other.grid);
    const auto [slot, value] = other.values.front();
    bool alike = false;
    const std::vector<int64_t> others = beside(slot, alike);
    const Fitted own = fit(grid_, block_, others, now_[slot], int64_t(value), alike);
    bool all_suit = true;  // else every version keeps its grid
    for (LaunchShape& shape : next.beside_) {
      const Fitted theirs = fit(shape.grid, shape.block, others, now_[slot], int64_t(value), alike);
      all_suit &= suits(own, theirs, shape);
      shape.grid = theirs.grid;
    }
    if (!all_suit) next.beside_ = beside_;
    for (const OtherSize::Value& one : other.values) next.now_[one.slot] = int64_t(one.bytes);
    return next;
  }

  bool is_product(size_t i) const {
    for (size_t k = 0; k < now_.size(); ++k)
      for (size_t j = k + 1; j < now_.size(); ++j)
        if (k != i && j != i && now_[k] > 1 && now_[j] > 1 && now_[k] * now_[j] == now_[i]) return true;
    return false;
  }

  // Half as large a power of two and twice as large a one, as the length of a transform is, together with the number
  // that says which power it is.
  std::vector<OtherSize> with_exponent(size_t i) const {
    std::vector<OtherSize> found;
    for (size_t k = 0; k < now_.size(); ++k) {
      if (k == i || now_[k] < kLeastExponent || now_[k] > kMostExponent || int64_t(1) << now_[k] != now_[i]) continue;
      for (const int64_t step : {1, -1}) {
        const int64_t exponent = now_[k] + step;
        OtherSize other;
        if (!may_be(settings().held, slots_[k].parameter, now_[k], exponent)) continue;
        if (!with(i, int64_t(1) << exponent, other)) continue;
        other.values.push_back({k, uint64_t(exponent)});
        found.push_back(other);
      }
    }
    return found;
  }

  // False where no launch suits: nobody knows its grid, or there is no room for it.
  bool with(size_t i, int64_t value, OtherSize& other) const {
    const Quantity& slot = slots_[i];
    const int64_t size = now_[i];
    if (!may_be(settings().held, slot.parameter, size, value)) return false;
    bool alike = false;
    const std::vector<int64_t> others = beside(i, alike);
    const bool parts = size < kLeastSize && counts_blocks(slot, size, grid_, block_);
    const auto as_here = [&](const LaunchShape& shape) {
      return size >= kLeastSize || counts_blocks(slot, size, shape.grid, shape.block) == parts;
    };
    if (!std::all_of(beside_.begin(), beside_.end(), as_here)) return false;
    const bool mode = size < kLeastSize && !parts;
    Fitted fitted = mode ? Fitted{true, false, grid_, 0} : fit(grid_, block_, others, size, value, alike);
    bool all_suit = true;
    for (const LaunchShape& shape : beside_) {
      if (mode || goes_by(*kernel_, slot.parameter, slot.offset)) break;  // each version's grid is known
      all_suit &= suits(fitted, fit(shape.grid, shape.block, others, size, value, alike), shape);
    }
    const bool named = std::find(slot.constants.begin(), slot.constants.end(), value) != slot.constants.end();
    const bool larger = value > size && !slot.boolean && !(mode && (named || size == 0));
    if (larger && (!may_grow_ || !all_suit || only_candidates_goes_by(*kernel_, slot.parameter, slot.offset)))
      return false;
    if (!all_suit) fitted.grid = grid_;  // a grid for more is one for less
    // More threads than a size that nobody compares with anything: a check that a candidate has would show.
    if (value < size && !mode && (parts ? alike : !slot.compared)) return false;
    other =
        OtherSize{{{i, uint64_t(value)}}, {fitted.grid[0], fitted.grid[1], fitted.grid[2]}, larger, size < kLeastSize};
    for (size_t k = 0; k < now_.size(); ++k)
      for (size_t j = 0; j < now_.size(); ++j)
        if (k != i && j != i && j != k && now_[j] > 1 && size > 1 && now_[j] * size == now_[k]) {
          if (!may_be(settings().held, slots_[k].parameter, now_[k], now_[j] * value)) return false;
          other.values.push_back({k, uint64_t(now_[j] * value)});
          j = now_.size();
        }
    return true;
  }

 private:
  // Each grid may go with the size in a way of its own, which leaves another part of the larger one out.
  bool suits(const Fitted& own, const Fitted& theirs, const LaunchShape& shape) const {
    if (theirs.matched != own.matched) return false;
    return !tiled_ || (own.matched ? theirs.dimensions == own.dimensions : shape.grid == grid_);
  }

  // The launch's other integers. `alike`: one of them has the same value.
  std::vector<int64_t> beside(size_t i, bool& alike) const {
    std::vector<int64_t> others;
    for (size_t k = 0; k < now_.size(); ++k) {
      if (k == i || now_[k] == 0) continue;
      others.push_back(now_[k]);
      alike |= now_[k] == now_[i];
    }
    return others;
  }

  // Few parts that the work is split into, a block for each, and no mode: the kernel compares it with no constant.
  static bool counts_blocks(const Quantity& slot, int64_t size, const GridSize& grid, const GridSize& block) {
    if (slot.boolean || !slot.constants.empty()) return false;
    for (int d = 0; d < 3; ++d)
      if (has_block_each({grid[d], block[d]}, size)) return true;
    return false;
  }

  const Kernel* kernel_;
  const std::vector<Quantity>& slots_;
  std::vector<LaunchShape> beside_;
  GridSize grid_, block_;
  bool tiled_, may_grow_;
  std::vector<int64_t> now_;
};

// Two sizes at once, either so much larger that their product just fits where memory has as much room again, or twice as
// large: what holds their product elsewhere may have room for either alone.
std::vector<OtherSize> raised_together(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                       const Resizing& resizing) {
  std::vector<OtherSize> found;
  const auto raised = [&](const Resizing& from, size_t i, double factor, OtherSize& other) {
    if (!is_integer(slots[i]) || !slot_address(slots[i], request)) return false;
    const int64_t size = from.now(i), least = request.kernel->general ? 1 : multiple_of(slots[i], request);
    if (size < kLeastSize || size > kMostRaised || from.is_product(i) || masks_all_below(slots[i], size)) return false;
    const int64_t step = step_of(slots[i], size, least), value = int64_t(double(size) * factor) / step * step;
    return value > size && value <= most_of(slots[i]) && from.with(i, value, other);
  };
  for (size_t i = 0; i < slots.size(); ++i)
    for (size_t k = i + 1; k < slots.size() && found.size() < kMostPairs; ++k)
      for (const double factor : {1.4, 2.0}) {
        OtherSize one, both;
        if (!raised(resizing, i, factor, one)) break;
        const Resizing after = resizing.after(one);
        if (after.now(k) != resizing.now(k) || !raised(after, k, factor, both)) break;
        for (const OtherSize::Value& value : one.values)
          if (std::none_of(both.values.begin(), both.values.end(), [&](const auto& v) { return v.slot == value.slot; }))
            both.values.push_back(value);
        both.larger = true;
        found.push_back(both);
      }
  return found;
}

// One size several times as large beside another that is 1, so that their product does not grow: a loop over the one may
// then take more turns than any memory that is sized by their product has room for otherwise.
std::vector<OtherSize> stretched(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                 const Resizing& resizing) {
  std::vector<OtherSize> found;
  const auto least = [&](size_t i) { return request.kernel->general ? 1 : multiple_of(slots[i], request); };
  const auto is_size = [&](size_t i) {
    return is_integer(slots[i]) && slot_address(slots[i], request) && resizing.now(i) > 1 && !resizing.is_product(i) &&
           !masks_all_below(slots[i], resizing.now(i));
  };
  for (size_t k = 0; k < slots.size(); ++k) {
    OtherSize single;
    if (!is_size(k) || resizing.now(k) < kLeastSize || least(k) != 1 || !resizing.with(k, 1, single)) continue;
    const Resizing lowered = resizing.after(single);
    for (size_t i = 0; i < slots.size() && found.size() < kMostPairs; ++i) {
      if (i == k || !is_size(i) || lowered.now(i) != resizing.now(i) || resizing.now(i) < kLeastSize) continue;
      const int64_t size = resizing.now(i) * std::min(resizing.now(k), kMostStretched);
      OtherSize both;
      if (size > most_size(resizing.now(i)) || size > most_of(slots[i]) || !lowered.with(i, size, both)) continue;
      both.values.insert(both.values.end(), single.values.begin(), single.values.end());
      both.larger = true;
      found.push_back(both);
    }
  }
  return found;
}

}  // namespace

GridSize tile_of(const LaunchRequest& request) {
  std::vector<int64_t> sizes;
  for (const Quantity& slot : settings().slots)
    if (is_integer(slot) && slot_address(slot, request)) sizes.push_back(value_of(slot, request));
  return block_of(request, sizes);
}

std::vector<Quantity> read_slots(const std::string& text) {
  std::vector<Quantity> slots;
  for (const std::string& entry : parts(text, ';')) {
    const std::vector<std::string> fields = parts(entry, ':');
    if (fields.size() != 7 || fields[0].empty()) continue;
    Quantity slot;
    if (fields[0][0] == '@')
      slot.variable = fields[0].substr(1);
    else
      slot.parameter = strtoll(fields[0].c_str(), nullptr, 10);
    slot.offset = strtoull(fields[1].c_str(), nullptr, 10);
    slot.number.bytes = uint32_t(strtoul(fields[2].c_str(), nullptr, 10));
    slot.number.kind = fields[3] == "f" ? NumberKind::kFloat : NumberKind::kInteger;
    slot.boolean = fields[3] == "b";
    slot.open = fields[4].find('o') != std::string::npos;
    slot.compared = fields[4].find('c') != std::string::npos;
    slot.only_calculated = fields[4].find('u') != std::string::npos && !slot.compared;
    slot.bound = fields[4].find('b') != std::string::npos;
    slot.mask = fields[4].find('m') != std::string::npos;
    slot.divisors = integers(fields[5]);
    slot.constants = integers(fields[6]);
    slots.push_back(slot);
  }
  return slots;
}

const void* slot_address(const Quantity& slot, const LaunchRequest& request) {
  if (slot.parameter < 0) {
    for (const auto& variable : request.kernel->module->variables)
      if (variable->name == slot.variable && variable->address && slot.offset + slot.number.bytes <= variable->bytes)
        return static_cast<const char*>(variable->address) + slot.offset;
    return nullptr;
  }
  for (const Parameter& parameter : request.kernel->parameters)
    if (parameter.index == uint64_t(slot.parameter) && slot.offset + slot.number.bytes <= parameter.size)
      return static_cast<const char*>(request.arguments[parameter.index]) + slot.offset;
  return nullptr;
}

uint64_t size_in(const Quantity& slot, const LaunchRequest& request) {
  if (!slot_address(slot, request) || !is_integer(slot)) return 0;
  return uint64_t(std::max<int64_t>(0, value_of(slot, request)));
}

std::vector<OtherSize> other_sizes(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                   const std::vector<int64_t>& constants, const std::vector<LaunchShape>& beside,
                                   bool may_grow) {
  std::vector<std::vector<OtherSize>> every = {halves(slots, request)};
  const Resizing resizing(slots, request, beside, may_grow);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Quantity& slot = slots[i];
    const void* at = slot_address(slot, request);
    if (!at) continue;
    std::vector<OtherSize>& found = every.emplace_back();
    if (slot.number.kind == NumberKind::kFloat) {
      if (slot.number.bytes == 4) add_floats<float>(i, at, request.grid, found);
      if (slot.number.bytes == 8) add_floats<double>(i, at, request.grid, found);
      continue;
    }
    if (!is_integer(slot)) continue;
    const int64_t size = resizing.now(i);
    if (size >= kLeastSize && resizing.is_product(i)) continue;  // it goes with them
    if (slot.only_calculated && may_grow && !masks_all_below(slot, size))
      add_extremes(i, slot, size, request.grid, found);
    for (const OtherSize& other : resizing.with_exponent(i)) found.push_back(other);
    bool bare = false, keyed = false, alike = false;
    size_t limits = 0;
    const int64_t taken = multiple_of(slot, request), least = request.kernel->general ? 1 : taken;
    for (const int64_t value : candidates(slot, size, constants, taken, least)) {
      OtherSize other;
      if (!resizing.with(i, value, other)) continue;
      found.push_back(other);
      if (other.larger && !alike) {
        alike = true;
        found.push_back(other);
        found.back().alike = true;
      }
      if (size < kLeastSize) continue;
      bool& done = other.larger ? keyed : bare;
      const auto beside = [&](int64_t c) { return value - 1 <= c && c <= value; };
      // Integers beyond a limit that only one version has show only together with a size that reaches it.
      const bool limited =
          other.larger && std::any_of(constants.begin(), constants.end(), beside) && limits++ < kMostLimits;
      if (done && !limited) continue;
      done = true;
      found.push_back(other);
      (other.larger ? found.back().keyed : found.back().bare) = true;
      if (other.larger) continue;
      found.push_back(other);
      found.back().edges = true;
    }
  }
  if (may_grow) {
    every.push_back(raised_together(slots, request, resizing));
    every.push_back(stretched(slots, request, resizing));
  }
  return in_turn(every);
}

bool other_size(const std::vector<Quantity>& slots, const LaunchRequest& request,
                const std::vector<LaunchShape>& beside, bool may_grow, size_t slot, int64_t value, OtherSize& other) {
  if (!slot_address(slots[slot], request) || !is_integer(slots[slot])) return false;
  const Resizing resizing(slots, request, beside, may_grow);
  const int64_t now = resizing.now(slot), least = request.kernel->general ? 1 : multiple_of(slots[slot], request);
  if (value == now || value % least != 0 || value > most_of(slots[slot])) return false;
  if (now >= kLeastSize && value < 1) return false;  // of no elements the host launches no block
  if (masks_all_below(slots[slot], now) && !masks_all_below(slots[slot], value)) return false;
  return (value <= now || value <= most_size(now)) && resizing.with(slot, value, other);
}

std::vector<OtherSize> multiples(const std::vector<Quantity>& slots, const LaunchRequest& request,
                                 const std::vector<int64_t>& factors, const std::vector<LaunchShape>& beside) {
  std::vector<OtherSize> found;
  const Resizing resizing(slots, request, beside, true);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slot_address(slots[i], request) || !is_integer(slots[i])) continue;
    const int64_t size = resizing.now(i);
    if (size < kLeastSize || resizing.is_product(i) || masks_all_below(slots[i], size)) continue;
    for (const int64_t factor : factors) {
      OtherSize other;
      const int64_t least = request.kernel->general ? 1 : multiple_of(slots[i], request);
      if (size < INT32_MAX / factor && size * factor % least == 0 && resizing.with(i, size * factor, other))
        found.push_back(other);
    }
  }
  return found;
}

std::vector<OtherSize> lopsided(const std::vector<Quantity>& slots, const LaunchRequest& request, int64_t factor,
                                uint64_t accesses, uint64_t most) {
  std::vector<OtherSize> found;
  const Resizing resizing(slots, request, {}, true);
  const auto is_size = [&](size_t i) {
    return is_integer(slots[i]) && slot_address(slots[i], request) && resizing.now(i) >= kLeastSize &&
           !resizing.is_product(i) && !masks_all_below(slots[i], resizing.now(i));
  };
  const auto least = [&](size_t i) { return request.kernel->general ? 1 : multiple_of(slots[i], request); };
  for (size_t i = 0; i < slots.size(); ++i) {
    OtherSize larger;
    const int64_t size = is_size(i) ? resizing.now(i) : INT32_MAX;
    if (size >= INT32_MAX / factor || size * factor % least(i) != 0 || !resizing.with(i, size * factor, larger))
      continue;
    const Resizing raised = resizing.after(larger);
    for (size_t k = 0; k < slots.size(); ++k) {
      if (k == i || !is_size(k) || raised.now(k) != resizing.now(k)) continue;
      const int64_t other = resizing.now(k), step = step_of(slots[k], other, least(k));
      const double share = double(most) / (double(accesses) * double(factor));
      const int64_t value = int64_t(double(other) * std::min(1.0, share)) / step * step;
      OtherSize both;
      if (value < kLeastSize || value >= other || !raised.with(k, value, both)) continue;
      both.values.insert(both.values.begin(), larger.values.begin(), larger.values.end());
      both.larger = true;
      found.push_back(both);
    }
  }
  return found;
}

std::vector<OtherSize> other_grids(const LaunchRequest& request) {
  std::vector<OtherSize> found;
  const uint32_t blocks = request.grid.x;
  for (const uint32_t other : {blocks - 1, blocks / 2 + 1, blocks + 1})
    if (blocks > 2 && other != blocks) found.push_back({{}, {other, request.grid.y, request.grid.z}, other > blocks});
  return found;
}

}  // namespace simt
