#include "demand.h"

#include <algorithm>
#include <cmath>

#include "device_file.h"

namespace simt {
namespace {

constexpr double kOverlap = 2.5;  // p
constexpr double kPartial = 0.5;
constexpr double kTagsPerCycle = 2;
constexpr double kTurnaroundCycles = 475;
constexpr double kStepCycles = 2.3;  // of a wave alone, for an instruction that others depend on
constexpr double kBarrierCycles = 30, kCollectiveCycles = 25;
constexpr double kWindow = 45;  // instructions between the first and the last load under way
constexpr double kMostInFlight = 12;
// Float additions in the LDS of an H200: 4 cycles per turn of a full compute unit, 68 for each lane on a block's address.
constexpr double kSpinCycles = 4, kSpinLatencies = 2.3;
// Of the constant cache, measured on an H200: for each address of a compute unit; of a load that others wait for, until
// it has its value and for each further address of a wave alone.
constexpr double kConstantCycles = 2, kConstantLatency = 100, kConstantPassCycles = 11;
// Where lanes share an address that is computed: from memory of up to 2 KiB; of loads that do not wait for each other.
constexpr double kIndexedLatency = 41, kIndexedCycles = 15.4;
// How much later a wave alone has the value for each further line, and for each further pass over the banks (H100).
constexpr double kLineCycles = 2.2, kPassCycles = 2.0;
constexpr double kDramEfficiency = 0.91;

double share(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 0; }

double norm(std::initializer_list<double> parts) {
  const double most = std::max(parts);
  if (most <= 0) return 0;
  double sum = 0;
  for (const double part : parts) sum += std::pow(part / most, kOverlap);
  return most * std::pow(sum, 1 / kOverlap);
}

double in_flight(const Demand& d) {
  const double fences = d.other_requests + d.barrier_waves, loads = d.global_requests + d.lds_requests;
  const double unhindered = d.load_runs > 0 ? d.loads / d.load_runs : fences > 0 ? loads / fences : kMostInFlight;
  const double all = d.global_requests + d.lds_requests + d.constant_loads;
  const double within_window = d.operations > 0 ? kWindow * all / d.operations : kMostInFlight;
  const double side_by_side = d.loads > d.joined_loads ? d.loads / (d.loads - d.joined_loads) : 1;
  return std::max(1.0, std::min({kMostInFlight, std::max(within_window, side_by_side), unhindered}));
}

// Cycles for `loads` of global memory, of which `missed` are not in L1. Those that are under way together wait for the
// slowest of them: misses are taken to be spread evenly, as those of loads that walk through a sector are.
struct GlobalLoads {
  double loads, missed, miss_cycles, more_cycles;
};
double cycles(const GlobalLoads& g, double alone, double flight, const Device& chip) {
  const double misses = share(g.missed, g.loads);
  const auto each = [&](double together) {
    const double slow = std::min(1.0, together * misses);
    return (slow * g.miss_cycles + (1 - slow) * chip.l1_latency_cycles + g.more_cycles) / together;
  };
  return g.loads * (alone * each(1) + (1 - alone) * each(flight));
}

// Cycles that a wave waits for constants at places that it computes; other loads of the same turn hide that.
double indexed(const Demand& d) {
  const double alone = share(d.indexed_waits, d.indexed_loads);
  return d.indexed_loads / d.waves * (alone * kIndexedLatency + (1 - alone) * kIndexedCycles);
}

// Of a load that finds its data in L2, or on its way there for another block.
double l2_cycles(const Demand& d, const Device& chip) {
  return chip.l2_latency_cycles + d.on_their_way * (chip.dram_latency_cycles - chip.l2_latency_cycles);
}

double further(double all, double requests, double each, const Device& chip) {
  return requests > 0 ? std::max(0.0, all / requests - 1) * (chip.amd() ? 1 : each) : 0;
}

// Cycles that the longest wave of a block waits for its loads.
double waiting(const Demand& d, const Device& chip) {
  const double loads = d.global_requests + d.lds_requests, requests = loads + d.other_requests;
  if (loads <= 0) return indexed(d);
  const double chain = d.longest_wave_requests / d.blocks;
  const double global = chain * d.global_requests / requests, lds = chain * d.lds_requests / requests;
  // Where waves share lines the first one that is traced brings them in, but all wait for them.
  const double misses = d.l2_loads + d.dram_loads, missed = std::min(global, misses / d.blocks * d.waited);
  const double miss =
      misses > 0 ? (d.l2_loads * l2_cycles(d, chip) + d.dram_loads * chip.dram_latency_cycles) / misses : 0;
  // A request that takes several passes has its last lane's value that much later.
  const double more =
      d.global_requests > 0 ? further(d.l1_tags, d.global_requests + d.other_requests, kLineCycles, chip) : 0;
  const double conflicts = further(d.lds_phases, d.lds_requests, kPassCycles, chip);
  const double first = std::min(1.0, global) * (missed > 0 ? miss : chip.l1_latency_cycles);
  const double alone = std::min(1.0, d.waiting_loads / loads), flight = in_flight(d);
  const double all = cycles({global, missed, miss, more}, alone, flight, chip) +
                     lds * (chip.lds_latency_cycles + conflicts) * (alone + (1 - alone) / flight);
  return std::max({first, all, indexed(d)});
}

// Cycles that a wave waits for constant memory.
double constants(const Demand& d) {
  if (d.constant_loads <= 0) return 0;
  const double alone = share(d.constant_waits, d.constant_loads);
  const double more = std::max(0.0, d.divergent_addresses / d.constant_loads - 1);
  const double each = alone * (kConstantLatency + more * kConstantPassCycles) +
                      (1 - alone) * (kConstantLatency / in_flight(d) + more * kConstantCycles);
  return d.constant_loads / d.waves * each;
}

// Cycles that a block's longest wave is busy by itself, instructions apart.
double in_order(const Demand& d, const Device& chip) {
  return constants(d) + d.spin_turns / d.blocks * kSpinLatencies * chip.lds_latency_cycles +
         d.barriers / d.blocks * kBarrierCycles + d.collectives / d.waves * kCollectiveCycles;
}

}  // namespace

double TimeParts::total() const {
  return launch + norm({dispatch, issue, lds, constant, l1, std::max(l2, dram), atomic, latency});
}

double block_cycles(const Demand& d, const BlockWork& work, double more) {
  const Device& chip = device();
  const double global = work.global_loads + more, lds = work.lds_loads;
  const auto known = double(work.served.l1 + work.served.l2 + work.served.memory);
  const double from_l2 = known > 0 ? double(work.served.l2) / known : share(d.l2_loads, d.global_requests);
  const double from_memory = known > 0 ? double(work.served.memory) / known : share(d.dram_loads, d.global_requests);
  const double misses = from_l2 + from_memory;
  const double missed = std::min(global, work.global * misses * d.waited);
  const double miss = misses > 0 ? (from_l2 * l2_cycles(d, chip) + from_memory * chip.dram_latency_cycles) / misses : 0;
  const double passes = further(d.l1_tags, std::max(1.0, d.global_accesses), kLineCycles, chip);
  const double conflicts = further(d.lds_phases, std::max(1.0, d.lds_accesses), kPassCycles, chip);
  const double flight = in_flight(d), alone = share(d.waiting_loads - d.waiting_global_loads, d.lds_requests);
  const double loads =
      cycles({global, missed, miss, passes}, share(d.waiting_global_loads, d.global_requests), flight, chip) +
      lds * (chip.lds_latency_cycles + conflicts) * (alone + (1 - alone) / flight);
  const double first = std::min(1.0, global) * (missed > 0 ? miss : chip.l1_latency_cycles);
  const double steps = d.instructions > 0 ? work.issue / std::max(1.0, work.waves) * d.steps / d.instructions : 0;
  return std::max({first, loads, indexed(d)}) + steps * kStepCycles + in_order(d, chip);
}

TimeParts time_parts(const Demand& d) {
  const Device& chip = device();
  TimeParts parts;
  parts.launch = chip.launch_overhead_ns;
  if (d.blocks <= 0) return parts;
  const double cycle_ns = 1e9 / chip.clock_hz;
  parts.dispatch =
      std::max(d.blocks * chip.block_start_ns, d.waves * chip.wave_start_cycles * cycle_ns / chip.compute_units);
  parts.issue = d.instructions / chip.issue_per_cycle * d.busiest_issue * cycle_ns;
  const double phases = d.lds_phases * chip.lds_banks * 4 / chip.lds_bytes_per_cycle + d.spin_turns * kSpinCycles;
  parts.lds = phases * d.busiest_lds * cycle_ns;
  parts.constant =
      (d.divergent_addresses + d.indexed_loads) * (chip.amd() ? 1 : kConstantCycles) * d.busiest_issue * cycle_ns;
  const double look_ups = chip.amd() ? d.l1_tags : std::max(d.l1_tags / kTagsPerCycle, d.l1_passes);
  const double passed_on = chip.amd() ? 0 : d.l2_bytes / chip.l2_bytes_per_cycle_and_unit;
  parts.l1 = (std::max(look_ups, d.l1_bytes / chip.l1_bytes_per_cycle) + passed_on) * d.busiest_global * cycle_ns;
  parts.l2 = std::max((d.l2_bytes + 32 * kPartial * d.partial_sectors) / chip.l2_bytes_per_s * 1e9,
                      d.l2_bytes * d.busiest_global / chip.l2_bytes_per_cycle_and_unit * cycle_ns);
  parts.dram = d.dram_bytes / (kDramEfficiency * chip.dram_bytes_per_s) * 1e9;
  const double same_address = d.hottest_float ? chip.atomic_same_address_ns : chip.atomic_lane_ns;
  parts.atomic = std::max({d.hottest_lanes * same_address, d.longest_queue_ns, d.all_queues_ns / chip.atomic_queues});
  const double turnaround = d.blocks > chip.compute_units * d.resident ? kTurnaroundCycles : 0;
  const double alone = d.steps / d.waves * kStepCycles + in_order(d, chip);
  const double rows = d.row_cycles > 0 ? d.row_cycles : d.in_a_row * (waiting(d, chip) + alone);
  parts.latency = (rows + d.in_a_row * turnaround) * cycle_ns;
  return parts;
}

}  // namespace simt
