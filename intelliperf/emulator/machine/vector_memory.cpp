// Flat, global, scratch and buffer instructions.
#include "vector_memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

using Table = std::map<std::string, MemoryOperation>;

constexpr uint16_t kNoScalarAddress = 0x7F;
enum Segment : uint8_t { kFlatSegment, kScratchSegment, kGlobalSegment };
enum BufferMode : uint8_t { kOffsetRegister = 1, kIndexRegister = 2 };
constexpr uint32_t kSwizzled = 1u << 31;

Table make_operations() {
  Table table;
  const auto add = [&](const char* name, Access access, Width width, uint8_t bytes) {
    table[name] = MemoryOperation{access, width, bytes};
  };
  const auto add_atomic = [&](const std::string& name, AtomicKind kind, uint8_t bytes) {
    table["atomic_" + name] = MemoryOperation{Access::kAtomic, Width::kWords, bytes, kind};
  };
  add("load_ubyte", Access::kLoad, Width::kU8, 1);
  add("load_sbyte", Access::kLoad, Width::kI8, 1);
  add("load_ushort", Access::kLoad, Width::kU16, 2);
  add("load_sshort", Access::kLoad, Width::kI16, 2);
  add("load_ubyte_d16", Access::kLoad, Width::kU8Low, 1);
  add("load_ubyte_d16_hi", Access::kLoad, Width::kU8High, 1);
  add("load_sbyte_d16", Access::kLoad, Width::kI8Low, 1);
  add("load_sbyte_d16_hi", Access::kLoad, Width::kI8High, 1);
  add("load_short_d16", Access::kLoad, Width::kLow, 2);
  add("load_short_d16_hi", Access::kLoad, Width::kHigh, 2);
  add("store_byte", Access::kStore, Width::kU8, 1);
  add("store_byte_d16_hi", Access::kStore, Width::kU8High, 1);
  add("store_short", Access::kStore, Width::kU16, 2);
  add("store_short_d16_hi", Access::kStore, Width::kHigh, 2);
  for (uint8_t words = 1; words <= 4; ++words) {
    const std::string suffix = words == 1 ? "" : "x" + std::to_string(words);
    table["load_dword" + suffix] = MemoryOperation{Access::kLoad, Width::kWords, uint8_t(4 * words)};
    table["store_dword" + suffix] = MemoryOperation{Access::kStore, Width::kWords, uint8_t(4 * words)};
    if (words != 2) table["load_lds_dword" + suffix] = table["load_dword" + suffix];
  }
  const std::pair<const char*, AtomicKind> integers[] = {
      {"swap", AtomicKind::kSwap},      {"cmpswap", AtomicKind::kCompareSwap},
      {"add", AtomicKind::kAdd},        {"sub", AtomicKind::kSub},
      {"smin", AtomicKind::kMinSigned}, {"umin", AtomicKind::kMinUnsigned},
      {"smax", AtomicKind::kMaxSigned}, {"umax", AtomicKind::kMaxUnsigned},
      {"and", AtomicKind::kAnd},        {"or", AtomicKind::kOr},
      {"xor", AtomicKind::kXor},        {"inc", AtomicKind::kIncrement},
      {"dec", AtomicKind::kDecrement}};
  for (const auto& [name, kind] : integers) {
    add_atomic(name, kind, 4);
    add_atomic(std::string(name) + "_x2", kind, 8);
  }
  add_atomic("add_f32", AtomicKind::kAddFloat, 4);
  add_atomic("pk_add_f16", AtomicKind::kAddPackedHalf, 4);
  add_atomic("add_f64", AtomicKind::kAddFloat, 8);
  add_atomic("min_f64", AtomicKind::kMinFloat, 8);
  add_atomic("max_f64", AtomicKind::kMaxFloat, 8);
  return table;
}

struct Parts {
  LaneAddresses global, lds, scratch;
};

// In no segment of its own, or in scratch.
uint64_t flat_address(Wave& wave, const Instruction& i, uint32_t lane) {
  const uint32_t row = i.source[0].row(), scalar = i.source[2].code;
  const uint64_t offset = uint64_t(int64_t(i.immediate));
  if (i.op_sel == kScratchSegment)
    return uint32_t((i.vector_address ? wave.v(row)[lane] : 0) + (scalar == kNoScalarAddress ? 0 : wave.s[scalar]) +
                    offset);
  return joined(wave.v(row)[lane], wave.v(row + 1)[lane]) + offset;
}

// Of all lanes, whether they take part or not: that is one loop over vectors.
void find_global_addresses(Wave& wave, const Instruction& i, uint64_t* addresses) {
  const uint32_t row = i.source[0].row(), scalar = i.source[2].code;
  const uint64_t offset = uint64_t(int64_t(i.immediate));
  const uint32_t* const low = wave.v(row);
  if (scalar == kNoScalarAddress) {
    const uint32_t* const high = wave.v(row + 1);
    for (uint32_t lane = 0; lane < kWave; ++lane) addresses[lane] = joined(low[lane], high[lane]) + offset;
  } else {
    const uint64_t base = wave.pair(scalar) + offset;
    for (uint32_t lane = 0; lane < kWave; ++lane) addresses[lane] = base + low[lane];
  }
}

// A flat address tells by its aperture what it means.
Parts flat_parts(Wave& wave, const Instruction& i) {
  Parts parts;
  parts.global.mask = parts.lds.mask = parts.scratch.mask = 0;
  if (i.op_sel == kGlobalSegment) {
    parts.global.mask = wave.exec();
    find_global_addresses(wave, i, parts.global.at);
    return parts;
  }
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t address = flat_address(wave, i, lane), one = 1ull << lane;
    LaneAddresses* part = i.op_sel == kScratchSegment ? &parts.scratch : &parts.global;
    if (i.op_sel == kFlatSegment) {
      const uint64_t aperture = address & ~(kApertureBytes - 1);
      if (aperture == kSharedAperture) part = &parts.lds;
      if (aperture == kPrivateAperture) part = &parts.scratch;
    }
    part->mask |= one;
    part->at[lane] = part == &parts.global ? address : uint32_t(address);
  }
  return parts;
}

bool is_scratch(const uint32_t* descriptor) {
  return descriptor[1] == kSwizzled && descriptor[0] == 0;  // as begin_group sets it
}

// Scratch through a buffer: the scalar offset counts whole waves.
Parts scratch_parts(Wave& wave, const Instruction& i) {
  if (i.op_sel & kIndexRegister) throw Stop("an index into scratch memory");
  Parts parts;
  parts.global.mask = parts.lds.mask = 0;
  parts.scratch.mask = wave.exec();
  const uint32_t base = scalar_word(wave, i, i.source[2].code) / kWave + uint32_t(i.immediate);
  const uint32_t* row = wave.v(i.source[0].row());
  for (uint32_t lane = 0; lane < kWave; ++lane)
    parts.scratch.at[lane] = uint32_t(base + (i.op_sel & kOffsetRegister ? row[lane] : 0));
  return parts;
}

// Lanes of a buffer access (ISA, "Buffer Addressing" and "Range Checking", linear buffers): words beyond the descriptor's
// bound read as zero and are not written.
struct Bounded {
  Parts parts;          // lanes that are within whole
  uint64_t partly = 0;  // lanes of which only the first `bytes` are
  uint64_t at[kWave];
  uint8_t bytes[kWave];
};

void find_lanes(Wave& wave, const Instruction& i, Bounded& found) {
  const uint32_t* const descriptor = &wave.s[i.scalar_destination];
  constexpr uint32_t kAddsLane = 1u << 23;
  if ((descriptor[1] & kSwizzled) || (descriptor[3] & kAddsLane)) throw Stop("a swizzled buffer");
  const bool indexed = i.op_sel & kIndexRegister, offset = i.op_sel & kOffsetRegister;
  const uint64_t base = joined(descriptor[0], descriptor[1] & 0xFFFF), stride = descriptor[1] >> 16 & 0x3FFF;
  const uint64_t records = indexed && stride ? descriptor[2] * stride : descriptor[2];
  const uint64_t scalar = scalar_word(wave, i, i.source[2].code);
  const uint32_t* row = wave.v(i.source[0].row());
  const uint32_t* second = wave.v(i.source[0].row() + (indexed && offset));
  found.parts.global.mask = found.parts.lds.mask = found.parts.scratch.mask = 0;
  const uint32_t bytes = i.access_bytes, word = bytes < 4 ? bytes : 4;
  const uint64_t first = scalar + uint64_t(i.immediate);
  uint64_t whole = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane) {  // whether they take part or not, as above
    const uint64_t at = first + (offset ? second[lane] : 0) + (indexed ? row[lane] * stride : 0);
    whole |= uint64_t(at < records && records - at >= bytes) << lane;
    found.parts.global.at[lane] = base + at;
  }
  found.parts.global.mask = wave.exec() & whole;
  found.partly = wave.exec() & ~whole;
  for (uint64_t rest = found.partly; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t at = found.parts.global.at[lane] - base, left = at < records ? records - at : 0;
    found.at[lane] = base + at;
    found.bytes[lane] = uint8_t(left / word * word);
  }
}

uint8_t* scratch_at(Wave& wave, uint32_t lane, uint64_t offset, uint32_t bytes) {
  if (offset + bytes > wave.scratch_bytes)
    throw Stop("access to scratch at byte " + std::to_string(offset) + " of a work-item that has " +
               std::to_string(wave.scratch_bytes));
  return wave.scratch.data() + size_t(lane) * wave.scratch_bytes + offset;
}

void touch(Wave& wave, Instruction& i, const MemoryOperation& operation, uint32_t lane, uint8_t* where) {
  const uint32_t data = i.source[1].row();
  if (operation.access == Access::kLoad) return load_lane(wave, i.destination, lane, where, operation);
  if (operation.access == Access::kStore) return store_lane(wave, data, lane, where, operation);
  const uint32_t words = operation.bytes / 4;
  const uint64_t value = data_of(wave, data, lane, operation.bytes);
  const bool compares = operation.atomic == AtomicKind::kCompareSwap;
  const uint64_t comparand = compares ? data_of(wave, data + words, lane, operation.bytes) : 0;
  const uint64_t old = run_atomic(operation.atomic, operation.bytes, where, value, comparand);
  if (i.glc) set_data(wave, i.destination, lane, operation.bytes, old);
}

// One word for each lane, one behind the other: the commonest request.
bool is_one_piece(const LaneAddresses& lanes, uint32_t bytes) {
  if (bytes != 4 || lanes.mask != ~0ull) return false;
  uint64_t differs = 0;
  for (uint64_t lane = 0; lane < kWave; ++lane) differs |= lanes.at[lane] ^ (lanes.at[0] + 4 * lane);
  return differs == 0;
}

// Of all lanes at once: false where it takes a look at each.
bool touch_words(Wave& wave, Instruction& i, const MemoryOperation& operation, const LaneAddresses& lanes) {
  if (operation.width != Width::kWords || operation.access == Access::kAtomic || !lanes.mask) return false;
  if (is_one_piece(lanes, operation.bytes)) {
    auto* const piece = reinterpret_cast<uint8_t*>(lanes.at[0]);
    if (lanes.at[0] < i.range_begin || lanes.at[0] + sizeof(Row) > i.range_end) return false;
    if (operation.access == Access::kLoad)
      std::memcpy(wave.v(i.destination), piece, sizeof(Row));
    else
      std::memcpy(piece, wave.v(i.source[1].row()), sizeof(Row));
    return true;
  }
  const Extent extent = extent_of(lanes);
  if (extent.least < i.range_begin || extent.most + operation.bytes > i.range_end) return false;
  if (operation.access == Access::kLoad)
    load_words(wave, i.destination, operation.bytes / 4u, lanes, 0);
  else
    store_words(wave, i.source[1].row(), operation.bytes / 4u, lanes, 0);
  return true;
}

void run_parts(Wave& wave, Instruction& i, const Parts& parts) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  if (wave.observer) {
    if (parts.global.mask) observe(wave, i, Space::kGlobal, parts.global, operation.bytes);
    if (parts.scratch.mask) observe(wave, i, Space::kScratch, parts.scratch, operation.bytes);
    if (parts.lds.mask) observe(wave, i, Space::kLds, parts.lds, operation.bytes);
  }
  const bool touched = touch_words(wave, i, operation, parts.global);
  for (uint64_t rest = touched ? 0 : parts.global.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    require_mapped(i, parts.global.at[lane], operation.bytes, lane);
    touch(wave, i, operation, lane, reinterpret_cast<uint8_t*>(parts.global.at[lane]));
  }
  for (uint64_t rest = parts.lds.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    touch(wave, i, operation, lane, lds_at(wave, parts.lds.at[lane], operation.bytes));
  }
  for (uint64_t rest = parts.scratch.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    touch(wave, i, operation, lane, scratch_at(wave, lane, parts.scratch.at[lane], operation.bytes));
  }
}

// As LLVM's intrinsics for loads to LDS say and Triton's code expects: each lane's words lie behind those of the lane
// before, whether that one is on or not; the instruction's offset counts on both sides. Lanes beyond a buffer's end store
// zeros.
void load_to_lds(Wave& wave, Instruction& i, const LaneAddresses& from, const Bounded* beyond) {
  const uint32_t bytes = i.access_bytes;
  LaneAddresses to;
  to.mask = wave.exec();
  for (uint32_t lane = 0; lane < kWave; ++lane)
    to.at[lane] = uint32_t(wave.s[kM0] + uint32_t(i.immediate) + lane * bytes);
  observe(wave, i, Space::kGlobal, from, bytes);
  const uint32_t site = std::exchange(i.site, i.lds_site);
  i.access = Access::kStore;
  observe(wave, i, Space::kLds, to, bytes);
  i.access = Access::kLoad;
  i.site = site;
  for (uint64_t rest = to.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const bool whole = from.mask >> lane & 1;
    const uint64_t at = whole ? from.at[lane] : beyond->at[lane];
    const uint32_t inside = whole ? bytes : beyond->bytes[lane];
    uint8_t copy[16] = {};
    if (inside) require_mapped(i, at, inside, lane);
    if (inside) std::memcpy(copy, reinterpret_cast<const void*>(at), inside);
    std::memcpy(lds_at(wave, to.at[lane], bytes), copy, bytes);
  }
}

void run_flat(Wave& wave, Instruction& i) {
  const Parts parts = flat_parts(wave, i);
  if (i.to_lds) return load_to_lds(wave, i, parts.global, nullptr);
  run_parts(wave, i, parts);
}

void run_buffer(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  if (is_scratch(&wave.s[i.scalar_destination])) return run_parts(wave, i, scratch_parts(wave, i));
  Bounded found;
  find_lanes(wave, i, found);
  if (i.to_lds) return load_to_lds(wave, i, found.parts.global, &found);
  if (found.parts.global.mask) run_parts(wave, i, found.parts);
  for (uint64_t rest = found.partly; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest)), inside = found.bytes[lane];
    uint8_t* const where = reinterpret_cast<uint8_t*>(found.at[lane]);
    uint8_t copy[16] = {};
    if (inside) require_mapped(i, found.at[lane], inside, lane);
    if (operation.access == Access::kLoad) {
      if (inside) std::memcpy(copy, where, inside);
      load_lane(wave, i.destination, lane, copy, operation);
    } else if (operation.access == Access::kStore) {
      store_lane(wave, i.source[1].row(), lane, copy, operation);
      if (inside) std::memcpy(where, copy, inside);
    } else if (i.glc) {
      set_data(wave, i.destination, lane, operation.bytes, 0);
    }
  }
}

void nothing(Wave&, Instruction&) {}

// On gfx942 bit 15 (SC1) tells whether other groups are meant.
void write_back(Wave& wave, Instruction& i) { observe_order(wave, Order::kWrittenBack, i.words[0] >> 15 & 1); }
void invalidate(Wave& wave, Instruction& i) { observe_order(wave, Order::kInvalidated, i.words[0] >> 15 & 1); }
void invalidate_always(Wave& wave, Instruction&) { observe_order(wave, Order::kInvalidated, true); }

}  // namespace

void load_words(Wave& wave, uint32_t row, uint32_t words, const LaneAddresses& lanes, uint64_t base) {
  for (uint32_t n = 0; n < words; ++n) {
    uint32_t* const values = wave.v(row + n);
    const auto load = [&](uint32_t lane) {
      std::memcpy(&values[lane], reinterpret_cast<const uint8_t*>(base + lanes.at[lane] + 4 * n), 4);
    };
    if (lanes.mask == ~0ull)
      for (uint32_t lane = 0; lane < kWave; ++lane) load(lane);
    else
      for (uint64_t rest = lanes.mask; rest; rest &= rest - 1) load(uint32_t(__builtin_ctzll(rest)));
  }
}

void store_words(Wave& wave, uint32_t row, uint32_t words, const LaneAddresses& lanes, uint64_t base) {
  const Row* const values = &wave.v(row);
  const auto store = [&](uint32_t lane) {
    auto* const place = reinterpret_cast<uint8_t*>(base + lanes.at[lane]);
    for (uint32_t n = 0; n < words; ++n) std::memcpy(place + 4 * n, &values[n][lane], 4);
  };
  if (lanes.mask == ~0ull)
    for (uint32_t lane = 0; lane < kWave; ++lane) store(lane);
  else
    for (uint64_t rest = lanes.mask; rest; rest &= rest - 1) store(uint32_t(__builtin_ctzll(rest)));
}

Extent extent_of(const LaneAddresses& lanes) {
  Extent found;
  const auto take = [&](uint64_t at) {
    found.least = std::min(found.least, at);
    found.most = std::max(found.most, at);
  };
  if (lanes.mask == ~0ull)
    for (const uint64_t at : lanes.at) take(at);
  else
    for (uint64_t rest = lanes.mask; rest; rest &= rest - 1) take(lanes.at[__builtin_ctzll(rest)]);
  return found;
}

void load_lane(Wave& wave, uint32_t destination, uint32_t lane, const void* from, const MemoryOperation& operation) {
  if (operation.width == Width::kWords) {
    for (uint32_t n = 0; n < operation.bytes / 4u; ++n)
      std::memcpy(&wave.v(destination + n)[lane], static_cast<const uint8_t*>(from) + 4 * n, 4);
    return;
  }
  uint16_t raw = 0;
  std::memcpy(&raw, from, operation.bytes);
  uint32_t& word = wave.v(destination)[lane];
  const uint32_t low = word & 0xFFFF, high = word & 0xFFFF0000u;
  const uint16_t extended = uint16_t(int16_t(int8_t(raw)));
  switch (operation.width) {
    case Width::kU8:
    case Width::kU16:
      word = raw;
      break;
    case Width::kI8:
      word = uint32_t(int32_t(int8_t(raw)));
      break;
    case Width::kI16:
      word = uint32_t(int32_t(int16_t(raw)));
      break;
    case Width::kU8Low:
    case Width::kLow:
      word = high | raw;
      break;
    case Width::kU8High:
    case Width::kHigh:
      word = low | uint32_t(raw) << 16;
      break;
    case Width::kI8Low:
      word = high | extended;
      break;
    default:
      word = low | uint32_t(extended) << 16;
      break;
  }
}

void store_lane(Wave& wave, uint32_t source, uint32_t lane, void* to, const MemoryOperation& operation) {
  if (operation.width == Width::kWords) {
    for (uint32_t n = 0; n < operation.bytes / 4u; ++n)
      std::memcpy(static_cast<uint8_t*>(to) + 4 * n, &wave.v(source + n)[lane], 4);
    return;
  }
  const bool upper = operation.width == Width::kHigh || operation.width == Width::kU8High;
  const uint32_t word = wave.v(source)[lane] >> (upper ? 16 : 0);
  std::memcpy(to, &word, operation.bytes);
}

uint64_t data_of(Wave& wave, uint32_t row, uint32_t lane, uint32_t bytes) {
  return joined(wave.v(row)[lane], bytes == 8 ? wave.v(row + 1)[lane] : 0);
}

void set_data(Wave& wave, uint32_t row, uint32_t lane, uint32_t bytes, uint64_t value) {
  wave.v(row)[lane] = low_half(value);
  if (bytes == 8) wave.v(row + 1)[lane] = high_half(value);
}

bool bind_memory(const std::string& mnemonic, Instruction& i) {
  static const Table* const table = new Table(make_operations());
  static const std::map<std::string, Execute> caches = {{"buffer_wbl2", write_back},
                                                        {"buffer_inv", invalidate},
                                                        {"buffer_wbinvl1", invalidate_always},
                                                        {"buffer_wbinvl1_vol", invalidate_always},
                                                        {"buffer_invl2", nothing}};
  const auto cache = caches.find(mnemonic);
  if (cache != caches.end()) {
    i.execute = cache->second;
    return true;
  }
  const auto found = table->find(mnemonic.substr(mnemonic.find('_') + 1));
  if (found == table->end()) return false;
  i.to_lds |= mnemonic.find("_lds_") != std::string::npos;
  if (i.to_lds && (found->second.access != Access::kLoad || found->second.width != Width::kWords)) return false;
  i.semantics = &found->second;
  i.execute = i.format == Format::kBuffer ? run_buffer : run_flat;
  i.space = i.format == Format::kFlat && i.op_sel == kScratchSegment ? Space::kScratch : Space::kGlobal;
  i.access = found->second.access;
  i.access_bytes = found->second.bytes;
  return true;
}

}  // namespace machine
