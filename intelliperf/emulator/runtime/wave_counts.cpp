#include "wave_counts.h"

#include <algorithm>

#include "execution.h"
#include "fault_log.h"
#include "hot_addresses.h"
#include "modules.h"

namespace simt {

namespace {

constexpr uint32_t kManyPending = 256;         // requests that are drawn, of which some lanes may be yet to come
constexpr uint64_t kMostAddresses = 1u << 20;  // of atomics that are told apart in one launch

uint32_t scrambled(uint32_t way) {
  way *= 0x9E3779B1u;
  return way ^ (way >> 15);
}

}  // namespace

WaveCounter wave_counter;

void WaveCounter::begin_launch(const Module& module, const std::vector<float>& issue_costs, uint64_t draw,
                               ShapeSample* shapes, HotAddresses* hot, bool shares) {
  sites_ = module.site_count;
  count_ = sites_ + module.block_count;
  facts_.assign(count_, Facts());
  for (uint32_t i = 0; i < count_; ++i) {
    facts_[i].issue_cost = issue_costs[i];
    if (i >= sites_) continue;
    const Site& site = module.sites[i];
    const auto kind = SiteKind(site.kind);
    facts_[i].atomic = kind == SiteKind::kAtomic || kind == SiteKind::kReduction;
    facts_[i].load = kind == SiteKind::kLoad || kind == SiteKind::kRangeLoad;
    facts_[i].meets = kind == SiteKind::kAtomic || site.flags & kSiteVolatile;
    facts_[i].constant = is_constant(site);
    facts_[i].combined = site.flags & kSiteCombined;
    facts_[i].draws = shares && (site.order & kSiteDraws);
  }
  by_wave_.clear();
  stretches_ = 0;
  draw_ = draw;
  wave_ = nullptr;
  shapes_ = shapes;
  hot_ = hot;
  atomics_known_ = true;
  active_ = true;
}

void WaveCounter::end_launch() {
  shapes_->flush();
  active_ = false;
  wave_ = nullptr;
  sums_.assign(count_, Sum{0, 0});
  for (const std::vector<Place>& places : by_wave_)
    for (uint32_t i = 0; i < uint32_t(places.size()); ++i)
      sums_[i].requests += places[i].requests, sums_[i].lanes += places[i].lanes;
}

void WaveCounter::choose(Wave& wave) {
  if (&wave == wave_) return;
  wave_ = &wave;
  if (wave.index >= by_wave_.size()) by_wave_.resize(wave.index + 1);
  if (by_wave_[wave.index].empty()) by_wave_[wave.index].resize(count_);
  places_ = by_wave_[wave.index].data();
  go_on(wave.stretch);
}

void WaveCounter::go_on(uint32_t stretch) {
  stretch_ = stretch;
  uint64_t x = draw_ + stretch * 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  salt_ = uint32_t((x ^ (x >> 27)) * 0x94D049BB133111EBull >> 32);
}

void WaveCounter::begin_stretch(Wave& wave, bool whole) {
  if (whole && shapes_->pending() > kManyPending) shapes_->flush();
  choose(wave);
  if (whole) go_on(wave.stretch = ++stretches_);
}

void WaveCounter::enter(Place& place, uint32_t run) {
  const uint32_t mask = uint32_t(place.index.size()) - 1;
  uint32_t slot = scrambled(place.runs[run].way) & mask;
  while (place.index[slot]) slot = (slot + 1) & mask;
  place.index[slot] = run + 1;
}

// The run of that way, which lanes mostly go through in the same order: kNone if no lane has been there.
uint32_t WaveCounter::find(Place& place, uint32_t from, uint32_t way) {
  const auto size = uint32_t(place.runs.size());
  for (uint32_t i = from; i < size && i < from + kNear; ++i)
    if (place.runs[i].way == way) return i;
  if (size <= kNear) {
    for (uint32_t i = 0; i < size; ++i)
      if (place.runs[i].way == way) return i;
    return kNone;
  }
  if (!place.indexed || place.index.size() < 2 * size) {
    uint32_t slots = 64;
    while (slots < 4 * size) slots *= 2;
    place.index.assign(slots, 0);
    for (uint32_t i = 0; i < size; ++i) enter(place, i);
    place.indexed = true;
  }
  const uint32_t mask = uint32_t(place.index.size()) - 1;
  for (uint32_t slot = scrambled(way) & mask; place.index[slot]; slot = (slot + 1) & mask)
    if (place.runs[place.index[slot] - 1].way == way) return place.index[slot] - 1;
  return kNone;
}

void WaveCounter::move(Place& place, const Lane* lane, uint32_t way) {
  const bool first = place.stretch != stretch_;
  if (first) {
    place.stretch = stretch_;
    place.runs.clear();
    place.indexed = false;
  }
  const bool same_lane = !first && place.lane == lane;
  const uint32_t following = same_lane ? place.at + 1 : 0;
  place.lane = lane;
  place.way = way;
  // Its request before this one was counted where it stood when its block left lock-step.
  const uint32_t number = uint32_t(&place - places_);
  place.passes = lane->counted_at == number && lane->counted_way == way && lane->counted_in == stretch_ ? 2 : 1;
  const auto size = uint32_t(place.runs.size());
  if (following < size && place.runs[following].way == way) {
    place.at = following;
    return;
  }
  const uint32_t found = size ? find(place, following, way) : kNone;
  if (found != kNone) {
    place.at = found;
    return;
  }
  if (size == kMostRuns) {
    place.at = std::min(following, size - 1);
    place.runs[place.at].way = way;
    return;
  }
  place.at = size;
  place.runs.push_back(Run{way, 0});
  if (place.indexed) enter(place, size);
}

void WaveCounter::begin_request(uint32_t site, const void* address) {
  WaveWork& work = wave_->work;
  work.issue += facts_[site].issue_cost;
  if (facts_[site].constant) return;
  ++work.requests;
  const bool shared = in_shared_memory(address), load = facts_[site].load;
  ++(shared ? work.lds : work.global);
  (shared ? work.lds_loads : work.global_loads) += load;
}

void WaveCounter::atomic(uint32_t site, uint64_t key) {
  if (in_shared_memory(reinterpret_cast<const void*>(key))) return;  // NOLINT(performance-no-int-to-ptr)
  if (hot_->size() < kMostAddresses)
    hot_->add(key, 1, site, wave_->block);
  else
    atomics_known_ &= hot_->add_known(key, 1);
}

void WaveCounter::together(Wave& wave, const Group& group, bool unseen) {
  const Lane& first = *group.lane[0];
  if (!active_ || first.site >= sites_) return;
  choose(wave);
  Place& place = places_[first.site];
  ++place.requests;
  place.lanes += group.size;
  const bool range = first.state == LaneState::kRange;
  if (first.state != LaneState::kAccess && !range) {
    wave.work.issue += facts_[first.site].issue_cost;
    return;
  }
  begin_request(first.site, first.address);
  if (!unseen) return;
  const auto number = uint32_t(place.requests);
  const uint32_t draw = drawn(number, 1);
  if (draw < shapes_->threshold(first.site)) shapes_->log(first.site, {stretch_, number, kNone, draw}, group, range);
  if (!facts_[first.site].atomic) return;
  const uint32_t lanes = facts_[first.site].combined ? 1 : group.size;
  for (uint32_t i = 0; i < lanes; ++i) atomic(first.site, group.address[i]);
}

void WaveCounter::barrier(Wave& wave, uint32_t site, uint32_t lanes) {
  if (!active_ || site >= sites_) return;
  choose(wave);
  ++places_[site].requests;
  places_[site].lanes += lanes;
  wave.work.issue += facts_[site].issue_cost;
}

void WaveCounter::enter(Wave& wave, uint32_t block, uint32_t lanes) {
  choose(wave);
  Place& place = places_[sites_ + block];
  ++place.requests;
  place.lanes += lanes;
  wave.work.issue += facts_[sites_ + block].issue_cost;
}

std::vector<uint64_t> wave_executions(const Module& module, const uint64_t* lanes) {
  const auto& blocks = module.metadata["blocks"].items();
  std::vector<uint64_t> waves(module.block_count);
  for (uint32_t i = 0; i < module.block_count && i < blocks.size(); ++i) {
    const uint64_t site = blocks[i]["site"].unsigned_or(UINT64_MAX);
    if (site >= module.site_count) {
      waves[i] = wave_counter.requests(wave_counter.place_of_block(i));
      continue;
    }
    // Accesses to a lane's own stack are not events: such blocks are as full as their other executions, or full.
    const uint64_t full = (lanes[i] + module.wave_size - 1) / module.wave_size;
    const auto met = double(wave_counter.lanes(uint32_t(site)));
    waves[i] = met > 0 ? uint64_t(double(wave_counter.requests(uint32_t(site))) * double(lanes[i]) / met + 0.5) : full;
  }
  return waves;
}

}  // namespace simt
