#include "memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "settings.h"
#include "shadow.h"

namespace simt {

namespace {

constexpr uintptr_t kArenaBase = 0x100000000000;  // far from where Linux places programs, heaps and libraries
constexpr uint64_t kArenaBytes = 256ull << 30;
constexpr uint64_t kSmallestArenaBytes = 1ull << 28;
constexpr uint64_t kSmallestGuardPages = 16, kLargestGuardPages = 16384;
constexpr uint64_t kMostGuarded = 12000;                    // Linux allows 65530 mappings; each guard makes two
constexpr uint64_t kMostGuardsOpened = 64;                  // page by page; then the whole guard at once
constexpr uint64_t kTolerated = (2ull << 20) / kPageBytes;  // pages beside an allocation, as a GPU maps memory
constexpr uint64_t kMostTolerated = 4096;                   // times
constexpr size_t kFreedRemembered = 4096;
constexpr uint64_t kCheckAvailableFrom = 64ull << 20;
constexpr uint64_t kMostRoomBytes = 64ull << 20;
constexpr uint64_t kWideBytes = 2ull << 20;
constexpr uint64_t kTurnBytes = 16;  // of whole numbers of any type
constexpr uint64_t kMostPoisonBytes = 256ull << 20;
constexpr uint32_t kFirstPage = kSmallestGuardPages;  // what lies before the first allocation is a guard
constexpr uint8_t kCanary = 0xC9;
constexpr size_t kMostSlots = 1u << 22;

struct Slot {
  Allocation allocation;
  uint64_t guards_opened;
};

struct Heap {
  Arena arena;
  uint32_t* owners = nullptr;  // per page: slot number + 1 of the allocation (or of its guard)
  Slot* slots = nullptr;
  size_t slot_count = 0;
  uint64_t page_count = 0, next_page = kFirstPage;
  uint64_t next_id = 1, next_symbol = kFirstSymbolId, next_registered = kFirstRegisteredId,
           next_staging = kFirstStagingId;
  std::deque<size_t> freed;  // oldest first
  std::deque<size_t> unused_slots;
  std::map<uint64_t, uint64_t> holes;    // first page -> pages, coalesced
  std::map<uint64_t, Allocation*> live;  // by id
  std::map<uintptr_t, Allocation> outside;
  uint64_t guarded = 0, device_bytes = 0, total = 64ull << 30;
  uint64_t tolerated = 0;  // times that memory was opened beside an allocation
  MemoryMode mode = MemoryMode::kStrict;
  bool tolerant = false;
  bool leaves_room = false;  // behind each allocation
  uint8_t poison = 0xA5;
  std::recursive_mutex lock;
};

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint8_t poison_from_environment() {
  const char* text = std::getenv("INTELLIPERF_POISON");
  return text && *text ? static_cast<uint8_t>(std::strtoul(text, nullptr, 0)) : 0xA5;
}

void* reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

uint64_t largest_arena() {
  uint64_t bytes = kArenaBytes;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<uint64_t>(bytes, round_up(limit.rlim_cur / 4, kPageBytes));
  return std::max(bytes, kSmallestArenaBytes);
}

// A descriptor only where the file size limit lets a file be that large: exceeding it raises a signal.
int arena_file(uint64_t bytes) {
  rlimit limit{};
  bytes += shadow_file_bytes();
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) return -1;
  const int descriptor = memfd_create("intelliperf-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);  // the reader seals it
  if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

void* map_arena(uint64_t bytes, int descriptor) {
  const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* wanted = reinterpret_cast<void*>(kArenaBase);  // NOLINT(performance-no-int-to-ptr)
  void* got = mmap(wanted, bytes, PROT_NONE, flags, descriptor, 0);
  if (got != MAP_FAILED && got != wanted) munmap(got, bytes);
  return got == wanted ? got : MAP_FAILED;
}

void create_arena(Heap& heap) {
  for (uint64_t bytes = largest_arena(); bytes >= kSmallestArenaBytes; bytes /= 2) {
    const int descriptor = arena_file(bytes);
    if (map_arena(bytes, descriptor) != MAP_FAILED) {
      heap.arena = {kArenaBase, bytes, descriptor};
      map_shadow(descriptor, bytes);
      break;
    }
    if (descriptor >= 0) close(descriptor);
  }
  heap.page_count = heap.arena.bytes / kPageBytes;
  heap.owners = static_cast<uint32_t*>(reserve(heap.page_count * sizeof(uint32_t) + kPageBytes));
  heap.slots = static_cast<Slot*>(reserve(kMostSlots * sizeof(Slot)));
  if (heap.page_count == 0 || !heap.owners || !heap.slots) {
    std::fprintf(stderr, "intelliperf: cannot reserve address space for device memory\n");
    std::abort();
  }
}

Heap& heap() {
  static Heap* const instance = [] {
    auto* made = new Heap;  // never destroyed: kernels may run in destructors of the application
    made->poison = poison_from_environment();
    const char* mode = std::getenv("INTELLIPERF_MEMORY");
    if (mode && std::strcmp(mode, "slack") == 0) made->mode = MemoryMode::kSlack;
    const char* tolerate = std::getenv("INTELLIPERF_TOLERATE");
    made->tolerant = tolerate && *tolerate;
    const char* before = std::getenv("INTELLIPERF_EXPORT_BEFORE");
    made->leaves_room = before && *before;
    create_arena(*made);
    return made;
  }();
  return *instance;
}

char* page_address(uint64_t page) {
  return reinterpret_cast<char*>(kArenaBase + page * kPageBytes);  // NOLINT(performance-no-int-to-ptr)
}

uint64_t number_in_file(const char* path, const char* label) {
  FILE* file = std::fopen(path, "re");
  if (!file) return UINT64_MAX;
  uint64_t value = UINT64_MAX;
  char line[256];
  const size_t length = std::strlen(label);
  while (std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, label, length) != 0 || (length == 0 && (line[0] < '0' || line[0] > '9'))) continue;
    value = std::strtoull(line + length, nullptr, 10);
    break;
  }
  std::fclose(file);
  return value;
}

// What this machine can still give, so that an allocation too large for it fails as one too large for the GPU does.
uint64_t available_bytes() {
  const uint64_t kilobytes = number_in_file("/proc/meminfo", "MemAvailable:");
  uint64_t bytes = kilobytes == UINT64_MAX ? kilobytes : kilobytes * 1024;
  const uint64_t limit = number_in_file("/sys/fs/cgroup/memory.max", "");
  const uint64_t used = number_in_file("/sys/fs/cgroup/memory.current", "");
  if (limit != UINT64_MAX && used != UINT64_MAX) bytes = std::min(bytes, limit > used ? limit - used : 0);
  return bytes;
}

void add_hole(Heap& h, uint64_t first, uint64_t pages) {
  auto [place, fresh] = h.holes.emplace(first, pages);
  (void)fresh;
  auto after = std::next(place);
  if (after != h.holes.end() && place->first + place->second == after->first) {
    place->second += after->second;
    h.holes.erase(after);
  }
  if (place == h.holes.begin()) return;
  auto before = std::prev(place);
  if (before->first + before->second == place->first) {
    before->second += place->second;
    h.holes.erase(place);
  }
}

void forget_oldest(Heap& h) {
  const size_t number = h.freed.front();
  h.freed.pop_front();
  const Allocation& old = h.slots[number].allocation;
  const uint64_t pages = old.pages + old.guard_pages;
  std::fill_n(h.owners + old.first_page, pages, 0u);
  add_hole(h, old.first_page, pages);
  h.unused_slots.push_back(number);
}

// First page of `pages` free ones, 0 if there are none. New addresses first, so that stale pointers trap.
uint64_t take_pages(Heap& h, uint64_t pages) {
  if (h.next_page + pages <= h.page_count) {
    const uint64_t first = h.next_page;
    h.next_page += pages;
    return first;
  }
  for (;;) {
    for (auto hole = h.holes.begin(); hole != h.holes.end(); ++hole) {
      if (hole->second < pages) continue;
      const uint64_t first = hole->first, left = hole->second - pages;
      h.holes.erase(hole);
      if (left) h.holes.emplace(first + pages, left);
      return first;
    }
    if (h.freed.empty()) return 0;
    forget_oldest(h);
  }
}

size_t take_slot(Heap& h) {
  if (h.unused_slots.empty()) return h.slot_count < kMostSlots ? h.slot_count++ : kMostSlots;
  const size_t number = h.unused_slots.front();
  h.unused_slots.pop_front();
  return number;
}

void fill(Heap& h, const Allocation& a) {
  char* first = page_address(a.first_page);
  auto* base = reinterpret_cast<char*>(a.base);  // NOLINT(performance-no-int-to-ptr)
  std::memset(first, kCanary, static_cast<size_t>(base - first));
  std::memset(base + a.bytes, kCanary, a.capacity - a.bytes);
  if (a.kind != MemoryKind::kDevice) return;
  if (a.bytes <= kMostPoisonBytes) {
    std::memset(base, h.poison, a.bytes);
    return;
  }
  std::memset(base, h.poison, kMostPoisonBytes / 2);
  std::memset(base + a.bytes - kMostPoisonBytes / 2, h.poison, kMostPoisonBytes / 2);
}

uint64_t take_id(Heap& h, MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kSymbol:
      return h.next_symbol++;
    case MemoryKind::kRegistered:
      return h.next_registered++;
    case MemoryKind::kStaging:
      return h.next_staging++;
    default:
      return h.next_id++;
  }
}

// The offset of the first damaged byte; `*damaged` says whether there is one. Repairs.
int64_t inspect(const Allocation& a, bool* damaged) {
  auto* base = reinterpret_cast<uint8_t*>(a.base);  // NOLINT(performance-no-int-to-ptr)
  auto* first = reinterpret_cast<uint8_t*>(page_address(a.first_page));
  int64_t offset = 0;
  *damaged = false;
  const auto look = [&](uint8_t* from, uint8_t* to) {
    for (uint8_t* at = from; at < to; ++at) {
      if (*at == kCanary) continue;
      if (!*damaged) offset = at - base;
      *damaged = true;
      *at = kCanary;
    }
  };
  look(base + a.bytes, base + a.capacity);
  look(first, base);
  return offset;
}

}  // namespace

const Arena& arena() { return heap().arena; }
std::recursive_mutex& api_lock() { return heap().lock; }
uint64_t available_memory() { return available_bytes(); }
uint64_t allocated_bytes() { return heap().device_bytes; }
uint64_t total_bytes() { return heap().total; }
void set_total_bytes(uint64_t bytes) { heap().total = bytes; }
MemoryMode memory_mode() { return heap().mode; }
void set_memory_mode(MemoryMode mode) { heap().mode = mode; }

namespace {

uint64_t room_for(uint64_t asked) {
  const OtherNumbersMode mode = settings().other_numbers;
  if (asked % 4 != 0 || asked > kMostRoomBytes) return 0;
  const bool sized =
      mode == OtherNumbersMode::kArguments || mode == OtherNumbersMode::kNamed || mode == OtherNumbersMode::kConstants;
  const bool far = sized && settings().far_constants;
  if (mode == OtherNumbersMode::kWide || far) return std::max(asked, kWideBytes - std::min(kWideBytes, asked));
  if (!sized) return 0;
  return std::max(asked, std::min(asked * settings().room_times, kWideBytes - std::min(kWideBytes, asked)));
}

uint64_t room_pages(uint64_t asked) { return round_up(most_room(asked), kPageBytes) / kPageBytes; }

}  // namespace

uint64_t most_room(uint64_t asked) { return asked > kMostRoomBytes ? 0 : std::max(asked, kWideBytes); }

void fill_room(const Allocation& allocation, bool turned, bool whole) {
  auto* base = reinterpret_cast<char*>(allocation.base);  // NOLINT(performance-no-int-to-ptr)
  const uint64_t asked = allocation.bytes - allocation.room;
  for (uint64_t turn = 1; turn * asked < allocation.bytes; ++turn) {
    const uint64_t from = turned ? turn * kTurnBytes % asked : 0;
    const uint64_t wanted = std::min(asked, allocation.bytes - turn * asked), first = std::min(wanted, asked - from);
    if (whole && wanted < asked) {
      std::memset(base + turn * asked, 0, wanted);
      return;
    }
    std::memcpy(base + turn * asked, base + from, first);
    std::memcpy(base + turn * asked + first, base, wanted - first);
  }
}

Allocation* allocate(uint64_t asked, MemoryKind kind, uint32_t flags) {
  Heap& h = heap();
  const uint64_t room = counts_as_device(kind) ? room_for(asked) : 0, bytes = asked + room;
  const bool device = counts_as_device(kind);
  if (bytes == 0 || bytes > h.arena.bytes || (device && bytes > h.total - std::min(h.total, h.device_bytes)))
    return nullptr;
  if (bytes >= kCheckAvailableFrom && bytes > available_bytes()) return nullptr;
  const uint64_t capacity = round_up(bytes, kAllocationAlignment);
  const uint64_t pages = round_up(capacity, kPageBytes) / kPageBytes;
  const bool guarded = h.guarded < kMostGuarded;
  uint64_t guard_pages = guarded ? std::clamp(pages / 2, kSmallestGuardPages, kLargestGuardPages) : 0;
  if (guarded && device && h.leaves_room) guard_pages += room_pages(asked);
  uint64_t first = take_pages(h, pages + guard_pages);
  if (first == 0 && guard_pages > 1) {
    guard_pages = 1;
    first = take_pages(h, pages + guard_pages);
  }
  const size_t number = first ? take_slot(h) : kMostSlots;
  if (number == kMostSlots) return nullptr;
  if (mprotect(page_address(first), pages * kPageBytes, PROT_READ | PROT_WRITE) != 0 ||
      (guard_pages && mprotect(page_address(first + pages), guard_pages * kPageBytes, PROT_NONE) != 0)) {
    add_hole(h, first, pages + guard_pages);
    h.unused_slots.push_back(number);
    return nullptr;
  }
  std::fill_n(h.owners + first, pages + guard_pages, static_cast<uint32_t>(number + 1));
  Allocation& made = h.slots[number].allocation;
  made = Allocation{take_id(h, kind),
                    kArenaBase + (first + pages) * kPageBytes - capacity,
                    bytes,
                    capacity,
                    kind,
                    true,
                    guard_pages > 0,
                    flags,
                    static_cast<uint32_t>(first),
                    static_cast<uint32_t>(pages),
                    static_cast<uint32_t>(guard_pages),
                    nullptr,
                    room};
  h.slots[number].guards_opened = 0;
  h.guarded += guard_pages > 0;
  if (device) h.device_bytes += bytes;
  h.live.emplace(made.id, &made);
  fill(h, made);
  return &made;
}

bool release(uintptr_t base) {
  Heap& h = heap();
  if (!in_arena(base)) return false;
  const uint32_t owner = h.owners[(base - kArenaBase) / kPageBytes];
  if (owner == 0) return false;
  Allocation& a = h.slots[owner - 1].allocation;
  if (!a.live || a.base != base) return false;
  a.live = false;
  h.live.erase(a.id);
  if (counts_as_device(a.kind)) h.device_bytes -= a.bytes;
  const uint64_t bytes =
      static_cast<uint64_t>(a.pages + (h.slots[owner - 1].guards_opened ? a.guard_pages : 0)) * kPageBytes;
  madvise(page_address(a.first_page), bytes, MADV_REMOVE);  // gives the pages back to the machine
  if (a.guarded) {
    mprotect(page_address(a.first_page), bytes, PROT_NONE);
    h.guarded -= 1;
  }
  h.freed.push_back(owner - 1);
  if (h.freed.size() > kFreedRemembered) forget_oldest(h);
  return true;
}

bool register_memory(uintptr_t base, uint64_t bytes, MemoryKind kind, uint32_t flags, const char* name,
                     uint64_t guard) {
  Heap& h = heap();
  const auto after = h.outside.lower_bound(base);
  if (after != h.outside.end() && after->first < base + bytes) return false;
  if (after != h.outside.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (before.base + before.bytes > base) return false;
  }
  const auto [place, fresh] = h.outside.emplace(
      base, Allocation{take_id(h, kind), base, bytes, bytes + guard, kind, true, false, flags, 0, 0, 0, name, 0});
  if (fresh) h.live.emplace(place->second.id, &place->second);
  return fresh;
}

bool unregister_memory(uintptr_t base) {
  Heap& h = heap();
  const auto place = h.outside.find(base);
  if (place == h.outside.end() || place->second.kind != MemoryKind::kRegistered) return false;
  h.live.erase(place->second.id);
  h.outside.erase(place);
  return true;
}

void release_all() {
  Heap& h = heap();
  std::deque<uintptr_t> bases;
  for (const auto& entry : h.live)
    if (in_arena(entry.second->base)) bases.push_back(entry.second->base);
  for (const uintptr_t base : bases) release(base);
}

void clear_for_replay(uintptr_t end) {
  Heap& h = heap();
  std::deque<uintptr_t> bases;
  for (const auto& entry : h.live)
    if (in_arena(entry.second->base) && entry.second->kind != MemoryKind::kStaging) bases.push_back(entry.second->base);
  for (const uintptr_t base : bases) {
    release(base);
    const size_t number = h.freed.back();
    const Allocation& a = h.slots[number].allocation;
    std::fill_n(h.owners + a.first_page, static_cast<uint64_t>(a.pages) + a.guard_pages, 0u);
    h.freed.pop_back();
    h.unused_slots.push_back(number);
  }
  if (end > kArenaBase) h.next_page = std::max(h.next_page, (end - kArenaBase) / kPageBytes + 1 + kSmallestGuardPages);
}

namespace {

bool is_free(const Heap& h, uint64_t first, uint64_t pages) {
  return first + pages <= h.page_count &&
         std::all_of(h.owners + first, h.owners + first + pages, [](uint32_t owner) { return owner == 0; });
}

}  // namespace

Allocation* allocate_at(uintptr_t base, uint64_t asked, MemoryKind kind, uint64_t id) {
  Heap& h = heap();
  uint64_t bytes = asked, capacity = round_up(asked, kAllocationAlignment);
  const uintptr_t end = base + capacity;
  if (asked == 0 || base < kArenaBase || end % kPageBytes != 0 || end > kArenaBase + h.arena.bytes) return nullptr;
  uint64_t pages = round_up(capacity, kPageBytes) / kPageBytes;
  const uint64_t first = (end - kArenaBase) / kPageBytes - pages;
  if (!is_free(h, first, pages)) return nullptr;
  const uint64_t room = counts_as_device(kind) ? room_for(asked) : 0;
  const uint64_t more = (round_up(base + asked + room, kPageBytes) - end) / kPageBytes;
  if (room && is_free(h, first + pages, more + 1)) {  // and a guard; up to it the room reaches
    pages += more;
    bytes = capacity = capacity + more * kPageBytes;
  }
  const size_t number = h.live.count(id) ? kMostSlots : take_slot(h);
  if (number == kMostSlots || mprotect(page_address(first), pages * kPageBytes, PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  const uint64_t most =
      std::min(std::clamp(pages / 2, kSmallestGuardPages, kLargestGuardPages), h.page_count - first - pages);
  uint64_t guard_pages = 0;
  while (guard_pages < most && h.owners[first + pages + guard_pages] == 0) ++guard_pages;
  if (guard_pages) mprotect(page_address(first + pages), guard_pages * kPageBytes, PROT_NONE);
  std::fill_n(h.owners + first, pages + guard_pages, static_cast<uint32_t>(number + 1));
  Allocation& made = h.slots[number].allocation;
  made = Allocation{id,
                    base,
                    bytes,
                    capacity,
                    kind,
                    true,
                    guard_pages > 0,
                    0,
                    static_cast<uint32_t>(first),
                    static_cast<uint32_t>(pages),
                    static_cast<uint32_t>(guard_pages),
                    nullptr,
                    bytes - asked};
  h.slots[number].guards_opened = 0;
  h.guarded += guard_pages > 0;
  h.next_id = std::max(h.next_id, id + 1);
  if (counts_as_device(kind)) h.device_bytes += bytes;
  h.live.emplace(id, &made);
  fill(h, made);
  return &made;
}

const Allocation* find(uintptr_t address) {
  const Heap& h = heap();
  if (address - kArenaBase < h.arena.bytes) {
    const uint32_t owner = h.owners[(address - kArenaBase) / kPageBytes];
    if (owner == 0) return nullptr;
    const Allocation& a = h.slots[owner - 1].allocation;
    return a.live && address - a.base < a.bytes ? &a : nullptr;
  }
  auto after = h.outside.upper_bound(address);
  if (after == h.outside.begin()) return nullptr;
  const Allocation& a = std::prev(after)->second;
  return address - a.base < a.bytes ? &a : nullptr;
}

const Allocation* nearest(uintptr_t address) {
  const Heap& h = heap();
  if (address - kArenaBase >= h.arena.bytes) {
    auto after = h.outside.upper_bound(address);
    if (after == h.outside.begin()) return nullptr;
    const Allocation& a = std::prev(after)->second;
    return address - a.base < a.capacity ? &a : nullptr;
  }
  const uint32_t owner = h.owners[(address - kArenaBase) / kPageBytes];
  return owner ? &h.slots[owner - 1].allocation : nullptr;
}

namespace {

bool lives_at(const Heap& h, uint64_t page) { return h.owners[page] && h.slots[h.owners[page] - 1].allocation.live; }

// The page's owner, else the live one of the nearest page within what is tolerated; 0 for none.
uint32_t owner_near(const Heap& h, uint64_t page) {
  if (h.owners[page]) return h.owners[page];
  for (uint64_t away = 1; away <= kTolerated; ++away) {
    if (page >= away && lives_at(h, page - away)) return h.owners[page - away];
    if (page + away < h.page_count && lives_at(h, page + away)) return h.owners[page + away];
  }
  return 0;
}

}  // namespace

const Allocation* beside(uintptr_t address) {
  const Heap& h = heap();
  if (address - kArenaBase >= h.arena.bytes) return find(address);
  const uint32_t owner = owner_near(h, (address - kArenaBase) / kPageBytes);
  return owner ? &h.slots[owner - 1].allocation : nullptr;
}

bool inside(uintptr_t address, uint64_t bytes) {
  const Allocation* a = find(address);
  return a && bytes <= a->bytes - (address - a->base);
}

bool is_mapped(const Allocation& allocation) {
  const uintptr_t first = allocation.base / kPageBytes * kPageBytes;
  const uint64_t bytes = allocation.base + allocation.bytes - first;
  std::vector<unsigned char> resident(bytes / kPageBytes + 1);
  return mincore(reinterpret_cast<void*>(first), bytes, resident.data()) == 0;  // NOLINT(performance-no-int-to-ptr)
}

void for_each_allocation(void (*visit)(const Allocation&, void*), void* context) {
  for (const auto& entry : heap().live) visit(*entry.second, context);
}

void check_canaries(void (*damaged)(const Allocation&, int64_t offset, void*), void* context) {
  for (const auto& entry : heap().live) {
    const Allocation& a = *entry.second;
    if (!in_arena(a.base)) continue;
    bool broken = false;
    const int64_t offset = inspect(a, &broken);
    if (broken) damaged(a, offset, context);
  }
}

namespace {

// Freed memory, and memory of nobody beside an allocation.
const Allocation* open_beside(Heap& h, uint64_t page) {
  const uint32_t owner = owner_near(h, page), mine = h.owners[page];
  if (owner == 0 || ++h.tolerated > kMostTolerated) return nullptr;
  uint64_t pages = 1;
  while (pages < kTolerated && page + pages < h.page_count && h.owners[page + pages] == mine) ++pages;
  if (mprotect(page_address(page), pages * kPageBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memset(page_address(page), h.poison, pages * kPageBytes);
  return &h.slots[owner - 1].allocation;
}

}  // namespace

const Allocation* open_guard(uintptr_t address) {
  Heap& h = heap();
  if (h.mode != MemoryMode::kSlack || address - kArenaBase >= h.arena.bytes) return nullptr;
  const uint64_t page = (address - kArenaBase) / kPageBytes;
  const uint32_t owner = h.owners[page];
  if (h.tolerant && !lives_at(h, page)) return open_beside(h, page);
  if (owner == 0) return nullptr;
  Slot& slot = h.slots[owner - 1];
  const Allocation& a = slot.allocation;
  const uint64_t guard = static_cast<uint64_t>(a.first_page) + a.pages;
  if (!a.live || page < guard) return nullptr;
  const bool whole = slot.guards_opened >= kMostGuardsOpened;
  char* from = whole ? page_address(guard) : page_address(page);
  const uint64_t bytes = whole ? a.guard_pages * kPageBytes : kPageBytes;
  if (mprotect(from, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  if (!whole) std::memset(from, h.poison, bytes);
  slot.guards_opened += 1;
  return &a;
}

}  // namespace simt
