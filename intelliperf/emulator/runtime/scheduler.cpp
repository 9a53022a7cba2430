#include "scheduler.h"

#include <algorithm>
#include <cstring>
#include "analysis.h"

#include "execution.h"
#include "fault_log.h"
#include "fiber.h"
#include "lds_guards.h"
#include "memory.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr uint32_t kSlice = 16;         // requests of one wave before the next wave's turn, in lock-step
constexpr uint32_t kFastSlice = 4096;   // collectives, in fast mode
constexpr uint32_t kSpinRequests = 48;  // repeated requests after which a group is held to be spinning
constexpr uint64_t kMostRounds = 32;    // before a block is preempted by chance
constexpr uint64_t kWindow = 16384;     // lane accesses that are looked at where a block comes to new ones
constexpr uint32_t kStuckRounds = 64;   // rounds without work after which another block is tried
constexpr uint32_t kMostHolds = 2;      // of one block
constexpr uint64_t kHoldOneOf = 4;      // of the accesses behind which it may be

bool runnable(LaneState state) {
  return state == LaneState::kAccess || state == LaneState::kRange || state == LaneState::kCollective ||
         state == LaneState::kPreempted;
}

// Whether the scheduler itself may look at what a lane is about to access.
bool readable(const void* address) {
  return in_shared_memory(address) ? !in_closed_lds(address) : find(address) != nullptr;
}

void resume_chain(Lane* first) {
  switches = switches + 1;
  run_chain(first);
}

uint64_t bit(const Lane& lane) { return uint64_t(1) << lane.wave_lane; }

// Without a mask all lanes take part that can come: as on hardware, where those that left a branch or the loop's last
// round behind are waited for.
bool waits_for_others(const Lane& lane) {
  return lane.state == LaneState::kCollective && lane.mask == 0 && Collective(lane.operation) != Collective::kYield;
}

// Which of two lanes at different places runs first.
bool before(const Lane& a, const Lane& b) {
  const bool waits = waits_for_others(a);
  return waits == waits_for_others(b) ? earlier(a, b) : !waits;
}

// Whether all live lanes that `lane`'s mask names have come to the same collective.
bool complete(const Wave& wave, const Lane& lane) {
  if (lane.mask == 0) return true;
  for (uint32_t i = 0; i < wave.live; ++i) {
    const Lane& other = *wave.lanes[i];
    if (!(lane.mask & bit(other))) continue;
    if (other.state != LaneState::kCollective || other.operation != lane.operation || other.mask != lane.mask)
      return false;
  }
  return true;
}

// Whether its blocks may wait for what others tell: they look at it again and again.
bool may_wait(const Module& module) {
  return std::any_of(module.sites, module.sites + module.site_count,
                     [](const Site& site) { return SiteKind(site.kind) == SiteKind::kLoad && site.order & kSiteLoop; });
}

}  // namespace

StartQueue start_queue;
ParkCounts park_counts;
bool reducing_barriers;
volatile bool lanes_back_off;
volatile uint64_t switches;

void lane_main() {
  for (;;) {
    start_queue.entry(start_queue.arguments);
    Lane* lane = simt_current;
    lane->state = LaneState::kDone;
    ++park_counts.done;
    if (start_queue.next == start_queue.end) {
      simt_park();
      __builtin_trap();  // a finished lane is never resumed
    }
    Lane* following = *start_queue.next++;
    following->stack_low = lane->stack_low;
    following->next = lane->next;
    following->state = LaneState::kRunning;
    lane->stack_low = 0;
    switches = switches + 1;
    simt_current = following;
  }
}

// The lane ends wherever it stands; what its stack holds is given up. In the fast version the scheduler gives the
// lanes that have not started yet another stack.
void end_lane() {
  Lane* lane = simt_current;
  lane->depth = lane->path_hash = 0;
  lane->loop_base = lane->loop_depth = 0;
  lane->state = LaneState::kDone;
  ++park_counts.done;
  simt_park();
  __builtin_trap();  // a finished lane is never resumed
}

bool Scheduler::stopped() const { return out_of_memory_ || abort_status != 0; }

// What a lane does at one depth of its calls: call another function or, at the last, wait where it is.
static CallFrame frame(const Lane& lane, uint32_t depth) {
  if (depth < lane.depth && depth < kMaxCallDepth) return lane.path[depth];
  return CallFrame{lane.site, 0, lane.loop_base, lane.loop_depth};
}

bool earlier(const Lane& a, const Lane& b) {
  uint32_t depth = a.depth < b.depth ? a.depth : b.depth;
  if (depth > kMaxCallDepth) depth = kMaxCallDepth;
  for (uint32_t i = 0, base = 0; i <= depth; ++i) {
    const CallFrame left = frame(a, i), right = frame(b, i);
    const uint32_t loops = left.loop_depth < right.loop_depth ? left.loop_depth : right.loop_depth;
    for (uint32_t at = base + 1; at <= base + loops && at < kMaxLoops && a.turns[at].loop == b.turns[at].loop; ++at)
      if (a.turns[at].turn != b.turns[at].turn) return a.turns[at].turn < b.turns[at].turn;
    if (left.site != right.site) return left.site < right.site;
    base += left.loop_depth + 1;
  }
  return a.depth > b.depth;
}

Scheduler::Scheduler(const LaunchRequest& request, uint32_t wave_size, Analysis* analysis)
    : request_(request), wave_size_(wave_size), threads_(uint32_t(request.block.count())), analysis_(analysis) {
  reducing_barriers = false;
  lanes_back_off = false;
  if (settings().preemption.kind == Order::Kind::kRandom) chance_ = settings().preemption.seed * 2 + 1;
  holds_first_ = request.altered && !chance_ && !request.cooperative && may_wait(*request.kernel->module);
}

void Scheduler::shape(Block& block) {
  block.shape[0] = request_.block.x, block.shape[1] = request_.block.y, block.shape[2] = request_.block.z;
  block.lanes.reset(new Lane[threads_]());
  block.waves.assign((threads_ + wave_size_ - 1) / wave_size_, Wave());
  for (uint32_t i = 0; i < threads_; ++i) {
    Lane& lane = block.lanes[i];
    lane.thread.index[0] = i % request_.block.x;
    lane.thread.index[1] = i / request_.block.x % request_.block.y;
    lane.thread.index[2] = i / request_.block.x / request_.block.y;
    lane.thread.linear = i;
    lane.wave_lane = i % wave_size_;
  }
}

void Scheduler::prepare(Block& block, uint64_t number, bool traced, bool analyzed, bool counted) {
  const Dim3& wanted = request_.block;
  if (block.shape[0] != wanted.x || block.shape[1] != wanted.y || block.shape[2] != wanted.z) shape(block);
  // Lanes of a wave in lock-step have no order; waves have none in either mode.
  const bool reordered = settings().lanes.kind != Order::Kind::kForward && !traced;
  uint32_t wave_order[1024], lane_order[kMaxWave];
  const uint32_t waves = uint32_t(block.waves.size());
  arrange(settings().lanes, number, wave_order, waves);
  for (uint32_t w = 0; w < waves; ++w) {
    Wave& wave = block.waves[w];
    const uint32_t index = wave_order[w], first = index * wave_size_;
    const uint32_t count = threads_ - first < wave_size_ ? threads_ - first : wave_size_;
    wave.index = index;
    wave.begun = wave.live = wave.unstarted = count;
    wave.at_barrier = wave.at_grid = wave.repeats = 0;
    wave.released = wave.chained = wave.waiting = wave.ahead = false;
    wave.begun_cycles = 0;
    wave.block = uint32_t(number);
    wave.stretch = 0;
    wave.work = WaveWork();
    if (traced) memset(wave.recent, 0, sizeof wave.recent);
    if (reordered) arrange(settings().lanes, number * 1024 + index, lane_order, count);
    for (uint32_t i = 0; i < count; ++i) wave.lanes[i] = &block.lanes[first + (reordered ? lane_order[i] : i)];
  }
  block.number = number;
  block.state = BlockState::kFresh;
  block.traced = traced;
  block.analyzed = analyzed;
  block.counted = counted;
  block.live = threads_;
  block.holds = 0;
}

void Scheduler::start(Block& block, Wave& wave) {
  const uint32_t count = wave.unstarted;
  wave.unstarted = 0;
  park_counts = ParkCounts();
  start_queue.entry = block.traced || block.counted ? request_.kernel->trace : request_.kernel->fast;
  start_queue.arguments = request_.arguments;
  start_queue.next = start_queue.end = wave.lanes + count;
  if (block.traced) {
    for (uint32_t i = 0; i < count; ++i) {
      Lane& lane = *wave.lanes[i];
      lane.state = LaneState::kRunning;
      lane.backing_off = false;
      lane.next = i + 1 < count ? wave.lanes[i + 1] : &home_lane();
      if (!take_stack(lane)) {
        out_of_memory_ = true;
        return;
      }
      prepare_fiber(lane, lane_main);
    }
    wave.chained = true;
    wave_counter.begin_segment(wave, true);
    resume_chain(wave.lanes[0]);
    if (abort_status) return;
  } else {
    start_queue.next = wave.lanes;
    wave_counter.begin_segment(wave, true);
    while (start_queue.next != start_queue.end) {
      Lane& lane = **start_queue.next++;
      lane.state = LaneState::kRunning;
      lane.next = &home_lane();
      if (!take_stack(lane)) {
        out_of_memory_ = true;
        return;
      }
      prepare_fiber(lane, lane_main);
      resume_chain(&lane);
      if (abort_status) return;
    }
  }
  settle(wave);
}

// Takes account of what the last chain did: lanes that finished leave the wave.
void Scheduler::settle(Wave& wave) {
  wave.at_barrier += park_counts.barrier;
  wave.at_grid += park_counts.grid;
  if (park_counts.done == 0) return;
  wave.chained = false;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < wave.live; ++i) {
    Lane* lane = wave.lanes[i];
    if (lane->state == LaneState::kDone)
      return_stack(*lane);
    else
      wave.lanes[kept++] = lane;
  }
  wave.live = kept;
}

void Scheduler::run_released(Wave& wave) {
  wave.released = false;
  wave.at_barrier = wave.at_grid = 0;
  if (!wave.chained) {
    for (uint32_t i = 0; i < wave.live; ++i) wave.lanes[i]->next = i + 1 < wave.live ? wave.lanes[i + 1] : &home_lane();
    wave.chained = true;
  }
  park_counts = ParkCounts();
  wave_counter.begin_segment(wave, true);
  resume_chain(wave.lanes[0]);
  if (!abort_status) settle(wave);
}

void Scheduler::gather(Wave& wave, const Lane& leader, uint64_t excluded) {
  group_.size = 0;
  runner_up_ = nullptr;
  const bool masked = leader.state == LaneState::kCollective && leader.mask != 0;
  const bool alone = leader.state == LaneState::kPreempted;
  for (uint32_t i = 0; i < wave.live; ++i) {
    Lane* lane = wave.lanes[i];
    if (!runnable(lane->state) || (excluded & bit(*lane))) continue;
    bool member = alone ? lane == &leader : same_place(*lane, leader);
    if (lane->state == LaneState::kCollective && lane->mask != 0) {
      if (masked && lane->mask == leader.mask && lane->operation == leader.operation)
        member = true;
      else if (member && !complete(wave, *lane))
        member = false;
    }
    if (member)
      group_.lane[group_.size++] = lane;
    else if (!lane->backing_off && (!runner_up_ || before(*lane, *runner_up_)))
      runner_up_ = lane;
  }
  group_.together();
  identify();
}

// Of the group's lanes what does not change while it stays together.
void Scheduler::identify() {
  for (uint32_t i = 0; i < group_.size; ++i) {
    const uint32_t thread = group_.lane[i]->thread.linear;
    group_.thread[i] = uint16_t(thread);
    group_.position[i] = uint8_t(thread & (wave_size_ - 1));
  }
}

// The frequent case: all lanes of the wave are before the same access.
bool Scheduler::choose_all(const Wave& wave) {
  const Lane& first = *wave.lanes[0];
  if ((first.state != LaneState::kAccess && first.state != LaneState::kRange) || lanes_back_off) return false;
  if (!same_place(first, *wave.lanes[wave.live - 1])) return false;
  group_.size = wave.live;
  memcpy(group_.lane, wave.lanes, wave.live * sizeof(Lane*));
  runner_up_ = nullptr;
  if (!group_.together()) return false;
  identify();
  return true;
}

// Finds the earliest group that may run. Lanes that back off come last; incomplete masked collectives wait.
bool Scheduler::choose(Wave& wave) {
  if (choose_all(wave)) return true;
  uint64_t excluded = 0;
  for (;;) {
    const Lane* best = nullptr;
    const Lane* reserve = nullptr;
    for (uint32_t i = 0; i < wave.live; ++i) {
      const Lane* lane = wave.lanes[i];
      if (!runnable(lane->state) || (excluded & bit(*lane))) continue;
      const Lane*& place = lane->backing_off ? reserve : best;
      if (!place || (!same_place(*lane, *place) && before(*lane, *place))) place = lane;
    }
    if (!best && reserve) {
      for (uint32_t i = 0; i < wave.live; ++i) wave.lanes[i]->backing_off = false;
      best = reserve;
    }
    if (!best) return false;
    if (best->state != LaneState::kCollective || complete(wave, *best)) {
      gather(wave, *best, excluded);
      return true;
    }
    for (uint32_t i = 0; i < wave.live; ++i) {
      const Lane& lane = *wave.lanes[i];
      if (lane.state == LaneState::kCollective && lane.mask == best->mask && lane.operation == best->operation)
        excluded |= bit(lane);
    }
  }
}

// After the group ran: is it still together, and still the earliest?
bool Scheduler::keep_group(const Wave& wave) {
  const Lane& first = *group_.lane[0];
  if (!runnable(first.state) || first.state == LaneState::kPreempted) return false;
  if (!group_.together()) return false;
  if (first.state == LaneState::kCollective && first.mask != 0 && group_.size != wave.live) return false;
  return !runner_up_ || before(first, *runner_up_);
}

// Whether the group is to draw work, with others still behind it.
bool Scheduler::draws_too_early(Wave& wave) const {
  const Lane& first = *group_.lane[0];
  if (!horizon.is_open() || first.state != LaneState::kAccess) return false;
  wave.ahead =
      (request_.kernel->module->sites[first.site].order & kSiteDraws) && !horizon.is_behind(Horizon::cycles_of(wave));
  return wave.ahead;
}

// Whether the group only repeats what it did lately: same place, lanes and address, and where it synchronises
// (volatile or atomic) the same value in memory, so that a counter which grows is work and a closed lock is not.
Scheduler::Repeat Scheduler::note_repeat(Wave& wave) {
  const Lane& first = *group_.lane[0];
  if (first.state != LaneState::kAccess) return first.state == LaneState::kPreempted ? Repeat::kOnce : Repeat::kNo;
  const Site& site = request_.kernel->module->sites[first.site];
  const auto kind = SiteKind(site.kind);
  const bool synchronises = kind == SiteKind::kAtomic || kind == SiteKind::kReduction || site.flags & kSiteVolatile;
  uint64_t signature = (reinterpret_cast<uint64_t>(first.address) * 0x9E3779B97F4A7C15ull) ^
                       (uint64_t(first.site) << 8) ^ (uint64_t(first.wave_lane) << 40) ^ group_.size;
  if (synchronises && readable(first.address)) {
    uint32_t value;
    memcpy(&value, first.address, site.bytes < 4 ? 1 : 4);
    signature ^= (site.bytes < 4 ? value & 0xFF : value) * 0xC2B2AE3D27D4EB4Full;
  }
  for (uint64_t seen : wave.recent) {
    if (seen != signature) continue;
    wave.waiting |= synchronises;
    return ++wave.repeats > kSpinRequests && wave.waiting ? Repeat::kSpinning : Repeat::kOnce;
  }
  wave.repeats = 0;
  wave.waiting = false;
  wave.recent[wave.recent_at++ & 7] = signature;
  return Repeat::kNo;
}

void Scheduler::back_off() {
  lanes_back_off = true;
  for (uint32_t i = 0; i < group_.size; ++i) group_.lane[i]->backing_off = true;
}

// Of lanes that have ended, programs read where their number is not a multiple of the wave's, and mostly throw the
// result away: that is told apart.
void Scheduler::look_at_shuffle(uint64_t members, uint64_t live) const {
  if (group_.lane[0]->operation > uint32_t(Collective::kShuffleXor)) return;
  for (uint32_t i = 0; i < group_.size; ++i) {
    const int source = shuffle_source(*group_.lane[i], wave_size_);
    if (source < 0 || members >> source & 1) continue;
    Fault fault{live >> source & 1 ? FaultKind::kDivergentShuffle : FaultKind::kShuffleFromEnded};
    fault.scope = FaultScope::kWave;
    fault.site = group_.lane[i]->site;
    fault.thread = group_.lane[i]->thread.linear;
    note_fault(fault);
  }
}

void Scheduler::look_at_masks() const {
  for (uint32_t i = 0; i < group_.size; ++i) {
    const Lane& lane = *group_.lane[i];
    if (lane.mask == 0 || lane.mask & bit(lane)) continue;
    Fault fault{FaultKind::kOutsideMask};
    fault.scope = FaultScope::kWave;
    fault.site = lane.site;
    fault.thread = lane.thread.linear;
    note_fault(fault);
  }
}

// The effect of the group's common event.
Scheduler::Repeat Scheduler::perform(Block& block, Wave& wave) {
  const Lane& first = *group_.lane[0];
  if (first.state == LaneState::kCollective && Collective(first.operation) == Collective::kYield) {
    if (named_barrier_passed && analysis_ && block.analyzed) analysis_->synchronize_block(block, false);
    named_barrier_passed = false;
    back_off();
    return Repeat::kSpinning;
  }
  if (first.state == LaneState::kCollective) {
    wave_counter.together(wave, group_, false);
    const uint64_t members = execute_collective(group_.lane, group_.size, wave_size_);
    wave.repeats = 0;
    if (analysis_ && block.analyzed) {
      analysis_->collective(group_.lane, group_.size);
      uint64_t live = 0;
      for (uint32_t i = 0; i < wave.live; ++i) live |= bit(*wave.lanes[i]);
      if (members == live)
        analysis_->synchronize_wave(wave.index);
      else
        analysis_->synchronize_lanes(wave.index, members);
      if (uint32_t(__builtin_popcountll(members)) < wave_size_) look_at_shuffle(members, live);
      look_at_masks();
    }
    return Repeat::kNo;
  }
  const bool access = first.state == LaneState::kAccess || first.state == LaneState::kRange;
  if (access && block.analyzed && analysis_->totals().events >= block.analyzed_until &&
      !wave_counter.unseen(first.site))
    leave_lockstep(block);
  if (access && block.counted && wave_counter.unseen(first.site)) look_at(block);
  if (access && block.analyzed) wave_counter.in_lockstep(first.site);
  const Repeat repeat = block.traced ? note_repeat(wave) : access ? Repeat::kNo : Repeat::kOnce;
  if (block.traced) pass_request(first.state == LaneState::kAccess);
  if (access) count(block, wave);
  if (analysis_ && block.analyzed && first.state != LaneState::kPreempted) analysis_->request(wave.index, group_);
  if (repeat != Repeat::kSpinning) return repeat;
  back_off();
  if (runner_up_) wave.repeats = kSpinRequests - 8;
  spun_ = true;
  return repeat;
}

// By chance: a block that has drawn a ticket, or told others something, is held back just behind that. On other numbers,
// where there may be more blocks than the program has, it is the first one that draws a ticket: the others look far back.
void Scheduler::may_hold(Block& block) {
  const Lane& first = *group_.lane[0];
  if ((!chance_ && !holds_first_) || !block.traced || block.holds >= kMostHolds || first.state != LaneState::kAccess)
    return;
  const Site& site = request_.kernel->module->sites[first.site];
  const auto kind = SiteKind(site.kind);
  const bool tells = kind == SiteKind::kAtomic || (kind == SiteKind::kStore && site.flags & kSiteVolatile);
  if (!tells || in_shared_memory(first.address)) return;
  if (chance_ ? draw(chance_) % kHoldOneOf != 0 : kind != SiteKind::kAtomic) return;
  holds_first_ = false;
  ++block.holds;
  holds_ = true;
}

// Accesses of a block that has left lock-step since: its lanes come by one after another from here on.
void Scheduler::count(const Block& block, Wave& wave) {
  if (!block.counted) return wave_counter.together(wave, group_, !block.analyzed);
  wave_counter.begin_segment(wave, false);
  for (uint32_t i = 0; i < group_.size; ++i) {
    Lane& lane = *group_.lane[i];
    wave_counter.waiting(lane, lane.state == LaneState::kRange ? lane.bytes : 0);
  }
  simt_current = &home_lane();
}

void Scheduler::leave_lockstep(Block& block) {
  block.analyzed = false;
  execution.observer = nullptr;
  analysis_->leave_out_a_block();
  if (lockstep || analysis_->wave_dependence() || spun_) return;
  block.traced = false;
  block.counted = simt_counting = true;
}

void Scheduler::look_at(Block& block) {
  block.traced = block.analyzed = block.looked_at = true;
  block.counted = simt_counting = false;
  block.analyzed_until = analysis_->totals().events + kWindow;
  execution.observer = analysis_;
  analysis_->begin_block(block);
  analysis_->forget_accesses();  // their order with what comes now is not known: barriers in between were not seen
}

void Scheduler::run_group(Wave& wave) {
  const bool whole = group_.size == wave.live;
  for (uint32_t i = 0; i < group_.size && !(whole && wave.chained); ++i)
    group_.lane[i]->next = i + 1 < group_.size ? group_.lane[i + 1] : &home_lane();
  wave.chained = whole;
  const bool meeting = group_.lane[0]->state == LaneState::kCollective;
  wave_counter.begin_segment(wave, meeting ? whole : group_.size == wave.begun);
  park_counts = ParkCounts();
  resume_chain(group_.lane[0]);
}

Scheduler::Advance Scheduler::advance(Block& block, Wave& wave, uint32_t budget) {
  bool worked = false;
  if (wave.unstarted) {
    start(block, wave);
    worked = true;
  } else if (wave.released) {
    run_released(wave);
    worked = true;
  }
  while (wave.live && !wave.waits() && !stopped()) {
    if (!choose(wave)) return worked ? Advance::kWorked : Advance::kBlocked;
    bool group_spins = false;
    for (;;) {
      if (draws_too_early(wave)) return worked ? Advance::kWorked : Advance::kAhead;
      const Repeat repeat = perform(block, wave);
      group_spins = repeat == Repeat::kSpinning;
      if (repeat == Repeat::kNo) may_hold(block);
      run_group(wave);
      if (abort_status) return Advance::kBlocked;
      worked |= repeat == Repeat::kNo && park_counts.preempted == 0;
      const bool left = park_counts.done || park_counts.barrier || park_counts.grid;
      if (left) settle(wave);
      if (holds_) return Advance::kWorked;
      if (repeat == Repeat::kSpinning || left || !keep_group(wave)) break;
      if (--budget == 0) return worked ? Advance::kWorked : Advance::kSpun;
      if (park_counts.preempted) break;
    }
    if ((group_spins && !runner_up_) || (wave.waiting && wave.repeats > kSpinRequests) || park_counts.preempted)
      return worked ? Advance::kWorked : Advance::kSpun;
    if (budget-- <= 1) break;
  }
  return worked ? Advance::kWorked : Advance::kSpun;
}

void Scheduler::release_barrier(Block& block) {
  ++barriers;
  if (horizon.is_open()) Horizon::meet(block);
  if (wave_counter.active())
    for (Wave& wave : block.waves)
      if (wave.live) wave_counter.barrier(wave, wave.lanes[0]->site, wave.live);
  if (!block.traced && !reducing_barriers) {  // nobody looks at where the lanes stand
    for (Wave& wave : block.waves) wave.released = wave.live != 0;
    return;
  }
  uint64_t count = 0, all = 1;
  bool reduces = false, mixed = false;
  uint32_t live = 0;
  const Lane* first = nullptr;
  for (Wave& wave : block.waves)
    for (uint32_t i = 0; i < wave.live; ++i, ++live) {
      const Lane& lane = *wave.lanes[i];
      if (!first) first = &lane;
      mixed |= !same_place(lane, *first);  // another line, or another turn of a loop
      reduces |= lane.reduces;
      count += lane.value != 0;
      all &= lane.value != 0;
    }
  for (Wave& wave : block.waves) {
    wave.released = wave.live != 0;
    if (!reduces) continue;
    for (uint32_t i = 0; i < wave.live; ++i) {
      Lane& lane = *wave.lanes[i];
      const auto operation = BarrierReduce(lane.operation);
      lane.result = operation == BarrierReduce::kCount ? count : operation == BarrierReduce::kAnd ? all : count != 0;
    }
  }
  divergent_barriers += mixed;
  if (!analysis_ || !block.analyzed || !first) return;
  analysis_->synchronize_block(block, mixed);
  if (live == threads_) return;
  Fault fault{FaultKind::kBarrierAfterEnd};
  fault.scope = FaultScope::kBlock;
  fault.site = first->site;
  fault.thread = first->thread.linear;
  note_fault(fault);
}

BlockStop Scheduler::run(Block& block) {
  block.state = BlockState::kRunning;
  const bool by_chance = block.traced && chance_;
  uint32_t budget = block.traced ? kSlice : kFastSlice;
  uint64_t rounds = by_chance ? 1 + draw(chance_) % kMostRounds : ~uint64_t(0);
  for (uint32_t idle_rounds = 0;; --rounds) {
    if (rounds == 0 || out_of_time(rounds)) return BlockStop::kPreempted;
    bool worked = false, blocked = true, ahead = false;
    uint32_t live = 0, at_barrier = 0, at_grid = 0;
    for (Wave& wave : block.waves) {
      if (by_chance) budget = 1 + uint32_t(draw(chance_) % kSlice);
      if (wave.live && !wave.waits()) {
        const Advance advanced = advance(block, wave, budget);
        worked |= advanced == Advance::kWorked;
        blocked &= advanced == Advance::kBlocked;
        ahead |= advanced == Advance::kAhead;
        if (stopped()) return BlockStop::kAborted;
        if (holds_) {
          holds_ = false;
          ++work;
          return BlockStop::kHeld;
        }
      }
      live += wave.live;
      if (!wave.released) at_barrier += wave.at_barrier, at_grid += wave.at_grid;
    }
    block.live = live;
    work += worked;
    if (live == 0) return BlockStop::kDone;
    if (at_barrier == live)
      release_barrier(block), idle_rounds = 0;
    else if (at_grid == live)
      return BlockStop::kGridBarrier;
    else if (worked)
      idle_rounds = 0;
    else if (ahead)
      return BlockStop::kAhead;
    else if (blocked)
      return BlockStop::kDeadlock;
    else if (++idle_rounds >= (block.traced ? kStuckRounds : 1u))
      return BlockStop::kStuck;
  }
}

void Scheduler::release_grid_barrier(Block& block) {
  for (Wave& wave : block.waves) wave.released = wave.live != 0;
}

void Scheduler::abandon(Block& block) {
  for (uint32_t i = 0; block.lanes && i < threads_; ++i) {
    return_stack(block.lanes[i]);
    block.lanes[i].depth = block.lanes[i].path_hash = 0;
    block.lanes[i].loop_base = block.lanes[i].loop_depth = 0;
    block.lanes[i].backing_off = block.lanes[i].reduces = false;
  }
}

}  // namespace simt
