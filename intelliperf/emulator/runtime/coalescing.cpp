// The part of Analysis that looks at the lines and sectors of a global request and follows them through
// the caches.
#include "analysis.h"
#include "modules.h"

namespace simt {
namespace {

uint32_t bits(uint64_t word) { return uint32_t(__builtin_popcountll(word)); }

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Of the bytes [within, within + bytes) of a line.
uint32_t sectors_of(uint32_t within, uint32_t bytes) {
  return (2u << ((within + bytes - 1) >> 5)) - (1u << (within >> 5));
}

}  // namespace

// Adds the bytes [address, address + bytes) to the touched lines.
void Analysis::touch_line(uint64_t address, uint32_t bytes) {
  while (bytes) {
    const uint64_t line = address >> 7;
    const uint32_t within = uint32_t(address & 127);
    const uint32_t here = bytes < 128 - within ? bytes : 128 - within;
    // Rows of lanes often go over the same lines in the same order: the same or the next one is likely.
    const uint32_t following = last_touch_ + 1 < touch_count_ ? last_touch_ + 1 : 0;
    if (touch_count_ && touches_[last_touch_].line != line) last_touch_ = following;
    if (!touch_count_ || touches_[last_touch_].line != line) {
      uint64_t slot = scatter(line) & 1023;
      while (table_[slot].stamp == table_stamp_ && touches_[table_[slot].touch].line != line) slot = (slot + 1) & 1023;
      if (table_[slot].stamp != table_stamp_) {
        if (touch_count_ == kMaxTouches) return;  // more than 64 lanes of 1 KB cannot come here
        table_[slot] = TableSlot{table_stamp_, touch_count_};
        touches_[touch_count_++] = LineTouch{line, 0};
      }
      last_touch_ = table_[slot].touch;
    }
    touches_[last_touch_].sectors |= sectors_of(within, here);
    address += here;
    bytes -= here;
  }
}

// Lanes that go one way, none across the end of a line: each line is met once.
void Analysis::touch_stepwise(const Request& request) {
  uint64_t line = request.address[0] >> 7;
  uint32_t touched = 0;
  touches_[0] = LineTouch{line, 0};
  for (uint32_t i = 0; i < request.count; ++i) {
    const uint64_t address = request.address[i];
    touched += address >> 7 != line;
    const uint32_t sectors = address >> 7 != line ? 0 : touches_[touched].sectors;
    line = address >> 7;
    touches_[touched] = LineTouch{line, sectors | sectors_of(uint32_t(address & 127), request.bytes)};
  }
  touch_count_ = touched + 1;
}

void Analysis::count_lines(const Request& request, SiteRecord& record) {
  touch_count_ = last_touch_ = 0;
  ++table_stamp_;
  if (request.stepwise) {
    touch_stepwise(request);
  } else if (request.extents == 0) {
    for (uint32_t i = 0; i < request.count; ++i) touch_line(request.address[i], request.bytes);
  }
  for (uint32_t k = 0; k < request.extents; ++k) {
    const Extent& extent = request.extent[k];
    touch_line(request.address[extent.first], extent.repeats ? request.bytes : request.bytes * extent.count);
  }
  uint32_t sectors = 0, halves = 0;
  for (uint32_t k = 0; k < touch_count_; ++k) {
    const uint32_t touched = touches_[k].sectors;
    sectors += bits(touched);
    halves += ((touched & 3) != 0) + ((touched & 12) != 0);
  }
  record.sectors += sectors;
  record.lines64 += halves;
  record.lines128 += touch_count_;
  const uint32_t packed = request.count * request.bytes;
  record.sectors_ideal += least(sectors, (packed + 31) / 32);
  record.lines128_ideal += least(touch_count_, (packed + 127) / 128);
  if (measured_) return;
  const auto kind = SiteKind(request.site->kind);
  if (!device_.amd() && (kind == SiteKind::kLoad || kind == SiteKind::kRangeLoad))
    totals_.l1_bank_passes += bank_passes(request);
  if (kind == SiteKind::kStore || kind == SiteKind::kRangeStore)
    totals_.partial_sectors += sectors - least(sectors, packed / 32);
  fills_ = packed >= sectors * 32;
}

// NVIDIA's L1 has its data in the banks of shared memory: different words of one bank come one after another, for a
// whole, half or quarter warp at a time as there. At least one pass for each such part.
uint32_t Analysis::bank_passes(const Request& request) const {
  const uint32_t bytes = request.bytes < 4 ? 4 : request.bytes;
  const uint32_t together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8, words = bytes <= 16 ? bytes / 4 : 4;
  if (request.uniform || request.consecutive) return (request.count - 1) / together + 1;
  uint32_t passes = 0;
  for (uint32_t first = 0; first < request.count; first += together) {
    const uint32_t end = least(first + together, request.count);
    uint64_t seen[256] = {};  // open addressing: 1 + word
    uint8_t in_bank[32] = {};
    uint32_t most = 0;
    for (uint32_t i = first; i < end; ++i)
      for (uint32_t k = 0; k < words; ++k) {
        const uint64_t word = request.address[i] / 4 + k;
        uint32_t slot = uint32_t(word * 0x9E3779B1u >> 7) & 255;
        while (seen[slot] && seen[slot] != word + 1) slot = (slot + 1) & 255;
        if (seen[slot]) continue;
        seen[slot] = word + 1;
        const uint32_t now = ++in_bank[word & 31];
        most = now > most ? now : most;
      }
    passes += most;
  }
  return passes;
}

namespace {

// Whole quads of lanes, none of whose accesses crosses a line.
bool regular(const uint64_t* address, const uint8_t* position, uint32_t count, uint32_t bytes) {
  if (count % 4 || position[0] % 4 || position[count - 1] - position[0] + 1u != count) return false;
  if (bytes > 64 || (bytes & (bytes - 1))) return false;
  uint64_t low = 0;
  for (uint32_t i = 0; i < count; ++i) low |= address[i];
  return (low & (bytes - 1)) == 0;
}

uint32_t distinct_of_four(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return 1u + uint32_t(b != a) + uint32_t((c != a) & (c != b)) + uint32_t((d != a) & (d != b) & (d != c));
}

}  // namespace

void Analysis::count_quads(const Request& request, SiteRecord& record) {
  uint64_t quads = 0, runs = 0;
  if (request.uniform && (request.lowest & 63) + request.bytes <= 64) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < request.count; ++i) seen |= 1u << (request.position[i] / 4);
    quads = bits(seen);
    runs = 1;
  } else if (request.consecutive) {
    runs = touch_count_;
    for (uint32_t i = 0; i < request.count;) {
      const uint32_t next = (request.position[i] / 4 + 1) * 4 - request.position[i];
      const uint32_t lanes = next < request.count - i ? next : request.count - i;
      quads += ((request.address[i] + lanes * request.bytes - 1) >> 6) - (request.address[i] >> 6) + 1;
      i += lanes;
    }
  } else if (request.stepwise && request.step + 64 >= 128) {
    runs = touch_count_;
    quads = request.count;
  } else if (regular(request.address, request.position, request.count, request.bytes)) {
    const uint64_t* a = request.address;
    runs = 1;
    for (uint32_t i = 1; i < request.count; ++i) runs += (a[i] ^ a[i - 1]) >> 7 != 0;
    for (uint32_t i = 0; i < request.count; i += 4)
      quads += distinct_of_four(a[i] >> 6, a[i + 1] >> 6, a[i + 2] >> 6, a[i + 3] >> 6);
  } else {
    uint64_t in_quad[16 * 4];
    uint32_t quad = 0xFFFFFFFF, count = 0;
    uint64_t last_line = ~uint64_t(0);
    for (uint32_t i = 0; i < request.count; ++i) {
      if (uint32_t(request.position[i] / 4) != quad) {
        quad = request.position[i] / 4;
        count = 0;
      }
      const uint64_t last = (request.address[i] + request.bytes - 1) >> 6;
      for (uint64_t half = request.address[i] >> 6; half <= last; ++half) {
        bool fresh = true;
        for (uint32_t k = count; k-- > 0 && fresh;) fresh = in_quad[k] != half;
        if (fresh && count < 64) {
          in_quad[count++] = half;
          ++quads;
        }
        if (half >> 1 != last_line) {
          last_line = half >> 1;
          ++runs;
        }
      }
    }
  }
  record.quad_lines64 += quads;
  record.line_runs128 += runs;
}

// How many of `sectors` this partition of L2 reads for the first time in this launch: all, or none. They begin a
// line (AMD) or are one sector.
uint32_t Analysis::first_read(uint64_t line, uint32_t sector, uint32_t sectors) {
  const uint64_t party = device_.amd() ? partition_ : partition_ * 4 + sector;
  if (party < 8 && lines_read_.covers(line)) {
    const uint32_t everybody = device_.amd() ? 0xFF : 0x11u << sector;
    const bool known = lines_read_.touched(line, everybody);
    if (!lines_read_.insert(line, uint32_t(party))) return 0;
    totals_.read_new_lines += known ? 0 : sectors;
    return sectors;
  }
  if (!others_read_.insert((line * 4 + sector + 1) * l2_.size() + partition_)) return 0;
  totals_.read_new_lines += sectors;
  return sectors;
}

// Whether L2 has these sectors, which come to it for the first time in this launch, from before.
bool Analysis::kept(uint64_t line, uint32_t sectors) {
  const L2Contents& before = L2Contents::instance();
  if (!before.keeps_anything()) return false;
  const uint64_t address = line * 128, bytes = uint64_t{32} * sectors;
  for (TouchedSpan& span : touched_)
    if (address + 128 > span.begin && address < span.end) span.bytes += bytes;
  if (before.holds(address, uint64_t(double(newcomers_) * blocks_to_each_))) return true;
  newcomers_ += bytes;
  return false;
}

// L2 and, behind it, memory. Returns 1 when L2 had it all, 2 when memory was needed.
uint32_t Analysis::reach_l2(uint64_t line, uint32_t sectors, bool store, SiteRecord& record) {
  SectorCache& cache = *l2_[partition_];
  const SectorCache::Result result = store ? cache.store(line, sectors, true) : cache.load(line, sectors);
  if (store) totals_.write_sectors += bits(result.made_dirty);
  if (store && result.made_dirty) kept(line, bits(result.made_dirty));
  const uint32_t unit = device_.amd() ? 4 : 1;  // AMD counts whole 128-byte lines
  const uint32_t missed = bits(sectors & ~result.hits);
  if (unit == 1) {
    record.l2_hits += bits(result.hits);
    record.l2_misses += missed;
  } else {
    ++(missed ? record.l2_misses : record.l2_hits);
  }
  totals_.l2_bytes += device_.amd() ? (store ? bits(sectors) * 32 : device_.l1_line_bytes) : bits(sectors) * 32;
  if (store) return 1;
  const uint64_t place = line * l2_.size() + partition_;
  if (!missed) {
    on_its_way_ |= !device_.amd() && fetches_.ask(place, sectors, now_);
    return 1;
  }
  uint32_t cold = 0;
  const uint64_t new_before = totals_.read_new_lines;
  if (device_.amd()) {
    cold = first_read(line, 0, bits(result.filled));  // a store may have brought part of the line
  } else {
    for (uint32_t sector = 0; sector < 4; ++sector)
      if (result.filled >> sector & 1) cold += first_read(line, sector, 1);
  }
  totals_.read_cold_lines += cold;  // in sectors of 32 bytes
  totals_.read_again_lines += bits(result.filled) - cold;
  record.read_again += bits(result.filled) - (totals_.read_new_lines - new_before);
  const bool has_it = cold > 0 && kept(line, cold);
  if (has_it) totals_.read_kept_lines += cold;
  if (has_it && cold == bits(result.filled)) return 1;
  fetches_.note(place, result.filled, now_);
  return 2;
}

void Analysis::reuse(const Request& request, SiteRecord& record) {
  const auto kind = SiteKind(request.site->kind);
  const bool atomic = kind == SiteKind::kAtomic || kind == SiteKind::kReduction;
  const bool store = kind == SiteKind::kStore || kind == SiteKind::kRangeStore;
  const bool short_lines = device_.l1_line_bytes == 64;
  // What other compute units may have written is loaded past the L1, which need not have it.
  const bool past_l1 = !store && request.site->flags & kSiteVolatile;
  uint32_t depth = 0;  // 0 L1, 1 L2, 2 memory
  const bool timed = request.wave < clocks_.size();
  now_ = timed ? clocks_[request.wave] : 0;
  on_its_way_ = false;
  for (uint32_t k = 0; touch_count_ > 4 && k < touch_count_; ++k) l2_[partition_]->expect(touches_[k].line);
  for (uint32_t k = 0; k < touch_count_; ++k) {
    const LineTouch& touch = touches_[k];
    const uint32_t sectors = touch.sectors;
    uint32_t missing = sectors;
    if (!atomic) {
      missing = 0;
      for (uint32_t part = 0; part < (short_lines ? 2u : 1u); ++part) {
        const uint32_t shift = part * 2, wanted = short_lines ? sectors >> shift & 3 : sectors;
        if (!wanted) continue;
        const uint64_t line = short_lines ? touch.line * 2 + part : touch.line;
        // NVIDIA's L1 keeps what is stored; of a sector that is filled in part it still has to fetch the rest.
        const bool keeps = fills_ && !device_.amd();
        const SectorCache::Result result = store ? l1_->store(line, wanted, keeps) : l1_->load(line, wanted);
        const uint32_t missed = past_l1 ? wanted : wanted & ~result.hits;
        if (device_.amd()) {
          ++(missed ? record.l1_misses : record.l1_hits);
        } else {
          record.l1_hits += bits(wanted & ~missed);
          record.l1_misses += bits(missed);
        }
        missing |= (store ? wanted : device_.amd() && missed ? wanted : missed) << shift;
      }
    }
    if (missing) {
      const uint32_t reached = reach_l2(touch.line, missing, store || atomic, record);
      depth = reached > depth ? reached : depth;
    }
  }
  if (store || atomic) return;  // nobody waits for a store; atomics have their own term
  ++(depth == 0 ? totals_.served.l1 : depth == 1 ? totals_.served.l2 : totals_.served.memory);
  if (depth == 1) totals_.on_their_way += on_its_way_;
  if (depth == 1 && late_) ++totals_.late_l2, totals_.late_on_their_way += on_its_way_;
  if (!timed) return;
  waits_[request.wave] += depth > 0;
  clocks_[request.wave] += depth == 0                   ? device_.l1_latency_cycles
                           : depth == 1 && !on_its_way_ ? device_.l2_latency_cycles
                                                        : device_.dram_latency_cycles;
}

}  // namespace simt
