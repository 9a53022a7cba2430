#include "shape_sample.h"

#include <algorithm>

#include "analysis.h"

namespace simt {

namespace {

uint32_t place_in(uint32_t mask, uint32_t site, const ShapeSample::Event& event) {
  uint32_t x = (event.draw ^ site * 0x9E3779B1u) * 0x85EBCA6Bu;
  return (x ^ (x >> 15)) & mask;
}

}  // namespace

void ShapeSample::begin_launch(Analysis& analysis, uint32_t sites) {
  analysis_ = &analysis;
  thresholds_.assign(sites, kAll);
  sites_.resize(std::max<size_t>(sites, sites_.size()));
  for (SiteSample& site : sites_) site.drawn = 0, site.shapes.clear();
  if (index_.empty()) index_.assign(4 * kMostPending, 0);
}

ShapeSample::Pending* ShapeSample::find(uint32_t site, const Event& event) {
  const auto is = [&](const Pending& p) {
    return p.site == site && p.event.way == event.way && p.event.pass == event.pass && p.event.stretch == event.stretch;
  };
  const uint32_t following = last_ + 1 < count_ ? last_ + 1 : 0;  // lanes go through them in one order
  if (following < count_ && is(pending_[following])) return &pending_[last_ = following];
  const auto mask = uint32_t(index_.size()) - 1;
  for (uint32_t slot = place_in(mask, site, event); index_[slot]; slot = (slot + 1) & mask)
    if (is(pending_[index_[slot] - 1])) return &pending_[last_ = index_[slot] - 1];
  if (++sites_[site].drawn > kMostOfASite) halve(site);
  if (count_ == kMostPending) make_room();
  if (event.draw >= thresholds_[site]) return nullptr;
  if (count_ == pending_.size()) pending_.emplace_back();
  Pending& fresh = pending_[count_];
  fresh.site = site;
  fresh.event = event;
  fresh.lanes = 0;
  fresh.ascending = true;
  last_ = count_++;
  enter(last_);
  return &fresh;
}

void ShapeSample::enter(uint32_t number) {
  const auto mask = uint32_t(index_.size()) - 1;
  const Pending& pending = pending_[number];
  uint32_t slot = place_in(mask, pending.site, pending.event);
  while (index_[slot]) slot = (slot + 1) & mask;
  index_[slot] = number + 1;
}

// Long waves between two barriers: the sites with most requests under way get along with fewer.
void ShapeSample::make_room() {
  while (count_ > kMostPending / 2) {
    std::vector<uint32_t> pending(sites_.size(), 0);
    for (uint32_t i = 0; i < count_; ++i) pending[pending_[i].site] += pending_[i].lanes != 0;
    const uint32_t most = *std::max_element(pending.begin(), pending.end());
    for (uint32_t i = 0; i < sites_.size(); ++i)
      if (2 * pending[i] > most) halve(i);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (pending_[i].lanes == 0) continue;
      if (kept != i) pending_[kept] = pending_[i];
      ++kept;
    }
    count_ = kept;
  }
  last_ = 0;
  std::fill(index_.begin(), index_.end(), 0);
  for (uint32_t i = 0; i < count_; ++i) enter(i);
}

void ShapeSample::halve(uint32_t number) {
  SiteSample& site = sites_[number];
  const uint32_t threshold = thresholds_[number] /= 2;
  const auto left_out = [&](const Shape& shape) { return shape.draw >= threshold; };
  site.shapes.erase(std::remove_if(site.shapes.begin(), site.shapes.end(), left_out), site.shapes.end());
  site.drawn = uint32_t(site.shapes.size());
  for (uint32_t i = 0; i < count_; ++i) {
    Pending& pending = pending_[i];
    if (pending.site != number) continue;
    if (pending.event.draw >= threshold)
      pending.lanes = 0;
    else
      ++site.drawn;
  }
}

void ShapeSample::log(uint32_t site, const Event& event, const Lane& lane, const void* address, uint64_t bytes) {
  Pending* pending = find(site, event);
  if (!pending || pending->lanes == kMaxWave) return;
  const uint32_t at = pending->lanes++;
  pending->position[at] = uint8_t(lane.wave_lane);
  pending->thread[at] = uint16_t(lane.thread.linear);
  pending->address[at] = reinterpret_cast<uint64_t>(address);
  pending->bytes[at] = bytes;
  pending->range = bytes != 0;
  pending->ascending &= at == 0 || pending->position[at] > pending->position[at - 1];
}

void ShapeSample::log(uint32_t site, const Event& event, const Group& group, bool ranges) {
  Pending* pending = find(site, event);
  if (!pending || pending->lanes != 0) return;
  const uint32_t count = pending->lanes = group.size;
  std::copy_n(group.position, count, pending->position);
  std::copy_n(group.thread, count, pending->thread);
  std::copy_n(group.address, count, pending->address);
  pending->range = false;
  for (uint32_t i = 0; i < count && ranges; ++i) {
    pending->bytes[i] = group.lane[i]->bytes;
    pending->range |= pending->bytes[i] != 0;
  }
}

void ShapeSample::measure(Pending& pending) {
  Group group;
  uint8_t order[kMaxWave];
  for (uint32_t i = 0; i < pending.lanes; ++i) order[i] = uint8_t(i);
  if (!pending.ascending)
    std::sort(order, order + pending.lanes,
              [&](uint8_t a, uint8_t b) { return pending.position[a] < pending.position[b]; });
  uint64_t bytes[kMaxWave];
  for (uint32_t i = 0; i < pending.lanes; ++i) {
    const uint32_t from = order[i];
    group.address[i] = pending.address[from];
    group.thread[i] = pending.thread[from];
    group.position[i] = pending.position[from];
    bytes[i] = pending.bytes[from];
  }
  group.size = pending.lanes;
  SiteRecord record{};
  analysis_->measure(pending.site, group, pending.range ? bytes : nullptr, record);
  Shape shape;
  shape.draw = pending.event.draw;
  shape.lanes = float(pending.lanes);
  const uint64_t* counts = &record.requests;
  for (uint32_t i = 0; i < kShapeFields; ++i) shape.field[i] = float(counts[i]);
  sites_[pending.site].shapes.push_back(shape);
}

void ShapeSample::flush() {
  if (count_ == 0) return;
  const auto mask = uint32_t(index_.size()) - 1;
  for (uint32_t i = 0; i < count_; ++i) {
    Pending& pending = pending_[i];
    if (pending.lanes) measure(pending);
    uint32_t slot = place_in(mask, pending.site, pending.event);
    while (index_[slot] != i + 1) slot = (slot + 1) & mask;
    index_[slot] = 0;  // all go, so that no chain needs to hold together
  }
  count_ = last_ = 0;
}

}  // namespace simt
