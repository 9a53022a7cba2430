// The file of records: for each dispatch of a kernel that is looked at a head, its name, then per recorded wave its
// head and its records, whose first words tell site and number of lanes. Every item begins at a multiple of 8 bytes.
#pragma once
#include <cstdint>

namespace intelliperf {

constexpr char kRecordMark[9] = "RECORDS2";

enum class Fate : uint32_t { kRecorded, kBeyondLimit, kNotInstrumented, kNoMemory, kBeside };

struct DispatchHead {
  char mark[8];
  uint64_t identity;  // of the module that holds the kernel
  uint32_t fate, name_bytes;
  uint32_t groups[3], items[3];
  uint32_t recorded_groups, waves_per_group, wave_size, unused;
  uint64_t wanted, kept;  // words
};

struct WaveHead {
  uint32_t group, wave;
  uint64_t words;
};

}  // namespace intelliperf
