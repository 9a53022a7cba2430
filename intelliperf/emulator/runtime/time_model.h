// The modelled time of a kernel, from counts of its traced blocks and the device file.
//
//   T = launch + longest + (sum - longest) / phases,   of l1, l2, dram, lds and max(issue, latency, atomic)
//
// A wave goes through the stages one after another, so one phase of memory work costs their sum; with many
// phases under way the stages work for different waves at once, and the longest one sets the pace (the usual
// pipeline formula). phases = rounds of resident blocks x requests of a block's longest wave / kInFlight, at
// least 1; a request of 16 bytes per lane counts as four, for it passes the stages in as many parts (shared and L1
// memory serve a quarter of a warp at a time then). Of a published MI300X pair (an uncoalesced and a tiled bf16 transpose, 8.57 and 6.13 us: about one
// phase each) the sum explains both the times and their ratio, a maximum explains neither; that much overlap
// follows from the phases is not calibrated.
//
//   issue    wave instructions by class / issue_per_cycle, on the busiest compute unit. Relative costs: CUDA C++
//            Programming Guide (throughput of native arithmetic instructions, 9.0) and AMD CDNA ISA guides
//            (quarter-rate transcendentals); integer division is counted as the 24 instructions that it expands
//            to (assumption). Half of the integer work and branches is taken to be the same for a whole wave
//            and to go to the scalar unit or uniform data path beside the vector units (assumption).
//            Instructions are those of the host compiler's IR.
//   lds      passes of 128 bytes on the busiest compute unit.
//   l1       the larger of tag look-ups (one line per cycle) and bytes of the touched sectors.
//   l2, dram bytes over the peak rates.
//   atomic   the larger of the hottest address's queue (atomic_same_address_ns per lane; measured on an H100
//            with float additions, 1.75 ns) and all lanes over atomic_l2_ops_per_s. The program's own atomics
//            are counted: compilers that combine the lanes of a wave first (nvcc, for integers on a uniform
//            address) do better.
//            A wave's instructions are counted as often as the wave runs their basic block, see block_counts.h.
//   latency  rounds of resident blocks × loads of a block's longest wave × mean latency of their level,
//            with kInFlight requests of a wave under way at once (assumption), but no less than the one latency
//            that a wave with few loads has to wait for in every round.
//
// Accesses to memory private to a thread (spilled registers) are the real target's compiler's, each taken to run
// as often as its source line. They move whole lines through L1; stores go on to L2, and so do loads of what the
// resident threads' private memory exceeds L1 by, and likewise from L2 to memory.
//
// What it does not know: clocks under load, DRAM pages, TLBs, instruction caches, matrix units.
#pragma once
#include <cstdint>

#include "analysis.h"
#include "launch.h"

namespace simt {

struct TimeParts {
  double launch = 0, issue = 0, lds = 0, l1 = 0, l2 = 0, dram = 0, atomic = 0, latency = 0;  // ns
  double phases = 1;  // that overlap
  double total() const;
};

struct Occupancy {
  uint32_t blocks = 0;  // resident on one compute unit; 0: does not fit at all
  uint32_t waves = 0;
  uint32_t by_registers = 0, by_lds = 0, by_blocks = 0;  // waves of whole blocks that each would allow by itself
  const char* limit = "waves";  // vgprs, lds, waves, blocks
};
Occupancy occupancy(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds);

// Counts of the whole launch, scaled from the traced blocks.
struct LaunchTotals {
  double events = 0, atomic_lanes = 0, atomic_addresses = 0, atomic_hottest_lanes = 0;
  uint32_t atomic_hottest_site = 0xFFFFFFFF;
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_once_bytes = 0;  // what would be read if every line came from memory once
};
// How much more all blocks do than the traced ones: by their number, or as counted.
struct Extrapolation {
  double accesses = 1, instructions = 1;
};

LaunchTotals scale_totals(const Analysis& analysis, const Extrapolation& rest);

// What the traced blocks do besides their accesses, from the executions of basic blocks by waves.
struct Work {
  double instructions = 0;  // of waves, weighted by cost
  bool local_known = false;
  double local_loads = 0, local_stores = 0;            // of waves
  double local_load_bytes = 0, local_store_bytes = 0;  // of all lanes
  double local_requests() const { return local_loads + local_stores; }
};
Work weigh_work(const Kernel& kernel, const std::vector<uint64_t>& waves);

// Adds what accesses to memory private to a thread move to and from memory; none of it counts as read again.
void add_local_traffic(LaunchTotals& totals, const LaunchRequest& request, const Extrapolation& rest,
                       const Occupancy& resident, const Work& work);

// With `local` the accesses to memory private to a thread count, and `totals` is to have their traffic.
TimeParts model_time(const LaunchRequest& request, const TracedTotals& traced, const LaunchTotals& totals,
                     const Extrapolation& rest, const Occupancy& resident, const Work& work, bool local);

double transfer_time_ns(const char* operation, uint64_t bytes);

}  // namespace simt
