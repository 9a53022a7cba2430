// Checks of scheduler, collectives, faults and counts with kernels that call the hooks by hand.
// One check per run: `semantics <name>`; without a name it lists them. Exit status 1 on a failed expectation.
#include <chrono>
#include <map>
#include <string>

#include "device_test.h"

// Of the host side, which stays out: no code object is ever loaded here, and nobody looks on.
namespace simt {
class CodeObject;
const CodeObject* code_around(uint64_t) { return nullptr; }
bool export_is_left() { return false; }
}  // namespace simt

using namespace device_test;

static TestModule module;
// Sites in the order of the code of each kernel.
static uint32_t s_load, s_load2, s_store, s_atomic, s_spin, s_unlock, s_barrier, s_collective, s_collective2,
    s_collective3, s_byte, s_wide, s_last;

static void declare_sites() {
  s_load = module.site(SiteKind::kLoad, 4);
  s_barrier = module.site(SiteKind::kBarrier, 0);
  s_load2 = module.site(SiteKind::kLoad, 4);
  s_spin = module.site(SiteKind::kAtomic, 4, kSiteCompareExchange);
  s_collective = module.site(SiteKind::kCollective, 0);
  s_collective2 = module.site(SiteKind::kCollective, 0);
  s_collective3 = module.site(SiteKind::kCollective, 0);
  s_atomic = module.site(SiteKind::kReduction, 4);
  s_byte = module.site(SiteKind::kStore, 1);
  s_wide = module.site(SiteKind::kLoad, 16);
  s_store = module.site(SiteKind::kStore, 4);
  s_unlock = module.site(SiteKind::kAtomic, 4);
  s_last = module.site(SiteKind::kStore, 4);
}

static uint64_t ballot(uint64_t predicate, uint64_t mask = 0, uint32_t site = 0) {
  __simt_at(site ? site : s_collective);
  return __simt_collective(uint32_t(Collective::kBallot), mask, predicate, 0, 0);
}
static uint64_t shuffle(Collective how, uint64_t value, uint32_t argument, uint32_t width = 0) {
  __simt_at(s_collective);
  return __simt_collective(uint32_t(how), 0, value, argument, width);
}
static void barrier() {
  __simt_at(s_barrier);
  __simt_barrier();
}
template <bool kTrace, class T>
static T load(const T* from, uint32_t site) {
  if (kTrace) __simt_access(from, site);
  return *const_cast<const volatile T*>(from);
}
template <bool kTrace, class T>
static void store(T* to, T value, uint32_t site) {
  if (kTrace) __simt_access(to, site);
  *const_cast<volatile T*>(to) = value;
}

static SiteRecord record_of(uint32_t site) {  // the last one in sites.bin
  const std::string path = std::string(getenv("INTELLIPERF_TRACE_DIR")) + "/sites.bin";
  FILE* file = fopen(path.c_str(), "rb");
  SiteRecord record{}, found{};
  while (file && fread(&record, sizeof record, 1, file) == 1)
    if (record.site == site) found = record;
  if (file) fclose(file);
  return found;
}
static std::string text_of(const char* name) {
  FILE* file = fopen((std::string(getenv("INTELLIPERF_TRACE_DIR")) + "/" + name).c_str(), "rb");
  std::string text;
  for (int c; file && (c = fgetc(file)) != EOF;) text += char(c);
  if (file) fclose(file);
  return text;
}
static bool recorded(const char* file, const char* part) { return text_of(file).find(part) != std::string::npos; }

// ---- kernels -----------------------------------------------------------------------------------------
template <bool kTrace>
static void k_shuffles(void** arguments) {
  auto* out = *static_cast<uint64_t**>(arguments[0]) + x() * 8;
  out[0] = shuffle(Collective::kShuffleDown, x(), 1);
  out[1] = shuffle(Collective::kShuffleUp, x(), 3, 16);
  out[2] = shuffle(Collective::kShuffleXor, x(), 5, 8);
  out[3] = shuffle(Collective::kShuffle, x(), 7, 4);
  out[4] = x() % 2 ? ballot(1) : ballot(x() % 4 == 0, 0, s_collective2);
  __simt_at(s_collective3);
  out[5] = __simt_collective(uint32_t(Collective::kMatchAny), 0, x() % 3, 0, 0);
  __simt_at(s_collective3);
  out[6] = __simt_collective(uint32_t(Collective::kMatchAll), 0, 9, 0, 0);
  __simt_at(s_collective3);
  out[7] = __simt_collective(uint32_t(Collective::kActiveMask), 0, 0, 0, 0);
}

static void check_shuffles() {
  auto* out = device_array<uint64_t>(64 * 8);
  void* arguments[] = {&out};
  Kernel* kernel = module.kernel("shuffles", k_shuffles<false>, k_shuffles<true>);
  for (int pass = 0; pass < 2; ++pass) {  // traced, then fast
    EXPECT(run(kernel, 1, 60, arguments).status == 0);
    EXPECT(out[0] == 1 && out[59 * 8] == 0);  // lane 60 takes no part
    EXPECT(out[5 * 8 + 1] == 2 && out[17 * 8 + 1] == 17 && out[19 * 8 + 1] == 16);
    EXPECT(out[9 * 8 + 2] == 12 && out[10 * 8 + 3] == 11);
    EXPECT(out[1 * 8 + 4] == (0xAAAAAAAAAAAAAAAull & ((1ull << 60) - 1)));
    EXPECT(out[2 * 8 + 4] == (0x111111111111111ull & ((1ull << 60) - 1)));
    EXPECT(out[5] == (0x9249249249249249ull & ((1ull << 60) - 1)));
    EXPECT(out[6] == (1ull << 60) - 1 && out[7] == (1ull << 60) - 1);
  }
}

template <bool kTrace>
static void k_masked(void** arguments) {  // both halves call with their own mask from different places
  auto* out = *static_cast<uint64_t**>(arguments[0]);
  if (x() < 32) {
    for (uint32_t i = 0; i < x(); ++i) load<kTrace>(out + 63, s_load);
    out[x()] = ballot(x() % 2, 0xFFFFFFFFull);
  } else {
    out[x()] = ballot(x() % 3 == 0, 0xFFFFFFFF00000000ull);
  }
}

static void check_masks() {
  auto* out = device_array<uint64_t>(64);
  void* arguments[] = {&out};
  Kernel* kernel = module.kernel("masked", k_masked<false>, k_masked<true>);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT(run(kernel, 1, 64, arguments).status == 0);
    EXPECT(out[0] == 0xAAAAAAAAull && out[31] == 0xAAAAAAAAull);
    EXPECT(out[32] == (0x9249249249249249ull & 0xFFFFFFFF00000000ull));
  }
}

template <bool kTrace>
static void k_barrier(void** arguments) {
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  if (x() >= 200) return;  // exited lanes do not count
  store<kTrace>(tile + x(), int(x()), s_store);
  barrier();
  out[x()] = load<kTrace>(tile + 199 - x(), s_load2);
  __simt_at(s_barrier);
  out[x()] += 1000 * __simt_barrier_reduce(uint32_t(BarrierReduce::kCount), x() % 3 == 0);
}

static void check_barriers() {
  auto* out = device_array<int>(256);
  void* arguments[] = {&out};
  Kernel* kernel = module.kernel("barrier", k_barrier<false>, k_barrier<true>);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT(run(kernel, 3, 256, arguments).status == 0);
    EXPECT(out[0] == 199 + 67000 && out[199] == 67000);
  }
  EXPECT(!recorded("faults.jsonl", "race"));
}

template <bool kTrace>
static void k_rows(void** arguments) {  // lane i runs i % 7 + 1 iterations, then all store
  auto* in = *static_cast<int**>(arguments[0]);
  int sum = 0;
  for (uint32_t i = 0; i <= x() % 7; ++i) sum += load<kTrace>(in + x() * 8 + i, s_load);
  store<kTrace>(in + 4096 + x(), sum, s_store);
}

static void check_divergence() {
  auto* in = device_array<int>(8192);
  void* arguments[] = {&in};
  Kernel* kernel = module.kernel("rows", k_rows<false>, k_rows<true>);
  EXPECT(run(kernel, 1, 64, arguments).status == 0);
  EXPECT(record_of(s_load).requests == 7 && record_of(s_store).requests == 1);
  uint64_t lanes = 0;
  for (int i = 0; i < 64; ++i) lanes += uint64_t(i % 7 + 1);
  EXPECT(record_of(s_load).lanes == lanes);
}

template <bool kTrace>
static void k_coalescing(void** arguments) {
  auto* in = *static_cast<int**>(arguments[0]);
  load<kTrace>(in + x(), s_load);
  load<kTrace>(in + x() * 64, s_load2);
  store<kTrace>(in + 1 + x(), 1, s_store);
  if (kTrace) __simt_access(in + x() / 16 * 256, s_wide);
}

static void check_coalescing() {
  auto* in = device_array<int>(64 * 64 + 64);
  void* arguments[] = {&in};
  run(module.kernel("coalescing", k_coalescing<true>, k_coalescing<true>), 1, 64, arguments);
  const SiteRecord straight = record_of(s_load), strided = record_of(s_load2), shifted = record_of(s_store);
  EXPECT(straight.sectors == 8 && straight.sectors_ideal == 8 && straight.lines128 == 2 && straight.lines64 == 4);
  EXPECT(straight.quad_lines64 == 16 && straight.line_runs128 == 2 && straight.bytes == 256);
  EXPECT(strided.sectors == 64 && strided.sectors_ideal == 8 && strided.lines128 == 64 && strided.quad_lines64 == 64);
  EXPECT(shifted.sectors == 9 && shifted.sectors_ideal == 8 && shifted.lines128 == 3);
  const SiteRecord rows = record_of(s_wide);  // four addresses of 16 bytes, each for a quarter of the lanes
  EXPECT(rows.sectors == 4 && rows.sectors_ideal == 4 && rows.lines128 == 4 && rows.lines128_ideal == 4);
  EXPECT(straight.l1_misses == 2 && strided.l1_misses == 63 && strided.l1_hits == 1);
}

template <bool kTrace>
static void k_banks(void**) {
  auto* tile = reinterpret_cast<int*>(shared);
  load<kTrace>(tile + x(), s_load);        // no conflict
  load<kTrace>(tile + x() * 32, s_load2);  // all in one bank
  if (kTrace) __simt_access(tile + x() * 4, s_wide);
  if (kTrace) __simt_access(tile, s_atomic);
}

static void check_banks() {
  run(module.kernel("banks", k_banks<true>, k_banks<true>), 1, 64, nullptr);
  const SiteRecord plain = record_of(s_load), column = record_of(s_load2), wide = record_of(s_wide);
  EXPECT(plain.lds_phases == 2 && plain.lds_phases_ideal == 2 && plain.shared_requests == 1);
  EXPECT(column.lds_phases == 64 && column.lds_phases_ideal == 2);
  EXPECT(wide.lds_phases == 8 && wide.lds_phases_ideal == 8);
  EXPECT(record_of(s_atomic).same_address == 64 && record_of(s_atomic).distinct_addresses == 1);
  EXPECT(record_of(s_atomic).lds_phases == 64);
}

template <bool kTrace>
static void k_race(void** arguments) {  // no barrier between store and load of another wave's word
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  store<kTrace>(tile + x(), int(x()), s_byte);
  out[x()] = load<kTrace>(tile + (x() + 64) % 256, s_wide);
}

template <bool kTrace>
static void k_warp_synchronous(void** arguments) {
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  store<kTrace>(tile + x(), int(x()), s_store);
  for (uint32_t step = 32; step; step /= 2) {
    if (x() >= step) continue;
    const int sum = load<kTrace>(tile + x(), s_load) + load<kTrace>(tile + x() + step, s_load2);
    store<kTrace>(tile + x(), sum, s_last);
  }
  if (x() == 0) out[block_x()] = tile[0];
}

template <bool kTrace>
static void k_own_word(void** arguments) {  // ever fewer lanes, in the end one, add to words of their own
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  store<kTrace>(tile + x(), int(x()), s_byte);
  barrier();
  for (uint32_t step = 32; step; step /= 2) {
    if (x() < step) {
      const int sum = load<kTrace>(tile + x(), s_load) + load<kTrace>(tile + x() + step, s_load2);
      store<kTrace>(tile + x(), sum, s_store);
    }
    barrier();
  }
  if (x() == 0) store<kTrace>(out, load<kTrace>(tile, s_wide), s_last);
}

static void check_races() {
  auto* out = device_array<int>(256);
  {
    void* arguments[] = {&out};
    run(module.kernel("own_word", k_own_word<false>, k_own_word<true>), 1, 64, arguments);
    EXPECT(out[0] == 2016);
    EXPECT(!recorded("faults.jsonl", "race"));
  }
  void* arguments[] = {&out};
  run(module.kernel("race", k_race<false>, k_race<true>), 1, 256, arguments);
  EXPECT(recorded("faults.jsonl", "\"scope\":\"block\""));
  EXPECT(record_of(s_wide).races_inter > 0 || record_of(s_byte).races_inter > 0);
  Kernel* reduction = module.kernel("warp_synchronous", k_warp_synchronous<false>, k_warp_synchronous<true>);
  for (int pass = 0; pass < 5; ++pass) {  // the later ones are not traced, but stay in lock-step
    memset(out, 0, 1024);
    run(reduction, 64, 64, arguments);
    EXPECT(out[0] == 2016 && out[63] == 2016);
  }
  EXPECT(recorded("launches.jsonl", "\"lockstep\":true"));
}

template <bool kTrace>
static void k_between_waves(void** arguments) {  // a race, after a dependence that keeps it in lock-step
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  store<kTrace>(tile + x(), int(x()), s_store);
  const int near = load<kTrace>(tile + (x() ^ 1), s_load);
  store<kTrace>(out + x(), near + load<kTrace>(tile + (x() + 64) % 256, s_load2), s_last);
}

static void check_wave_order() {
  auto* out = device_array<int>(256);
  void* arguments[] = {&out};
  memset(shared, 0, 1024);
  run(module.kernel("between_waves", k_between_waves<false>, k_between_waves<true>), 1, 256, arguments);
  EXPECT(recorded("launches.jsonl", "\"lockstep\":true"));
  for (int i = 0; i < 256; ++i) std::printf("%d ", out[i]);
}

template <bool kTrace>
static void k_lock(void** arguments) {
  auto* lock = *static_cast<int**>(arguments[0]);
  for (;;) {
    if (kTrace) __simt_access(lock, s_spin);
    int expected = 0;
    if (__atomic_compare_exchange_n(lock, &expected, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
  }
  const int value = load<kTrace>(lock + 1, s_load2);
  store<kTrace>(lock + 1, value + 1, s_store);
  if (kTrace) __simt_access(lock, s_unlock);
  __atomic_store_n(lock, 0, __ATOMIC_SEQ_CST);
}

template <bool kTrace>
static void k_producer(void** arguments) {  // wave 0 waits for wave 1, block 0 for block 1
  auto* flags = *static_cast<int**>(arguments[0]);
  if (x() == 70) store<kTrace>(flags + 8 + block_x(), 1, s_last);
  if (x() == 0) {
    while (load<kTrace>(flags + 8 + block_x(), s_spin) == 0) {
    }
    if (block_x() == 0)
      while (load<kTrace>(flags + 9, s_spin) == 0) {
      }
    store<kTrace>(flags + block_x(), 7, s_store);
  }
}

static void check_progress() {
  auto* words = device_array<int>(64);
  void* arguments[] = {&words};
  Kernel* lock = module.kernel("lock", k_lock<false>, k_lock<true>);
  EXPECT(run(lock, 4, 64, arguments).status == 0);
  EXPECT(words[1] == 256);
  for (Kernel* kernel : {module.kernel("producer", k_producer<false>, k_producer<true>),
                         module.kernel("producer_fast", k_producer<false>, nullptr)}) {
    memset(words, 0, 256);
    EXPECT(run(kernel, 2, 128, arguments).status == 0);
    EXPECT(words[0] == 7 && words[1] == 7);
  }
}

template <bool kTrace>
static void k_stuck(void** arguments) {
  auto* flag = *static_cast<int**>(arguments[0]);
  if (x() == 0)
    while (load<kTrace>(flag, s_spin) == 0) {
    }
  barrier();
}

static void check_deadlock() {
  auto* words = device_array<int>(64);
  void* arguments[] = {&words};
  // Where nothing but the clock interrupts the lanes it takes some seconds to be sure.
  const auto begun = std::chrono::steady_clock::now();
  EXPECT(run(module.kernel("stuck_fast", k_stuck<false>, nullptr), 2, 64, arguments).status == kLaunchTimeOut);
  EXPECT(std::chrono::steady_clock::now() - begun < std::chrono::seconds(40));
  EXPECT(run(module.kernel("stuck", k_stuck<false>, k_stuck<true>), 2, 64, arguments).status == kLaunchTimeOut);
  EXPECT(recorded("faults.jsonl", "\"kind\":\"deadlock\""));
}

template <bool kTrace>
static void k_grid(void** arguments) {
  auto* sums = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  store<kTrace>(tile + x(), int(block_x()), s_store);
  if (kTrace) __simt_access(sums, s_atomic);
  __atomic_fetch_add(sums, 1, __ATOMIC_SEQ_CST);
  __simt_at(s_barrier);
  __simt_grid_barrier();
  if (x() == 0) store<kTrace>(sums + 1 + block_x(), load<kTrace>(sums, s_load) * 10 + tile[x()], s_last);
}

static void check_grid_barrier() {
  auto* words = device_array<int>(64);
  void* arguments[] = {&words};
  Kernel* kernel = module.kernel("grid", k_grid<false>, k_grid<true>);
  for (int pass = 0; pass < 2; ++pass) {
    memset(words, 0, 256);
    EXPECT(run(kernel, 8, 96, arguments, 0, true).status == 0);
    EXPECT(words[1] == 7680 && words[8] == 7687);
  }
  EXPECT(run(kernel, 100000, 96, arguments, 0, true).status == kCooperativeTooLarge);
}

template <bool kTrace>
static void k_outside(void** arguments) {
  auto* out = *static_cast<int**>(arguments[0]);
  store<kTrace>(out + x() * 4096, 1, s_store);
}

static void check_faults() {
  auto* out = device_array<int>(100);
  void* arguments[] = {&out};
  Kernel* outside = module.kernel("outside", k_outside<false>, k_outside<true>);
  EXPECT(run(outside, 1, 64, arguments).status == kIllegalAddress);
  EXPECT(recorded("faults.jsonl", "\"kind\":\"out_of_bounds\""));
  EXPECT(recorded("faults.jsonl", "\"allocation_bytes\":400"));
  // The process and the runtime continue.
  auto* fine = device_array<int>(256);
  void* again[] = {&fine};
  EXPECT(run(module.kernel("barrier", k_barrier<false>, k_barrier<true>), 3, 256, again).status == 0);
  EXPECT(fine[0] == 199 + 67000);
  EXPECT(run(module.kernel("trap", [](void**) { __simt_trap(); }, nullptr), 1, 64, again).status == kLaunchFailed);
}

template <bool kTrace>
static void k_fresh(void** arguments) {
  auto* out = *static_cast<int**>(arguments[0]);
  auto* tile = reinterpret_cast<int*>(shared);
  out[x()] = load<kTrace>(tile + x(), s_load);
}

template <bool kTrace>
static void k_hole(void** arguments) {
  auto* out = *static_cast<int**>(arguments[0]);
  auto* in = *static_cast<int**>(arguments[1]);
  out[x()] = load<kTrace>(in + x(), s_load2);
}

static void check_uninitialised() {
  auto* out = device_array<int>(64);
  void* arguments[] = {&out};
  run(module.kernel("fresh", k_fresh<true>, k_fresh<true>), 1, 64, arguments);
  EXPECT(recorded("faults.jsonl", "\"kind\":\"uninitialized\""));
  EXPECT(record_of(s_load).uninitialized == 64);
  // One lane in the middle is enough.
  auto* in = device_array<int>(64);
  in[17] = int(0xA5A5A5A5);
  void* holes[] = {&out, &in};
  run(module.kernel("hole", k_hole<true>, k_hole<true>), 1, 64, holes);
  EXPECT(record_of(s_load2).uninitialized == 1);
}

int main(int count, char** words) {
  const std::map<std::string, void (*)()> checks = {
      {"shuffles", check_shuffles},     {"masks", check_masks},
      {"barriers", check_barriers},     {"divergence", check_divergence},
      {"coalescing", check_coalescing}, {"banks", check_banks},
      {"races", check_races},           {"progress", check_progress},
      {"deadlock", check_deadlock},     {"grid_barrier", check_grid_barrier},
      {"faults", check_faults},         {"uninitialised", check_uninitialised},
      {"wave_order", check_wave_order},
  };
  if (count != 2) {
    for (const auto& check : checks) std::printf("%s\n", check.first.c_str());
    return 0;
  }
  declare_sites();
  module.load(16384);
  checks.at(words[1])();
  finish_records(failures == 0, failures ? 1 : 0);
  return failures ? 1 : 0;
}
