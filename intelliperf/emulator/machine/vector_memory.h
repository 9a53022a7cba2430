// How a value of memory becomes a register and back, for LDS, flat, global, scratch and buffer instructions alike.
#pragma once
#include <string>

#include "device_memory.h"

namespace machine {

enum class Width : uint8_t { kU8, kI8, kU16, kI16, kU8Low, kU8High, kI8Low, kI8High, kLow, kHigh, kWords };

struct MemoryOperation {
  Access access = Access::kNone;
  Width width = Width::kWords;
  uint8_t bytes = 4;  // at one address
  AtomicKind atomic = AtomicKind::kSwap;
  bool returns = false;    // LDS; elsewhere the instruction's GLC bit tells
  uint8_t addresses = 1;   // two for ds_read2 and ds_write2
  uint16_t stride = 1;     // what their offsets count
  uint8_t transposed = 0;  // bits of the elements that change lanes; 0: none do
};

// gfx950's transposing reads of LDS: sixteen lanes read a tile of as many columns, row by row, each its 64 bits of it, and
// get one column each. Seen in Triton's code for products of halves and bytes, whose results are right with this order.
constexpr uint32_t kTileColumns = 16;
struct TileElement {
  uint32_t lane, element;  // who has read it, and as which of its own
};
inline TileElement tile_element(uint32_t lane, uint32_t row, uint32_t elements) {
  const uint32_t column = lane % kTileColumns, first = lane - column;
  return {first + kTileColumns / elements * row + column / elements, column % elements};
}

void load_lane(Wave& wave, uint32_t destination, uint32_t lane, const void* from, const MemoryOperation& operation);
void store_lane(Wave& wave, uint32_t source, uint32_t lane, void* to, const MemoryOperation& operation);
// A row of registers for each of `words` words, at the lanes' addresses above `base`, which must hold them.
void load_words(Wave& wave, uint32_t row, uint32_t words, const LaneAddresses& lanes, uint64_t base);
void store_words(Wave& wave, uint32_t row, uint32_t words, const LaneAddresses& lanes, uint64_t base);
// Of the active lanes.
struct Extent {
  uint64_t least = ~0ull, most = 0;
};
Extent extent_of(const LaneAddresses& lanes);
uint64_t data_of(Wave& wave, uint32_t row, uint32_t lane, uint32_t bytes);
void set_data(Wave& wave, uint32_t row, uint32_t lane, uint32_t bytes, uint64_t value);

// Bytes of LDS; raises `Stop` beyond the group's allocation.
uint8_t* lds_at(Wave& wave, uint64_t offset, uint32_t bytes);

}  // namespace machine
