#include "analysis.h"

#include <algorithm>
#include <cstring>

#include "code_object.h"
#include "consequences.h"
#include "execution.h"
#include "fault_log.h"
#include "memory.h"
#include "modules.h"
#include "settings.h"

namespace simt {
namespace {

constexpr uint32_t kRangePiece = 16;  // a memcpy of unknown length is counted as accesses of this width
constexpr uint32_t kMaxRangePieces = 65536;
constexpr uint64_t kLargestStep = uint64_t(1) << 40;  // of a request whose ends tell where it goes

bool is_load(SiteKind kind) { return kind == SiteKind::kLoad || kind == SiteKind::kRangeLoad; }
bool is_store(SiteKind kind) { return kind == SiteKind::kStore || kind == SiteKind::kRangeStore; }
bool is_atomic(SiteKind kind) { return kind == SiteKind::kAtomic || kind == SiteKind::kReduction; }

}  // namespace

Analysis::Analysis() : device_(device()) { memset(poison_, settings().poison, sizeof poison_); }

void Analysis::begin_launch(const Kernel& kernel, uint32_t dynamic_lds, const OnOneUnit& blocks,
                            const StreamPlace& place) {
  const Module& module = *kernel.module;
  module_ = &module;
  sites_ = module.sites;
  static_lds_ = uint64_t(module.shared_end - module.shared_begin);
  records_.assign(module.site_count, SiteRecord{});
  analyzed_.assign(module.site_count, Analyzed());
  totals_ = TracedTotals{};
  allocations_.clear();
  touched_.clear();
  newcomers_ = 0;
  blocks_to_each_ = 1;
  known_.assign(module.site_count, SharedSpan{1, 0});
  arena_base_ = arena().base;
  arena_bytes_ = arena().bytes;
  hot_.clear();
  queues_.clear();
  lines_read_.clear();
  others_read_.clear();
  lines_read_.cover(arena_base_ / 128, arena_bytes_ / 128);
  first_by_block_.clear();
  shared_bounds_.begin_launch(module, dynamic_lds);
  banks_.configure(device_.amd(), device_.wave_size, device_.lds_banks, static_lds_ + kDynamicSharedCapacity);
  races_.begin_launch(device_.wave_size, device_.amd(), consequences_of(kernel),
                      ((static_lds_ + 127) & ~uint64_t(127)) + dynamic_lds);
  races_.begin_in_stream(place, module.id);

  // NVIDIA's L1 and shared memory are one array; what the resident blocks take of it is not cache.
  uint64_t l1_bytes = device_.l1_bytes;
  if (!device_.amd()) {
    const uint64_t lds = (uint64_t{kernel.static_lds} + dynamic_lds) * blocks.resident;
    l1_bytes = lds < l1_bytes ? l1_bytes - lds : 0;
  }
  // The blocks of a compute unit share its cache; blocks are traced one after another, so each
  // gets its part of it and starts cold. Reuse between neighbours on one unit is not seen.
  l1_bytes /= std::max(1u, blocks.alive);
  if (l1_bytes < 4096) l1_bytes = 4096;
  l1_.reset(new SectorCache(l1_bytes, device_.l1_line_bytes == 64 ? 64 : 128, !device_.amd()));
  const uint32_t partitions = device_.xcds ? device_.xcds : 1;
  if (l2_.empty())
    for (uint32_t i = 0; i < partitions; ++i)
      l2_.emplace_back(new SectorCache(device_.l2_bytes / partitions, 128, !device_.amd()));
  for (auto& cache : l2_) cache->invalidate();
  together_ = std::max<uint64_t>(1, blocks.together);
  group_ = 0;
  // What has been on its way for half of the time that memory takes longer than L2 counts as being there.
  fetches_.begin((device_.dram_latency_cycles - device_.l2_latency_cycles) / 2);
}

machine::Consequences* Analysis::consequences_of(const Kernel& kernel) {
  if (!kernel.code) return nullptr;
  auto& known = consequences_[{kernel.module->id, kernel.code->entry}];
  if (!known) known = std::make_shared<machine::Consequences>(kernel.module->code->program(), kernel.code->entry);
  return known.get();
}

void Analysis::begin_block(const Block& block) {
  races_.begin_block(block.number, uint32_t(block.waves.size()));
  partition_ = uint32_t(block.number % l2_.size());
  l1_->invalidate();
  block_ = uint32_t(block.number);
  blocks_to_each_ = double(block.number + 1) / double(totals_.blocks + 1);
  end_waits();
  waits_.assign(block.waves.size(), 0);
  const uint64_t group = block.number / together_, place = block.number % together_;
  if (group != group_) fetches_.forget();
  group_ = group;
  late_ = 4 * place >= 3 * together_;
  clocks_.assign(block.waves.size(), double(place) * device_.block_start_ns * device_.clock_hz / 1e9);
}

void Analysis::end_waits() {
  if (!waits_.empty()) totals_.waited += *std::max_element(waits_.begin(), waits_.end());
  waits_.clear();
}

void Analysis::fence(uint32_t thread, uint32_t code) {
  const OrderScope scope = code & kFenceWave    ? OrderScope::kWave
                           : code & kFenceBlock ? OrderScope::kBlock
                                                : OrderScope::kDevice;
  races_.fence(thread, scope, code & kFenceAcquire, code & kFenceRelease);
}

void Analysis::end_block(bool done) {
  races_.end_block(done);
  end_waits();
  totals_.blocks += done;
  first_by_block_.push_back({totals_.read_cold_lines, totals_.read_new_lines, totals_.events});
  const auto passed = [](const FirstTouches& so_far, uint64_t events) { return 2 * so_far.events < events; };
  const FirstTouches& half = *std::lower_bound(first_by_block_.begin(), first_by_block_.end(), totals_.events, passed);
  totals_.late_events = totals_.events - half.events;
  totals_.read_cold_late = totals_.read_cold_lines - half.cold;
  totals_.read_new_late = totals_.read_new_lines - half.fresh;
}

void Analysis::collective(Lane* const* lanes, uint32_t count) {
  const uint32_t index = lanes[0]->site;
  if (index >= records_.size()) return;
  SiteRecord& record = records_[index];
  ++record.requests;
  record.lanes += count;
  ++analyzed_[index].events;
  analyzed_[index].lanes += count;
}

void Analysis::synchronize_block(const Block& block, bool divergent) {
  races_.synchronize_block();
  const Lane* first = nullptr;
  for (const Wave& wave : block.waves) {
    if (wave.live == 0) continue;
    if (!first) first = wave.lanes[0];
    collective(wave.lanes, wave.live);
  }
  if (!divergent || !first) return;
  Fault fault{FaultKind::kDivergentBarrier};
  fault.scope = FaultScope::kBlock;
  fault.shared = true;
  fault.site = first->site;
  for (const Wave& wave : block.waves)
    for (uint32_t i = 0; i < wave.live; ++i)
      if (wave.lanes[i]->site != first->site) {
        fault.other_site = wave.lanes[i]->site;
        fault.thread = wave.lanes[i]->thread.linear;
      }
  note_fault(fault);
}

uint64_t Analysis::shared_offset(uint64_t address) const {
  const uint64_t in_static = address - reinterpret_cast<uint64_t>(module_->shared_begin);
  if (in_static < static_lds_) return in_static;
  const uint64_t in_dynamic = address - reinterpret_cast<uint64_t>(dynamic_shared_base());
  // The dynamic part follows the static one, at the same place within the banks as in memory.
  return ((static_lds_ + 127) & ~uint64_t(127)) + in_dynamic;
}

// Of all lanes.
void Analysis::shared_offsets(const Request& request, uint64_t* offset) const {
  const uint64_t lowest = shared_offset(request.lowest), span = request.highest - request.lowest;
  if (shared_offset(request.highest) - lowest == span) {  // in one part
    for (uint32_t i = 0; i < request.count; ++i) offset[i] = request.address[i] - request.lowest + lowest;
    return;
  }
  for (uint32_t i = 0; i < request.count; ++i) offset[i] = shared_offset(request.address[i]);
}

void Analysis::request(uint32_t wave, const Group& group) {
  const uint32_t index = group.lane[0]->site;
  if (index >= records_.size()) return;
  Request request;
  request.acted_for = 0;
  request.address = group.address;
  request.thread = group.thread;
  request.position = group.position;
  request.site = &sites_[index];
  request.index = index;
  request.wave = wave;
  request.count = group.size;
  request.bytes = request.site->bytes ? request.site->bytes : 1;
  totals_.events += group.size;
  ++analyzed_[index].events;
  analyzed_[index].lanes += group.size;
  if (group.lane[0]->state != LaneState::kRange) return split(request);
  uint64_t bytes[kMaxWave];
  for (uint32_t i = 0; i < group.size; ++i) bytes[i] = group.lane[i]->bytes;
  pieces(request, bytes);
}

void Analysis::measure(uint32_t site, const Group& group, const uint64_t* bytes, SiteRecord& record) {
  Request request;
  request.address = group.address;
  request.thread = group.thread;
  request.position = group.position;
  request.site = &sites_[site];
  request.index = site;
  request.wave = 0;
  request.count = group.size;
  request.bytes = request.site->bytes ? request.site->bytes : 1;
  measured_ = &record;
  if (bytes)
    pieces(request, bytes);
  else
    split(request);
  measured_ = nullptr;
}

void Analysis::begin_part(Request& request, const Part& part) {
  request.address = part.address;
  request.thread = part.thread;
  request.position = part.position;
  request.count = part.count;
}

// A range is gone through in accesses of all its lanes side by side.
void Analysis::pieces(const Request& request, const uint64_t* bytes) {
  const uint64_t longest = *std::max_element(bytes, bytes + request.count);
  const uint32_t known = request.site->flags >> kSiteCopyWidthShift & kSiteCopyWidthMask,
                 width = known ? known : kRangePiece;
  for (uint64_t at = 0; at < longest && at < uint64_t(kMaxRangePieces) * width; at += width) {
    Part part;
    for (uint32_t i = 0; i < request.count; ++i)
      if (bytes[i] > at) part.add(request, i, request.address[i] + at);
    Request piece = request;
    begin_part(piece, part);
    piece.bytes = uint32_t(longest - at < width ? longest - at : width);
    split(piece);
  }
}

void Analysis::find_extents(Request& request, bool beside) {
  request.extents = 0;
  if (!beside) return;
  if (request.uniform || request.consecutive) {
    request.extent[0] = Extent{0, uint8_t(request.count), request.uniform && request.count > 1};
    request.extents = 1;
    return;
  }
  uint32_t extents = 0;
  for (uint32_t i = 0; i < request.count; ++extents) {
    const uint32_t first = i++;
    const uint64_t step = i < request.count ? request.address[i] - request.address[first] : 1;
    if (step == 0 || step == request.bytes)
      while (i < request.count && request.address[i] - request.address[i - 1] == step) ++i;
    request.extent[extents] = Extent{uint8_t(first), uint8_t(i - first), step == 0};
  }
  request.extents = extents;
}

// A generic pointer may lead some lanes to LDS and some to global memory: two requests then.
void Analysis::split(Request& request) {
  const uint64_t* address = request.address;
  const uint32_t last = request.count - 1;
  const uint64_t step = last ? address[1] - address[0] : 0;
  uint64_t uneven = 0, beside = last == 0;
  for (uint32_t i = 1; i <= last; ++i) {
    const uint64_t on = address[i] - address[i - 1];
    uneven |= on ^ step;
    beside |= uint64_t(on == 0) | uint64_t(on == request.bytes);
  }
  const bool even = uneven == 0 && step + kLargestStep <= 2 * kLargestStep;
  uint64_t lowest = address[0], highest = address[0];
  if (even) {
    (int64_t(step) < 0 ? lowest : highest) = address[last];
  } else {
    for (uint32_t i = 1; i <= last; ++i) {
      lowest = address[i] < lowest ? address[i] : lowest;
      highest = address[i] > highest ? address[i] : highest;
    }
  }
  request.shared = in_shared_memory(reinterpret_cast<void*>(address[0]));
  request.lowest = lowest;
  request.highest = highest;
  // "Consecutive" promises no gaps: all lanes between the first and the last take part.
  const bool gapless = uint32_t(request.position[last] - request.position[0]) == last;
  request.consecutive = gapless && (last == 0 || (even && step == request.bytes));
  request.uniform = even && step == 0;
  const uint64_t misaligned = (address[0] | step) & (request.bytes - 1);
  request.stepwise = even && request.bytes <= 64 && (request.bytes & (request.bytes - 1)) == 0 && misaligned == 0 &&
                     step + request.bytes > 2 * request.bytes;
  request.step = step;
  const bool counted = request.shared && (request.site->flags & kSiteCounted);
  if (request.uniform && request.count > 1 && !counted && (request.site->flags & kSiteCombined)) {
    request.acted_for = request.count;
    request.count = 1;
    return split(request);
  }
  if (in_shared_memory(reinterpret_cast<void*>(lowest)) == request.shared &&
      in_shared_memory(reinterpret_cast<void*>(highest)) == request.shared) {
    find_extents(request, beside != 0);
    account(request);
    return;
  }
  Part here, there;
  for (uint32_t i = 0; i < request.count; ++i) {
    const bool shared = in_shared_memory(reinterpret_cast<void*>(address[i]));
    (shared == request.shared ? here : there).add(request, i, address[i]);
  }
  for (const Part& part : {here, there}) {
    if (part.count == 0) continue;
    begin_part(request, part);
    split(request);
  }
}

// What does not depend on other requests.
void Analysis::count(const Request& request, SiteRecord& record) {
  ++record.requests;
  record.lanes += request.count;
  record.bytes += uint64_t(request.bytes) * request.count;
  if (is_constant(*request.site)) {
    record.distinct_addresses += distinct(request).count;
    return;
  }
  if (is_atomic(SiteKind(request.site->kind))) count_addresses(request, record);
  if (request.shared) {
    ++record.shared_requests;
    count_banks(request, record);
  } else {
    ++record.global_requests;
    count_lines(request, record);
    count_quads(request, record);
  }
}

void Analysis::account(Request& request) {
  if (measured_) return count(request, *measured_);
  SiteRecord& record = records_[request.index];
  totals_.requests += !is_constant(*request.site);
  totals_.request_lanes += request.count;
  count(request, record);
  check_alignment(request);
  if (request.shared)
    shared_request(request, record);
  else
    global_request(request, record);
}

void Analysis::count_banks(const Request& request, SiteRecord& record) {
  uint64_t offset[kMaxWave];
  shared_offsets(request, offset);
  const bool atomic = is_atomic(SiteKind(request.site->kind)) && !(request.site->flags & kSiteCounted);
  const bool word_sized = request.bytes == 4 || request.bytes == 8 || request.bytes == 16;
  const bool aligned = offset[0] % request.bytes == 0;
  LdsPhases phases;
  if (aligned && ((request.consecutive && word_sized) || (request.uniform && !atomic))) {
    phases.phases = phases.ideal = banks_.ideal(request.position, request.count, request.bytes, request.uniform);
  } else {
    phases = banks_.count(offset, request.position, request.count, request.bytes, atomic);
  }
  record.lds_phases += phases.phases;
  record.lds_phases_ideal += phases.ideal;
}

void Analysis::shared_request(Request& request, SiteRecord& record) {
  ++totals_.lds_requests;
  check_shared_bounds(request, record);
  check_poison(request, record);
  uint64_t offset[kMaxWave];
  shared_offsets(request, offset);
  check_races(request, offset, record);
}

RaceDetector::Access Analysis::access_of(const Request& request) {
  const auto kind = SiteKind(request.site->kind);
  RaceDetector::Access access{request.index,
                              Manner::kPlain,
                              is_load(kind) || is_atomic(kind),
                              !is_load(kind),
                              request.shared,
                              false,
                              OrderScope::kDevice,
                              false,
                              false,
                              false,
                              false,
                              false};
  const uint32_t flags = request.site->order;
  if (is_atomic(kind) || flags & kSiteAtomic)
    access.manner = Manner::kAtomic;
  else if (request.site->flags & kSiteVolatile)
    access.manner = Manner::kVolatile;
  else if (flags & kSiteMaybeAtomic && request.count == 1)
    access.manner = Manner::kMaybe;
  access.result = access.reads && kind != SiteKind::kReduction;
  if (flags & kSiteBlockScope) access.scope = OrderScope::kBlock;
  if (flags & kSiteWaveScope) access.scope = OrderScope::kWave;
  access.acquires = flags & kSiteAcquire;
  access.releases = flags & kSiteRelease;
  access.updates = flags & kSiteUpdate;
  access.polls = flags & kSiteLoop;
  access.read_only = flags & kSiteReadOnly;
  return access;
}

void Analysis::global_request(Request& request, SiteRecord& record) {
  if (is_atomic(SiteKind(request.site->kind))) totals_.atomic_lanes += request.count;
  check_bounds(request, record);
  check_poison(request, record);
  if (!is_constant(*request.site)) reuse(request, record);
  check_races(request, request.address, record);
}

void Analysis::note_allocation(uint64_t base, uint64_t bytes, bool reads) {
  const auto is_it = [&](const TouchedSpan& span) { return span.begin == base; };
  if (std::none_of(touched_.begin(), touched_.end(), is_it)) touched_.push_back({base, base + bytes, 0});
  if (!reads) return;
  for (const auto& known : allocations_)
    if (known.first == base) return;
  allocations_.emplace_back(base, bytes);
  totals_.touched_allocation_bytes += bytes;
}

void Analysis::check_shared_bounds(const Request& request, SiteRecord& record) {
  if (shared_bounds_.still_inside(request.index, request.lowest, request.highest + request.bytes)) return;
  for (uint32_t i = 0; i < request.count; ++i) {
    const uint64_t address = request.address[i];
    if (shared_bounds_.inside(request.index, address, address + request.bytes)) continue;
    const SharedSpan variable = shared_bounds_.meant(request.index, address);
    ++record.out_of_bounds;
    Fault fault{FaultKind::kOutOfBounds};
    fault.shared = true;
    fault.site = request.index;
    fault.thread = request.thread[i];
    fault.address_offset = int64_t(address - variable.begin);
    fault.allocation_bytes = variable.end - variable.begin;
    note_fault(fault);
    // What lies behind LDS is this process. The launch says nothing any more.
    if (execution.request->watched && !abort_status) abort_status = kIllegalAddress;
  }
}

void Analysis::check_bounds(const Request& request, SiteRecord& record) {
  // What is only written need never come from memory: only allocations that are read bound its traffic.
  const bool reads = !is_store(SiteKind(request.site->kind));
  SharedSpan& known = known_[request.index];
  if (request.lowest >= known.begin && request.highest + request.bytes <= known.end) return;
  for (uint32_t i = 0; i < request.count; ++i) {
    const uint64_t address = request.address[i];
    if (address >= known.begin && address + request.bytes <= known.end) continue;
    const Allocation* owner = find(address);
    if (owner) {
      known = SharedSpan{owner->base, owner->base + owner->bytes};
      note_allocation(owner->base, owner->bytes, reads);
      if (address + request.bytes <= known.end) continue;
    } else if (!in_arena(address) && !nearest(address)) {
      continue;  // a constant table of the module, or a wild pointer that will trap
    }
    const Allocation* around = owner ? owner : beside(address);
    ++record.out_of_bounds;
    Fault fault{FaultKind::kOutOfBounds};
    fault.site = request.index;
    fault.thread = request.thread[i];
    fault.address_offset = around ? int64_t(address - around->base) : 0;
    fault.allocation_bytes = around ? around->bytes : 0;
    fault.freed = around && !around->live;
    note_fault(fault);
  }
}

// Whether any lane's value is nothing but poison; a look at each, cheap for the usual widths.
bool Analysis::any_poisoned(const Request& request) const {
  const uint32_t lanes = request.uniform ? 1 : request.count;
  bool found = false;
  if (request.bytes == 4) {
    uint32_t value, poison;
    memcpy(&poison, poison_, 4);
    for (uint32_t i = 0; i < lanes; ++i) {
      memcpy(&value, reinterpret_cast<const void*>(request.address[i]), 4);
      found |= value == poison;
    }
  } else if (request.bytes >= 8) {
    uint64_t value, poison;
    memcpy(&poison, poison_, 8);
    for (uint32_t i = 0; i < lanes; ++i) {
      memcpy(&value, reinterpret_cast<const void*>(request.address[i]), 8);
      found |= value == poison;
    }
  } else {
    for (uint32_t i = 0; i < lanes && !found; ++i) found = poisoned(request.address[i], request.bytes);
  }
  return found;
}

bool Analysis::poisoned(uint64_t address, uint32_t bytes) const {
  for (uint32_t at = 0; at < bytes; at += 8) {
    const uint32_t piece = bytes - at < 8 ? bytes - at : 8;
    if (memcmp(reinterpret_cast<const void*>(address + at), poison_, piece) != 0) return false;
  }
  return true;
}

// Whether the atomic operation is an exchange, which leaves nothing of what was there: in IR or as an instruction.
bool Analysis::overwrites(uint32_t site) const {
  const auto& described = module_->metadata["sites"].items();
  if (site >= described.size()) return false;
  const std::string& operation = described[site]["operation"].text();
  const bool compares = operation.find("cmp") != std::string::npos;
  return !compares && (operation.find("xchg") != std::string::npos || operation.find("swap") != std::string::npos);
}

// Fresh memory and fresh LDS are filled with the poison byte; a load that finds nothing else has read what
// nobody wrote, and so has an atomic operation, but for an exchange whose old value is not used. Below 4 bytes that may
// be chance, so at least 8 lanes of a request must agree.
void Analysis::check_poison(const Request& request, SiteRecord& record) {
  const auto kind = SiteKind(request.site->kind);
  if (kind != SiteKind::kLoad && kind != SiteKind::kAtomic && kind != SiteKind::kReduction) return;
  const SharedSpan& known = known_[request.index];
  if (!request.shared && (request.lowest < known.begin || request.highest + request.bytes > known.end)) return;
  if (!any_poisoned(request)) return;
  uint32_t found = 0, first = 0;
  for (uint32_t i = request.count; i-- > 0;)
    if (poisoned(request.address[i], request.bytes)) ++found, first = i;
  if (found == 0 || (request.bytes < 4 && (found < 8 || found < request.count || request.uniform))) return;
  if (kind == SiteKind::kReduction && overwrites(request.index)) return;
  record.uninitialized += found;
  Fault fault{FaultKind::kUninitialized};
  fault.shared = request.shared;
  fault.site = request.index;
  fault.thread = request.thread[first];
  const Allocation* owner = request.shared ? nullptr : find(request.address[first]);
  fault.address_offset = owner ? int64_t(request.address[first] - owner->base) : 0;
  fault.allocation_bytes = owner ? owner->bytes : 0;
  note_fault(fault);
}

// What the compiler takes for granted of an address, a device may trap on or round down.
void Analysis::check_alignment(const Request& request) {
  const uint64_t within = (uint64_t(1) << (request.site->order >> kSiteAlignmentShift)) - 1;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < request.count; ++i) bits |= request.address[i];
  if ((bits & within) == 0) return;
  for (uint32_t i = 0; i < request.count; ++i) {
    if ((request.address[i] & within) == 0) continue;
    Fault fault{FaultKind::kMisaligned};
    fault.shared = request.shared;
    fault.site = request.index;
    fault.thread = request.thread[i];
    fault.address = request.address[i];
    fault.bytes = uint32_t(within + 1);
    note_fault(fault);
  }
}

void Analysis::check_races(const Request& request, const uint64_t* offset, SiteRecord& record) {
  const RaceDetector::Access access = access_of(request);
  RaceDetector::Conflicts found;
  // Each lane still orders what is its own.
  const uint32_t lanes = request.acted_for ? request.acted_for : request.count;
  uint64_t alike[kMaxWave];
  if (request.acted_for) std::fill(alike, alike + lanes, offset[0]);
  races_.check(access,
               {request.acted_for ? alike : offset, request.address, request.thread, lanes, request.bytes,
                request.extent, request.extents},
               found);
  record.races_inter += found.others;
  record.races_intra += found.wave;
}

Analysis::Addresses Analysis::distinct(const Request& request) {
  Addresses found;
  uint8_t place[2 * kMaxWave] = {};  // open addressing: 1 + index into `address`
  if (request.uniform) {
    found.address[0] = request.address[0];
    found.lanes[0] = found.most = request.count;
    found.count = 1;
  }
  for (uint32_t i = 0; i < request.count && !request.uniform; ++i) {
    uint64_t slot = scatter(request.address[i]) % (2 * kMaxWave);
    while (place[slot] && found.address[place[slot] - 1] != request.address[i]) slot = (slot + 1) % (2 * kMaxWave);
    if (!place[slot]) {
      found.address[found.count] = request.address[i];
      found.lanes[found.count] = 0;
      place[slot] = uint8_t(++found.count);
    }
    const uint32_t with = ++found.lanes[place[slot] - 1];
    if (with > found.most) found.most = with;
  }
  return found;
}

// Lanes on one address, for atomics.
void Analysis::count_addresses(const Request& request, SiteRecord& record) {
  const Addresses found = distinct(request);
  const bool counted = request.shared && (request.site->flags & kSiteCounted);
  record.same_address += counted ? 1 : found.most;
  record.distinct_addresses += found.count;
  if (request.shared || measured_) return;
  for (uint32_t k = 0; k < found.count; ++k) hot_.add(found.address[k], found.lanes[k], request.index, block_);
  queue(found.address, found.lanes, found.count, request.bytes);
}

// Each sector of the request, with the most lanes that any of its addresses has.
void Analysis::queue(const uint64_t* address, const uint32_t* lanes, uint32_t count, uint32_t bytes) {
  uint64_t sector[kMaxWave];
  uint32_t most[kMaxWave], known = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t k = known;
    while (k-- > 0 && sector[k] != address[i] >> 5) continue;
    if (k == UINT32_MAX) k = known++, sector[k] = address[i] >> 5, most[k] = 0;
    most[k] = std::max(most[k], lanes[i]);
  }
  for (uint32_t k = 0; k < known; ++k) queues_.add(sector[k] << 5, most[k], bytes > 4 ? 2 : 1);
}

}  // namespace simt
