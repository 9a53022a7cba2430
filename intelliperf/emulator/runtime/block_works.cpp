#include "block_works.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace simt {

BlockWork work_of(const Block& block) {
  BlockWork work;
  work.waves = double(block.waves.size());
  work.served = block.served;
  for (const Wave& wave : block.waves) {
    work.issue += wave.work.issue;
    work.lds += double(wave.work.lds);
    work.global += double(wave.work.global);
    if (double(wave.work.requests) < work.chain) continue;
    work.lds_loads = double(wave.work.lds_loads), work.global_loads = double(wave.work.global_loads);
    work.chain = double(wave.work.requests);
  }
  return work;
}

namespace {

BlockWork part_of(const BlockWork& whole, double part) {
  BlockWork work = whole;
  for (double BlockWork::* kind : {&BlockWork::issue, &BlockWork::lds, &BlockWork::global, &BlockWork::chain,
                                   &BlockWork::lds_loads, &BlockWork::global_loads})
    work.*kind *= part;
  return work;
}

}  // namespace

void BlockWorks::add(const Block& block) { add(work_of(block)); }

void BlockWorks::add_drawn(std::vector<std::pair<uint64_t, BlockWork>> blocks, uint64_t alive, uint64_t resident) {
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  resident = std::min<uint64_t>(resident, blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i)
    add(alive < resident && i < resident ? part_of(blocks[i % alive].second, double(alive) / double(resident))
                                         : blocks[i].second);
}

void BlockWorks::add(const BlockWork& work) {
  ++blocks_;
  without_requests_ += work.lds + work.global == 0;
  if (!runs_.empty()) {
    const bool same = runs_.back().work == work;
    equal_ &= same;
    // Of blocks that do the same the first one's loads stand for all, until one is known to differ in what it does.
    if (same || runs_.size() == kMostRuns) {
      ++runs_.back().count;
      return;
    }
  }
  runs_.push_back(Run{work, 1});
}

double BlockWorks::mean_chain() const {
  double sum = 0, count = 0;
  for (const Run& run : runs_) {
    sum += run.work.chain * double(run.count);
    count += double(run.count);
  }
  return sum / std::max(1.0, count);
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
  for (const Run& run : runs_) {
    const double cycles = chip.cycles(run.work);
    for (uint64_t i = 0; i < run.count; ++i) {
      Place place = queue.top();
      queue.pop();
      place.free += cycles;
      last = std::max(last, place.free);
      BlockWork& unit = of_unit[place.number % chip.units];
      for (BlockWork* sum : {&unit, &all})
        sum->issue += run.work.issue, sum->lds += run.work.lds, sum->global += run.work.global;
      queue.push(place);
    }
  }
  const double even = std::ceil(double(blocks_) / chip.units) / double(blocks_);
  const auto part = [&](double BlockWork::* kind) {
    double most = 0;
    for (const BlockWork& unit : of_unit) most = std::max(most, unit.*kind);
    return all.*kind > 0 ? most / (all.*kind) : even;
  };
  return {part(&BlockWork::issue), part(&BlockWork::lds), part(&BlockWork::global), last};
}

BusiestUnit BlockWorks::busiest(const Chip& chip, uint64_t all) const {
  if (!equal() && blocks_ == all) return schedule(chip);
  const double even = std::ceil(double(all) / chip.units) / double(all);
  return {even, even, even, 0};
}

}  // namespace simt
