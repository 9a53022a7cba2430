// What one machine instruction cost, over all its executions that were recorded.
#pragma once
#include <cstdint>
#include <vector>

#include "hot_addresses.h"
#include "lds.h"
#include "records.h"

namespace intelliperf {

// One part of what a lane asks for; most instructions have one, those on two places of LDS two.
struct Part {
  int64_t displacement;  // from the recorded address
  uint32_t bytes;
};

enum class Kind : char { kLoad = 'l', kStore = 's', kAtomic = 'a' };

struct Access {
  uint64_t identity;  // of the module
  uint32_t site;      // whose records tell of it
  Kind kind;
  std::vector<Part> parts;
};

struct Sums {
  double requests = 0, sectors = 0, lds_phases = 0;
};

struct Figures {
  uint64_t executions = 0, lanes = 0, bytes = 0;
  uint64_t global_requests = 0, global_lanes = 0, global_bytes = 0, lds_requests = 0, private_requests = 0;
  uint64_t sectors = 0, sectors_ideal = 0, lines64 = 0, lines128 = 0, lines128_ideal = 0;
  uint64_t lds_phases = 0, lds_phases_ideal = 0;
  uint64_t same_address = 0;
  Sums squares, before;  // of each work-group's own, for the error of a sample
  simt::HotAddresses hot;

  void end_group();
};

struct Lanes {
  uint64_t address[kMostLanes];
  uint8_t position[kMostLanes];
  uint32_t count = 0;
  void add(uint64_t at, uint8_t lane) {
    address[count] = at;
    position[count++] = lane;
  }
};

enum class Memory { kGlobal, kLds, kPrivate, kFlat };

class Counter {
 public:
  Counter(uint32_t wave_size, uint32_t banks);
  // Flat addresses bear a tag that tells the memory, see records.h.
  void count(const Access& access, Memory memory, const Lanes& lanes, Figures& figures);

 private:
  void count_global(const Access& access, const Lanes& lanes, Figures& figures) const;
  void count_lds(const Access& access, const Lanes& lanes, Figures& figures);
  simt::LdsBanks banks_;
};

}  // namespace intelliperf
