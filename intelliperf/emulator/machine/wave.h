// What one wave of 64 work-items and its work-group consist of.
#pragma once
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bits.h"

namespace machine {

constexpr uint32_t kWave = 64;
constexpr uint32_t kVectorRegisters = 256, kAccumulators = 256;
constexpr uint64_t kSharedAperture = 1ull << 48, kPrivateAperture = 1ull << 49, kApertureBytes = 1ull << 32;

// Scalar registers by their number in the encoding.
enum ScalarRegister : uint16_t { kFlatScratch = 102, kVcc = 106, kM0 = 124, kExec = 126 };

using Row = uint32_t[kWave];  // one vector register: a word per lane

// Ends the dispatch, and with it the process, in words for the user.
struct Stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Of these an access to what is not memory of the device.
struct Fault : Stop {
  Fault(const std::string& what, uint64_t where, uint32_t by) : Stop(what), address(where), lane(by) {}
  uint64_t address;
  uint32_t lane;
};

enum class State : uint8_t { kRunning, kAtBarrier, kEnded };

class Observer;
class Follower;

struct Freed {
  void operator()(Row* rows) const { std::free(rows); }
};

struct Wave {
  Wave() : registers(static_cast<Row*>(std::calloc(kVectorRegisters + kAccumulators, sizeof(Row)))) {}

  uint64_t pair(uint32_t index) const { return joined(s[index], s[index + 1]); }
  void set_pair(uint32_t index, uint64_t value) {
    s[index] = low_half(value);
    s[index + 1] = high_half(value);
  }
  uint64_t exec() const { return pair(kExec); }
  uint64_t vcc() const { return pair(kVcc); }
  Row& v(uint32_t index) { return registers[index]; }

  uint32_t s[128] = {};
  bool scc = false;
  uint64_t pc = 0;
  uint32_t mode = 0;                        // as the hardware's MODE register: rounding, denormals, DX10 clamp, IEEE
  std::unique_ptr<Row[], Freed> registers;  // vector registers, then accumulators
  State state = State::kRunning;
  bool turn = true;        // see run_wave
  uint8_t* lds = nullptr;  // of its group
  uint64_t lds_bytes = 0;
  std::vector<uint8_t> scratch;  // lane by lane
  uint32_t scratch_bytes = 0;    // per lane
  uint32_t number_in_group = 0, dispatch_number = 0;
  Observer* observer = nullptr;  // told of its requests; null: nobody is
  Follower* follower = nullptr;  // of its instructions; likewise
};

}  // namespace machine
