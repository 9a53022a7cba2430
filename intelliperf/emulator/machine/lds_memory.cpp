// Instructions on local data share, and those that use its network to move values between lanes.
#include <cstring>
#include <map>

#include "decode.h"
#include "operands.h"
#include "vector_memory.h"

namespace machine {
namespace {

constexpr MemoryOperation load(Width width, uint8_t bytes) { return {Access::kLoad, width, bytes}; }
constexpr MemoryOperation store(Width width, uint8_t bytes) { return {Access::kStore, width, bytes}; }
constexpr MemoryOperation load_two(uint8_t bytes, uint16_t stride) {
  return {Access::kLoad, Width::kWords, bytes, AtomicKind::kSwap, false, 2, stride};
}
constexpr MemoryOperation store_two(uint8_t bytes, uint16_t stride) {
  return {Access::kStore, Width::kWords, bytes, AtomicKind::kSwap, false, 2, stride};
}

constexpr MemoryOperation load_transposed(uint8_t bits) {
  return {Access::kLoad, Width::kWords, 8, AtomicKind::kSwap, false, 1, 1, bits};
}

using Table = std::map<std::string, MemoryOperation>;

void add_atomic(Table& table, const std::string& name, const std::string& type, AtomicKind kind, uint8_t bytes) {
  table["ds_" + name + "_" + type] = {Access::kAtomic, Width::kWords, bytes, kind, false};
  table["ds_" + name + "_rtn_" + type] = {Access::kAtomic, Width::kWords, bytes, kind, true};
}

void add_atomics(Table& table, const std::string& width, uint8_t bytes) {
  const std::string u = "u" + width, i = "i" + width, b = "b" + width, f = "f" + width;
  add_atomic(table, "add", u, AtomicKind::kAdd, bytes);
  add_atomic(table, "sub", u, AtomicKind::kSub, bytes);
  add_atomic(table, "rsub", u, AtomicKind::kReverseSub, bytes);
  add_atomic(table, "inc", u, AtomicKind::kIncrement, bytes);
  add_atomic(table, "dec", u, AtomicKind::kDecrement, bytes);
  add_atomic(table, "min", i, AtomicKind::kMinSigned, bytes);
  add_atomic(table, "max", i, AtomicKind::kMaxSigned, bytes);
  add_atomic(table, "min", u, AtomicKind::kMinUnsigned, bytes);
  add_atomic(table, "max", u, AtomicKind::kMaxUnsigned, bytes);
  add_atomic(table, "and", b, AtomicKind::kAnd, bytes);
  add_atomic(table, "or", b, AtomicKind::kOr, bytes);
  add_atomic(table, "xor", b, AtomicKind::kXor, bytes);
  add_atomic(table, "wrxchg", b, AtomicKind::kSwap, bytes);
  add_atomic(table, "cmpst", b, AtomicKind::kCompareSwap, bytes);
  add_atomic(table, "add", f, AtomicKind::kAddFloat, bytes);
  add_atomic(table, "min", f, AtomicKind::kMinFloat, bytes);
  add_atomic(table, "max", f, AtomicKind::kMaxFloat, bytes);
}

const Table& operations() {
  static const Table* const table = [] {
    auto* const filled = new Table{
        {"ds_read_u8", load(Width::kU8, 1)},
        {"ds_read_i8", load(Width::kI8, 1)},
        {"ds_read_u16", load(Width::kU16, 2)},
        {"ds_read_i16", load(Width::kI16, 2)},
        {"ds_read_u8_d16", load(Width::kU8Low, 1)},
        {"ds_read_u8_d16_hi", load(Width::kU8High, 1)},
        {"ds_read_i8_d16", load(Width::kI8Low, 1)},
        {"ds_read_i8_d16_hi", load(Width::kI8High, 1)},
        {"ds_read_u16_d16", load(Width::kLow, 2)},
        {"ds_read_u16_d16_hi", load(Width::kHigh, 2)},
        {"ds_read_b32", load(Width::kWords, 4)},
        {"ds_read_b64", load(Width::kWords, 8)},
        {"ds_read_b96", load(Width::kWords, 12)},
        {"ds_read_b128", load(Width::kWords, 16)},
        {"ds_read_b64_tr_b16", load_transposed(16)},
        {"ds_read_b64_tr_b8", load_transposed(8)},
        {"ds_read2_b32", load_two(4, 4)},
        {"ds_read2_b64", load_two(8, 8)},
        {"ds_read2st64_b32", load_two(4, 256)},
        {"ds_read2st64_b64", load_two(8, 512)},
        {"ds_write_b8", store(Width::kU8, 1)},
        {"ds_write_b16", store(Width::kU16, 2)},
        {"ds_write_b8_d16_hi", store(Width::kU8High, 1)},
        {"ds_write_b16_d16_hi", store(Width::kHigh, 2)},
        {"ds_write_b32", store(Width::kWords, 4)},
        {"ds_write_b64", store(Width::kWords, 8)},
        {"ds_write_b96", store(Width::kWords, 12)},
        {"ds_write_b128", store(Width::kWords, 16)},
        {"ds_write2_b32", store_two(4, 4)},
        {"ds_write2_b64", store_two(8, 8)},
        {"ds_write2st64_b32", store_two(4, 256)},
        {"ds_write2st64_b64", store_two(8, 512)},
    };
    add_atomics(*filled, "32", 4);
    add_atomics(*filled, "64", 8);
    return filled;
  }();
  return *table;
}

LaneAddresses addresses_of(Wave& wave, Instruction& i, uint32_t offset) {
  LaneAddresses addresses;
  addresses.mask = wave.exec();
  const uint32_t* base = wave.v(i.source[0].row());
  for (uint32_t lane = 0; lane < kWave; ++lane) addresses.at[lane] = uint32_t(base[lane] + offset);
  return addresses;
}

void run_atomics(Wave& wave, Instruction& i, const MemoryOperation& operation) {
  const LaneAddresses addresses = addresses_of(wave, i, uint32_t(i.immediate));
  observe(wave, i, Space::kLds, addresses, operation.bytes);
  const bool compares = operation.atomic == AtomicKind::kCompareSwap;
  const uint32_t first = i.source[1].row(), second = i.source[2].row();
  for (uint64_t rest = addresses.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t value = data_of(wave, compares ? second : first, lane, operation.bytes);
    const uint64_t comparand = compares ? data_of(wave, first, lane, operation.bytes) : 0;
    const uint64_t old = run_atomic(operation.atomic, operation.bytes,
                                    lds_at(wave, addresses.at[lane], operation.bytes), value, comparand);
    if (operation.returns) set_data(wave, i.destination, lane, operation.bytes, old);
  }
}

void run_lds(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  if (operation.access == Access::kAtomic) return run_atomics(wave, i, operation);
  LaneValues base;  // the destination may be the address
  std::memcpy(base.bytes, wave.v(i.source[0].row()), sizeof(Row));
  for (uint32_t n = 0; n < operation.addresses; ++n) {
    const uint32_t part = uint32_t(i.immediate) >> 8 * n & 0xFF;
    const uint32_t offset = operation.addresses == 1 ? uint32_t(i.immediate) : part * operation.stride;
    LaneAddresses addresses;
    addresses.mask = wave.exec();
    for (uint32_t lane = 0; lane < kWave; ++lane) addresses.at[lane] = uint32_t(base.words()[lane] + offset);
    observe(wave, i, Space::kLds, addresses, operation.bytes);
    const bool moved =
        operation.width == Width::kWords && extent_of(addresses).most + operation.bytes <= wave.lds_bytes;
    const uint32_t words = operation.bytes / 4u;
    const auto lds = reinterpret_cast<uint64_t>(wave.lds);
    if (moved && operation.access == Access::kLoad)
      load_words(wave, i.destination + n * words, words, addresses, lds);
    else if (moved)
      store_words(wave, i.source[1 + n].row(), words, addresses, lds);
    for (uint64_t rest = moved ? 0 : addresses.mask; rest; rest &= rest - 1) {
      const uint32_t lane = uint32_t(__builtin_ctzll(rest));
      uint8_t* const where = lds_at(wave, addresses.at[lane], operation.bytes);
      if (operation.access == Access::kLoad)
        load_lane(wave, i.destination + n * operation.bytes / 4, lane, where, operation);
      else
        store_lane(wave, i.source[1 + n].row(), lane, where, operation);
    }
  }
}

void read_transposed(Wave& wave, Instruction& i) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  const uint32_t bits = operation.transposed, elements = 64 / bits;
  const LaneAddresses from = addresses_of(wave, i, uint32_t(i.immediate));
  for (uint32_t first = 0; first < kWave; first += kTileColumns) {
    const uint64_t tile = from.mask >> first & 0xFFFF;
    if (tile != 0 && tile != 0xFFFF) throw Stop(i.text + " while some lanes of a tile are off");
  }
  observe(wave, i, Space::kLds, from, operation.bytes);
  uint64_t words[kWave] = {};
  LaneValues out = {};
  for (uint64_t rest = from.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    std::memcpy(&words[lane], lds_at(wave, from.at[lane], operation.bytes), sizeof words[lane]);
  }
  for (uint32_t lane = 0; lane < kWave; ++lane)
    for (uint32_t row = 0; row < elements; ++row) {
      const TileElement origin = tile_element(lane, row, elements);
      const uint64_t element = words[origin.lane] >> bits * origin.element & ((1ull << bits) - 1);
      out.longs()[lane] |= element << bits * row;
    }
  write_longs(wave, i.destination, out.longs(), from.mask);
}

// ds_permute: each lane sends; ds_bpermute: each lane fetches. Addresses count bytes of a row of 64 words.
void permute(Wave& wave, Instruction& i) {
  LaneValues out = {};
  const LaneAddresses to = addresses_of(wave, i, uint32_t(i.immediate));
  const uint32_t* values = wave.v(i.source[1].row());
  for (uint64_t rest = to.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    out.words()[to.at[lane] / 4 % kWave] = values[lane];
  }
  write_words(wave, i.destination, out.words(), to.mask);
}

void fetch_permuted(Wave& wave, Instruction& i) {
  LaneValues out = {};
  const LaneAddresses from = addresses_of(wave, i, uint32_t(i.immediate));
  const uint32_t* values = wave.v(i.source[1].row());
  for (uint64_t rest = from.mask; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest)), source = uint32_t(from.at[lane] / 4 % kWave);
    out.words()[lane] = from.mask >> source & 1 ? values[source] : 0;
  }
  write_words(wave, i.destination, out.words(), from.mask);
}

uint32_t swizzled_lane(uint32_t lane, uint32_t control) {
  const uint32_t half = lane & 32, place = lane & 31;
  if (control >= 0xE000) throw Stop("the swizzle for Fourier transforms");
  if (control >= 0xC000) {  // rotation
    const uint32_t kept = control & 31, amount = control >> 5 & 31;
    const uint32_t moved = control >> 10 & 1 ? place - amount : place + amount;
    return half | ((place & kept) | (moved & ~kept & 31));
  }
  if (control & 0x8000) return (lane & ~3u) | (control >> 2 * (lane & 3) & 3);
  return half | (((place & (control & 31)) | (control >> 5 & 31)) ^ (control >> 10 & 31));
}

void swizzle(Wave& wave, Instruction& i) {
  LaneValues out;
  const uint32_t* values = wave.v(i.source[0].row());
  const uint64_t mask = wave.exec();
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const uint32_t source = swizzled_lane(lane, uint32_t(i.immediate));
    out.words()[lane] = mask >> source & 1 ? values[source] : 0;
  }
  write_words(wave, i.destination, out.words(), mask);
}

void nothing(Wave&, Instruction&) {}

}  // namespace

uint8_t* lds_at(Wave& wave, uint64_t offset, uint32_t bytes) {
  if (offset + bytes > wave.lds_bytes)
    throw Stop("access to LDS at byte " + std::to_string(offset) + " of a group that has " +
               std::to_string(wave.lds_bytes));
  return wave.lds + offset;
}

bool bind_lds(const std::string& mnemonic, Instruction& i) {
  static const std::map<std::string, Execute> movers = {{"ds_permute_b32", permute},
                                                        {"ds_bpermute_b32", fetch_permuted},
                                                        {"ds_swizzle_b32", swizzle},
                                                        {"ds_nop", nothing}};
  const auto mover = movers.find(mnemonic);
  if (mover != movers.end()) {
    i.execute = mover->second;
    return true;
  }
  const auto found = operations().find(mnemonic);
  if (found == operations().end()) return false;
  i.semantics = &found->second;
  i.execute = found->second.transposed ? read_transposed : run_lds;
  i.space = Space::kLds;
  i.access = found->second.access;
  i.access_bytes = uint8_t(found->second.bytes * found->second.addresses);
  i.addresses = found->second.addresses;
  return true;
}

}  // namespace machine
