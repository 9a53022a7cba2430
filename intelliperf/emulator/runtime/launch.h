// Boundary between the host side of the runtime (modules, memory, API) and the device side
// (scheduler, analysis, time model, records). Single-threaded: the caller serialises launches.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi.h"

namespace simt {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

// Instructions of one basic block as the container's metadata counts them ("blocks"[i]["mix"]).
struct BlockMix {
  uint32_t f32 = 0, f64 = 0, integer = 0, integer_divide = 0, special = 0;
  uint32_t convert = 0, select = 0, branch = 0, memory = 0, call = 0;
};

// What the compiler for the real target said about a kernel (metadata "static"); known=false if it
// said nothing, and then occupancy is not limited by registers.
struct StaticFacts {
  bool known = false;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0, lds_bytes = 0, scratch_bytes = 0;
};

// A loaded device module. Lives as long as the process; filled by the host side.
struct ModuleImage {
  uint32_t id = 0;                     // the n of module-<n>.json
  const Site* sites = nullptr;         // __simt_sites
  uint32_t site_count = 0;             // __simt_site_count
  uint64_t* block_executions = nullptr;  // __simt_block_executions
  uint32_t block_count = 0;            // __simt_block_count
  const BlockMix* mixes = nullptr;     // block_count entries, or null
  char* shared_begin = nullptr;        // __simt_shared_range
  char* shared_end = nullptr;
  const void* text_begin = nullptr;    // mapped range of the shared object's code: only there may a
  const void* text_end = nullptr;      // lane be preempted; null: lanes of this module never are
  const char* metadata = nullptr;      // JSON, not terminated
  size_t metadata_bytes = 0;
};

using KernelEntry = void (*)(void** arguments);

struct KernelState;  // device side: launches seen, lock-step decision, traced launches

struct Kernel {
  const char* name = nullptr;  // mangled; lives as long as the kernel
  ModuleImage* module = nullptr;
  KernelEntry fast = nullptr;   // K$fast
  KernelEntry trace = nullptr;  // K$trace; null: the kernel is never traced
  uint32_t static_lds = 0;      // bytes
  StaticFacts facts;
  KernelState* state = nullptr;  // owned by the device side, created at the first launch
};

struct LaunchRequest {
  Kernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_lds = 0;  // bytes
  void** arguments = nullptr;
  uint64_t stream = 0;
  bool cooperative = false;
};

struct LaunchOutcome {
  int status = 0;        // 0, or one of LaunchStatus
  double time_ns = 0;    // modelled, launch overhead included
  uint32_t index = 0;    // of its line in launches.jsonl (counted also when nothing is recorded)
};

// Values shared by hipError_t and cudaError_t.
enum LaunchStatus : int {
  kLaunchOk = 0,
  kInvalidConfiguration = 9,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,      // deadlock: no lane can go on
  kAssertFailed = 710,       // device assert
  kLaunchFailed = 719,       // trap
  kCooperativeTooLarge = 720,
  kNotSupported = 801,
};

// Runs the kernel to its end (launches are synchronous inside; streams are a matter of modelled
// time). Never throws. A status >= 700 is sticky by the vendors' rules: the caller keeps it.
LaunchOutcome launch(const LaunchRequest& request);

// Host transfers and memsets: modelled time, and one line in launches.jsonl.
// operation: memcpy_htod, memcpy_dtoh, memcpy_dtod, memset.
double record_transfer(const char* operation, uint64_t bytes, uint64_t stream);

// Writes module-<id>.json. Call once per module, after `id` and `metadata` are set.
void record_module(const ModuleImage& module);

// A fault that the host side found (invalid_free, ...), one line in faults.jsonl.
void record_host_fault(const char* kind, const char* detail);

// Writes end.json with the process's exit status; idempotent. Called from the library's
// destructor and by the interposed _exit/abort of the host side; async-signal-safe enough for
// use in a fatal-signal handler.
void finish_records(bool complete, int exit_status);

// The largest number of resident blocks of this shape on one compute unit
// (hip/cudaOccupancyMaxActiveBlocksPerMultiprocessor), from the device file and static facts.
uint32_t resident_blocks(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds);

// True while device code runs on this thread (fault handlers, re-entrancy guards).
bool device_code_running();

}  // namespace simt
