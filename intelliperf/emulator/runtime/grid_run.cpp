#include "grid_run.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>

#include "execution.h"
#include "fault_log.h"
#include "fiber.h"
#include "machine_executor.h"
#include "progress.h"
#include "scheduler.h"
#include "shadow.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr uint64_t kFruitlessTurns = 200;  // per set-aside block in lock-step, each of many requests
constexpr size_t kMostMixed = 64;          // blocks alive at once, where they are preempted by chance
constexpr size_t kMostHeld = 8;
constexpr uint64_t kTurnsHeld = 64;               // of other blocks, in the mean
constexpr uint64_t kMostLanesSharing = 1u << 16;  // alive at once: each has a stack of some pages
constexpr double kFruitlessNs = 10e9;             // where lanes are interrupted by the clock only, in no new state
constexpr double kPatienceNs = 60e9;              // and in new states, which a counted wait has too
constexpr double kBudgetHead = 1.0 / 16;          // part of the event budget that may be used up early

// Small kernels are launched in their thousands, mostly in one shape: the last block's lanes are used again.
std::unique_ptr<Block>& kept_block() {
  static auto* block = new std::unique_ptr<Block>;
  return *block;
}

// Every other position, in no regular row: what an author knows beforehand to be looked at could be made to look well.
bool chosen(uint64_t draw, uint64_t position) {
  uint64_t x = draw + position * 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return ((x ^ (x >> 31)) & 1) != 0;
}

std::unique_ptr<Executor> executor_for(const LaunchRequest& request, Analysis* analysis) {
  if (request.kernel->code) return std::make_unique<MachineExecutor>(request, analysis);
  return std::make_unique<Scheduler>(request, device().wave_size, analysis);
}

}  // namespace

double host_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

GridRun::GridRun(const LaunchRequest& request, const RunPlan& plan, Analysis* analysis)
    : request_(request),
      module_(*request.kernel->module),
      plan_(plan),
      analysis_(analysis),
      guards_(request, plan.analyze),
      executor_(executor_for(request, analysis)),
      order_(settings().blocks, request.grid.count()),
      blocks_(request.grid.count()),
      resident_(plan.max_resident) {
  needs_lockstep_ = plan.lockstep;
  if (settings().preemption.kind == Order::Kind::kRandom) chance_ = settings().preemption.seed * 2 + 1;
  if (plan.shares) {
    executor_->horizon.open();
    const uint64_t alive = std::max<uint64_t>(1, kMostLanesSharing / request.block.count());
    if (!request.cooperative) plan_.max_resident = std::min(plan_.max_resident, alive);
  }
  idle_since_ns_ = host_now_ns();
}

GridRun::~GridRun() {
  if (!idle_.empty()) kept_block() = std::move(idle_.back());
  for (auto* list : {&suspended_, &at_grid_})
    for (Context& block : *list) executor_->abandon(*block);
  for (auto* list : {&held_, &ahead_})
    for (Context& block : *list) executor_->abandon(*block);
}

GridRun::Context GridRun::begin(uint64_t position) {
  Context block;
  if (idle_.empty() && kept_block()) {
    block = std::move(kept_block());
  } else if (idle_.empty()) {
    block.reset(new Block);
  } else {
    block = std::move(idle_.back());
    idle_.pop_back();
  }
  bool analyzed = false;
  if (plan_.analyze) {
    const double allowed = double(position + 1) / double(blocks_) * (1 - kBudgetHead) + kBudgetHead;
    const auto used = double(analysis_->totals().events), budget = double(plan_.event_budget);
    // Where there is budget for one more block as large as those before, nothing is left out.
    const bool ample = used + used / double(std::max<uint64_t>(1, traced_)) <= budget * allowed;
    const bool drawn = ample || used <= budget * kBudgetHead || chosen(plan_.draw, position);
    analyzed = (used <= budget * allowed && drawn) || request_.cooperative;
  }
  const bool traced = request_.kernel->trace && (analyzed || needs_lockstep_);
  const bool counted = request_.kernel->trace && plan_.count_rest && !traced;
  executor_->prepare(*block, order_[position], traced, analyzed, counted);
  take_place(*block);
  block->served = Served();
  block->analyzed_until = analyzed ? analysis_->totals().events + allowance(position) : 0;
  traced_ += analyzed;
  if (plan_.analyze && !analyzed) analysis_->leave_out_a_block();
  return block;
}

// Of a block that has ended, if any.
void GridRun::take_place(Block& block) {
  if (free_cycles_.empty()) return;
  std::pop_heap(free_cycles_.begin(), free_cycles_.end(), std::greater<>());
  for (Wave& wave : block.waves) wave.begun_cycles = free_cycles_.back();
  free_cycles_.pop_back();
}

void GridRun::give_place(const Block& block) {
  double ended = 0;
  for (const Wave& wave : block.waves) ended = std::max(ended, Horizon::cycles_of(wave));
  free_cycles_.push_back(ended);
  std::push_heap(free_cycles_.begin(), free_cycles_.end(), std::greater<>());
}

// How much of the block at that position may be analysed: accesses.
uint64_t GridRun::allowance(uint64_t position) const {
  const auto used = double(analysis_->totals().events), budget = double(plan_.event_budget);
  const double due = budget * (double(position + 1) / double(blocks_) * (1 - kBudgetHead) + kBudgetHead);
  const double least = budget * (request_.cooperative ? 1 / double(blocks_) : kBudgetHead);
  return uint64_t(std::max(least, due - used));
}

void GridRun::enter(Block& block) {
  const uint64_t number = block.number;
  __simt_grid.block_index[0] = uint32_t(number % request_.grid.x);
  __simt_grid.block_index[1] = uint32_t(number / request_.grid.x % request_.grid.y);
  __simt_grid.block_index[2] = uint32_t(number / request_.grid.x / request_.grid.y);
  execution.observer = block.analyzed ? analysis_ : nullptr;
  if (block.state == BlockState::kFresh && (block.analyzed || settings().spoils_lds)) {
    const int poison = settings().spoils_lds ? settings().lds_poison : settings().poison;
    const size_t fixed = size_t(module_.shared_end - module_.shared_begin);
    if (fixed != 0) memset(module_.shared_begin, poison, fixed);  // a code object's begins nowhere
    memset(dynamic_shared_base(), poison, dynamic_shared_bytes(request_));
    guards_.fill();
  } else if (block.state != BlockState::kFresh) {
    swap_lds(block, false);
  }
  block.looked_at = block.analyzed;
  if (block.analyzed) analysis_->begin_block(block);
}

void GridRun::swap_lds(Block& block, bool out) {
  const size_t fixed = size_t(module_.shared_end - module_.shared_begin);
  const size_t dynamic = dynamic_shared_bytes(request_), bytes = fixed + dynamic;
  if (bytes == 0) return;
  block.saved_lds.resize(bytes + shadow_bytes(fixed) + shadow_bytes(dynamic));
  char* saved = block.saved_lds.data();
  swap_shadows(module_.shared_begin, fixed, saved + bytes, out);
  swap_shadows(dynamic_shared_base(), dynamic, saved + bytes + shadow_bytes(fixed), out);
  if (out) {
    if (fixed != 0) memcpy(saved, module_.shared_begin, fixed);
    memcpy(saved + fixed, dynamic_shared_base(), dynamic);
  } else {
    if (fixed != 0) memcpy(module_.shared_begin, saved, fixed);
    memcpy(dynamic_shared_base(), saved + fixed, dynamic);
  }
}

BlockStop GridRun::resume(Block& block) {
  enter(block);
  const bool timed_as_trace = block.traced;
  const double before = plan_.analyze ? host_now_ns() : 0;
  const Served served = block.looked_at ? analysis_->totals().served : Served();
  const bool analyzed = block.analyzed;
  executor_->lockstep = needs_lockstep_;
  simt_counting = block.counted;
  wave_counter.listen(plan_.analyze && (block.traced || block.counted));
  BlockStop stop = executor_->run(block);
  simt_counting = false;
  if (stop != BlockStop::kAborted && !guards_.intact()) {
    abort_status = kIllegalAddress;
    stop = BlockStop::kAborted;
  }
  if (plan_.analyze) (timed_as_trace ? trace_ns_ : fast_ns_) += host_now_ns() - before;
  traced_ += block.looked_at && !analyzed;
  if (block.looked_at && stop != BlockStop::kAborted) {
    analysis_->end_block(stop == BlockStop::kDone);
    const Served& now = analysis_->totals().served;
    block.served.l1 += now.l1 - served.l1, block.served.l2 += now.l2 - served.l2;
    block.served.memory += now.memory - served.memory;
    needs_lockstep_ |= analysis_->wave_dependence();
  }
  needs_lockstep_ |= executor_->spun();
  return stop;
}

void GridRun::retire(Context block, BlockStop stop) {
  if (stop == BlockStop::kDone) {
    block->state = BlockState::kDone;
    Progress::instance().block_ended();
    if (plan_.shares) give_place(*block);
    if (wave_counter.active()) {
      if (plan_.shares)
        drawn_.emplace_back(block->number, work_of(*block));
      else
        works_.add(*block);
      wave_counter.end_block();
    }
    idle_.push_back(std::move(block));
    return;
  }
  swap_lds(*block, true);
  if (stop == BlockStop::kGridBarrier) {
    block->state = BlockState::kAtGridBarrier;
    at_grid_.push_back(std::move(block));
    return;
  }
  block->state = BlockState::kSuspended;
  drew_ |= stop == BlockStop::kAhead;
  if (stop == BlockStop::kAhead)
    ahead_.push_back(std::move(block));
  else if (stop == BlockStop::kHeld && held_.size() < kMostHeld)
    held_.push_back(std::move(block));
  else
    suspended_.push_back(std::move(block));
}

// After a while, and once none of the others gets on: they may wait for one that is held.
void GridRun::let_go_of_held(bool room) {
  const bool alone = suspended_.empty() && (begun_ >= blocks_ || !room);
  if (held_.empty()) return;
  if (!alone && fruitless_ <= suspended_.size() && (!chance_ || draw(chance_) % kTurnsHeld)) return;
  for (Context& block : held_) suspended_.push_back(std::move(block));
  held_.clear();
  fruitless_ = 0;
}

// Once all others are ahead of it, too, or wait for one that is.
void GridRun::move_horizon_on(bool room) {
  const bool others = !suspended_.empty() && fruitless_ <= 2 * suspended_.size();
  if (ahead_.empty() || others || (begun_ < blocks_ && room)) return;
  const auto next = [](const Context& block) {
    double least = std::numeric_limits<double>::infinity();
    for (const Wave& wave : block->waves)
      if (wave.ahead) least = std::min(least, Horizon::cycles_of(wave));
    return least;
  };
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < ahead_.size(); ++i) order.emplace_back(next(ahead_[i]), i);
  std::sort(order.begin(), order.end());
  executor_->horizon.move_on(order.front().first);
  std::vector<Context> stay;
  for (const auto& [cycles, i] : order)
    if (executor_->horizon.is_behind(cycles))
      suspended_.push_back(std::move(ahead_[i]));
    else
      stay.push_back(std::move(ahead_[i]));
  ahead_ = std::move(stay);
  fruitless_ = 0;
}

void GridRun::release_grid() {
  if (analysis_) analysis_->synchronize_grid();
  for (Context& block : at_grid_) executor_->release_grid_barrier(*block);
  suspended_.swap(at_grid_);
}

// The fast version does not know which access failed. Nothing in memory matters any more after an illegal
// address, so the block may run once again in the traced version, which does.
void GridRun::locate_fault(Block& block) {
  if (block.traced || !request_.kernel->trace) return;
  executor_->abandon(block);
  executor_->prepare(block, block.number, true, false, false);
  enter(block);
  const int status = abort_status;
  abort_status = 0;
  executor_->run(block);
  abort_status = status;
}

bool GridRun::waited_for_long() {
  const double now = host_now_ns();
  if (new_states != states_before_ || idle_since_ns_ > same_state_since_ns_) same_state_since_ns_ = now;
  states_before_ = new_states;
  return now - idle_since_ns_ > kPatienceNs || now - same_state_since_ns_ > kFruitlessNs;
}

int GridRun::deadlock(FaultScope scope) {
  const Block* block = suspended_.empty() ? nullptr : suspended_.front().get();
  Fault fault{FaultKind::kDeadlock};
  fault.scope = scope;
  bool gathering = false;  // what waits for lanes of its own wave comes before what waits at a barrier
  for (const Wave& wave : block ? block->waves : std::vector<Wave>())
    for (uint32_t i = wave.live; i-- > 0;) {
      const Lane& lane = *wave.lanes[i];
      if (gathering && lane.state != LaneState::kCollective) continue;
      gathering |= lane.state == LaneState::kCollective;
      fault.thread = lane.thread.linear;
      fault.site = lane.state == LaneState::kPreempted ? kNoSite : lane.site;
    }
  if (scope == FaultScope::kGrid && begun_ < blocks_) fault.resident = plan_.max_resident;
  note_fault(fault);
  abort_status = kLaunchTimeOut;
  return kLaunchTimeOut;
}

// By chance, among a few others; or because all of these wait.
bool GridRun::begins_one() {
  return fruitless_ > suspended_.size() || (suspended_.size() < kMostMixed && draw(chance_) % 2 == 0);
}

int GridRun::run() {
  if (request_.most_seconds > 0) executor_->limit.begin(request_.most_seconds);
  while (begun_ < blocks_ || !suspended_.empty() || !at_grid_.empty() || !held_.empty() || !ahead_.empty()) {
    const size_t alive = suspended_.size() + at_grid_.size() + held_.size() + ahead_.size();
    const bool room = alive < plan_.max_resident;
    let_go_of_held(room);
    move_horizon_on(room);
    if (executor_->limit.over()) return abort_status = kLaunchTimeOut;
    // Fresh blocks first; those set aside get a turn after each of them.
    const bool fresh =
        begun_ < blocks_ && room && (suspended_.empty() || (chance_ ? begins_one() : fruitless_ % 2 == 0));
    if (!fresh && suspended_.empty()) {
      if (begun_ < blocks_) return kCooperativeTooLarge;
      release_grid();
    }
    Context block;
    if (fresh) {
      block = begin(begun_++);
    } else {
      if (chance_) std::swap(suspended_.front(), suspended_[draw(chance_) % suspended_.size()]);
      block = std::move(suspended_.front());
      suspended_.pop_front();
    }
    const BlockStop stop = resume(*block);
    if (stop == BlockStop::kAborted || stop == BlockStop::kDeadlock) {
      if (stop == BlockStop::kAborted && abort_status == kIllegalAddress) locate_fault(*block);
      executor_->abandon(*block);
      suspended_.push_front(std::move(block));
      if (executor_->out_of_memory()) return kNotSupported;
      return stop == BlockStop::kDeadlock ? deadlock(FaultScope::kBlock) : abort_status;
    }
    const bool in_lockstep = block->traced;
    const bool waits = stop == BlockStop::kStuck || stop == BlockStop::kPreempted || stop == BlockStop::kHeld;
    const bool got_on = !waits || executor_->work != work_before_;
    work_before_ = executor_->work;
    retire(std::move(block), stop);
    if (got_on && waits && begun_ < blocks_) {
      fruitless_ = 0;
    } else if (got_on) {
      fruitless_ = suspended_.empty() ? 0 : 1;
    } else {
      ++fruitless_;
    }
    if (got_on) idle_since_ns_ = host_now_ns();
    if (fruitless_ < 8 * suspended_.size() + 8 || (begun_ < blocks_ && room) || !ahead_.empty()) continue;
    const bool long_enough = in_lockstep ? fruitless_ > kFruitlessTurns * (suspended_.size() + 1) : waited_for_long();
    if (long_enough)
      return deadlock(blocks_ > 1 && (suspended_.size() > 1 || begun_ < blocks_) ? FaultScope::kGrid
                                                                                 : FaultScope::kBlock);
  }
  if (plan_.shares) works_.add_drawn(std::move(drawn_), drew_ ? plan_.max_resident : resident_, resident_);
  return kLaunchOk;
}

}  // namespace simt
