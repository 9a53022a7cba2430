#include "time_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

#include "wave_counts.h"

namespace simt {
namespace {

struct Cost {
  const char* kind;    // key of "mix" in the metadata
  double amd, nvidia;  // of the issue slots
  double steps;        // that a wave alone takes one after another
};
constexpr Cost kCosts[] = {
    {"f32", 1, 1, 0.8},
    {"int", 0.5, 0.5, 0.5},
    {"idiv", 24, 24, 24},
    {"special", 4, 8, 4},
    {"convert", 1, 1, 0.5},
    {"select", 0.5, 0.5, 0.5},
    {"branch", 0.5, 0.25, 0.5},  // steps on NVIDIA: kBranchSteps
    {"memory", 1, 1, 1},
    {"call", 4, 4, 4},
    // Of a GPU's own code; the scalar unit has its own issue port.
    {"vector", 1, 1, 1},
    {"scalar", 0, 0, 1},
    {"matrix", 0, 0, 0},  // see "passes"
};
// Measured on an H100: a comparison and a branch by it hold a wave up for 12.7 cycles, an operation for 4.7; half of the
// branches are left by the compilers, as above.
constexpr double kBranchSteps = 0.5 * (12.7 - 4.7) / 2.3;
constexpr uint16_t kSiteJoins = 4096;  // JOINS of ir/memory.py
constexpr double kChainSteps =
    4.7 / 2.3;  // of operations that follow one another from turn to turn, see ir/recurrences.py
// Of a wave; measured on an H200: 32 lanes of shuffles per cycle and compute unit, a barrier in 2.1 cycles per wave.
constexpr double kCollectiveCost = 4, kBarrierCost = 8.4;

double fp64_cost(const Device& d) {
  const double fp32_rate = d.issue_per_cycle * d.wave_size * 2 * d.compute_units * d.clock_hz;
  return d.fp64_flops_per_s > 0 ? std::max(1.0, fp32_rate / d.fp64_flops_per_s) : 1;
}

double collective_costs(const LaunchTotals& t) {
  return t.collectives * kCollectiveCost + t.barrier_waves * kBarrierCost;
}

uint32_t granules(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }

// Registers limit waves: AMD allocates per SIMD in steps of 8 per lane, NVIDIA per warp in steps of 256.
uint32_t waves_by_registers(const Device& d, const StaticFacts& facts) {
  const uint32_t each = facts.vgprs + (d.amd() ? facts.agprs : 0);
  if (!facts.known || each == 0 || d.registers_per_compute_unit == 0) return d.max_waves_per_compute_unit;
  if (!d.amd()) return d.registers_per_compute_unit / granules(each * d.wave_size, 256);
  const uint32_t per_simd = d.registers_per_compute_unit / d.simds_per_compute_unit / d.wave_size;
  return per_simd / granules(each, 8) * d.simds_per_compute_unit;
}

}  // namespace

Occupancy occupancy(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds) {
  const Device& d = device();
  const uint32_t waves = (threads + d.wave_size - 1) / d.wave_size;
  Occupancy result;
  if (waves == 0) return result;
  result.blocks = d.max_waves_per_compute_unit / waves;
  const uint32_t most = result.blocks;
  const auto limit = [&](uint32_t blocks, const char* name) {
    if (blocks < result.blocks) result.blocks = blocks, result.limit = name;
    return std::min(blocks, most) * waves;
  };
  result.by_registers = limit(waves_by_registers(d, kernel.facts) / waves, "vgprs");
  const uint32_t lds = kernel.static_lds + dynamic_lds;
  result.by_lds = limit(lds ? d.lds_bytes_per_compute_unit / lds : most, "lds");
  result.by_blocks = limit(d.max_blocks_per_compute_unit, "blocks");
  result.waves = result.blocks * waves;
  return result;
}

namespace {

// Atomics of blocks that nobody watched are taken to be like those of the others.
void add_atomics(LaunchTotals& result, Analysis& analysis, double factor) {
  const HotAddresses::Summary hot = analysis.hot().summary();
  // Addresses that several blocks share are taken to be all known; private ones keep appearing.
  result.atomic_addresses = double(hot.distinct) + double(hot.of_one_block) * (factor - 1);
  result.atomic_hottest_lanes = double(hot.hottest_lanes) * (hot.hottest_blocks > 1 ? factor : 1);
  result.atomic_hottest_site = hot.hottest_site;
  std::unordered_map<uint64_t, double> chunks;
  std::map<uint32_t, double> by_site;
  const double scaled = hot.hottest_lanes ? result.atomic_hottest_lanes / double(hot.hottest_lanes) : 0;
  analysis.hot().each([&](uint64_t address, uint64_t lanes, uint32_t site) {
    double& most = by_site[site];
    most = std::max(most, double(lanes) * scaled);
    const double words = analysis.module().sites[site].bytes > 4 ? 2 : 1;
    double& chunk = chunks[address >> AtomicQueues::kChunkShift];
    chunk += double(lanes) * words * factor;
    result.fullest_chunk = std::max(result.fullest_chunk, chunk);
  });
  result.hottest_by_site.assign(by_site.begin(), by_site.end());
  if (!wave_counter.atomics_known()) result.fullest_chunk = std::numeric_limits<double>::infinity();
}

// NVIDIA's instructions take an operand that all lanes share out of a known place in constant memory without a load of
// its own.
void add_constants(LaunchTotals& result, const Site& site, const SiteRecord& record) {
  const auto requests = double(record.requests), addresses = double(record.distinct_addresses);
  result.constant_addresses += addresses;
  if (addresses <= requests && !device().amd()) {
    if (!(site.flags & kSiteIndexed)) return;
    result.indexed_loads += requests;
    if (site.flags & kSiteWaits) result.indexed_waits += requests;
    return;
  }
  result.constant_loads += requests;
  result.divergent_addresses += addresses;
  if (site.flags & kSiteWaits) result.constant_waits += requests;
}

void add_stages(LaunchTotals& result, const Module& module, const std::vector<SiteRecord>& sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    const SiteRecord& site = sites[i];
    const auto kind = SiteKind(module.sites[i].kind);
    if (is_constant(module.sites[i])) {
      add_constants(result, module.sites[i], site);
      continue;
    }
    result.lds_phases += double(site.lds_phases);
    result.l1_tag_cycles += double(device().amd() ? site.line_runs128 : site.lines128);
    result.l1_bytes += double(site.sectors) * 32;
    const auto requests = double(site.requests);
    result.global_accesses += double(site.global_requests);
    result.lds_accesses += double(site.shared_requests);
    if (kind == SiteKind::kBarrier) result.barrier_waves += requests;
    if (kind == SiteKind::kCollective) result.collectives += requests;
    if (kind == SiteKind::kLoad) {
      result.loads += requests;
      if (module.sites[i].flags & kSiteFollows) result.load_runs += requests;
      if (module.sites[i].flags & kSiteJoins) result.joined_loads += requests;
    }
    if (kind == SiteKind::kLoad && (module.sites[i].flags & kSiteWaits)) {
      result.waiting_loads += requests;
      result.waiting_global_loads += double(site.global_requests);
    }
    if (kind != SiteKind::kAtomic && kind != SiteKind::kReduction) continue;
    result.atomic_requests += double(site.global_requests);
    if ((module.sites[i].flags & kSiteSpins) && site.shared_requests) {
      result.spin_turns += double(site.same_address);
      result.spin_requests += double(site.shared_requests);
      result.spin_conflicts += double(site.lds_phases) - double(site.lds_phases_ideal);
    }
    result.atomic_lanes +=
        double(site.lanes) * double(site.global_requests) / double(std::max<uint64_t>(1, site.requests));
  }
}

}  // namespace

LaunchTotals launch_totals(Analysis& analysis, const std::vector<SiteRecord>& sites, bool blocks_known,
                           double blocks_per_traced) {
  const TracedTotals& t = analysis.totals();
  LaunchTotals result;
  add_stages(result, analysis.module(), sites);
  double seen_sectors = 0, seen_requests = 0, requests = 0, lanes = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const SiteRecord& seen = analysis.records()[i];
    seen_sectors += double(seen.sectors);
    if (seen.global_requests + seen.shared_requests == 0 && sites[i].global_requests + sites[i].shared_requests == 0)
      continue;
    seen_requests += double(seen.requests);
    requests += double(sites[i].requests);
    lanes += double(wave_counter.lanes(uint32_t(i)));
  }
  const double per_request = seen_requests > 0 ? requests / seen_requests : 1;
  // Caches behave as in the analysed requests.
  const double factor = seen_sectors > 0 ? result.l1_bytes / 32 / seen_sectors : per_request;
  const double rest = double(t.events) * (factor - 1);
  result.events = lanes * (blocks_known ? 1 : blocks_per_traced);
  add_atomics(result, analysis, blocks_known ? 1 : blocks_per_traced);
  result.l2_bytes = double(t.l2_bytes) * factor;
  result.partial_sectors = double(t.partial_sectors) * factor;
  result.l1_passes = double(t.l1_bank_passes) * factor;
  if (t.atomic_lanes) result.atomic_queues = result.atomic_lanes / double(t.atomic_lanes);
  result.requests = double(t.requests) * per_request;
  result.l1_hit_requests = double(t.served.l1) * per_request;
  result.l2_hit_requests = double(t.served.l2) * per_request;
  result.dram_requests = double(t.served.memory) * per_request;
  // The first blocks that are traced do not know yet when others ask, so that the last ones stand for all.
  const auto late = double(t.late_l2), all = double(t.served.l2);
  const double shared = late > 0 ? double(t.late_on_their_way) / late : all > 0 ? double(t.on_their_way) / all : 0;
  result.on_their_way = result.l2_hit_requests * shared;
  result.lds_requests = double(t.lds_requests) * per_request;
  const auto beyond_l1 = double(t.served.l2 + t.served.memory);
  if (beyond_l1 > 0) result.waited = std::min(1.0, double(t.waited) / beyond_l1);

  // First touches continue at the rate of the later half of the accesses, up to what there is to touch.
  const bool halves = t.late_events > 0;
  const double later_half = std::max(1.0, double(halves ? t.late_events : t.events));
  const double rate = double(halves ? t.read_cold_late : t.read_cold_lines) / later_half;
  double cold = (double(t.read_cold_lines) + rate * rest) * 32;
  const double there = double(t.touched_allocation_bytes);
  if (there > 0) cold = std::max(double(t.read_cold_lines) * 32, std::min(cold, there * device().xcds));
  if (t.read_cold_lines) result.kept_bytes = cold * double(t.read_kept_lines) / double(t.read_cold_lines);
  result.dram_read_bytes = cold + double(t.read_again_lines) * 32 * factor;
  const double new_rate = double(halves ? t.read_new_late : t.read_new_lines) / later_half;
  double once = (double(t.read_new_lines) + new_rate * rest) * 32;
  if (there > 0) once = std::max(double(t.read_new_lines) * 32, std::min(once, there));
  result.dram_once_bytes = std::min(once, result.dram_read_bytes);
  result.dram_write_bytes = double(t.write_sectors) * 32 * factor;
  return result;
}

const char* const kOperationKinds[10] = {"f32",     "f64",    "int",    "idiv",   "special",
                                         "convert", "select", "branch", "memory", "call"};

namespace {

// Without the target's code: what its arrays of a thread's own ask for, see ir/localarrays.py.
void add_local_arrays(Work& work, const Module& module, const std::vector<uint64_t>& waves) {
  const auto& blocks = module.metadata["blocks"].items();
  for (size_t i = 0; i < blocks.size() && i < waves.size(); ++i) {
    const JsonValue& local = blocks[i]["local"];
    const auto of_all = [&](const char* name) { return double(local[name].unsigned_or(0)) * double(waves[i]); };
    work.local_loads += of_all("loads"), work.local_stores += of_all("stores");
    work.local_load_bytes += of_all("load_sectors") * 32, work.local_store_bytes += of_all("store_sectors") * 32;
    work.local_lines += of_all("lines");
    if (waves[i])
      work.local_array_bytes = std::max(work.local_array_bytes, double(local["array_bytes"].unsigned_or(0)));
  }
}

}  // namespace

Work weigh_work(const Kernel& kernel, const std::vector<uint64_t>& waves) {
  const Device& d = device();
  const auto& blocks = kernel.module->metadata["blocks"].items();
  Work work;
  for (size_t i = 0; i < blocks.size() && i < waves.size(); ++i) {
    if (waves[i] == 0) continue;
    const JsonValue& mix = blocks[i]["mix"];
    const double doubles = double(mix["f64"].unsigned_or(0));
    double cost = doubles * fp64_cost(d), steps = doubles, all = doubles;
    for (const Cost& kind : kCosts) {
      const auto count = double(mix[kind.kind].unsigned_or(0));
      const bool branches = !d.amd() && strcmp(kind.kind, "branch") == 0;
      cost += count * (d.amd() ? kind.amd : kind.nvidia), all += count;
      steps += count * (branches ? kBranchSteps : kind.steps);
    }
    const auto passes = double(blocks[i]["passes"].unsigned_or(0));  // of matrix products
    cost += passes, steps += passes;
    steps = std::max(steps, double(blocks[i]["chain"].unsigned_or(0)) * kChainSteps);
    work.instructions += cost * double(waves[i]);
    work.steps += steps * double(waves[i]);
    work.operations += all * double(waves[i]);
    for (int k = 0; k < 10; ++k) work.kinds[k] += double(mix[kOperationKinds[k]].unsigned_or(0)) * double(waves[i]);
  }
  work.local_known = kernel.facts.local_known;
  work.local_array_bytes = kernel.facts.scratch_bytes;
  if (!work.local_known) add_local_arrays(work, *kernel.module, waves);
  for (const LocalAccesses& access : kernel.facts.local) {
    double times = 0;
    for (const uint32_t block : access.blocks) times += block < waves.size() ? double(waves[block]) : 0;
    times /= double(std::max<size_t>(1, access.blocks.size()));
    work.local_loads += times * access.loads;
    work.local_stores += times * access.stores;
    work.local_load_bytes += times * access.load_bytes * d.wave_size;
    work.local_store_bytes += times * access.store_bytes * d.wave_size;
    work.local_lines += times * (access.load_bytes + access.store_bytes) * d.wave_size / 128;
  }
  return work;
}

std::vector<double> issue_costs(const Module& module) {
  const Device& d = device();
  std::vector<double> costs(module.block_count, 0);
  const auto& blocks = module.metadata["blocks"].items();
  for (size_t i = 0; i < blocks.size() && i < costs.size(); ++i) {
    const JsonValue& mix = blocks[i]["mix"];
    costs[i] = double(mix["f64"].unsigned_or(0)) * fp64_cost(d);
    costs[i] += double(blocks[i]["passes"].unsigned_or(0));
    for (const Cost& kind : kCosts)
      costs[i] += double(mix[kind.kind].unsigned_or(0)) * (d.amd() ? kind.amd : kind.nvidia);
  }
  return costs;
}

namespace {

// Of `bytes` in use all over again what a cache does not hold.
double beyond(double bytes, double cache) { return bytes > cache ? 1 - cache / bytes : 0; }

// Where the accesses to private memory go.
struct LocalTraffic {
  double bytes = 0, to_l2 = 0;  // of lanes; of these beyond L1
  double dram_read = 0, dram_write = 0;
  double miss_l1 = 0, miss_l2 = 0;  // shares of the loads, and of what comes to L2
};

LocalTraffic local_traffic(const LaunchRequest& request, const Occupancy& resident, const Work& work) {
  const Device& d = device();
  const double blocks = double(request.grid.count());
  const double alive = std::min(double(std::max(1u, resident.blocks)), std::ceil(blocks / d.compute_units));
  const double footprint = work.local_array_bytes * double(request.block.count()) * alive;
  LocalTraffic traffic;
  traffic.miss_l1 = beyond(footprint, double(d.l1_bytes));
  traffic.miss_l2 = beyond(footprint * d.compute_units, double(d.l2_bytes));
  traffic.bytes = work.local_load_bytes + work.local_store_bytes;
  traffic.to_l2 = work.local_store_bytes + work.local_load_bytes * traffic.miss_l1;
  traffic.dram_read = work.local_load_bytes * traffic.miss_l1 * traffic.miss_l2;
  traffic.dram_write = work.local_store_bytes * traffic.miss_l2;
  return traffic;
}

}  // namespace

void add_local_traffic(LaunchTotals& t, const LaunchRequest& request, const Occupancy& resident, const Work& work) {
  const LocalTraffic traffic = local_traffic(request, resident, work);
  t.dram_read_bytes += traffic.dram_read;
  t.dram_once_bytes += traffic.dram_read;
  t.dram_write_bytes += traffic.dram_write;
  t.l1_tag_cycles += work.local_lines;
  t.l1_bytes += traffic.bytes;
  t.l2_bytes += traffic.to_l2;
  t.requests += work.local_requests();
  t.l1_hit_requests += work.local_loads * (1 - traffic.miss_l1);
  t.l2_hit_requests += work.local_loads * traffic.miss_l1 * (1 - traffic.miss_l2);
  t.dram_requests += work.local_loads * traffic.miss_l1 * traffic.miss_l2;
}

namespace {

void ask_atomics(Demand& demand, const Analysis& analysis, const LaunchTotals& totals) {
  const Device& d = device();
  const AtomicQueues& queues = analysis.queues();
  const auto time = [&](const AtomicQueues::Queue& queue) { return queue.time(d.atomic_sector_ns, d.atomic_lane_ns); };
  demand.hottest_lanes = totals.atomic_hottest_lanes;
  demand.hottest_float = analysis.is_float(totals.atomic_hottest_site);
  const double longest = time(queues.longest(d.atomic_sector_ns, d.atomic_lane_ns)) * totals.atomic_queues;
  // What was analysed may all have gone to one place, where the rest goes elsewhere.
  demand.longest_queue_ns = std::min(longest, totals.fullest_chunk * std::max(d.atomic_sector_ns, d.atomic_lane_ns));
  demand.all_queues_ns = time(queues.all()) * totals.atomic_queues;
}

// How blocks that differ fill the chip; where all are alike, as many on each unit and in each place as there can be.
// To be called last: how long a block takes follows from the rest of the demand.
void ask_units(Demand& demand, const BlockWorks& works, uint64_t blocks, double more) {
  const Device& d = device();
  demand.longest_wave_requests = (works.mean_chain() + more) * demand.blocks;
  const auto cycles = [&](const BlockWork& work) { return block_cycles(demand, work, more); };
  const BusiestUnit busiest = works.busiest({d.compute_units, uint32_t(demand.resident), cycles}, blocks);
  demand.busiest_issue = busiest.issue, demand.busiest_lds = busiest.lds, demand.busiest_global = busiest.global;
  demand.in_a_row = std::max(1.0, demand.blocks / (double(d.compute_units) * demand.resident));
  demand.row_cycles = busiest.row_cycles;
}

}  // namespace

TimeParts model_time(const LaunchRequest& request, const Analysis& analysis, const LaunchTotals& t,
                     const BlockWorks& works, const Occupancy& resident, const Work& work, bool local) {
  Demand demand;
  if (works.blocks() == 0) return time_parts(demand);
  demand.blocks = double(request.grid.count());
  demand.waves = demand.blocks * std::ceil(double(request.block.count()) / device().wave_size);
  demand.resident = std::max(1u, resident.blocks);
  demand.instructions = work.instructions + collective_costs(t);
  demand.steps = work.steps;
  demand.operations = work.operations;
  demand.lds_phases = t.lds_phases;
  demand.l1_tags = t.l1_tag_cycles;
  demand.l1_passes = t.l1_passes;
  demand.l1_bytes = t.l1_bytes;
  demand.l2_bytes = t.l2_bytes;
  demand.partial_sectors = t.partial_sectors;
  demand.dram_bytes = t.dram_read_bytes - t.kept_bytes + t.dram_write_bytes;
  ask_atomics(demand, analysis, t);
  demand.global_requests = t.l1_hit_requests + t.l2_hit_requests + t.dram_requests;
  demand.lds_requests = t.lds_requests;
  const double loads = demand.global_requests + demand.lds_requests;
  demand.other_requests = std::max(0.0, t.requests - t.atomic_requests - loads);
  demand.l2_loads = t.l2_hit_requests;
  demand.on_their_way = t.l2_hit_requests > 0 ? t.on_their_way / t.l2_hit_requests : 0;
  demand.dram_loads = t.dram_requests;
  demand.waited = t.waited;
  demand.waiting_loads = t.waiting_loads;
  demand.waiting_global_loads = t.waiting_global_loads;
  demand.loads = t.loads;
  demand.load_runs = t.load_runs;
  demand.joined_loads = t.joined_loads;
  demand.global_accesses = t.global_accesses;
  demand.lds_accesses = t.lds_accesses;
  demand.divergent_addresses = t.divergent_addresses;
  demand.constant_loads = t.constant_loads;
  demand.constant_waits = t.constant_waits;
  demand.indexed_loads = t.indexed_loads;
  demand.indexed_waits = t.indexed_waits;
  demand.spin_turns = t.spin_turns;
  demand.barrier_waves = t.barrier_waves;
  demand.barriers = t.barrier_waves / (demand.waves / demand.blocks);
  demand.collectives = t.collectives;
  ask_units(demand, works, request.grid.count(), local ? work.local_requests() / demand.waves : 0);
  return time_parts(demand);
}

double transfer_time_ns(const char* operation, uint64_t bytes) {
  const Device& d = device();
  const bool over_bus = strcmp(operation, "memcpy_htod") == 0 || strcmp(operation, "memcpy_dtoh") == 0;
  if (over_bus) return d.launch_overhead_ns + double(bytes) / d.pcie_bytes_per_s * 1e9;
  const double passes = strcmp(operation, "memset") == 0 ? 1 : 2;  // a copy reads and writes
  return d.launch_overhead_ns + double(bytes) * passes / d.dram_bytes_per_s * 1e9;
}

}  // namespace simt
