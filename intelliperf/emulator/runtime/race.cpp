#include "race.h"

#include <cstring>

#include "memory.h"

namespace simt {
namespace {

constexpr uint32_t kMaxStamp = 0xFFFF00, kMaxSerial = 1u << 23;  // of 24 bits
constexpr size_t kMaxTwice = 256;                                // of one request
constexpr size_t kMaxUnordered = 4096;  // words of which the place of the other launch's read is kept

// Of reads, in the two low bits:
constexpr uint64_t kOneLane = 0, kOneWave = 1, kManyWaves = 2;
constexpr uint64_t kManyBlocks = 4;  // others have read it, too, before the block that did so last
constexpr uint64_t kStrong = 8;      // atomic or volatile
constexpr uint64_t kCopies = 16;     // other blocks have read it, in whatever order: copies of it may be about
constexpr uint64_t kUnordered = 32;  // so has a launch that nothing orders before this read's
// Of writes, above the manner:
constexpr uint32_t kScopeShift = 2;
constexpr uint64_t kReadBefore = 16;  // by other blocks, which may have copies

uint64_t pack(uint32_t serial, uint32_t stamp, uint32_t thread, uint64_t flags) {
  return uint64_t(serial) << 40 | uint64_t(stamp) << 16 | uint64_t(thread) << 6 | flags;
}
uint32_t stamp_of(uint64_t packed) { return uint32_t(packed >> 16) & 0xFFFFFF; }
uint32_t thread_of(uint64_t packed) { return uint32_t(packed >> 6) & 1023; }
// Of a load of machine code: within a block an atomic one looks like any other; between blocks only one that reads
// past the caches of its own is atomic ("strong"), and none of a narrower scope would do.
bool may_be_atomic(bool strong, FaultScope scope) { return strong || scope != FaultScope::kGrid; }
Manner manner_of(uint64_t write) { return Manner(write & 3); }
OrderScope scope_of(uint64_t write) { return OrderScope(write >> kScopeShift & 3); }

}  // namespace

RaceDetector::RaceDetector() : state_(&outside_) { ordering_.use(&outside_.order); }

void RaceDetector::forget_everything() {
  global_.clear();
  launched_.clear();
  shared_.assign(shared_.size(), ShadowCell{});
}

void RaceDetector::begin_launch(uint32_t wave_size, bool by_wave, machine::Consequences* machine,
                                uint64_t shared_bytes) {
  machine_ = machine;
  if (global_.is_half_full() || next_serial_ > kMaxSerial) forget_everything();
  if (next_serial_ > kMaxSerial) next_serial_ = 1;
  global_.begin_launch();
  wave_size_ = wave_size;
  wave_shift_ = wave_size == 64 ? 6 : 5;
  by_wave_ = by_wave;
  incomplete_ = wave_dependence_ = false;
  launch_first_ = launch_begin_ = next_serial_;
  numbers_.clear();
  states_.clear();
  twice_.clear();
  state_ = &outside_;
  ordering_.begin_launch(wave_size, by_wave);
  ordering_.use(&outside_.order);
  shared_bytewise_ = false;
  shared_cells_ = shared_bytes / 4 + 4;
  shared_.assign(shared_cells_, ShadowCell{});
  oldest_unordered_ = launch_first_;
  unordered_reads_.clear();
}

void RaceDetector::begin_block(uint64_t number, uint32_t waves) {
  const auto known = states_.find(number);
  if (known != states_.end()) {
    if (state_ == &known->second) return;  // it is under way
    state_ = &known->second;
    shared_.swap(state_->shared);
    shared_bytewise_ = state_->shared_bytewise;
  } else {
    state_ = &states_[number];
    order().serial = next_serial_++;
    order().wave_start.assign(waves, order().barrier);
    numbers_.push_back(number);
    if (shared_.empty()) shared_.assign(shared_bytewise_ ? shared_cells_ * 4 : shared_cells_, ShadowCell{});
  }
  ordering_.use(&state_->order);
}

void RaceDetector::end_block(bool done) {
  settle_stores();
  if (state_ == &outside_) return;
  if (done) {
    for (auto at = states_.begin(); at != states_.end(); ++at)
      if (&at->second == state_) {
        states_.erase(at);
        break;
      }
  } else {
    state_->shared_bytewise = shared_bytewise_;
    state_->shared.swap(shared_);
    shared_.clear();
    shared_bytewise_ = false;
  }
  state_ = &outside_;
  ordering_.use(&outside_.order);
}

void RaceDetector::forget() {
  settle_stores();
  forget_everything();
}

void RaceDetector::synchronize_block() {
  settle_stores();
  state_->dead_reads.barrier();
  if (order().stamp > kMaxStamp) {  // what was ordered stays ordered; a pair across this moment may go unseen
    forget_everything();
    order().stamp = 1;
  }
  ordering_.barrier();
}

void RaceDetector::synchronize_wave(uint32_t wave) {
  if (order().stamp > kMaxStamp) return;
  ordering_.synchronize_wave(wave);
}

void RaceDetector::synchronize_lanes(uint32_t wave, uint64_t mask) {
  if (order().stamp > kMaxStamp) return;
  ordering_.synchronize_lanes(wave, mask);
}

// All blocks of the launch have met: they continue as new ones.
void RaceDetector::synchronize_grid() {
  launch_first_ = next_serial_;
  for (auto& [number, state] : states_) {
    const size_t waves = state.order.wave_start.size();
    state.order = Ordering::BlockOrder();
    state.order.serial = next_serial_++;
    state.order.wave_start.assign(waves, state.order.barrier);
    numbers_.push_back(number);
  }
}

void RaceDetector::fence(uint32_t thread, OrderScope scope, bool acquires, bool releases) {
  settle_stores();
  if (state_ != &outside_ && order().stamp <= kMaxStamp) ordering_.fence(thread, scope, acquires, releases);
}

RaceDetector::Relation RaceDetector::relation(uint64_t earlier, uint32_t thread, bool shared) const {
  const uint32_t serial = serial_of(earlier), stamp = stamp_of(earlier), other = thread_of(earlier);
  if (serial < launch_first_) return {};
  const Ordering::BlockOrder& order = state_->order;
  Relation found;
  if (serial == order.serial) {
    if (stamp < order.barrier || other == thread) return {};
    const bool same_wave = other >> wave_shift_ == thread >> wave_shift_;
    if (same_wave && (stamp < order.wave_start[thread >> wave_shift_] || ordering_.together(thread, other, stamp)))
      return {};
    found.scope = same_wave ? FaultScope::kWave : FaultScope::kBlock;
  } else {
    if (shared || (incomplete_ && order.listened)) return {};
    found.scope = FaultScope::kGrid;
  }
  if (!order.informed) return found;
  const Knowledge knowledge = ordering_.knows(thread, serial, stamp, other);
  if (knowledge == Knowledge::kHard) return {};
  found.softly = knowledge == Knowledge::kSoft;
  return found;
}

Fault RaceDetector::fault_of(const Common& access, FaultScope scope, uint64_t earlier, uint16_t site, uint32_t thread,
                             uint64_t address) const {
  Fault fault{FaultKind::kRace};
  fault.scope = scope;
  fault.shared = access.shared;
  fault.site = access.site;
  fault.other_site = site == 0xFFFF ? kNoSite : site;
  fault.thread = thread;
  fault.address = address;
  fault.bytes = 4;
  fault.other_thread = thread_of(earlier);
  const uint32_t serial = serial_of(earlier);
  fault.other_block =
      serial >= launch_begin_ && serial - launch_begin_ < numbers_.size() ? numbers_[serial - launch_begin_] : kNoBlock;
  return fault;
}

void RaceDetector::conflict(const Fault& fault, Conflicts& found) {
  if (fault.kind == FaultKind::kRace && fault.scope == FaultScope::kWave) {
    ++found.wave;
    wave_dependence_ = true;
  } else if (fault.kind == FaultKind::kRace) {
    ++found.others;
  }
  note_fault(fault);
}

// Stores of one value are mostly harmless; whether the second was another's value shows once it has been made.
void RaceDetector::settle_stores() {
  if (twice_.empty()) return;
  Conflicts ignored;
  for (const Twice& store : twice_) {
    uint64_t now = 0;
    memcpy(&now, store.address, store.bytes);
    if (now == store.before && store.one_site) continue;
    Fault fault = store.fault;
    fault.same_value = now == store.before;
    fault.held = uint32_t(store.before);
    conflict(fault, ignored);
  }
  twice_.clear();
}

void RaceDetector::settle_later(const Common& access, const Fault& fault, uint64_t address, bool one_site) {
  const uint32_t bytes = access.bytes >= 4 && address % 4 == 0 ? 4 : 1;
  twice_.push_back({reinterpret_cast<const void*>(address), 0, fault, bytes, one_site});
  memcpy(&twice_.back().before, twice_.back().address, bytes);
}

// A plain read of a word that its whole wave, or several waves, have read since they last synchronised.
inline bool RaceDetector::tells_nothing_new(const ShadowCell& cell, uint32_t thread) const {
  const Ordering::BlockOrder& order = state_->order;
  if (serial_of(cell.read) != order.serial || stamp_of(cell.read) < order.barrier) return false;
  const uint64_t manner = cell.read & 3;
  if (manner == kManyWaves) return true;
  return manner == kOneWave && thread_of(cell.read) >> wave_shift_ == thread >> wave_shift_ &&
         stamp_of(cell.read) >= order.wave_start[thread >> wave_shift_];
}

// What the block itself wrote before a barrier is ordered for all of its threads.
inline bool RaceDetector::is_behind_barrier(const Common& access, uint64_t write) const {
  const Ordering::BlockOrder& order = state_->order;
  return serial_of(write) == order.serial && stamp_of(write) < order.barrier && (access.shared || !access.read_only);
}

RaceDetector::Common::Common(const RaceDetector& detector, const Access& access)
    : Access(access),
      oldest(access.shared ? pack(detector.state_->order.serial, detector.state_->order.barrier, 0, 0)
                           : pack(detector.oldest_unordered_, 0, 0, 0)),
      launch(pack(detector.launch_first_, 0, 0, 0)),
      mark(pack(detector.state_->order.serial, detector.state_->order.stamp, 0,
                access.writes                     ? uint64_t(access.manner) | uint64_t(access.scope) << kScopeShift
                : access.manner != Manner::kPlain ? kStrong
                                                  : kOneLane)),
      cell_site(uint16_t(access.site < 0xFFFF ? access.site : 0xFFFF)),
      strong(access.manner != Manner::kPlain) {}

// Most cells were last touched before anything that matters now.
inline void RaceDetector::check_cell(const Common& access, ShadowCell& cell, uint32_t thread, uint64_t address,
                                     Conflicts& found) {
  if (cell.write >= access.oldest || cell.read >= access.oldest) {
    if (!access.writes && (cell.write < access.oldest || is_behind_barrier(access, cell.write)) &&
        tells_nothing_new(cell, thread))
      return add_reader(access, cell, thread);
    check_old_cell(access, cell, thread, address, found);
    return;
  }
  (access.writes ? cell.write : cell.read) = access.mark | uint64_t(thread) << 6;
  (access.writes ? cell.write_site : cell.read_site) = access.cell_site;
  if (!access.writes) cell.readers = wave_bit(thread);
}

// What was stored as volatile before a volatile flag that its reader waited for may come after it where no fence keeps
// the two in order. Atomics often count things that nobody is told of, and what is read in a loop may itself be a flag.
void RaceDetector::check_message(const Common& access, const ShadowCell& cell, const Relation& relation, Fault fault,
                                 Conflicts& found) {
  const uint64_t write = cell.write;
  const bool both_volatile = access.manner == Manner::kVolatile && manner_of(write) == Manner::kVolatile;
  if (!both_volatile || access.writes || access.polls || relation.scope != FaultScope::kGrid) return;
  if (!ordering_.waited_for(serial_of(write), stamp_of(write))) {
    // It waited for something that this thread or block wrote before, which thus announces nothing of this.
    if (relation.softly || !ordering_.waited_for(serial_of(write), 0)) return;
    fault.cause = FaultCause::kNoRelease;
    conflict(fault, found);
    return;
  }
  const Lack lack = ordering_.lack(serial_of(write), stamp_of(write), cell.write_site);
  fault.cause = relation.softly             ? FaultCause::kNoAcquire
                : lack == Lack::kWiderFence ? FaultCause::kNarrowFence
                                            : FaultCause::kNoRelease;
  if (relation.softly) fault.kind = FaultKind::kUnacquired;
  conflict(fault, found);
}

void RaceDetector::check_against_write(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t address,
                                       Conflicts& found) {
  if (cell.write < access.launch) {
    check_against_launch(access, manner_of(cell.write) != Manner::kPlain, cell.write, cell.write_site, thread, address,
                         found);
    return;
  }
  if (access.read_only && !access.shared) {
    Fault fault = fault_of(access, FaultScope::kGrid, cell.write, cell.write_site, thread, address);
    fault.cause = FaultCause::kReadOnlyLoad;
    conflict(fault, found);
    return;
  }
  const Manner manner = manner_of(cell.write);
  const Relation relation = this->relation(cell.write, thread, access.shared);
  if (relation.scope == FaultScope::kNone) return;
  if (machine_ && !access.writes && manner == Manner::kAtomic && may_be_atomic(access.strong, relation.scope)) return;
  Fault fault = fault_of(access, relation.scope, cell.write, cell.write_site, thread, address);
  const bool plain_pair = access.manner == Manner::kMaybe && manner == Manner::kMaybe;
  // Its block has read what the other one wrote, as one reads a flag.
  if (plain_pair && cell.read & kStrong && serial_of(cell.read) == state_->order.serial) return;
  if (access.strong && manner != Manner::kPlain && !plain_pair) {
    const OrderScope narrower = access.scope > scope_of(cell.write) ? access.scope : scope_of(cell.write);
    const bool narrow = (relation.scope == FaultScope::kGrid && narrower != OrderScope::kDevice) ||
                        (relation.scope == FaultScope::kBlock && narrower == OrderScope::kWave);
    // Which lane of a wave comes first is not told by memory that is read again every time.
    // A volatile look at what another lane updates is a look, whenever it comes.
    const bool looks = manner == Manner::kAtomic && (!access.writes || access.manner == Manner::kAtomic);
    const bool in_step = relation.scope == FaultScope::kWave && !looks;
    const bool lost = access.updates && relation.scope != FaultScope::kWave;
    if (!narrow && !lost && !in_step) {
      check_message(access, cell, relation, fault, found);
      return;
    }
    if (narrow || lost) fault.cause = narrow ? FaultCause::kNarrowAtomic : FaultCause::kLostUpdate;
    conflict(fault, found);
    return;
  }
  if (access.writes && !access.reads && cell.write_site == access.cell_site) {
    if (relation.scope == FaultScope::kWave && access.updates && stamp_of(cell.write) == state_->order.stamp) {
      fault.cause = FaultCause::kLostUpdate;  // in step or not
      conflict(fault, found);
      return;
    }
    if (relation.scope == FaultScope::kWave || relation.softly || twice_.size() >= kMaxTwice) return;
    settle_later(access, fault, address, true);
    return;
  }
  if (relation.softly) {
    if (access.writes) return;
    fault.cause = FaultCause::kNoAcquire;
    if (!(cell.write & kReadBefore)) fault.kind = FaultKind::kUnacquired;
    conflict(fault, found);
    return;
  }
  if (relation.scope == FaultScope::kGrid) {
    const Lack lack = ordering_.lack(serial_of(cell.write), stamp_of(cell.write), cell.write_site);
    if (lack == Lack::kReleaseFence) fault.cause = FaultCause::kNoRelease;
    if (lack == Lack::kWiderFence) fault.cause = FaultCause::kNarrowFence;
  } else if (access.updates && relation.scope == FaultScope::kBlock) {
    fault.cause = FaultCause::kLostUpdate;
  }
  if (!access.writes && is_dead_yet(fault, access.strong, {wave_bit(thread), access.site})) return;
  if (access.writes && !access.reads && !access.updates && twice_.size() < kMaxTwice) {
    ++(relation.scope == FaultScope::kWave ? found.wave : found.others);
    settle_later(access, fault, address, false);
    return;
  }
  conflict(fault, found);
}

void RaceDetector::check_against_reads(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t address,
                                       Conflicts& found) {
  if (cell.read < access.launch) {
    check_against_launch(access, cell.read & kStrong, cell.read, cell.read_site, thread, address, found);
    return;
  }
  if (cell.read & kUnordered) {
    const auto known = unordered_reads_.find(&cell);
    const EarlierRead earlier = known != unordered_reads_.end() ? known->second : EarlierRead{0, 0xFFFF};
    if (earlier.read) {
      check_against_launch(access, false, earlier.read, earlier.site, thread, address, found);
    } else {
      Fault fault = fault_of(access, FaultScope::kGrid, 0, 0xFFFF, thread, address);
      fault.cause = FaultCause::kUnorderedStreams;
      conflict(fault, found);
    }
  }
  const uint64_t manner = cell.read & 3;
  const bool both_strong = access.strong && cell.read & kStrong;
  if (both_strong && access.manner == Manner::kAtomic) return;
  // Of several readers the last one is kept; if it is the writer itself, name another of its kind.
  uint64_t reader = cell.read;
  if (manner == kOneWave && thread_of(reader) == thread) reader ^= 1u << 6;
  if (manner == kManyWaves && thread_of(reader) >> wave_shift_ == thread >> wave_shift_)
    reader ^= uint64_t(wave_size_) << 6;
  Relation relation = this->relation(reader, thread, access.shared);
  const Ordering::BlockOrder& order = state_->order;
  const bool alone = !order.listened && order.known.empty() && order.soft.empty();
  if (relation.scope == FaultScope::kNone && cell.read & kManyBlocks && alone && !access.shared)
    relation.scope = FaultScope::kGrid;
  if (relation.scope == FaultScope::kNone || relation.softly) return;
  if (both_strong && relation.scope != FaultScope::kWave) return;
  if (machine_ && access.manner == Manner::kAtomic && may_be_atomic(cell.read & kStrong, relation.scope)) return;
  const Fault fault = fault_of(access, relation.scope, reader, cell.read_site, thread, address);
  if (!is_dead_yet(fault, cell.read & kStrong, readers_but(cell, thread))) conflict(fault, found);
}

// Of the read that this one takes the place of: a plain read of another stream's launch would be forgotten with it.
uint64_t RaceDetector::keep_unordered_read(const Common& access, const ShadowCell& cell) {
  if (cell.read >= access.launch) return cell.read & kUnordered;
  if (cell.read < access.oldest || cell.read & kStrong || !unordered_launch(cell.read)) return 0;
  if (unordered_reads_.size() < kMaxUnordered) unordered_reads_[&cell] = {cell.read, cell.read_site};
  return kUnordered;
}

void RaceDetector::keep_read(const Common& access, ShadowCell& cell, uint32_t thread) {
  // Among plain readers strong ones are not looked for: what is in their way is in that of the others, too.
  if (access.strong && cell.read >= access.launch && !(cell.read & kStrong)) return;
  uint64_t flags = kOneLane | keep_unordered_read(access, cell);
  const Ordering::BlockOrder& order = state_->order;
  if (serial_of(cell.read) == order.serial) {
    const uint32_t other = thread_of(cell.read);
    const Relation before =
        (cell.read & 3) == kOneLane ? relation(cell.read, thread, access.shared) : Relation{FaultScope::kWave, false};
    if (stamp_of(cell.read) >= order.barrier && before.scope != FaultScope::kNone && !before.softly) {
      if ((cell.read & 3) == kManyWaves || other >> wave_shift_ != thread >> wave_shift_)
        flags |= kManyWaves;
      else if (((cell.read & 3) == kOneWave || other != thread) &&
               stamp_of(cell.read) >= order.wave_start[thread >> wave_shift_])
        flags |= kOneWave;
    }
    flags |= cell.read & (kManyBlocks | kCopies);
  } else if (cell.read >= access.launch && !access.shared && !access.strong) {
    const Relation before = relation(cell.read, thread, false);
    flags |= kCopies | (before.scope != FaultScope::kNone && !before.softly ? kManyBlocks : cell.read & kManyBlocks);
  }
  if (serial_of(cell.read) != order.serial || stamp_of(cell.read) < order.barrier) cell.readers = 0;
  add_reader(access, cell, thread);
  cell.read = pack(order.serial, order.stamp, thread, flags | (access.strong ? kStrong : 0));
  cell.read_site = access.cell_site;
}

void RaceDetector::check_old_cell(const Common& access, ShadowCell& cell, uint32_t thread, uint64_t address,
                                  Conflicts& found) {
  if (cell.write >= access.oldest) check_against_write(access, cell, thread, address, found);
  if (!access.writes) {
    keep_read(access, cell, thread);
    return;
  }
  uint64_t flags = access.mark & 63;
  if (cell.read >= access.oldest) {
    check_against_reads(access, cell, thread, address, found);
    const bool others = cell.read >= access.launch && serial_of(cell.read) != state_->order.serial;
    if (others || cell.read & kCopies) flags |= kReadBefore;
  }
  cell.write = pack(state_->order.serial, state_->order.stamp, thread, flags);
  cell.write_site = access.cell_site;
}

RaceDetector::Cells RaceDetector::cells_for(const Access& access, uint64_t offset, uint32_t bytes) {
  const bool narrow = bytes < 4 && access.writes;
  if (access.shared) {
    if (narrow && !shared_bytewise_) {
      shared_bytewise_ = true;
      shared_.assign(shared_.size() * 4, ShadowCell{});
    }
    const uint32_t shift = shared_bytewise_ ? 0 : 2;
    return Cells{shared_.data(), 0, shared_.size() << shift, shift, false};
  }
  const Cells cells = global_.around(offset, narrow);
  if (cells.renewed) unordered_reads_.clear();
  return cells;
}

// One word for several lanes: one look, on behalf of a lane that did not write it.
void RaceDetector::check_repeated_read(const Common& access, const Lanes& lanes, const Extent& extent,
                                       Conflicts& found) {
  const uint64_t offset = lanes.offset[extent.first], address = lanes.address[extent.first];
  const Cells cells = cells_for(access, offset, lanes.bytes);
  if (!cells.base || offset + lanes.bytes > cells.end) return;
  const uint16_t* thread = lanes.thread + extent.first;
  const uint64_t within = offset - cells.first;
  for (uint64_t i = within >> cells.shift; i <= (within + lanes.bytes - 1) >> cells.shift; ++i) {
    ShadowCell& cell = cells.base[i];
    const bool own = thread_of(cell.write) == thread[0];
    check_cell(access, cell, thread[own ? extent.count - 1 : 0], address, found);
    if ((cell.read & 3) == kOneLane) cell.read |= kOneWave;
  }
}

// One word of LDS for several lanes, which nobody of this block has read: after the first of them none finds more than
// the one before it, and two stores of one site by one wave do not conflict. False: it is to be looked at lane by lane.
bool RaceDetector::check_repeated_write(const Common& access, const Lanes& lanes, const Extent& extent,
                                        Conflicts& found) {
  const bool plain = access.writes && !access.reads && !access.updates && access.manner == Manner::kPlain;
  if (!access.shared || !plain) return false;
  const uint64_t offset = lanes.offset[extent.first];
  Cells cells = cells_for(access, offset, lanes.bytes);
  if (!cells.base || offset + lanes.bytes > cells.end) return false;
  ShadowCell* const begin = cells.base + ((offset - cells.first) >> cells.shift);
  ShadowCell* const end = cells.base + ((offset - cells.first + lanes.bytes - 1) >> cells.shift) + 1;
  for (const ShadowCell* cell = begin; cell != end; ++cell)
    if (serial_of(cell->read) == state_->order.serial) return false;
  check_lanes(access, lanes, extent.first, extent.first + 1u, cells, found);
  const uint64_t last = lanes.thread[extent.first + extent.count - 1];
  for (ShadowCell* cell = begin; cell != end; ++cell) cell->write = (cell->write & ~(uint64_t{1023} << 6)) | last << 6;
  return true;
}

void RaceDetector::check_lanes(const Common& access, const Lanes& lanes, uint32_t first, uint32_t end, Cells& cells,
                               Conflicts& found) {
  for (uint32_t lane = first; lane < end; ++lane) {
    uint64_t offset = lanes.offset[lane];
    if (offset < cells.first || offset >= cells.end) cells = cells_for(access, offset, lanes.bytes);
    if (!cells.base || offset + lanes.bytes > cells.end) continue;
    offset -= cells.first;
    const uint64_t begin = offset >> cells.shift, last = (offset + lanes.bytes - 1) >> cells.shift;
    if (access.strong) synchronise(access, cells.base[begin], lanes.thread[lane], lanes.offset[lane]);
    for (uint64_t i = begin; i <= last; ++i)
      check_cell(access, cells.base[i], lanes.thread[lane], lanes.address[lane] + ((i - begin) << cells.shift), found);
  }
}

void RaceDetector::synchronise(const Common& access, const ShadowCell& cell, uint32_t thread, uint64_t offset) {
  StrongAccess strong{};
  strong.place = access.shared ? uint64_t(1) << 63 | uint64_t(state_->order.serial) << 32 | offset : offset;
  strong.thread = thread;
  strong.scope = access.scope;
  strong.shared = access.shared;
  strong.reads = access.reads;
  strong.writes = access.writes;
  strong.result = access.result;
  strong.polls = access.polls;
  strong.acquires = access.acquires;
  strong.releases = access.releases;
  const bool known = cell.write >= access.launch;
  ordering_.strong(strong,
                   {known ? serial_of(cell.write) : 0, stamp_of(cell.write), thread_of(cell.write), cell.write_site});
}

// Aligned words, one cell each.
void RaceDetector::check_words(const Common& access, const Lanes& lanes, Cells& cells, Conflicts& found) {
  const Common common = access;  // nothing that is written here can change it
  Cells here = cells;
  for (uint32_t lane = 0; lane < lanes.count; ++lane) {
    const uint64_t offset = lanes.offset[lane];
    if (offset - here.first >= here.end - here.first) here = cells_for(common, offset, 4);
    if (here.base && here.shift == 2 && offset + 4 <= here.end)
      check_cell(common, here.base[(offset - here.first) >> 2], lanes.thread[lane], lanes.address[lane], found);
    else
      check_lanes(common, lanes, lane, lane + 1, here, found);
  }
  cells = here;
}

void RaceDetector::check(const Access& access, const Lanes& lanes, Conflicts& found) {
  settle_stores();
  if (state_ == &outside_) return;
  if (machine_ && access.writes) state_->dead_reads.effect(lanes.thread[0] / wave_size_, access.site, *machine_);
  const bool plain_read = !access.writes && access.manner == Manner::kPlain;
  Common common(*this, access);
  common.bytes = lanes.bytes;
  Cells cells;
  if (access.writes && !access.shared)
    for (uint32_t i = 0; i < lanes.count; ++i) ordering_.wrote(lanes.thread[i]);
  if (lanes.extents == 0 || common.strong) {
    uint64_t ends = lanes.bytes;
    for (uint32_t i = 0; i < lanes.count; ++i) ends |= lanes.offset[i];
    if (lanes.bytes == 4 && ends % 4 == 0 && !common.strong)
      check_words(common, lanes, cells, found);
    else
      check_lanes(common, lanes, 0, lanes.count, cells, found);
    return;
  }
  for (uint32_t k = 0; k < lanes.extents; ++k) {
    const Extent& extent = lanes.extent[k];
    if (extent.repeats && plain_read) {
      check_repeated_read(common, lanes, extent, found);
      continue;
    }
    if (extent.repeats && check_repeated_write(common, lanes, extent, found)) continue;
    const uint64_t begin = lanes.offset[extent.first];
    if (begin < cells.first || begin >= cells.end) cells = cells_for(access, begin, lanes.bytes);
    const bool words = lanes.bytes == 4 && cells.shift == 2 && begin % 4 == 0 && !extent.repeats;
    if (words && cells.base && begin + 4 * extent.count <= cells.end) {
      ShadowCell* cell = cells.base + ((begin - cells.first) >> 2);
      const uint16_t* thread = lanes.thread + extent.first;
      const uint64_t* address = lanes.address + extent.first;
      for (uint32_t i = 0; i < extent.count; ++i) check_cell(common, cell[i], thread[i], address[i], found);
      continue;
    }
    check_lanes(common, lanes, extent.first, uint32_t(extent.first) + extent.count, cells, found);
  }
}

}  // namespace simt
