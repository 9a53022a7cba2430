#include "ordering.h"

#include <algorithm>

namespace simt {

void Ordering::begin_launch(uint32_t wave_size, bool by_wave) {
  wave_size_ = wave_size;
  wave_shift_ = wave_size == 64 ? 6 : 5;
  by_wave_ = by_wave;
  fences_ = false;
  acquisitions_ = 0;
  variables_.clear();
  narrow_.clear();
}

Ordering::BlockOrder::Actor& Ordering::actor(uint32_t thread) {
  const uint32_t index = actor_of(thread);
  auto& actors = block_->actors;
  if (actors.size() <= index)
    actors.resize(by_wave_ ? block_->wave_start.size() : block_->wave_start.size() << wave_shift_);
  return actors[index];
}

void Ordering::note_write(uint32_t thread) {
  const uint32_t index = actor_of(thread);
  auto& written = block_->written;
  if (written.size() <= index)
    written.resize(by_wave_ ? block_->wave_start.size() : block_->wave_start.size() << wave_shift_);
  written[index] = block_->stamp;
}

Ordering::BlockOrder::Mark Ordering::mark_now(uint32_t thread) {
  BlockOrder& block = *block_;
  BlockOrder::Mark mark;
  mark.stamp = ++block.stamp;
  mark.barrier = block.barrier;
  mark.wave = block.wave_start[thread >> wave_shift_];
  mark.known = block.known;
  mark.known.join(actor(thread).known);
  return mark;
}

OrderClock Ordering::clock_of(const BlockOrder::Mark& mark, uint32_t thread) const {
  const uint32_t serial = block_->serial;
  OrderClock clock = mark.known;
  clock.raise(actor_key(serial, kBlockActor), mark.barrier);
  if (!by_wave_) clock.raise(actor_key(serial, kWaveActor + (thread >> wave_shift_)), mark.wave);
  clock.raise(actor_key(serial, actor_of(thread)), mark.stamp);
  return clock;
}

void Ordering::fence(uint32_t thread, OrderScope scope, bool acquires, bool releases) {
  if (scope == OrderScope::kWave) return;
  BlockOrder::Actor& self = actor(thread);
  fences_ = true;
  if (releases) {
    self.block = mark_now(thread);
    if (scope == OrderScope::kDevice) self.device = self.block;
  }
  if (!acquires) return;
  self.known.join(self.soft_block);
  self.news = true;
  if (scope != OrderScope::kDevice) return;
  acquisitions_ += !self.soft.empty() || !block_->soft.empty();
  self.known.join(self.soft);
  self.known.join(block_->soft);
}

// Fences of all threads before a barrier count for what one of them signals after it.
void Ordering::publish_at_barrier() {
  BlockOrder& block = *block_;
  bool all = true, any = false;
  for (uint32_t i = 0; i < block.actors.size(); ++i) {
    const uint32_t last = i < block.written.size() ? block.written[i] : 0;
    const uint32_t fenced = block.actors[i].device.stamp;
    any |= fenced > block.barrier;
    all &= fenced > last || last < block.barrier;
  }
  if (!any) return;
  if (all) {
    block.published.raise(actor_key(block.serial, kBlockActor), block.stamp + 1);
    block.published.join(block.known);
    return;
  }
  for (uint32_t i = 0; i < block.actors.size(); ++i)
    if (block.actors[i].device.stamp) block.published.raise(actor_key(block.serial, i), block.actors[i].device.stamp);
}

void Ordering::barrier() {
  BlockOrder& block = *block_;
  if (!block.actors.empty()) {
    for (BlockOrder::Actor& actor : block.actors) {
      if (!actor.news) continue;
      block.known.join(actor.known);
      block.known.join(actor.soft_block);
      block.soft.join(actor.soft);
      actor.known.clear();
      actor.soft.clear();
      actor.soft_block.clear();
      actor.news = false;
    }
    publish_at_barrier();
  }
  block.barrier = ++block.stamp;
  for (uint32_t& start : block.wave_start) start = block.barrier;
}

void Ordering::synchronize_wave(uint32_t wave) {
  BlockOrder& block = *block_;
  block.wave_start[wave] = ++block.stamp;
  if (by_wave_ || block.actors.empty()) return;
  OrderClock known, soft;
  const uint32_t first = wave << wave_shift_;
  const auto end = std::min<size_t>(first + wave_size_, block.actors.size());
  for (uint32_t i = first; i < end; ++i) known.join(block.actors[i].known), soft.join(block.actors[i].soft);
  if (known.empty() && soft.empty()) return;
  for (uint32_t i = first; i < end; ++i) {
    block.actors[i].known = known;
    block.actors[i].soft = soft;
    block.actors[i].news = true;
  }
}

void Ordering::synchronize_lanes(uint32_t wave, uint64_t mask) {
  BlockOrder& block = *block_;
  const uint32_t stamp = ++block.stamp, first = wave << wave_shift_;
  if (block.subsets.empty()) block.subsets.resize(block.wave_start.size() << wave_shift_);
  for (uint64_t rest = mask; rest; rest &= rest - 1)
    block.subsets[first + uint32_t(__builtin_ctzll(rest))] = {mask, stamp};
  if (by_wave_ || block.actors.empty()) return;
  OrderClock known, soft;
  for (uint64_t rest = mask; rest; rest &= rest - 1) {
    const BlockOrder::Actor& one = block.actors[first + uint32_t(__builtin_ctzll(rest))];
    known.join(one.known), soft.join(one.soft);
  }
  if (known.empty() && soft.empty()) return;
  for (uint64_t rest = mask; rest; rest &= rest - 1) {
    BlockOrder::Actor& one = block.actors[first + uint32_t(__builtin_ctzll(rest))];
    one.known = known, one.soft = soft, one.news = true;
  }
}

bool Ordering::together(uint32_t thread, uint32_t other, uint32_t stamp) const {
  if (block_->subsets.empty() || thread >= block_->subsets.size()) return false;
  const BlockOrder::Subset& last = block_->subsets[thread];
  return last.stamp > stamp && last.mask >> (other & (wave_size_ - 1)) & 1;
}

void Ordering::listen(const StrongAccess& access) {
  const auto found = variables_.find(access.place);
  if (found == variables_.end()) return;
  const Variable& variable = found->second;
  const bool inside = variable.serial == block_->serial && !variable.block.empty();
  const bool outside = access.scope == OrderScope::kDevice && !variable.device.empty();
  if (!inside && !outside) return;
  BlockOrder::Actor& self = actor(access.thread);
  self.news = block_->informed = true;
  const bool hard = access.acquires || !access.polls;
  if (inside) (hard ? self.known : self.soft_block).join(variable.block);
  if (outside) (hard ? self.known : self.soft).join(variable.device);
  acquisitions_ += access.acquires && outside;
}

void Ordering::signal(const StrongAccess& access) {
  if (!access.releases && !fences_ && variables_.empty()) return;
  BlockOrder& block = *block_;
  BlockOrder::Actor& self = actor(access.thread);
  OrderClock device, within;
  if (access.releases && access.scope != OrderScope::kWave) {
    const BlockOrder::Mark mark = mark_now(access.thread);
    self.block = mark;
    if (access.scope == OrderScope::kDevice) self.device = mark;
  }
  if (access.scope == OrderScope::kDevice) {
    device = block.published;
    if (self.device.stamp) device.join(clock_of(self.device, access.thread));
    if (self.block.stamp > self.device.stamp)
      narrow_[actor_key(block.serial, actor_of(access.thread))] = self.block.stamp;
  }
  if (self.block.stamp) within = clock_of(self.block, access.thread);
  if (device.empty() && within.empty()) {
    if (!access.reads) variables_.erase(access.place);  // a store hands nothing on
    return;
  }
  Variable& variable = variables_[access.place];
  if (!access.reads) variable = Variable();
  variable.device.join(device);
  if (variable.serial != block.serial) variable.block.clear();
  variable.serial = block.serial;
  variable.block.join(within);
}

void Ordering::strong(const StrongAccess& access, const BlockOrder::Heard& previous) {
  if (access.reads && access.result) {
    if (!access.shared) block_->listened = true;
    if (previous.serial && !variables_.empty()) listen(access);
    if (previous.serial && previous.serial != block_->serial) {
      block_->heard[block_->heard_at % 16] = previous;
      block_->heard[block_->heard_at++ % 16].polled = access.polls;
    }
  }
  if (access.writes) signal(access);
}

bool Ordering::covers(const OrderClock& clock, uint32_t serial, uint32_t stamp, uint32_t other) const {
  if (clock.empty()) return false;
  return clock.before(actor_key(serial, kBlockActor)) > stamp ||
         clock.before(actor_key(serial, actor_of(other))) > stamp ||
         (!by_wave_ && clock.before(actor_key(serial, kWaveActor + (other >> wave_shift_))) > stamp);
}

Knowledge Ordering::knows(uint32_t thread, uint32_t serial, uint32_t stamp, uint32_t other) const {
  if (covers(block_->known, serial, stamp, other)) return Knowledge::kHard;
  const uint32_t index = actor_of(thread);
  const BlockOrder::Actor* self = index < block_->actors.size() ? &block_->actors[index] : nullptr;
  if (self && covers(self->known, serial, stamp, other)) return Knowledge::kHard;
  const bool soft =
      covers(block_->soft, serial, stamp, other) ||
      (self && (covers(self->soft, serial, stamp, other) || covers(self->soft_block, serial, stamp, other)));
  return soft ? Knowledge::kSoft : Knowledge::kNone;
}

Lack Ordering::lack(uint32_t serial, uint32_t stamp, uint32_t site) const {
  for (const BlockOrder::Heard& heard : block_->heard) {
    if (heard.serial != serial || heard.stamp < stamp || heard.site == site) continue;
    const auto narrow = narrow_.find(actor_key(serial, actor_of(heard.thread)));
    return narrow != narrow_.end() && narrow->second > stamp ? Lack::kWiderFence : Lack::kReleaseFence;
  }
  return Lack::kNothing;
}

bool Ordering::waited_for(uint32_t serial, uint32_t stamp) const {
  for (const BlockOrder::Heard& heard : block_->heard)
    if (heard.polled && heard.serial == serial && heard.stamp >= stamp) return true;
  return false;
}

}  // namespace simt
