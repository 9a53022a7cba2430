// What instrumented code and the tools library agree on. The variable is in device memory, one per code object.
//
// All recorded waves take their room from one pool by one cursor, so that a busy wave has what idle ones leave. Both are
// in the memory of the device that runs the dispatch. A record is 8-byte words: site and wave, the mask of the lanes,
// the address of each lane by ascending lane. The cursor counts the words that were wanted, also those for which there
// was no more room.
#pragma once
#include <cstdint>

namespace intelliperf {

constexpr char kRecordsVariable[] = "__intelliperf_records";

struct RecordsVariable {
  uint64_t identity;  // of the module, as in the table of its sites
  uint64_t slots;     // uint32_t per work-group: its number among the recorded ones, or kNotRecorded; 0: none is
  uint64_t pool;      // PoolHead, then pool_words words
  uint64_t pool_words;
  uint32_t waves_per_group;
  uint32_t groups[2];  // of the grid, in x and y
  uint32_t items[2];   // of a work-group, in x and y
  uint32_t group_count;
};

struct PoolHead {
  uint64_t cursor;
  uint64_t unused[7];  // a cache line of its own
};

constexpr uint32_t kNotRecorded = 0xFFFFFFFF;
constexpr uint64_t kSharedTag = uint64_t(1) << 62, kPrivateTag = uint64_t(1) << 63;  // of a flat address
constexpr uint32_t kRecordWords = 2;                                                 // before the addresses
constexpr uint32_t kMostLanes = 64;

}  // namespace intelliperf
