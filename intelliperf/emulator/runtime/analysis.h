// Turns the requests of traced waves into the counts of SiteRecord, and what the time model needs.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "atomic_queues.h"
#include "cache.h"
#include "device_file.h"
#include "fetches.h"
#include "hot_addresses.h"
#include "l2_contents.h"
#include "lane.h"
#include "lds.h"
#include "race.h"
#include "shared_bounds.h"

namespace simt {

struct Kernel;

// Sums over the traced blocks of one launch.
struct TracedTotals {
  uint64_t blocks = 0, events = 0;  // events: lane accesses
  uint64_t requests = 0, request_lanes = 0;
  uint64_t lds_requests = 0;
  uint64_t l1_bank_passes = 0;  // of global loads, see bank_passes()
  uint64_t l2_bytes = 0;        // moved between L1 and L2
  Served served;
  // Of the loads that L2 serves, and of these in the blocks that know best: those whose sectors are still on their way
  // for another block, see fetches.h.
  uint64_t on_their_way = 0, late_l2 = 0, late_on_their_way = 0;
  uint64_t waited = 0;                                 // of these beyond L1, those of the wave of each block with most
  uint64_t read_cold_lines = 0, read_again_lines = 0;  // L2 misses: first touch, after eviction
  uint64_t late_events = 0;     // of the traced blocks so far those by which half of the events had passed
  uint64_t read_cold_late = 0;  // first touches in the later ones
  uint64_t read_new_lines = 0, read_new_late = 0;  // of the cold ones those that no other partition had touched
  uint64_t read_kept_lines = 0;                    // of the cold ones those that L2 has from before the launch
  uint64_t write_sectors = 0;
  uint64_t partial_sectors = 0;           // stored to but not filled by one request
  uint64_t atomic_lanes = 0;              // on global memory
  uint64_t touched_allocation_bytes = 0;  // allocations that were read
};
// How much of what a site did was analysed: wave-level events, whatever requests came of each, and their lanes.
struct Analyzed {
  uint64_t events = 0, lanes = 0;
};

class Analysis {
 public:
  Analysis();

  // `alive`: blocks that a compute unit has at once in this launch, `resident` those that it could have; `together`: all
  // that the chip has at once.
  struct OnOneUnit {
    uint32_t resident, alive;
    uint64_t together;
  };
  void begin_launch(const Kernel& kernel, uint32_t dynamic_lds, const OnOneUnit& blocks, const StreamPlace& place);
  void begin_block(const Block& block);
  void end_block(bool done);  // not done: the block was set aside and will begin again

  // One wave-level request: lanes parked before the same access.
  void request(uint32_t wave, const Group& group);
  void collective(Lane* const* lanes, uint32_t count);
  // Adds to `record` what a request does that is not looked at further: no caches, races or bounds. `bytes` of each
  // lane's range, null for an access.
  void measure(uint32_t site, const Group& group, const uint64_t* bytes, SiteRecord& record);
  void synchronize_wave(uint32_t wave) { races_.synchronize_wave(wave); }
  void synchronize_lanes(uint32_t wave, uint64_t mask) { races_.synchronize_lanes(wave, mask); }
  void fence(uint32_t thread, uint32_t code);
  void synchronize_block(const Block& block, bool divergent);
  void synchronize_grid() { races_.synchronize_grid(); }
  void leave_out_a_block() { races_.leave_out_a_block(); }
  void forget_accesses() { races_.forget(); }
  uint64_t acquisitions() const { return races_.acquisitions(); }

  const std::vector<SiteRecord>& records() const { return records_; }  // by site; requests == 0: did not run
  const std::vector<Analyzed>& analyzed() const { return analyzed_; }  // by site
  const TracedTotals& totals() const { return totals_; }
  const Touched& touched() const { return touched_; }  // allocations, by the traced blocks
  HotAddresses& hot() { return hot_; }
  const Module& module() const { return *module_; }
  const AtomicQueues& queues() const { return queues_; }
  bool is_float(uint32_t site) const { return site < records_.size() && (sites_[site].flags & kSiteFloat); }
  bool wave_dependence() const { return races_.wave_dependence(); }

 private:
  // Who takes part in a request and where each goes, by ascending position in the wave.
  struct Lanes {
    const uint64_t* address;
    const uint16_t* thread;
    const uint8_t* position;
  };
  struct Request : Lanes {
    const Site* site;
    uint32_t index, wave, count, bytes;  // bytes of each lane
    bool shared, consecutive, uniform;
    bool stepwise;             // one step from each lane to the next, larger than the access, in aligned accesses
    uint64_t step;             // then
    uint64_t lowest, highest;  // addresses
    uint32_t acted_for;        // lanes, where the first acts for all that stand at its address; else 0
    Extent extent[kMaxWave];
    uint32_t extents;  // 0: every lane has its own
  };
  struct Part {  // of a request that goes to several places
    uint64_t address[kMaxWave];
    uint16_t thread[kMaxWave];
    uint8_t position[kMaxWave];
    uint32_t count = 0;
    void add(const Lanes& lanes, uint32_t lane, uint64_t at) {
      address[count] = at;
      thread[count] = lanes.thread[lane];
      position[count++] = lanes.position[lane];
    }
  };
  struct Addresses {  // of a request, each once
    uint64_t address[kMaxWave];
    uint32_t lanes[kMaxWave];  // on it
    uint32_t count = 0, most = 0;
  };
  struct LineTouch {
    uint64_t line;     // 128-byte line
    uint32_t sectors;  // bit mask
  };

  machine::Consequences* consequences_of(const Kernel& kernel);
  void pieces(const Request& request, const uint64_t* bytes);
  void begin_part(Request& request, const Part& part);
  void split(Request& request);
  static void find_extents(Request& request, bool beside);
  void account(Request& request);
  void count(const Request& request, SiteRecord& record);
  void shared_request(Request& request, SiteRecord& record);
  void global_request(Request& request, SiteRecord& record);
  void check_shared_bounds(const Request& request, SiteRecord& record);
  void check_bounds(const Request& request, SiteRecord& record);
  void check_poison(const Request& request, SiteRecord& record);
  bool overwrites(uint32_t site) const;
  void check_alignment(const Request& request);
  static RaceDetector::Access access_of(const Request& request);
  void check_races(const Request& request, const uint64_t* offset, SiteRecord& record);
  void count_lines(const Request& request, SiteRecord& record);
  void count_quads(const Request& request, SiteRecord& record);
  void count_banks(const Request& request, SiteRecord& record);
  static Addresses distinct(const Request& request);
  void count_addresses(const Request& request, SiteRecord& record);
  void queue(const uint64_t* address, const uint32_t* lanes, uint32_t count, uint32_t bytes);
  uint32_t bank_passes(const Request& request) const;
  void touch_line(uint64_t address, uint32_t bytes);
  void touch_stepwise(const Request& request);
  void reuse(const Request& request, SiteRecord& record);
  uint32_t reach_l2(uint64_t line, uint32_t sectors, bool store, SiteRecord& record);
  uint64_t shared_offset(uint64_t address) const;
  void shared_offsets(const Request& request, uint64_t* offset) const;
  void note_allocation(uint64_t base, uint64_t bytes, bool reads);
  bool any_poisoned(const Request& request) const;
  bool poisoned(uint64_t address, uint32_t bytes) const;

  const Device& device_;
  const Module* module_ = nullptr;
  const Site* sites_ = nullptr;
  uint64_t static_lds_ = 0;  // bytes from the first variable's guard to the last one's
  uint8_t poison_[8];

  std::vector<SiteRecord> records_;
  std::vector<Analyzed> analyzed_;
  SiteRecord* measured_ = nullptr;  // takes the counts instead, while a request is only measured
  uint32_t block_ = 0;              // within the grid
  TracedTotals totals_;
  std::vector<std::pair<uint64_t, uint64_t>> allocations_;  // base, bytes
  Touched touched_;
  uint64_t arena_base_ = 0, arena_bytes_ = 0;
  std::vector<SharedSpan> known_;  // by site: the allocation met last

  SharedBounds shared_bounds_;
  LdsBanks banks_;
  std::map<std::pair<uint32_t, uint64_t>, std::shared_ptr<machine::Consequences>> consequences_;  // by module and entry
  RaceDetector races_;
  HotAddresses hot_;
  AtomicQueues queues_;
  std::unique_ptr<SectorCache> l1_;
  std::vector<std::unique_ptr<SectorCache>> l2_;
  uint32_t first_read(uint64_t line, uint32_t sector, uint32_t sectors);
  LineSet lines_read_;      // first touches of L2 lines in the arena: by partition (AMD) or sector
  AddressSet others_read_;  // and elsewhere
  struct FirstTouches {
    uint64_t cold, fresh, events;
  };
  std::vector<FirstTouches> first_by_block_;  // up to and including each traced block
  uint32_t partition_ = 0;
  // To L2, in bytes, of the traced blocks; how many blocks there are to each that was traced.
  uint64_t newcomers_ = 0;
  double blocks_to_each_ = 1;
  bool kept(uint64_t line, uint32_t sectors);
  void end_waits();
  std::vector<uint64_t> waits_;  // of the block by wave: loads beyond L1
  Fetches fetches_;              // of the blocks that are on the chip together
  uint64_t together_ = 1, group_ = 0;
  bool late_ = false;           // most of the group were traced before this block
  std::vector<double> clocks_;  // of the block by wave: cycles since its group began
  double now_ = 0;              // of the wave whose request is looked at
  bool on_its_way_ = false;     // what that request asks L2 for
  bool fills_ = false;          // the request stores all of each sector that it stores to

  static constexpr uint32_t kMaxTouches = 512;
  LineTouch touches_[kMaxTouches];
  uint32_t touch_count_ = 0, last_touch_ = 0;
  uint32_t table_stamp_ = 0;
  struct TableSlot {
    uint32_t stamp, touch;
  } table_[1024] = {};
};

}  // namespace simt
