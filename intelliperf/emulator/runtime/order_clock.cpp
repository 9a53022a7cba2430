#include "order_clock.h"

#include <algorithm>

namespace simt {
OrderClock::Entries& OrderClock::own() {
  if (!entries_) entries_ = std::make_shared<Entries>();
  if (entries_.use_count() > 1) entries_ = std::make_shared<Entries>(*entries_);
  return *entries_;
}

void OrderClock::bound() {
  if (!entries_ || entries_->size() <= room_) return;
  Entries blocks;
  for (const Entry& entry : *entries_) {
    const uint64_t block = actor_key(uint32_t(entry.actor >> kActorBits), kBlockActor);
    if (!blocks.empty() && blocks.back().actor == block)
      blocks.back().stamp = std::max(blocks.back().stamp, entry.stamp);
    else
      blocks.push_back({block, entry.stamp});
  }
  room_ = std::max(kMaxActors, 2 * blocks.size());  // so that this pass is paid for by as many new entries
  if (blocks.size() > kMaxBlocks) {
    entries_.reset();
    everything_ = true;
  } else if (blocks.size() < entries_->size()) {
    entries_ = std::make_shared<Entries>(std::move(blocks));
  }
}

void OrderClock::raise(uint64_t actor, uint32_t stamp) {
  if (everything_ || before(actor) >= stamp) return;
  Entries& entries = own();
  const auto less = [](const Entry& entry, uint64_t key) { return entry.actor < key; };
  const auto at = std::lower_bound(entries.begin(), entries.end(), actor, less);
  if (at != entries.end() && at->actor == actor)
    at->stamp = stamp;
  else
    entries.insert(at, Entry{actor, stamp});
  bound();
}

void OrderClock::join(const OrderClock& other) {
  if (other.everything_) entries_.reset(), everything_ = true;
  if (everything_ || !other.entries_ || entries_ == other.entries_) return;
  if (!entries_) {
    entries_ = other.entries_;
    room_ = other.room_;
    return;
  }
  if (other.entries_->size() <= 4) {
    for (const Entry& entry : Entries(*other.entries_)) raise(entry.actor, entry.stamp);
    return;
  }
  auto merged = std::make_shared<Entries>();
  merged->reserve(entries_->size() + other.entries_->size());
  auto a = entries_->cbegin(), b = other.entries_->cbegin();
  while (a != entries_->cend() && b != other.entries_->cend()) {
    if (a->actor < b->actor) {
      merged->push_back(*a++);
    } else if (b->actor < a->actor) {
      merged->push_back(*b++);
    } else {
      merged->push_back({a->actor, std::max(a->stamp, b->stamp)});
      ++a, ++b;
    }
  }
  merged->insert(merged->end(), a, entries_->cend());
  merged->insert(merged->end(), b, other.entries_->cend());
  entries_ = std::move(merged);
  room_ = std::max(room_, other.room_);
  bound();
}

uint32_t OrderClock::before(uint64_t actor) const {
  if (everything_) return ~0u;
  if (!entries_) return 0;
  const auto less = [](const Entry& entry, uint64_t key) { return entry.actor < key; };
  const auto at = std::lower_bound(entries_->cbegin(), entries_->cend(), actor, less);
  return at != entries_->cend() && at->actor == actor ? at->stamp : 0;
}

}  // namespace simt
