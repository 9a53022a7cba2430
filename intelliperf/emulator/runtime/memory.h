// Device memory: one arena at a fixed address, backed by a memfd that another process may map.
//
// Every allocation owns whole pages. It ends (rounded up to 256 bytes) where inaccessible guard pages
// begin, so an access beyond the end traps; the bytes between the asked-for end and the guard and those
// before the base in the first page hold a canary. In slack mode the guard pages become accessible when
// first touched, and the touch is reported; where INTELLIPERF_TOLERATE is set, so does whatever a GPU, which maps
// 2 MiB at a time, may have mapped beside a live allocation, and freed memory. Freed pages otherwise become inaccessible, and addresses are reused only
// when the arena has been used up once. New device memory is filled with the poison byte; allocations above
// 256 MiB only that much at their two ends, the rest reads as zero and costs nothing until it is used.
//
// All functions here expect the caller to hold `api_lock()`; a kernel runs under it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace simt {

enum class MemoryKind : uint8_t {
  kDevice,      // hipMalloc and relatives
  kManaged,     // one address for host and device
  kPinned,      // host memory made by the runtime
  kRegistered,  // the application's own memory, outside the arena
  kSymbol,      // a __device__ or __constant__ variable, in its module, outside the arena
  kStaging,     // the runtime's own, in the arena: what the export shows of a symbol
};

// Allocations of the application count from 1; the others from these, so that a symbol more or less changes no id.
constexpr uint64_t kFirstSymbolId = 1ull << 40, kFirstRegisteredId = 2ull << 40, kFirstStagingId = 3ull << 40;

struct Allocation {
  uint64_t id;  // counts per class of kinds (below) in the order of allocation; never reused
  uintptr_t base;
  uint64_t bytes;     // as asked for
  uint64_t capacity;  // up to the guard: bytes rounded up to 256; of a symbol with its guard
  MemoryKind kind;
  bool live;                                // false: freed, kept for the messages
  bool guarded;                             // false: too many mappings, no guard page behind this one
  uint32_t flags;                           // as given to hipHostMalloc and relatives
  uint32_t first_page, pages, guard_pages;  // in the arena; guard pages follow the pages
  const char* name;                         // of a symbol, mangled; else null
  uint64_t room;                            // so many of the bytes, at the end, were not asked for
};

enum class MemoryMode : uint8_t { kStrict, kSlack };

// Against the device's memory.
constexpr bool counts_as_device(MemoryKind kind) { return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged; }

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kAllocationAlignment = 256;

struct Arena {  // read-only for everybody but memory.cpp
  uintptr_t base = 0;
  uint64_t bytes = 0;
  int descriptor = -1;
};
const Arena& arena();
inline bool in_arena(uintptr_t address) { return address - arena().base < arena().bytes; }

// The one lock of the API: recursive, held by each API call and during a kernel.
std::recursive_mutex& api_lock();

// Null when out of memory. `bytes` may be 0 for no allocation.
//
// Device memory has as many bytes again behind what was asked for, as part of the allocation, where
// INTELLIPERF_OTHER_NUMBERS asks for other arguments: so that launches of larger sizes may be tried. Where it asks for
// wide numbers, it has some hundred thousand elements.
Allocation* allocate(uint64_t bytes, MemoryKind kind, uint32_t flags = 0);
bool release(uintptr_t base);  // false: not the base of a live allocation in the arena
// Memory outside the arena; false from the first when it overlaps a registered one.
bool register_memory(uintptr_t base, uint64_t bytes, MemoryKind kind, uint32_t flags, const char* name,
                     uint64_t guard = 0);
bool unregister_memory(uintptr_t base);
void release_all();  // hipDeviceReset: all but symbols and registered memory

// For a replay. Nothing that the application allocated is left, as if it had never been; new memory of other processes'
// sizes begins behind `end`.
void clear_for_replay(uintptr_t end);
// Memory where an earlier process had it. Null where it cannot lie there, or something lies there. Give the highest
// addresses first: what is free behind an allocation becomes its room, as `allocate` gives it, and its guard. Processes
// that are recorded (INTELLIPERF_EXPORT_BEFORE) leave as much free.
Allocation* allocate_at(uintptr_t base, uint64_t bytes, MemoryKind kind, uint64_t id);
uint64_t most_room(uint64_t asked);  // that an allocation of so many bytes may have, in bytes

// The live allocation that contains `address`; null if none. O(1) in the arena.
const Allocation* find(uintptr_t address);
inline const Allocation* find(const void* address) { return find(reinterpret_cast<uintptr_t>(address)); }
// For messages: the live or last freed allocation whose pages or guard contain `address`.
const Allocation* nearest(uintptr_t address);
// The same, else the live allocation nearest to `address` within the 2 MiB that a GPU maps at a time.
const Allocation* beside(uintptr_t address);
// Whether [address, address + bytes) lies in one live allocation.
bool inside(uintptr_t address, uint64_t bytes);

// Programs free memory that they registered without a word to the runtime.
bool is_mapped(const Allocation& allocation);

// Visits live allocations by ascending id.
void for_each_allocation(void (*visit)(const Allocation&, void*), void* context);

// Has these bytes repeat those before them; `turned`: each time from another place on. `whole`: as often as all of them
// fit, with zeros behind.
void fill_room(const Allocation& allocation, bool turned, bool whole);

uint64_t available_memory();  // what the machine can still give this process
uint64_t allocated_bytes();   // live device and managed memory
uint64_t total_bytes();       // of the device
void set_total_bytes(uint64_t bytes);
MemoryMode memory_mode();
void set_memory_mode(MemoryMode mode);

// Looks at the canaries of all live allocations (or of one); calls `damaged` once per damaged allocation with
// the offset of the first damaged byte from its base (may be negative), and repairs the canary.
void check_canaries(void (*damaged)(const Allocation&, int64_t offset, void*), void* context);

// For the fault handler, async-signal-safe: in slack mode makes the guard page at `address` accessible and
// returns its allocation; null when `address` is not in the guard of a live allocation, nor near one that is tolerated.
const Allocation* open_guard(uintptr_t address);

}  // namespace simt
