// Boundary between the host side of the runtime (modules, memory, API) and the device side
// (scheduler, analysis, time model, records). The caller holds api_lock() during a launch.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi.h"
#include "modules.h"
#include "stream_order.h"

namespace simt {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchRequest {
  Kernel* kernel = nullptr;  // loaded; `state` is used by the device side
  Dim3 grid, block;
  uint32_t dynamic_lds = 0;  // bytes
  void** arguments = nullptr;
  uint64_t stream = 0;
  StreamPlace place;
  bool cooperative = false;
  double most_seconds = 0;  // of the processor; 0: as many as it takes
  bool altered = false;     // with other numbers than the application's
  bool watched = false;     // every access is checked; see LaunchOutcome::out_of_bounds
};

// Of the buffer for dynamic LDS: a GPU's own code has all of its LDS there, the fixed part first.
uint32_t dynamic_shared_bytes(const LaunchRequest& request);

struct LaunchOutcome {
  int status = 0;      // 0, or one of LaunchStatus
  double time_ns = 0;  // modelled, launch overhead included
  bool out_of_bounds =
      false;             // of a watched launch: some access was, or was misaligned, though nothing may have stopped it
  bool divided = false;  // of an altered launch that ended: by zero, which stops no GPU and gives nobody knows what
  bool raced = false;    // of one, too: an update got lost, or accesses to LDS were not ordered
  uint32_t index = 0;    // of its line in launches.jsonl (counted also when nothing is recorded)
};

// Values shared by hipError_t and cudaError_t.
enum LaunchStatus : int {
  kLaunchOk = 0,
  kInvalidConfiguration = 9,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,  // deadlock: no lane can continue
  kAssertFailed = 710,   // device assert
  kLaunchFailed = 719,   // trap
  kCooperativeTooLarge = 720,
  // Neither vendor's, of altered launches: see LaunchOutcome::divided and LaunchOutcome::raced.
  kDivided = 798,
  kRaced = 799,
  kNotSupported = 801,
};

// Runs the kernel to its end (launches are synchronous inside; streams are a matter of modelled
// time). Never throws. A status >= 700 is sticky by the vendors' rules: the caller keeps it.
LaunchOutcome launch(const LaunchRequest& request);

// Host transfers and memsets: modelled time, and one line in launches.jsonl.
// operation: memcpy_htod, memcpy_dtoh, memcpy_dtod, memset.
struct Transferred {
  uint32_t index;  // of its line
  double time_ns;
};
Transferred record_transfer(const char* operation, uint64_t bytes, uint64_t stream);

// Writes module-<id>.json from module.metadata_text. Call once, when the module is loaded.
void record_module(const Module& module);
std::string code_object_name(uint32_t id);  // of its file beside the records

// A fault that the host side found (invalid_free, damaged canaries …): one line in faults.jsonl.
// `detail` is an additional key=text for people; may be null.
void record_host_fault(const char* kind, const char* detail);

// Writes end.json with the process's exit status; idempotent. Called from the library's
// destructor, by the interposed _exit/abort, and from fatal-signal handlers.
void finish_records(bool complete, int exit_status);

// Ends the process in order after so many launches, as settings().stop_after asks: what it has printed is written, its
// records are closed, end.json names the number. Handlers of the application are not run.
[[noreturn]] void stop_after(uint64_t launches);

// The largest number of resident blocks of this shape on one compute unit
// (hip/cudaOccupancyMaxActiveBlocksPerMultiprocessor), from the device file and static facts.
uint32_t resident_blocks(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds);

// True while device code runs on this thread.
bool device_code_running();

}  // namespace simt
