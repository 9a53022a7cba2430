#include "figures.h"

#include <algorithm>

#include "records.h"

namespace intelliperf {

namespace {

constexpr uint64_t kLargestLds = 256 << 10;

uint64_t distinct(std::vector<uint64_t>& sorted, unsigned shift) {
  for (uint64_t& number : sorted) number >>= shift;
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted.size();
}

uint64_t most_equal(const Lanes& lanes) {
  std::vector<uint64_t> sorted(lanes.address, lanes.address + lanes.count);
  std::sort(sorted.begin(), sorted.end());
  uint64_t most = 0, run = 0;
  for (size_t n = 0; n < sorted.size(); ++n) {
    run = n && sorted[n] == sorted[n - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

Lanes moved(const Lanes& lanes, int64_t displacement) {
  Lanes to = lanes;
  for (uint32_t n = 0; n < to.count; ++n) to.address[n] += static_cast<uint64_t>(displacement);
  return to;
}

}  // namespace

void Figures::end_group() {
  const Sums now{double(executions), double(sectors), double(lds_phases)};
  const auto square = [](double value) { return value * value; };
  squares.requests += square(now.requests - before.requests);
  squares.sectors += square(now.sectors - before.sectors);
  squares.lds_phases += square(now.lds_phases - before.lds_phases);
  before = now;
}

Counter::Counter(uint32_t wave_size, uint32_t banks) { banks_.configure(true, wave_size, banks, kLargestLds); }

void Counter::count(const Access& access, Memory memory, const Lanes& lanes, Figures& figures) {
  ++figures.executions;
  figures.lanes += lanes.count;
  for (const Part& part : access.parts) figures.bytes += uint64_t(part.bytes) * lanes.count;
  Lanes global, lds, own;
  for (uint32_t n = 0; n < lanes.count; ++n) {
    const uint64_t at = lanes.address[n];
    const bool shared =
        memory == Memory::kFlat ? (at & kSharedTag) != 0 && !(at & kPrivateTag) : memory == Memory::kLds;
    const bool is_own = memory == Memory::kFlat ? (at & kPrivateTag) && !(at & kSharedTag) : memory == Memory::kPrivate;
    (shared ? lds : is_own ? own : global).add(shared || is_own ? uint32_t(at) : at, lanes.position[n]);
  }
  if (global.count) count_global(access, global, figures);
  if (lds.count) count_lds(access, lds, figures);
  figures.private_requests += own.count != 0;
  if (access.kind != Kind::kAtomic) return;
  for (const Lanes* part : {&global, &lds})
    if (part->count) figures.same_address += most_equal(*part);
}

void Counter::count_global(const Access& access, const Lanes& lanes, Figures& figures) const {
  ++figures.global_requests;
  figures.global_lanes += lanes.count;
  std::vector<uint64_t> touched;
  uint64_t asked = 0;
  for (const Part& part : access.parts) {
    asked += uint64_t(part.bytes) * lanes.count;
    for (uint32_t n = 0; n < lanes.count; ++n) {
      const uint64_t first = lanes.address[n] + static_cast<uint64_t>(part.displacement);
      for (uint64_t sector = first / 32; sector <= (first + part.bytes - 1) / 32; ++sector) touched.push_back(sector);
    }
  }
  figures.global_bytes += asked;
  std::sort(touched.begin(), touched.end());
  const uint64_t sectors = distinct(touched, 0);
  figures.sectors += sectors;
  figures.sectors_ideal += std::min(sectors, (asked + 31) / 32);
  figures.lines64 += distinct(touched, 1);
  const uint64_t lines = distinct(touched, 1);
  figures.lines128 += lines;
  figures.lines128_ideal += std::min(lines, (asked + 127) / 128);
  if (access.kind == Kind::kAtomic)
    for (uint32_t n = 0; n < lanes.count; ++n) figures.hot.add(lanes.address[n], 1, access.site, 0);
}

void Counter::count_lds(const Access& access, const Lanes& lanes, Figures& figures) {
  ++figures.lds_requests;
  for (const Part& part : access.parts) {
    const Lanes there = moved(lanes, part.displacement);
    const bool atomic = access.kind == Kind::kAtomic;
    const simt::LdsPhases phases = banks_.count(there.address, there.position, there.count, part.bytes, atomic);
    figures.lds_phases += phases.phases;
    figures.lds_phases_ideal += phases.ideal;
  }
}

}  // namespace intelliperf
