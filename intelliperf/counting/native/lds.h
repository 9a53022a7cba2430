// Banks of local data share (shared memory): how many passes a request takes.
#pragma once
#include <cstdint>
#include <vector>

namespace simt {

struct LdsPhases {
  uint32_t phases, ideal;
};

// Which lanes go through together depends on the width of one lane's access.
// NVIDIA, 32 banks of 4 bytes (CUDA C++ Programming Guide, "Shared Memory"; checked against the wavefronts
// that Nsight Compute computes): up to 4 bytes the whole warp, 8 bytes half warps, 16 bytes quarter warps,
// of which two side by side are one where neighbouring lanes share their words.
// AMD wave64 (as AMD's omniprobe documents for CDNA): up to 4 bytes halves of 32, 8 bytes groups of 16 lanes,
// 16 bytes the eight interleaved sets {0–3, 20–23}, {4–7, 16–19}, {8–11, 28–31}, {12–15, 24–27} and the same
// from lane 32 on. Within a set the passes are the largest number of different words in one bank; lanes that
// read one word share a pass; atomics of several lanes on one word do not.
class LdsBanks {
 public:
  void configure(bool amd, uint32_t wave_size, uint32_t banks, uint64_t lds_bytes);
  LdsPhases count(const uint64_t* offset, const uint8_t* position, uint32_t lanes, uint32_t bytes, bool atomic);
  // For requests known to be free of conflicts (consecutive or uniform addresses).
  uint32_t ideal(const uint8_t* position, uint32_t lanes, uint32_t bytes, bool uniform) const;

 private:
  void arrange_by_set(const uint8_t* position, uint32_t lanes, uint32_t bytes, uint8_t* order) const;
  uint32_t set_of(uint32_t position, uint32_t bytes) const;
  uint32_t joined_pairs(const uint64_t* offset, const uint8_t* position, uint32_t lanes, uint32_t bytes) const;

  bool amd_ = true;
  uint32_t wave_size_ = 64, bank_mask_ = 31, stamp_ = 0;  // the number of banks is a power of two
  std::vector<uint32_t> word_stamp_;                      // the last set in which a word was seen
};

}  // namespace simt
