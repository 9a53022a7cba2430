// What a thread knows to have happened: of each actor (a thread, a wave or a whole block) everything before a stamp.
// A value: copies share their entries until one of them changes. Sorted by actor, so that joining is a merge.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace simt {

// Packs a block's serial number and one of its actors.
constexpr uint32_t kActorBits = 12, kWaveActor = 1024, kBlockActor = 2047;
inline uint64_t actor_key(uint32_t serial, uint32_t actor) { return uint64_t(serial) << kActorBits | actor; }

class OrderClock {
 public:
  bool empty() const { return !entries_ && !everything_; }
  void clear() { *this = OrderClock(); }
  // From now on at least all that `actor` did before `stamp`.
  void raise(uint64_t actor, uint32_t stamp);
  void join(const OrderClock& other);
  // 0: nothing of this actor.
  uint32_t before(uint64_t actor) const;

 private:
  // Beyond these a join costs more than a block's run: first threads of one block are no longer told apart, then blocks.
  static constexpr size_t kMaxActors = 2048, kMaxBlocks = 16384;

  struct Entry {
    uint64_t actor;
    uint32_t stamp;
  };
  using Entries = std::vector<Entry>;
  Entries& own();
  void bound();

  std::shared_ptr<Entries> entries_;
  size_t room_ = kMaxActors;  // entries beyond which they are told apart less; twice what that has left last time
  bool everything_ = false;   // too many actors to tell apart: nothing is held to be unordered any more
};

}  // namespace simt
