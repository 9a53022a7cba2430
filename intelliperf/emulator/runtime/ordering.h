// Which accesses of a launch are ordered: happens-before by barriers, by fences and by values that are passed.
//
// A release fence (or an operation with that order) publishes, to its scope, what its thread did and knew before; a
// barrier hands on to the whole block what each thread knew. An atomic or volatile write then carries what was
// published to whoever reads it, and operations that read and write hand it on. Reading in a loop makes it only `kSoft`
// known: known for good after an acquiring fence or order. One look, at a ticket, is taken for enough, since nothing
// that depends on it can have begun before. Blocks of HIP programs are looked at by wave, whose lanes
// have one program counter; others by thread.
//
// Anchors: release and acquire patterns, scopes and causality order of PTX's memory model; AMDGPU's memory model in
// LLVM's user guide. More is taken for ordered than these promise where real devices keep it and programs rely on it:
// a fence of each thread before a barrier counts for what one of them signals behind it.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "order_clock.h"

namespace simt {

enum class OrderScope : uint8_t { kDevice = 0, kBlock = 1, kWave = 2 };
enum class Knowledge : uint8_t { kNone, kSoft, kHard };

// One strong access, atomic or volatile.
struct StrongAccess {
  uint64_t place;  // of the value, unique among LDS and global memory
  uint32_t thread;
  OrderScope scope;
  bool shared;  // in LDS
  bool reads, writes, acquires, releases;
  bool result;  // what was read is used
  bool polls;   // in a loop
};

// Why two accesses are not ordered although one side read a value of the other.
enum class Lack : uint8_t { kNothing, kReleaseFence, kWiderFence };

class Ordering {
 public:
  void begin_launch(uint32_t wave_size, bool by_wave);

  // The block that runs. Its stamps grow with everything that orders.
  struct BlockOrder {
    uint32_t serial = 0, stamp = 1, barrier = 1;
    std::vector<uint32_t> wave_start;
    std::vector<uint32_t> written;  // by actor: stamp of its last store to global memory, once fences are met
    struct Mark {                   // a release fence
      uint32_t stamp = 0, barrier = 0, wave = 0;
      OrderClock known;
    };
    struct Heard {  // whose value was read
      uint32_t serial = 0, stamp = 0, thread = 0, site = 0;
      bool polled = false;
    };
    struct Actor {
      OrderClock known, soft, soft_block;  // read without an acquiring fence; what was published to the block only
      Mark device, block;
      bool news = false;  // since the last barrier
    };
    std::vector<Actor> actors;  // empty until one synchronises
    OrderClock known, soft, published;
    struct Subset {
      uint64_t mask = 0;
      uint32_t stamp = 0;
    };
    std::vector<Subset> subsets;  // by thread: the last synchronisation of a part of its wave
    bool listened = false;        // has read what may have been another's sign
    bool informed = false;        // has read what was published: before that all clocks of knowledge are empty
    Heard heard[16];              // the last ones
    uint32_t heard_at = 0;
  };

  BlockOrder& block() { return *block_; }
  const BlockOrder& block() const { return *block_; }
  void use(BlockOrder* block) { block_ = block; }

  void barrier();
  void synchronize_wave(uint32_t wave);
  void synchronize_lanes(uint32_t wave, uint64_t mask);
  void fence(uint32_t thread, OrderScope scope, bool acquires, bool releases);
  void wrote(uint32_t thread) {
    if (fences_) note_write(thread);
  }

  // Before the access. `previous` is who wrote the value last; of serial 0: nobody in this launch.
  void strong(const StrongAccess& access, const BlockOrder::Heard& previous);
  // What `thread` knows of an access of thread `other` of block `serial` at `stamp`.
  Knowledge knows(uint32_t thread, uint32_t serial, uint32_t stamp, uint32_t other) const;
  // Whether the running block read a value that the other one wrote after that access of `site`, but did not publish.
  // What the same store wrote elsewhere is no sign of what it wrote before.
  Lack lack(uint32_t serial, uint32_t stamp, uint32_t site) const;
  // Whether it read one in a loop, as one waits for a flag.
  bool waited_for(uint32_t serial, uint32_t stamp) const;
  bool together(uint32_t thread, uint32_t other, uint32_t stamp) const;

  uint64_t acquisitions() const { return acquisitions_; }  // by fence or order, of what another block published

 private:
  struct Variable {
    OrderClock device, block;
    uint32_t serial = 0;  // of the block that `block` is for
  };
  uint32_t actor_of(uint32_t thread) const { return by_wave_ ? thread >> wave_shift_ : thread; }
  BlockOrder::Actor& actor(uint32_t thread);
  void note_write(uint32_t thread);
  OrderClock clock_of(const BlockOrder::Mark& mark, uint32_t thread) const;
  BlockOrder::Mark mark_now(uint32_t thread);
  void listen(const StrongAccess& access);
  void signal(const StrongAccess& access);
  bool covers(const OrderClock& clock, uint32_t serial, uint32_t stamp, uint32_t other) const;
  void publish_at_barrier();

  BlockOrder* block_ = nullptr;
  std::unordered_map<uint64_t, Variable> variables_;
  std::unordered_map<uint64_t, uint32_t> narrow_;  // serial and thread → stamp of a signal behind a narrow fence
  uint32_t wave_shift_ = 6, wave_size_ = 64;
  bool by_wave_ = true, fences_ = false;
  uint64_t acquisitions_ = 0;
};

}  // namespace simt
