// The binary contract between instrumented device code, the host objects and the runtime.
// Shared by: irpass.py (emits it), include/ (declares the device side), runtime/ (implements it),
// records.py of the emulator (reads the record files). Bump kAbiVersion on any change.
#pragma once
#include <cstdint>

namespace simt {

constexpr uint32_t kAbiVersion = 5;

// ---- device code -> runtime -------------------------------------------------------------------
struct Thread {  // what __simt_thread() returns; the runtime's lane record begins with it
  uint32_t index[3];
  uint32_t linear;  // within the block
};

struct Grid {  // the variable __simt_grid, one per process: blocks run one after another
  uint32_t block_index[3], wave_size;
  uint32_t block_dim[3], pad0;
  uint32_t grid_dim[3], pad1;
};

enum class Collective : uint32_t {
  kShuffle = 0,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kBallot,
  kSyncWave,
  kMatchAny,
  kMatchAll,
  kActiveMask,
  kYield,   // the lane has nothing to do until others have: they go first
  kMatrix,  // the value points to the lane's MatrixOperands
};
enum class BarrierReduce : uint32_t { kCount = 0, kAnd, kOr };

extern "C" {
const Thread* __simt_thread();  // pure
extern Grid __simt_grid;
// Traced version only; before every access to memory that is not provably private:
void __simt_access(const void* address, uint32_t site);
void __simt_access_range(const void* address, uint32_t site, uint64_t bytes);  // memcpy, memset
void __simt_block(uint32_t block);                               // on entry to a basic block without an event
void __simt_turn(uint32_t loop, uint32_t depth, uint32_t turn);  // at a loop's head, `depth` counted from 1
void __simt_fence(uint32_t code);                                // kFence…; also where the source has one
void __simt_leave(uint32_t depth);  // where a loop has ended: how many there still are round the lane
// Both versions:
void __simt_at(uint32_t site);    // before a barrier, collective or stop: where it is
void __simt_call(uint32_t site);  // around calls that were not inlined
void __simt_return();
void __simt_barrier();
int __simt_barrier_reduce(uint32_t op, int predicate);
// mask 0 = all active lanes (the pre-Volta and HIP forms without mask)
uint64_t __simt_collective(uint32_t op, uint64_t mask, uint64_t value, uint32_t argument, uint32_t width);
void __simt_grid_barrier();
void __simt_named_barrier(uint32_t number, uint32_t threads, uint32_t waits);
uint64_t __simt_clock();       // shader clock, modelled, monotonic per device
uint64_t __simt_wall_clock();  // constant-rate clock, modelled
void __simt_trap();
void __simt_exit();  // the lane ends where it stands
void __simt_assert_fail(const char* expression, const char* file, uint32_t line, const char* function);
int __simt_printf(const char* format, ...);
void* __simt_device_malloc(uint64_t bytes);
void __simt_device_free(void* pointer);
void* __simt_dynamic_shared();  // base of dynamic LDS
uint32_t __simt_dynamic_shared_size();
uint32_t __simt_is_shared(const void* address);
void __simt_ptx_mma(uint32_t type, uint32_t depth, uint32_t halves, uint32_t* d, const uint32_t* a, const uint32_t* b,
                    const uint32_t* c);
}

// ---- container: what stands where a GPU fat binary would -------------------------------------
// ContainerHeader, then the ELF shared object, then the JSON metadata (UTF-8, not terminated).
struct ContainerHeader {
  char magic[8];  // "IPERFSIM"
  uint32_t abi_version;
  uint32_t reserved;
  uint64_t object_bytes;
  uint64_t metadata_bytes;
};

// ---- symbols that every instrumented shared object defines ------------------------------------
enum class SiteKind : uint16_t {
  kLoad = 0,
  kStore = 1,
  kAtomic = 2,
  kReduction = 3,
  kRangeLoad = 4,
  kRangeStore = 5,
  kBarrier = 6,
  kCollective = 7,
  kCall = 8,
};
enum SiteFlags : uint16_t {
  kSiteVolatile = 1,  // volatile or atomic-ordered: part of warp-synchronous idioms
  kSiteFloat = 2,     // floating-point value
  kSiteCompareExchange = 4,
  kSiteUniform = 8,  // address provably equal for all lanes of a wave
  // What the real target's compiler makes of an atomic; in the metadata only, see modules.cpp:
  kSiteCombined = 16,   // one lane acts for all of its wave that are on one address
  kSiteCounted = 32,    // in LDS: the lanes on one address are one access
  kSiteSpins = 64,      // in LDS: a loop round a compare-and-swap, one lane of an address at a time
  kSiteWaits = 128,     // of a load: those before it cannot be under way together with it, see ir/waits.py
  kSiteFollows = 256,   // of a load: a store or a barrier ends what was under way before it, see ir/runs.py
  kSiteConstant = 512,  // of a load: by the constant or scalar cache, one address at a time; not of a range
  kSiteIndexed =
      1024,  // of such a load: its address is known at run time only, so that no instruction has it as operand
};
enum SiteOrder : uint32_t {
  kSiteAtomic = 1,      // an atomic load or store
  kSiteBlockScope = 2,  // atomic among the threads of a block
  kSiteWaveScope = 4,   // or of a wave
  kSiteAcquire = 8,
  kSiteRelease = 16,
  kSiteReadOnly = 32,      // a load that need not see stores of the launch
  kSiteUpdate = 64,        // a store of what was computed from a load of the same place
  kSiteLoop = 128,         // an atomic or volatile access within a loop
  kSiteMaybeAtomic = 256,  // a store of machine code, which does not say whether it is atomic
  kSiteDraws = 512,        // an atomic whose result tells a loop whether there is more to do, see ir/draws.py
};
// In the same word: log2 of the bytes that the address is a multiple of, at most 128; of ranges no more than their width.
constexpr uint32_t kSiteAlignmentShift = 13;
enum FenceCode : uint32_t { kFenceBlock = 1, kFenceWave = 2, kFenceAcquire = 4, kFenceRelease = 8 };
constexpr uint16_t kSiteCopyWidthMask = 31;
constexpr uint16_t kSiteCopyWidthShift = 8;  // of a range: bytes of each of its accesses; 0: not known
struct Site {                                // __simt_sites[__simt_site_count]
  uint16_t kind, flags;
  uint32_t bytes;  // of one lane's access; 0 for ranges
  uint32_t order;  // SiteOrder and alignment
};
inline bool is_constant(const Site& site) {
  return SiteKind(site.kind) == SiteKind::kLoad && (site.flags & kSiteConstant) != 0;
}
struct SharedVariable {  // __simt_shared_variables[__simt_shared_variable_count]
  char* begin;
  uint64_t bytes;
};
// uint32_t __simt_site_count; Site __simt_sites[];
// uint32_t __simt_block_count; uint64_t __simt_block_executions[];  traced version: lane executions per basic block
// char* __simt_shared_range[2];  begin and end of all LDS of this module (section simt_shared)
// uint8_t __simt_nan_rank;  of builds that are judged, see ir/rankings.py and ir/overflows.py
// uint32_t __simt_shared_variable_count; SharedVariable __simt_shared_variables[];  each with unused bytes around it
// per kernel K: void K$fast(void** args), void K$trace(void** args), K being the mangled name

// ---- record files, in the directory INTELLIPERF_TRACE_DIR ---------------------------------------
// module-<n>.json   the container's metadata
// launches.jsonl    one JSON object per dispatch, in order
// sites.bin         SiteRecord[], only sites that ran
// blocks.bin        BlockRecord[]
// faults.jsonl      out-of-bounds, races, uninitialised reads, deadlocks, traps: one per distinct (kind, sites)
// end.json          written last: {"abi":5,"complete":true|false,"exit":...}; absent = the process was killed
constexpr uint32_t kShapeFields = 16;  // of SiteRecord, from `requests` to `distinct_addresses`
struct SiteRecord {  // of all blocks; where only some requests were analysed, estimates with their errors
  uint32_t launch;   // index into launches.jsonl
  uint32_t site;
  uint64_t requests;  // wave-level instructions
  uint64_t lanes;     // active lanes, summed over requests
  uint64_t bytes;     // asked for by active lanes
  uint64_t global_requests, shared_requests;
  uint64_t sectors;            // distinct 32 B sectors per request, summed
  uint64_t sectors_ideal;      // if the active lanes' accesses lay side by side, but no more than the actual ones
  uint64_t lines64, lines128;  // distinct lines per request, summed
  uint64_t lines128_ideal;     // likewise
  uint64_t quad_lines64;       // distinct 64 B lines per quad of lanes = AMD TCP_TOTAL_ACCESSES
  uint64_t line_runs128;       // runs of equal 128 B lines over consecutive lanes = AMD TCP_TOTAL_CACHE_ACCESSES
  uint64_t lds_phases, lds_phases_ideal;
  uint64_t same_address;        // largest number of lanes on one address, summed over requests
  uint64_t distinct_addresses;  // summed over requests
  uint64_t l1_hits, l1_misses;  // sectors (NVIDIA) or 64/128 B lines (AMD), reuse model
  uint64_t l2_hits, l2_misses;
  uint64_t read_again;                    // sectors that came from memory though they had before
  uint64_t out_of_bounds, uninitialized;  // lanes; these and races of analysed requests only
  uint64_t races_inter, races_intra;      // conflicting pairs seen
  double error[kShapeFields];             // 95 % half-widths of the first counts; 0: exact
};
struct BlockRecord {
  uint32_t launch, block;
  uint64_t executions;  // of lanes
  uint64_t waves;       // see wave_counts.h
};

}  // namespace simt
