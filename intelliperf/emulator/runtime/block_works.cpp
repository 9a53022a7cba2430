#include "block_works.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace simt {

namespace {

constexpr double kInFlight = 4, kStepCycles = 2.3;  // as a rule, see demand.h

}  // namespace

void BlockWorks::add(const Block& block) {
  BlockWork work;
  for (const Wave& wave : block.waves) {
    work.issue += wave.work.issue;
    work.lds += double(wave.work.lds);
    work.global += double(wave.work.global);
    work.chain = std::max(work.chain, double(wave.work.requests));
  }
  ++blocks_;
  without_requests_ += work.lds + work.global == 0;
  if (!runs_.empty() && (runs_.back().work == work || runs_.size() == kMostRuns)) {
    ++runs_.back().count;
    return;
  }
  runs_.push_back(Run{work, 1});
}

double BlockWorks::Chip::duration(const BlockWork& work) const {
  return (work.chain + more) * latency_cycles / kInFlight + work.issue / waves_per_block * kStepCycles;
}

BlockWork BlockWorks::mean() const {
  BlockWork sum;
  double count = 0;
  for (const Run& run : runs_) {
    const auto times = double(run.count);
    sum.issue += run.work.issue * times;
    sum.lds += run.work.lds * times;
    sum.global += run.work.global * times;
    sum.chain += run.work.chain * times;
    count += times;
  }
  for (double* value : {&sum.issue, &sum.lds, &sum.global, &sum.chain}) *value /= std::max(1.0, count);
  return sum;
}

BusiestUnit BlockWorks::schedule(const Chip& chip) const {
  struct Place {
    double free;
    uint32_t number;  // places of one unit are `units` apart: the first blocks go to as many units as there are
    bool operator>(const Place& o) const { return free != o.free ? free > o.free : number > o.number; }
  };
  const uint64_t places = std::min(blocks_, uint64_t(chip.units) * chip.resident);
  std::priority_queue<Place, std::vector<Place>, std::greater<Place>> queue;
  for (uint32_t i = 0; i < places; ++i) queue.push(Place{0, i});
  std::vector<BlockWork> of_unit(chip.units);
  BlockWork all;
  double last = 0;
  for (const Run& run : runs_)
    for (uint64_t i = 0; i < run.count; ++i) {
      Place place = queue.top();
      queue.pop();
      place.free += chip.duration(run.work);
      last = std::max(last, place.free);
      BlockWork& unit = of_unit[place.number % chip.units];
      for (BlockWork* sum : {&unit, &all})
        sum->issue += run.work.issue, sum->lds += run.work.lds, sum->global += run.work.global;
      queue.push(place);
    }
  const double even = std::ceil(double(blocks_) / chip.units) / double(blocks_);
  const auto part = [&](double BlockWork::*kind) {
    double most = 0;
    for (const BlockWork& unit : of_unit) most = std::max(most, unit.*kind);
    return all.*kind > 0 ? most / (all.*kind) : even;
  };
  const double rounds = std::max(1.0, double(blocks_) / (double(chip.units) * chip.resident));
  const double usual = chip.duration(mean()) * rounds;
  return {part(&BlockWork::issue), part(&BlockWork::lds), part(&BlockWork::global),
          usual > 0 ? std::max(1.0, last / usual) : 1};
}

BusiestUnit BlockWorks::busiest(const Chip& chip, uint64_t all) const {
  if (!equal() && blocks_ == all) return schedule(chip);
  const double even = std::ceil(double(all) / chip.units) / double(all);
  return {even, even, even, 1};
}

}  // namespace simt
