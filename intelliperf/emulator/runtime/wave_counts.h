// How often lanes and waves come by each place in the program, in all blocks of a launch.
//
// Lanes of a wave that do the same thing in the same turn of all loops around it do it together: one request, or one
// execution of a basic block, counts for all of them. In lock-step the scheduler makes that so. Where lanes run one
// after another, the way that each came (its calls and turns of loops) tells which of its passes are those of the
// lanes before it, so that both count alike. The exceptions are loops deeper than kMaxLoops, and loops of one basic
// block with a collective in them that only part of a wave has come to.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "lane.h"
#include "shape_sample.h"

namespace simt {

struct Module;
class HotAddresses;

class WaveCounter {
 public:
  // `issue_costs` and `words`: of one execution by a wave, see Wave; by place, see place_of_block. `shares`: lanes wait
  // before they draw work, see Horizon.
  void begin_launch(const Module& module, const std::vector<float>& issue_costs, uint64_t draw, ShapeSample* shapes,
                    HotAddresses* hot, bool shares);
  void end_block() { shapes_->flush(); }
  void end_launch();
  bool active() const { return active_; }
  void listen(bool active) { active_ = active; }  // between the two

  // Some lanes of the wave set out from where they stand together. `all`: no other lane can still come by where one
  // of them has been; so it is at barriers, but not where those that have ended were ahead of them.
  void begin_segment(Wave& wave, bool all) {
    if (active_ && (all || &wave != wave_)) begin_stretch(wave, all);
  }

  // A basic block without an event, in either mode.
  void pass(uint32_t block) {
    if (!active_) return;
    Place& place = places_[sites_ + block];
    ++place.lanes;
    if (step(place, simt_current)) wave_->work.issue += facts_[sites_ + block].issue_cost;
  }
  // An access of the running lane, where lanes are not in lock-step. `bytes` of a range, else 0. False: nobody has
  // seen this access in lock-step yet, which is to be done first; or it is to wait.
  bool access(const void* address, uint32_t site, uint64_t bytes) {
    if (facts_[site].unseen || facts_[site].draws) return false;
    count(address, site, bytes);
    return true;
  }
  void count(const void* address, uint32_t site, uint64_t bytes) {
    Place& place = places_[site];
    ++place.lanes;
    const bool first = step(place, simt_current);
    if (first) begin_request(site, address);
    const uint32_t draw = drawn(place.way, place.passes);
    if (draw < shapes_->threshold(site))
      shapes_->log(site, {stretch_, place.way, place.passes, draw}, *simt_current, address, bytes);
    meetings_ += facts_[site].meets;
    if (facts_[site].atomic && (first || !facts_[site].combined)) atomic(site, reinterpret_cast<uint64_t>(address));
  }
  // The same of a lane that waits before it; its later ones count themselves.
  void waiting(Lane& lane, uint64_t bytes) {
    simt_current = &lane;
    count(lane.address, lane.site, bytes);
    lane.counted_at = lane.site, lane.counted_in = stretch_, lane.counted_way = lane.path_hash;
  }
  bool unseen(uint32_t site) const { return facts_[site].unseen; }
  void in_lockstep(uint32_t site) { facts_[site].unseen = false; }
  // How often a lane outside lock-step did what it may be waiting for others by: none that has not can spin.
  uint64_t meetings() const { return meetings_; }
  void fence() { ++meetings_; }
  // Lanes that execute an event together. Addresses are looked at if `unseen`: nobody else analyses them.
  void together(Wave& wave, const Group& group, bool unseen);
  void barrier(Wave& wave, uint32_t site, uint32_t lanes);
  void enter(Wave& wave, uint32_t block, uint32_t lanes);  // a basic block, which they execute together

  // In all waves; to be asked after `end_launch`.
  uint64_t requests(uint32_t place) const { return sums_[place].requests; }
  uint64_t lanes(uint32_t place) const { return sums_[place].lanes; }
  uint32_t place_of_block(uint32_t block) const { return sites_ + block; }
  bool atomics_known() const { return atomics_known_; }  // every address of global atomics was noted

 private:
  struct Run {  // passes of one way, one after another
    uint32_t way, most;
  };
  struct Place {                 // of one wave
    const Lane* lane = nullptr;  // that came by last
    uint32_t stretch = 0;        // in which
    uint32_t way = 0, passes = 0;
    uint32_t at = 0;  // its run
    bool indexed = false;
    uint64_t requests = 0, lanes = 0;
    std::vector<Run> runs;
    std::vector<uint32_t> index;  // 1 + number of a run, by its way
  };
  struct Facts {
    bool atomic = false, load = false, unseen = true, constant = false, draws = false;
    bool combined = false;  // the first lane acts for all, whose address is the same
    bool meets = false;     // volatile, or an atomic whose result is used
    float issue_cost = 0;
  };
  struct Sum {
    uint64_t requests, lanes;
  };
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kNear = 8;  // runs that are looked through without an index
  static constexpr uint32_t kMostRuns = 1u
                                        << 25;  // of one place between barriers; beyond, all lanes are taken to agree

  // Whether it is the first lane of its wave that comes by like this.
  bool step(Place& place, const Lane* lane) {
    const uint32_t way = lane->path_hash;
    if (place.lane == lane && place.stretch == stretch_ && place.way == way) {
      ++place.passes;
    } else {
      move(place, lane, way);
    }
    Run& run = place.runs[place.at];
    if (place.passes <= run.most) return false;
    run.most = place.passes;
    ++place.requests;
    return true;
  }
  void move(Place& place, const Lane* lane, uint32_t way);
  uint32_t find(Place& place, uint32_t from, uint32_t way);
  void enter(Place& place, uint32_t run);
  void begin_stretch(Wave& wave, bool whole);
  void choose(Wave& wave);
  void go_on(uint32_t stretch);
  void begin_request(uint32_t site, const void* address);
  void atomic(uint32_t site, uint64_t address);
  uint32_t drawn(uint32_t way, uint32_t passes) const {  // 31 bits, the same for all lanes of a request
    uint32_t x = (way ^ salt_) + passes * 0x9E3779B1u;
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return (x ^ (x >> 16)) >> 1;
  }

  bool active_ = false, atomics_known_ = true;
  uint32_t sites_ = 0, count_ = 0, stretch_ = 0, stretches_ = 0, salt_ = 0;
  uint64_t draw_ = 0, meetings_ = 0;
  Wave* wave_ = nullptr;
  Place* places_ = nullptr;  // of the running wave: sites, then basic blocks
  ShapeSample* shapes_ = nullptr;
  HotAddresses* hot_ = nullptr;
  std::vector<Facts> facts_;                 // by place
  std::vector<std::vector<Place>> by_wave_;  // by index within the block
  std::vector<Sum> sums_;
};
extern WaveCounter wave_counter;

// Wave executions of every basic block, given those of lanes.
std::vector<uint64_t> wave_executions(const Module& module, const uint64_t* lanes);

}  // namespace simt
