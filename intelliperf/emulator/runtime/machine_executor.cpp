#include "machine_executor.h"

#include <cfenv>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "analysis.h"
#include "code_module.h"
#include "execution.h"
#include "fault_log.h"
#include "host_requests.h"
#include "memory.h"
#include "settings.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr uint64_t kTurn = 4000;            // instructions of a wave before the next one's turn
constexpr uint64_t kMostRounds = 32;        // before a block is preempted by chance
constexpr uint64_t kMostByChance = 256;     // instructions of a turn, then
constexpr uint64_t kSpinRequests = 64;      // repeated ones of each wave of a block that is held to be waiting
constexpr uint64_t kRepeatsOfAWait = 16;    // requests of a block that only repeat what they did, in a loop that waits
constexpr uint64_t kEndless = 400'000'000;  // instructions without a new request, of one block
constexpr uint64_t kWindow = 16384;         // see scheduler.cpp

struct Ordered {  // of a wave, since its last write; turns of other blocks in between change nothing
  bool waited = false, written_back = false;
};

struct Body final : BlockBody {
  machine::Group group;
  std::vector<Ordered> ordered;                      // by index of the wave
  std::vector<std::unique_ptr<WaveShadow>> shadows;  // in a run that has them
};

Body& body_of(const Block& block) { return static_cast<Body&>(*block.body); }
machine::Group& group_of(const Block& block) { return body_of(block).group; }

// The arguments and the dispatch packet of the running launch are memory that kernels read, too.
const MachineExecutor* running;
uint64_t own_ranges[2][2];

bool is_own(uint64_t address) {
  for (const auto& range : own_ranges)
    if (address >= range[0] && address < range[1]) return true;
  uint64_t begin = 0, end = 0;
  return of_host_requests(address, begin, end);
}

bool find_range(uint64_t address, uint64_t& begin, uint64_t& end) {
  if (const Allocation* found = find(address)) {
    begin = found->base;
    end =
        found->base +
        (found->kind == MemoryKind::kSymbol || found->kind == MemoryKind::kRegistered ? found->bytes : found->capacity);
    return true;
  }
  for (const auto& range : own_ranges) {
    begin = range[0], end = range[1];
    if (address >= begin && address < end) return true;
  }
  if (of_host_requests(address, begin, end)) return true;
  const CodeObject* code = code_around(address);
  if (code) {
    begin = code->base(), end = code->base() + code->bytes();
    return true;
  }
  const Allocation* guarded = memory_mode() == MemoryMode::kSlack ? open_guard(address) : nullptr;
  if (!guarded) return false;
  begin = address / kPageBytes * kPageBytes, end = begin + kPageBytes;
  return true;
}

// hsa_kernel_dispatch_packet_t, as far as kernels read it: sizes of group and grid.
std::vector<char> packet_of(const machine::Dispatch& dispatch) {
  std::vector<char> packet(64);
  for (uint32_t n = 0; n < 3; ++n) {
    const auto group = uint16_t(dispatch.group[n]);
    std::memcpy(packet.data() + 4 + 2 * n, &group, sizeof group);
    std::memcpy(packet.data() + 12 + 4 * n, &dispatch.grid[n], sizeof dispatch.grid[n]);
  }
  std::memcpy(packet.data() + 24, &dispatch.private_bytes, 4);
  std::memcpy(packet.data() + 28, &dispatch.group_bytes, 4);
  return packet;
}

uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

// For as long as the process lives.
const char* kept(const std::string& text) {
  static auto* const texts = new std::set<std::string>;
  return texts->insert(text).first->c_str();
}

bool synchronises(const Site& site) {
  const auto kind = SiteKind(site.kind);
  return kind == SiteKind::kAtomic || kind == SiteKind::kReduction || (site.flags & kSiteVolatile);
}

}  // namespace

MachineExecutor::MachineExecutor(const LaunchRequest& request, Analysis* analysis)
    : request_(request),
      analysis_(analysis),
      program_(request.kernel->module->code->program()),
      arguments_(argument_segment(*request.kernel->code, request)),
      lanes_(request.block.count()),
      rounding_before_(fegetround()),
      shadowed_(shadow_active() && shadow_fits()),
      float_arguments_(float_arguments(request)) {
  if (shadow_active() && !shadowed_) shadow_missing();
  const CodeKernel& code = *request.kernel->code;
  dispatch_.kernel_object = address_of(code.descriptor);
  dispatch_.kernel_arguments = address_of(arguments_.data());
  dispatch_.group[0] = request.block.x, dispatch_.group[1] = request.block.y, dispatch_.group[2] = request.block.z;
  dispatch_.grid[0] = request.grid.x * request.block.x;
  dispatch_.grid[1] = request.grid.y * request.block.y;
  dispatch_.grid[2] = request.grid.z * request.block.z;
  dispatch_.group_bytes = dynamic_shared_bytes(request);
  dispatch_.private_bytes = code.scratch_bytes;
  needs_write_back_ = request.kernel->module->code->family() != machine::Family::kGfx90a;
  dispatch_.architected_scratch = request.kernel->module->code->family() != machine::Family::kGfx90a;
  packet_ = packet_of(dispatch_);
  dispatch_.packet = address_of(packet_.data());
  own_ranges[0][0] = address_of(arguments_.data()), own_ranges[0][1] = own_ranges[0][0] + arguments_.size();
  own_ranges[1][0] = dispatch_.packet, own_ranges[1][1] = dispatch_.packet + packet_.size();
  machine::set_memory(find_range);
  machine::set_interrupt(answer_host_requests);
  running = this;
  constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  if (settings().rounding == Rounding::kNearest) fesetround(kModes[code.descriptor->resources1 >> 12 & 3]);
  if (settings().preemption.kind == Order::Kind::kRandom) chance_ = settings().preemption.seed * 2 + 1;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].thread.linear = i;
    lanes_[i].wave_lane = i % machine::kWave;
    lanes_[i].state = LaneState::kAccess;
  }
  for (machine::Instruction& i : program_.instructions())
    i.range_begin = i.range_end = 0;  // memory may have been freed
}

MachineExecutor::~MachineExecutor() {
  fesetround(rounding_before_);
  std::memset(own_ranges, 0, sizeof own_ranges);
  running = nullptr;
}

void MachineExecutor::prepare(Block& block, uint64_t number, bool traced, bool analyzed, bool counted) {
  block.shape[0] = block.shape[1] = block.shape[2] = 0;  // it has no lanes of its own
  const auto threads = uint32_t(lanes_.size()), waves = (threads + machine::kWave - 1) / machine::kWave;
  block.waves.assign(waves, Wave());
  uint32_t order[1024];
  arrange(settings().lanes, number, order, waves);
  for (uint32_t w = 0; w < waves; ++w) {
    Wave& wave = block.waves[w];
    const uint32_t first = order[w] * machine::kWave;
    wave.index = order[w];
    wave.begun = wave.live = std::min(threads - first, machine::kWave);
    wave.block = uint32_t(number);
    for (uint32_t i = 0; i < wave.live; ++i) wave.lanes[i] = &lanes_[first + i];
  }
  block.number = number;
  block.state = BlockState::kFresh;
  block.traced = traced;
  block.analyzed = analyzed;
  block.counted = counted || (traced && !analyzed);
  block.live = threads;
}

void MachineExecutor::begin(Block& block) {
  if (!block.body) block.body = std::make_unique<Body>();
  body_of(block).ordered.assign(block.waves.size(), Ordered());
  machine::Group& group = group_of(block);
  machine::begin_group(group, dispatch_, block.number, reinterpret_cast<uint8_t*>(dynamic_shared_base()));
  for (uint32_t w = 0; w < block.waves.size(); ++w) {
    group.waves[w].observer = this;
    group.waves[w].follower = nullptr;
    if (shadowed_) group.waves[w].follower = follow(body_of(block).shadows, w);
    wave_counter.begin_segment(block.waves[w], true);
  }
}

machine::Follower* MachineExecutor::follow(std::vector<std::unique_ptr<WaveShadow>>& shadows, uint32_t wave) {
  while (shadows.size() <= wave) shadows.push_back(std::make_unique<WaveShadow>());
  shadows[wave]->begin(&float_arguments_, &program_);
  return shadows[wave].get();
}

BlockStop MachineExecutor::run(Block& block) {
  if (block.state == BlockState::kFresh) begin(block);
  block.state = BlockState::kRunning;
  block_ = &block;
  waited_ = 0;
  waiting_ = false;
  const uint64_t most_waits = kSpinRequests * block.waves.size();
  uint64_t rounds = chance_ ? 1 + draw(chance_) % kMostRounds : ~uint64_t(0);
  for (;; --rounds) {
    if (rounds == 0 || out_of_time(rounds)) return BlockStop::kPreempted;
    uint32_t live = 0, at_barrier = 0;
    bool ran = false, ahead = false;
    for (Wave& wave : block.waves) {
      const bool runs = wave.live && !wave.at_barrier, early = runs && draws_too_early(wave);
      if (runs && !early) advance(block, wave, chance_ ? 1 + draw(chance_) % kMostByChance : kTurn);
      ran |= runs && !early, ahead |= early;
      if (abort_status) return BlockStop::kAborted;
      live += wave.live;
      at_barrier += wave.at_barrier;
    }
    block.live = live;
    if (live == 0) {
      ++work;
      return BlockStop::kDone;
    }
    if (live == at_barrier && !release_barrier(block)) return BlockStop::kAborted;
    if (ahead && !ran) return BlockStop::kAhead;
    if (waiting_ && waited_ > most_waits) return ahead ? BlockStop::kAhead : BlockStop::kStuck;
    if (fruitless_ > kEndless) return BlockStop::kDeadlock;
  }
}

void MachineExecutor::advance(Block& block, Wave& wave, uint64_t most) {
  wave_ = &wave;
  machine::Stopped stopped;
  const bool listens = wave_counter.active();
  fruitless_ += machine::run_wave(program_, group_of(block).waves[wave.index], most, listens ? this : nullptr, stopped);
  if (stopped.stopped) return fail(wave, stopped);
  settle(block, wave);
}

void MachineExecutor::settle(Block& block, Wave& wave) {
  machine::Wave& registers = group_of(block).waves[wave.index];
  if (registers.state == machine::State::kEnded) {
    wave.live = 0;
    if (shadowed_) follow(body_of(block).shadows, wave.index);  // nothing is left beside its registers
  }
  if (registers.state != machine::State::kAtBarrier) return;
  wave.at_barrier = wave.live;
  wave.lanes[0]->site = program_.at(registers.pc - 4).site;
}

// A wave that has drawn resumes once no other one is far behind it.
bool MachineExecutor::draws_too_early(Wave& wave) const {
  if (wave.ahead) wave.ahead = !horizon.is_behind(Horizon::cycles_of(wave));
  return wave.ahead;
}

bool MachineExecutor::release_barrier(Block& block) {
  ++barriers;
  if (horizon.is_open()) Horizon::meet(block);
  uint32_t site = ~0u;
  bool mixed = false;
  for (Wave& wave : block.waves) {
    if (wave.live == 0) continue;
    const uint32_t own = wave.lanes[0]->site;
    mixed |= site != ~0u && own != site;
    site = own;
    if (wave_counter.active()) wave_counter.barrier(wave, own, wave.live);
    wave_ = &wave;
    if (analysis_ && block.analyzed) release();
  }
  divergent_barriers += mixed;
  // Waves may wait at different instructions: a compiler has the same barrier on several paths.
  if (analysis_ && block.analyzed) analysis_->synchronize_block(block, false);
  for (Wave& wave : block.waves) {
    wave.at_barrier = 0;
    if (wave.live) group_of(block).waves[wave.index].state = machine::State::kRunning;
  }
  return true;
}

void MachineExecutor::enter(machine::Wave& wave, const machine::Instruction& first) {
  wave_counter.enter(*wave_, first.block, machine::lanes_in(wave.exec()));
}

void MachineExecutor::gather(const machine::Wave& wave, const machine::Instruction& i, machine::Space space,
                             const machine::LaneAddresses& lanes) {
  const uint64_t base = space == machine::Space::kLds ? address_of(dynamic_shared_base()) : 0;
  const uint32_t first = wave.number_in_group * machine::kWave;
  Lane* const own = &lanes_[first];
  if (lanes.mask == ~0ull) {  // one loop over vectors for each
    for (uint32_t n = 0; n < machine::kWave; ++n) group_.address[n] = lanes.at[n] + base;
    for (uint32_t n = 0; n < machine::kWave; ++n) group_.lane[n] = own + n;
    for (uint32_t n = 0; n < machine::kWave; ++n) group_.thread[n] = uint16_t(first + n);
    for (uint32_t n = 0; n < machine::kWave; ++n) group_.position[n] = uint8_t(n);
    group_.size = machine::kWave;
  } else {
    group_.size = 0;
    for (uint64_t rest = lanes.mask; rest; rest &= rest - 1) {
      const auto position = uint32_t(__builtin_ctzll(rest)), at = group_.size++;
      group_.lane[at] = own + position;
      group_.address[at] = lanes.at[position] + base;
      group_.thread[at] = uint16_t(first + position);
      group_.position[at] = uint8_t(position);
    }
  }
  group_.lane[0]->address = reinterpret_cast<const void*>(group_.address[0]);  // NOLINT(performance-no-int-to-ptr)
  group_.lane[0]->site = i.site;
}

void MachineExecutor::request(machine::Wave& wave, machine::Instruction& i, machine::Space space,
                              const machine::LaneAddresses& lanes, uint32_t) {
  if (i.site == ~0u || space == machine::Space::kScratch) return;
  if (space == machine::Space::kGlobal && is_own(lanes.at[__builtin_ctzll(lanes.mask)])) return;  // arguments
  gather(wave, i, space, lanes);
  if (!note_progress(*wave_, i) && !exchanges(wave, i)) return;  // it only waits
  if (horizon.is_open() && (request_.kernel->module->sites[i.site].order & kSiteDraws)) {
    wave_->ahead = true;
    wave.turn = false;
  }
  Block& block = *block_;
  if (!analysis_ || !(block.analyzed || block.counted)) return;
  count(block, i.site);
  wave_counter.together(*wave_, group_, !block.analyzed);
  if (!block.analyzed) return;
  pass_request(true);
  if (i.access != machine::Access::kLoad) release();
  analysis_->request(wave_->index, group_);
}

// A release is what a wave had waited for when it writes the next time: until then nothing of its own is behind it.
void MachineExecutor::release() {
  Ordered& ordered = body_of(*block_).ordered[wave_->index];
  if (!ordered.waited) return;
  const bool device = !needs_write_back_ || ordered.written_back;
  analysis_->fence(wave_->index * machine::kWave, kFenceRelease | (device ? 0u : uint32_t{kFenceBlock}));
  ordered = Ordered();
}

void MachineExecutor::order(machine::Wave&, machine::Order what, bool wide) {
  if (!analysis_ || !block_->analyzed) return;
  Ordered& ordered = body_of(*block_).ordered[wave_->index];
  if (what == machine::Order::kWaited) ordered.waited = true;
  if (what == machine::Order::kWrittenBack) ordered.written_back |= wide;
  if (what == machine::Order::kInvalidated)
    analysis_->fence(wave_->index * machine::kWave, kFenceAcquire | (wide ? 0u : uint32_t{kFenceBlock}));
}

// How much of a block is analysed, as in Scheduler: a window where it comes to an access that no block has made.
void MachineExecutor::count(Block& block, uint32_t site) {
  if (block.analyzed && analysis_->totals().events >= block.analyzed_until && !wave_counter.unseen(site)) {
    block.analyzed = false;
    block.counted = true;
    execution.observer = nullptr;
    analysis_->leave_out_a_block();
  }
  if (block.counted && wave_counter.unseen(site)) {
    block.analyzed = block.looked_at = true;
    block.counted = false;
    block.analyzed_until = analysis_->totals().events + kWindow;
    execution.observer = analysis_;
    analysis_->begin_block(block);
    analysis_->forget_accesses();
  }
  if (block.analyzed) wave_counter.in_lockstep(site);
}

// False: the request finds what an earlier one found, in a loop that waits for another wave.
bool MachineExecutor::note_progress(Wave& wave, const machine::Instruction& i) {
  const Site& site = request_.kernel->module->sites[i.site];
  const bool meets = synchronises(site);
  uint64_t signature = (group_.address[0] * 0x9E3779B97F4A7C15ull) ^ (uint64_t(i.site) << 8) ^ group_.size;
  const auto* place = reinterpret_cast<const void*>(group_.address[0]);  // NOLINT(performance-no-int-to-ptr)
  if (meets && (in_shared_memory(place) || find(place))) {
    uint32_t value;
    std::memcpy(&value, place, sizeof value);
    signature ^= value * 0xC2B2AE3D27D4EB4Full;
  }
  for (const uint64_t seen : wave.recent) {
    if (seen != signature) continue;
    ++waited_;
    waiting_ |= meets;
    const bool polls = meets && (site.order & kSiteLoop) &&
                       (SiteKind(site.kind) == SiteKind::kLoad || (site.flags & kSiteCompareExchange));
    return !polls && !(waiting_ && waited_ > kRepeatsOfAWait);
  }
  wave.recent[wave.recent_at++ & 7] = signature;
  waited_ = fruitless_ = 0;
  waiting_ = false;
  ++work;
  return true;
}

// Whether a compare-and-exchange is about to change memory: who takes a lock for the second time does not wait.
bool MachineExecutor::exchanges(machine::Wave& wave, const machine::Instruction& i) {
  if (!(request_.kernel->module->sites[i.site].flags & kSiteCompareExchange)) return false;
  const auto& operation = *static_cast<const machine::MemoryOperation*>(i.semantics);
  const bool lds = i.format == machine::Format::kDs;
  const uint32_t value = i.source[lds ? 2 : 1].row(), wanted = lds ? i.source[1].row() : value + operation.bytes / 4;
  for (uint32_t n = 0; n < group_.size; ++n) {
    const auto* place = reinterpret_cast<const void*>(group_.address[n]);  // NOLINT(performance-no-int-to-ptr)
    if (!in_shared_memory(place) && !find(place)) continue;
    uint64_t now = 0;
    std::memcpy(&now, place, operation.bytes);
    const uint32_t lane = group_.position[n];
    const uint64_t before = machine::data_of(wave, wanted, lane, operation.bytes);
    if (now != before || machine::data_of(wave, value, lane, operation.bytes) == before) continue;
    waited_ = fruitless_ = 0;
    waiting_ = false;
    ++work;
    return true;
  }
  return false;
}

void MachineExecutor::fail(const Wave& wave, const machine::Stopped& stopped) {
  Fault fault{stopped.memory ? FaultKind::kOutOfBounds : FaultKind::kTrap};
  fault.site = stopped.at && stopped.at->site != ~0u ? stopped.at->site : kNoSite;
  fault.thread = wave.index * machine::kWave + stopped.lane;
  if (stopped.memory) {
    const Allocation* around = beside(stopped.address);
    fault.address_offset = int64_t(around ? stopped.address - around->base : stopped.address);
    fault.allocation_bytes = around ? around->bytes : 0;
  }
  if (stopped.at) fault.code_offset = stopped.at->address - request_.kernel->module->code->base();
  if (!stopped.memory) fault.why = kept(stopped.why);
  note_fault(fault);
  say(stopped);
  abort_status = stopped.memory ? kIllegalAddress : kLaunchFailed;
}

void MachineExecutor::say(const machine::Stopped& stopped) const {
  const CodeObject& code = *request_.kernel->module->code;
  const uint64_t offset = stopped.at ? stopped.at->address - code.base() : 0;
  std::fprintf(stderr, "intelliperf: kernel %s, code at 0x%llx: %s\n", request_.kernel->name.c_str(),
               static_cast<unsigned long long>(offset), stopped.why.c_str());
}

}  // namespace simt
