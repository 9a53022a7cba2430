#include "race.h"

#include <sys/mman.h>

#include "memory.h"

namespace simt {
namespace {

constexpr uint32_t kMaxStamp = (1u << 20) - 1;
constexpr uint64_t kChunkBytes = 65536;
constexpr size_t kMaxChunks = 4096;  // of 192 KB; accesses beyond them are not checked

// Of reads, in the two low bits:
constexpr uint32_t kOneLane = 0, kOneWave = 1, kManyWaves = 2, kOneSynchronising = 3;

uint32_t pack(uint32_t stamp, uint32_t thread, uint32_t manner) { return stamp << 12 | thread << 2 | manner; }
uint32_t stamp_of(uint32_t packed) { return packed >> 12; }
uint32_t thread_of(uint32_t packed) { return packed >> 2 & 1023; }

}  // namespace

RaceDetector::RaceDetector() {
  directory_size_ = arena().bytes / kChunkBytes + 1;
  void* memory = mmap(nullptr, directory_size_ * sizeof(Chunk*), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  directory_ = memory == MAP_FAILED ? nullptr : static_cast<Chunk**>(memory);
}

RaceDetector::~RaceDetector() {
  forget_everything();
  if (directory_) munmap(directory_, directory_size_ * sizeof(Chunk*));
}

void RaceDetector::forget_everything() {
  for (uint64_t index : mapped_) {
    Chunk* chunk = directory_[index];
    munmap(chunk->cells, (chunk->bytewise ? kChunkBytes : kChunkBytes / 4) * sizeof(ShadowCell));
    delete chunk;
    directory_[index] = nullptr;
  }
  mapped_.clear();
  shared_.assign(shared_.size(), ShadowCell{});
}

uint32_t RaceDetector::next_stamp() {
  if (stamp_ < kMaxStamp) return ++stamp_;
  forget_everything();  // what was ordered stays ordered; a pair across this moment may go unseen
  stamp_ = 2;
  launch_start_ = block_start_ = barrier_ = 1;
  for (uint32_t& start : wave_start_) start = 1;
  return stamp_;
}

void RaceDetector::begin_launch(uint32_t wave_size, uint64_t shared_bytes) {
  if (mapped_.size() > kMaxChunks / 2) forget_everything();
  wave_size_ = wave_size;
  wave_shift_ = wave_size == 64 ? 6 : 5;
  grid_scope_ = true;
  wave_dependence_ = false;
  launch_start_ = next_stamp();
  shared_bytewise_ = false;
  shared_.assign(shared_bytes / 4 + 4, ShadowCell{});
}

void RaceDetector::begin_block(uint32_t waves) {
  if (stamp_ > kMaxStamp - (1u << 16)) {
    forget_everything();
    stamp_ = 0;
    launch_start_ = next_stamp();
  }
  wave_start_.assign(waves, 0);
  acquired_ = false;
  block_start_ = next_stamp();
  synchronize_block();
}

void RaceDetector::synchronize_block() {
  barrier_ = next_stamp();
  for (uint32_t& start : wave_start_) start = barrier_;
}

void RaceDetector::synchronize_grid() { launch_start_ = next_stamp(); }

ShadowCell* RaceDetector::map_cells(uint64_t count) {
  void* memory = mmap(nullptr, count * sizeof(ShadowCell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<ShadowCell*>(memory);
}

RaceDetector::Chunk* RaceDetector::global_chunk(uint64_t offset) {
  const uint64_t index = offset / kChunkBytes;
  if (!directory_ || index >= directory_size_) return nullptr;
  if (directory_[index]) return directory_[index];
  if (mapped_.size() >= kMaxChunks) return nullptr;
  ShadowCell* cells = map_cells(kChunkBytes / 4);
  if (!cells) return nullptr;
  mapped_.push_back(index);
  directory_[index] = new Chunk{cells, false};
  return directory_[index];
}

FaultScope RaceDetector::relation(uint32_t earlier, uint32_t thread, bool shared, bool both_synchronise) const {
  const uint32_t stamp = stamp_of(earlier);
  if (stamp < launch_start_) return FaultScope::kNone;
  if (stamp < block_start_)
    return !shared && grid_scope_ && !acquired_ && !both_synchronise ? FaultScope::kGrid : FaultScope::kNone;
  if (stamp < barrier_) return FaultScope::kNone;
  const uint32_t other = thread_of(earlier);
  if (other == thread) return FaultScope::kNone;
  if (other >> wave_shift_ != thread >> wave_shift_) return both_synchronise ? FaultScope::kNone : FaultScope::kBlock;
  return stamp >= wave_start_[thread >> wave_shift_] ? FaultScope::kWave : FaultScope::kNone;
}

void RaceDetector::conflict(const Access& access, FaultScope scope, uint16_t other, uint32_t thread,
                            Conflicts& found) {
  if (scope == FaultScope::kWave) {
    ++found.wave;
    wave_dependence_ = true;
  } else {
    ++found.others;
  }
  Fault fault{FaultKind::kRace};
  fault.scope = scope;
  fault.shared = access.shared;
  fault.site = access.site;
  fault.other_site = other == 0xFFFF ? kNoSite : other;
  fault.thread = thread;
  note_fault(fault);
}

// A plain read of a word that its whole wave, or several waves, have read since they last synchronised.
inline bool RaceDetector::tells_nothing_new(const ShadowCell& cell, uint32_t thread) const {
  const uint32_t manner = cell.read & 3;
  if (manner == kManyWaves) return true;
  return manner == kOneWave && thread_of(cell.read) >> wave_shift_ == thread >> wave_shift_ &&
         stamp_of(cell.read) >= wave_start_[thread >> wave_shift_];
}

RaceDetector::Common::Common(const RaceDetector& detector, const Access& access)
    : Access(access),
      oldest_write(detector.launch_start_ << 12),
      oldest_read((access.writes ? detector.launch_start_ : detector.barrier_) << 12),
      mark(pack(detector.stamp_, 0,
                access.writes                      ? uint32_t(access.manner)
                : access.manner != Manner::kPlain ? kOneSynchronising
                                                   : kOneLane)),
      cell_site(uint16_t(access.site < 0xFFFF ? access.site : 0xFFFF)) {}

// Most cells were last touched before anything that matters now.
inline void RaceDetector::check_cell(const Common& access, ShadowCell& cell, uint32_t thread, Conflicts& found) {
  if (cell.write >= access.oldest_write || cell.read >= access.oldest_read) {
    if (!access.writes && cell.write < access.oldest_write && tells_nothing_new(cell, thread)) return;
    check_old_cell(access, cell, thread, found);
    return;
  }
  (access.writes ? cell.write : cell.read) = access.mark | thread << 2;
  (access.writes ? cell.write_site : cell.read_site) = access.cell_site;
}

void RaceDetector::check_old_cell(const Access& access, ShadowCell& cell, uint32_t thread, Conflicts& found) {
  const auto site = uint16_t(access.site < 0xFFFF ? access.site : 0xFFFF);
  const bool synchronises = access.manner != Manner::kPlain;
  if (stamp_of(cell.write) >= launch_start_) {
    const auto manner = Manner(cell.write & 3);
    const bool same_store = access.writes && !access.reads && cell.write_site == site;
    const bool both_atomic = manner == Manner::kAtomic && access.manner == Manner::kAtomic;
    if (!same_store && !both_atomic) {
      const FaultScope scope = relation(cell.write, thread, access.shared, synchronises && manner != Manner::kPlain);
      if (scope != FaultScope::kNone) conflict(access, scope, cell.write_site, thread, found);
    }
  }
  if (access.writes) {
    if (stamp_of(cell.read) >= launch_start_) {
      const uint32_t manner = cell.read & 3;
      // Of several readers the last one is kept; if it is the writer itself, name another of its kind.
      uint32_t reader = cell.read;
      if (manner == kOneWave && thread_of(reader) == thread) reader ^= 1u << 2;
      if (manner == kManyWaves && thread_of(reader) >> wave_shift_ == thread >> wave_shift_) reader ^= wave_size_ << 2;
      const FaultScope scope = relation(reader, thread, access.shared, synchronises && manner == kOneSynchronising);
      if (scope != FaultScope::kNone) conflict(access, scope, cell.read_site, thread, found);
    }
    cell.write = pack(stamp_, thread, uint32_t(access.manner));
    cell.write_site = site;
    return;
  }
  uint32_t manner = synchronises ? kOneSynchronising : kOneLane;
  if (stamp_of(cell.read) >= barrier_) {
    const uint32_t other = thread_of(cell.read);
    if ((cell.read & 3) == kManyWaves || other >> wave_shift_ != thread >> wave_shift_) manner = kManyWaves;
    else if (((cell.read & 3) == kOneWave || other != thread) && stamp_of(cell.read) >= wave_start_[thread >> wave_shift_])
      manner = kOneWave;
  }
  cell.read = pack(stamp_, thread, manner);
  cell.read_site = site;
}

RaceDetector::Cells RaceDetector::cells_for(const Access& access, uint64_t offset, uint32_t bytes) {
  const bool narrow = bytes < 4 && access.writes;
  if (access.shared) {
    if (narrow && !shared_bytewise_) {
      shared_bytewise_ = true;
      shared_.assign(shared_.size() * 4, ShadowCell{});
    }
    const uint32_t shift = shared_bytewise_ ? 0 : 2;
    return Cells{shared_.data(), 0, shared_.size() << shift, shift};
  }
  const uint64_t first = offset / kChunkBytes * kChunkBytes;
  Chunk* chunk = global_chunk(offset);
  if (!chunk) return Cells{nullptr, first, first + kChunkBytes, 2};
  if (narrow && !chunk->bytewise) {
    ShadowCell* fine = map_cells(kChunkBytes);
    if (!fine) return Cells{nullptr, first, first + kChunkBytes, 2};
    munmap(chunk->cells, kChunkBytes / 4 * sizeof(ShadowCell));
    chunk->cells = fine;
    chunk->bytewise = true;
  }
  return Cells{chunk->cells, first, first + kChunkBytes, chunk->bytewise ? 0u : 2u};
}

// One word for several lanes: one look, on behalf of a lane that did not write it.
void RaceDetector::check_repeated_read(const Common& access, const Lanes& lanes, const Extent& extent,
                                       Conflicts& found) {
  const uint64_t offset = lanes.offset[extent.first];
  const Cells cells = cells_for(access, offset, lanes.bytes);
  if (!cells.base || offset + lanes.bytes > cells.end) return;
  const uint16_t* thread = lanes.thread + extent.first;
  const uint64_t within = offset - cells.first;
  for (uint64_t i = within >> cells.shift; i <= (within + lanes.bytes - 1) >> cells.shift; ++i) {
    ShadowCell& cell = cells.base[i];
    const bool own = thread_of(cell.write) == thread[0];
    check_cell(access, cell, thread[own ? extent.count - 1 : 0], found);
    if ((cell.read & 3) == kOneLane) cell.read |= kOneWave;
  }
}

void RaceDetector::check_lanes(const Common& access, const Lanes& lanes, uint32_t first, uint32_t end, Cells& cells,
                               Conflicts& found) {
  for (uint32_t lane = first; lane < end; ++lane) {
    uint64_t offset = lanes.offset[lane];
    if (offset < cells.first || offset >= cells.end) cells = cells_for(access, offset, lanes.bytes);
    if (!cells.base || offset + lanes.bytes > cells.end) continue;
    offset -= cells.first;
    const uint64_t last = (offset + lanes.bytes - 1) >> cells.shift;
    for (uint64_t i = offset >> cells.shift; i <= last; ++i)
      check_cell(access, cells.base[i], lanes.thread[lane], found);
  }
}

// Aligned words, one cell each.
void RaceDetector::check_words(const Common& access, const Lanes& lanes, Cells& cells, Conflicts& found) {
  const Common common = access;  // nothing that is written here can change it
  Cells here = cells;
  for (uint32_t lane = 0; lane < lanes.count; ++lane) {
    const uint64_t offset = lanes.offset[lane];
    if (offset - here.first >= here.end - here.first) here = cells_for(common, offset, 4);
    if (here.base && here.shift == 2 && offset + 4 <= here.end)
      check_cell(common, here.base[(offset - here.first) >> 2], lanes.thread[lane], found);
    else
      check_lanes(common, lanes, lane, lane + 1, here, found);
  }
  cells = here;
}

void RaceDetector::check(const Access& access, const Lanes& lanes, Conflicts& found) {
  if (!access.shared) acquired_ |= access.acquires;
  const bool plain_read = !access.writes && access.manner == Manner::kPlain;
  const Common common(*this, access);
  Cells cells;
  if (lanes.extents == 0) {
    uint64_t ends = lanes.bytes;
    for (uint32_t i = 0; i < lanes.count; ++i) ends |= lanes.offset[i];
    if (lanes.bytes == 4 && ends % 4 == 0)
      check_words(common, lanes, cells, found);
    else
      check_lanes(common, lanes, 0, lanes.count, cells, found);
  }
  for (uint32_t k = 0; k < lanes.extents; ++k) {
    const Extent& extent = lanes.extent[k];
    if (extent.repeats && plain_read) {
      check_repeated_read(common, lanes, extent, found);
      continue;
    }
    const uint64_t begin = lanes.offset[extent.first];
    if (begin < cells.first || begin >= cells.end) cells = cells_for(access, begin, lanes.bytes);
    const bool words = lanes.bytes == 4 && cells.shift == 2 && begin % 4 == 0 && !extent.repeats;
    if (words && cells.base && begin + 4 * extent.count <= cells.end) {
      ShadowCell* cell = cells.base + ((begin - cells.first) >> 2);
      const uint16_t* thread = lanes.thread + extent.first;
      for (uint32_t i = 0; i < extent.count; ++i) check_cell(common, cell[i], thread[i], found);
      continue;
    }
    check_lanes(common, lanes, extent.first, uint32_t(extent.first) + extent.count, cells, found);
  }
}

}  // namespace simt
