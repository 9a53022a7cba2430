// What every function of the host API goes through: the lock, the vendor whose name was called, last and
// sticky errors.
#pragma once
#include <cstdint>

#include "launch.h"
#include "memory.h"

namespace simt {

enum class Vendor : uint8_t { kHip, kCuda };

// The codes that the core returns by name; the full table is include/simt/host_errors.h.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidPitch = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kUnsupportedLimit = 215,
  kInvalidHandle = 400,
  kNotReady = 600,
  kOutOfResources = 701,
  kPeerAccessNotEnabled = 705,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureUnmatched = 903,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
};

const char* error_name(Vendor vendor, int error);
const char* error_text(Vendor vendor, int error);

// One call of the API: holds the lock while it lives.
class Call {
 public:
  explicit Call(Vendor vendor);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  // The sticky error, if there is one.
  int sticky() const;
  // Remembers an error as the thread's last one and returns it.
  int done(int error) const;

 private:
  Vendor before_;
};

// How many calls and steps of graphs there have been that may have changed what device memory holds.
uint64_t calls_with_effect();
void note_effect();
void note_no_effect();  // of the call that this is in: it waits or looks at the clock, say

Vendor current_vendor();  // of the call that this thread is in
void set_sticky_error(int error);
void clear_errors();    // device reset
int take_last_error();  // and forget it, unless it is sticky
int peek_last_error();
// One line on stderr, once per function; returns kNotSupported.
int not_supported(const char* function);

// Attributes of the modelled device as the APIs name them.
struct DeviceLimits {
  int threads_per_block, block[3], grid[3];
  int shared_per_block, shared_per_block_optin, shared_per_compute_unit;
  int constant_bytes, wave_size, registers_per_block, registers_per_compute_unit;
  int clock_khz, wall_clock_khz, memory_clock_khz, memory_bus_bits;
  int compute_units, threads_per_compute_unit, blocks_per_compute_unit;
  int l2_bytes, texture_alignment, texture_width, texture_depth, major, minor, single_to_double;
};
const DeviceLimits& device_limits();

}  // namespace simt
