#include "requests.h"

#include <algorithm>

namespace gfx90a {
namespace {

// Distinct numbers of one wave's access, at most two lines of 16 bytes per lane.
class Distinct {
 public:
  // How often the number has been added before.
  uint32_t add(uint64_t number) {
    uint32_t slot = uint32_t(number * 0x9E3779B97F4A7C15ull >> 55) & (kSlots - 1);
    while (times_[slot] && numbers_[slot] != number) slot = (slot + 1) & (kSlots - 1);
    numbers_[slot] = number;
    size_ += times_[slot] == 0;
    most_ = std::max(most_, times_[slot] + 1u);
    return times_[slot]++;
  }
  uint32_t size() const { return size_; }
  uint32_t most() const { return most_; }

 private:
  static constexpr uint32_t kSlots = 512;
  uint64_t numbers_[kSlots];
  uint16_t times_[kSlots] = {};
  uint32_t size_ = 0, most_ = 0;
};

struct Shape {
  bool consecutive, uniform;
  uint32_t lanes;
};

Shape shape_of(const LaneAddresses& addresses, uint32_t bytes) {
  Shape shape{true, true, lanes_in(addresses.mask)};
  uint64_t rest = addresses.mask;
  const uint64_t first = addresses.at[__builtin_ctzll(rest)];
  uint64_t next = first;
  for (; rest && (shape.consecutive || shape.uniform); rest &= rest - 1, next += bytes) {
    const uint64_t address = addresses.at[__builtin_ctzll(rest)];
    shape.consecutive &= address == next;
    shape.uniform &= address == first;
  }
  return shape;
}

uint64_t lines_for(uint64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes; }

// Which lanes go through the banks together (CDNA): halves of 32 lanes up to 4 bytes, groups of 16 at 8 bytes, at 16
// bytes eight interleaved sets: {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15, 24-27} and again from lane 32 on.
uint32_t bank_set(uint32_t lane, uint32_t bytes) {
  if (bytes <= 4) return lane / 32;
  if (bytes <= 8) return lane / 16;
  static constexpr uint32_t kOfQuad[] = {0, 1, 2, 3, 1, 0, 3, 2};
  return lane / 32 * 4 + kOfQuad[lane / 4 % 8];
}

struct Banks {
  uint32_t words[32][64];
  uint32_t filled[32] = {};
  uint32_t most = 0;

  void add(uint32_t word, bool shareable) {
    uint32_t* const bank = words[word & 31];
    uint32_t& count = filled[word & 31];
    if (shareable && std::find(bank, bank + count, word) != bank + count) return;
    bank[count++] = word;
    most = std::max(most, count);
  }
};

void count_lines(Instruction& i, const LaneAddresses& addresses, const Shape& shape) {
  const uint32_t bytes = i.access_bytes;
  if (shape.consecutive || shape.uniform) {
    const uint64_t first = addresses.at[__builtin_ctzll(addresses.mask)];
    const uint64_t length = shape.uniform ? bytes : uint64_t(shape.lanes) * bytes;
    i.counts.lines += (first + length - 1) / kLineBytes - first / kLineBytes + 1;
    i.counts.lines_ideal += lines_for(length);
    return;
  }
  Distinct lines, places;
  for (uint64_t rest = addresses.mask; rest; rest &= rest - 1) {
    const uint64_t address = addresses.at[__builtin_ctzll(rest)];
    places.add(address);
    for (uint64_t line = address / kLineBytes; line <= (address + bytes - 1) / kLineBytes; ++line) lines.add(line);
  }
  i.counts.lines += lines.size();
  i.counts.lines_ideal += lines_for(uint64_t(places.size()) * bytes);
}

void count_scratch_lines(Instruction& i, const LaneAddresses& addresses) {
  Distinct lines;
  constexpr uint32_t kLanesInLine = kLineBytes / 4;
  for (uint64_t rest = addresses.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t first = addresses.at[lane] / 4, last = (addresses.at[lane] + i.access_bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word) lines.add(word * (kWave / kLanesInLine) + lane / kLanesInLine);
  }
  i.counts.lines += lines.size();
  const uint32_t words = (i.access_bytes + 3u) / 4u;
  i.counts.lines_ideal += lines_for(uint64_t(lanes_in(addresses.mask)) * words * 4);
}

void count_same_address(Instruction& i, const LaneAddresses& addresses, const Shape& shape) {
  if (shape.uniform || shape.consecutive) {
    i.counts.atomic_same_address += shape.uniform ? shape.lanes : 1;
    return;
  }
  Distinct places;
  for (uint64_t rest = addresses.mask; rest; rest &= rest - 1) places.add(addresses.at[__builtin_ctzll(rest)]);
  i.counts.atomic_same_address += places.most();
}

void count_lds_cycles(Instruction& i, const LaneAddresses& addresses, uint32_t bytes) {
  const bool shareable = i.access != Access::kAtomic;
  for (uint32_t set = 0; set < 8; ++set) {
    Banks banks;
    for (uint64_t rest = addresses.mask; rest; rest &= rest - 1) {
      const uint32_t lane = uint32_t(__builtin_ctzll(rest));
      if (bank_set(lane, bytes) != set) continue;
      const uint64_t last = (addresses.at[lane] + bytes - 1) / 4;
      for (uint64_t word = addresses.at[lane] / 4; word <= last; ++word) banks.add(uint32_t(word), shareable);
    }
    i.counts.lds_cycles += banks.most;
    i.counts.lds_cycles_ideal += banks.most != 0;
  }
}

}  // namespace

void Counting::request(Wave&, Instruction& i, Space space, const LaneAddresses& lanes, uint32_t bytes) {
  const bool first = i.counts.lines == 0;  // a buffer's descriptor alone tells what it reaches
  if (space == Space::kScratch) count_scratch_lines(i, lanes);
  const Shape shape = shape_of(lanes, i.access_bytes);
  if (space == Space::kGlobal) count_lines(i, lanes, shape);
  if (space == Space::kLds) count_lds_cycles(i, lanes, bytes);
  if (i.access == Access::kAtomic && space != Space::kScratch) count_same_address(i, lanes, shape);
  if (space == Space::kGlobal)
    i.space = Space::kGlobal;
  else if (first || i.space == Space::kScratch)
    i.space = space;
}

}  // namespace gfx90a
