#include "lds.h"

namespace simt {

void LdsBanks::configure(bool amd, uint32_t wave_size, uint32_t banks, uint64_t lds_bytes) {
  amd_ = amd;
  wave_size_ = wave_size;
  bank_mask_ = banks == 16 || banks == 64 ? banks - 1 : 31;
  if (word_stamp_.size() < lds_bytes / 4 + 8) word_stamp_.resize(lds_bytes / 4 + 8, 0);
}

uint32_t LdsBanks::set_of(uint32_t position, uint32_t bytes) const {
  if (bytes <= 4) return position / 32;
  if (bytes <= 8) return position / 16;
  if (!amd_ || wave_size_ != 64) return position / 8;
  const uint32_t half = position / 32, quad = position % 32 / 4;
  static constexpr uint8_t kSetOfQuad[8] = {0, 1, 2, 3, 1, 0, 3, 2};
  return half * 4 + kSetOfQuad[quad];
}

// Two neighbouring sets of NVIDIA's wide accesses are one where lanes share their words with the next lane or the
// next but one: measured on an H100 for rows of a tile read 16 bytes at a time (2 wavefronts, not 4), see
// benchmarks/hardware. `offset` null: all lanes are on one address.
uint32_t LdsBanks::joined_pairs(const uint64_t* offset, const uint8_t* position, uint32_t lanes, uint32_t bytes) const {
  if (amd_ || bytes <= 4) return 0;
  if (!offset) return 0xF;
  uint32_t odd_out[2] = {0, 0};
  uint64_t at[64];
  uint64_t present = 0;
  for (uint32_t i = 0; i < lanes; ++i) {
    at[position[i]] = offset[i];
    present |= uint64_t(1) << position[i];
  }
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t here = position[i], pair = set_of(here, bytes) / 2;
    for (uint32_t k = 0; k < 2; ++k) {
      const uint32_t other = here ^ (1u << k);
      if ((present >> other & 1) && at[other] != offset[i]) odd_out[k] |= 1u << pair;
    }
  }
  return ~(odd_out[0] & odd_out[1]) & 0xF;
}

uint32_t LdsBanks::ideal(const uint8_t* position, uint32_t lanes, uint32_t bytes, bool uniform) const {
  const uint32_t joined = uniform ? joined_pairs(nullptr, position, lanes, bytes) : 0;
  uint32_t sets = 0;
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t set = set_of(position[i], bytes);
    sets |= 1u << (joined >> (set / 2) & 1 ? set & ~1u : set);
  }
  return uint32_t(__builtin_popcount(sets));
}

// Lanes of one set stand together, so that a word needs to remember only the set that saw it last.
void LdsBanks::arrange_by_set(const uint8_t* position, uint32_t lanes, uint32_t bytes, uint8_t* order) const {
  const bool interleaved = bytes > 8 && amd_ && wave_size_ == 64;
  uint32_t filled = 0;
  for (uint32_t set = 0; set < (interleaved ? 8u : 1u); ++set)
    for (uint32_t i = 0; i < lanes; ++i)
      if (!interleaved || set_of(position[i], bytes) == set) order[filled++] = uint8_t(i);
}

LdsPhases LdsBanks::count(const uint64_t* offset, const uint8_t* position, uint32_t lanes, uint32_t bytes,
                          bool atomic) {
  uint16_t load[8][64] = {};  // different words per set and bank
  uint32_t most[8] = {}, used = 0;
  if (stamp_ > 0xFFFFFF00u) {
    word_stamp_.assign(word_stamp_.size(), 0);
    stamp_ = 0;
  }
  const uint32_t base = stamp_ + 1;
  stamp_ += 8;
  uint8_t order[64];
  arrange_by_set(position, lanes, bytes, order);
  const uint32_t joined = atomic ? 0 : joined_pairs(offset, position, lanes, bytes);
  for (uint32_t k = 0; k < lanes; ++k) {
    const uint32_t i = order[k], own = set_of(position[i], bytes), set = joined >> (own / 2) & 1 ? own & ~1u : own;
    used |= 1u << set;
    const uint64_t last = (offset[i] + bytes - 1) / 4;
    for (uint64_t word = offset[i] / 4; word <= last && word < word_stamp_.size(); ++word) {
      if (!atomic && word_stamp_[word] == base + set) continue;
      word_stamp_[word] = base + set;
      const uint32_t in_bank = ++load[set][word & bank_mask_];
      if (in_bank > most[set]) most[set] = in_bank;
    }
  }
  LdsPhases result{0, uint32_t(__builtin_popcount(used))};
  for (uint32_t set = 0; set < 8; ++set) result.phases += most[set];
  return result;
}

}  // namespace simt
