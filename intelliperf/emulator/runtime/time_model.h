// The modelled time of a kernel, from counts of the launch and the device file; the formula is in demand.h.
//
// A wave's instructions are those of the host compiler's IR, counted as often as the wave runs their basic block, see
// wave_counts.h. Relative costs: CUDA C++ Programming Guide (throughput of native arithmetic instructions, 9.0) and AMD
// CDNA ISA guides (quarter-rate transcendentals). NVIDIA's compilers leave about half of the IR's integer and control
// operations, for they unroll loops and put scales and offsets into addresses (fitted, see demand.h); integer division is counted as the 24 instructions that it expands to
// (measured on an H200: 24.5). Half of the integer work and branches is taken to be the same for a whole wave and to go
// to AMD's scalar unit (assumption).
//
// A wave alone takes 4.7 cycles for each operation of a loop that needs the turn before (measured on an H100).
//
// Accesses to memory private to a thread (spilled registers) are the real target's compiler's, each taken to run
// as often as its source line. They move whole lines through L1; stores pass on to L2, and so do loads of what the
// resident threads' private memory exceeds L1 by, and likewise from L2 to memory.
//
// What it does not know: clocks under load, DRAM pages, TLBs, instruction caches, matrix units.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis.h"
#include "block_works.h"
#include "demand.h"
#include "launch.h"

namespace simt {

struct Occupancy {
  uint32_t blocks = 0;  // resident on one compute unit; 0: does not fit at all
  uint32_t waves = 0;
  uint32_t by_registers = 0, by_lds = 0, by_blocks = 0;  // waves of whole blocks that each would allow by itself
  const char* limit = "waves";                           // vgprs, lds, waves, blocks
};
Occupancy occupancy(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds);

// Counts of the whole launch.
struct LaunchTotals {
  double events = 0, atomic_lanes = 0, atomic_addresses = 0, atomic_hottest_lanes = 0;
  uint32_t atomic_hottest_site = 0xFFFFFFFF;
  std::vector<std::pair<uint32_t, double>> hottest_by_site;  // what each site's own hottest address takes
  bool atomics_known = true;                                 // every lane's address was looked at
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double kept_bytes = 0;       // of those read from memory, what L2 has from before the launch
  double dram_once_bytes = 0;  // what would be read if every line came from memory once
  // What the stages do:
  double lds_phases = 0, l1_tag_cycles = 0, l1_passes = 0, l1_bytes = 0, l2_bytes = 0, partial_sectors = 0;
  double loads = 0, load_runs = 0;  // of all sites; those that follow a store or a barrier
  double joined_loads = 0;          // that stand beside others
  double requests = 0, l1_hit_requests = 0, l2_hit_requests = 0, dram_requests = 0, lds_requests = 0;
  double on_their_way = 0;                       // of those that L2 serves, as late as if from memory
  double waited = 1;                             // share of a block's loads beyond L1 that one of its waves waits for
  double global_accesses = 0, lds_accesses = 0;  // requests of all kinds
  double atomic_requests = 0, waiting_loads = 0, waiting_global_loads = 0, spin_turns = 0, barrier_waves = 0,
         collectives = 0;
  // By the constant or scalar cache: addresses; of the loads that it makes wait, all and those that wait for others.
  double constant_addresses = 0, constant_loads = 0, constant_waits = 0, divergent_addresses = 0;
  double spin_requests = 0, spin_conflicts = 0;  // of waves; phases in the LDS beyond the ideal ones
  double indexed_loads = 0, indexed_waits = 0;   // that all lanes make together
  double atomic_queues = 1;                      // how much longer than those that were analysed
  double fullest_chunk = 0;                      // words that lanes add to within one chunk, see atomic_queues.h
};

// `sites`: of the whole launch, see estimate.h. `blocks_known`: every block was watched.
LaunchTotals launch_totals(Analysis& analysis, const std::vector<SiteRecord>& sites, bool blocks_known,
                           double blocks_per_traced);

// What the launch does besides its accesses, from the executions of basic blocks by waves.
struct Work {
  double instructions = 0;           // of waves, weighted by cost
  double steps = 0, operations = 0;  // of waves: by how long one alone takes; each once
  double kinds[10] = {};             // of waves, in the order of operation_kinds()
  bool local_known = false;
  double local_loads = 0, local_stores = 0;            // of waves
  double local_load_bytes = 0, local_store_bytes = 0;  // of all lanes
  double local_lines = 0, local_array_bytes = 0;       // look-ups; of the largest array of a thread
  double local_requests() const { return local_loads + local_stores; }
};
extern const char* const kOperationKinds[10];
Work weigh_work(const Kernel& kernel, const std::vector<uint64_t>& waves);
// Of one execution of each basic block by a wave.
std::vector<double> issue_costs(const Module& module);

// Adds what accesses to memory private to a thread do; none of what they move counts as read again.
void add_local_traffic(LaunchTotals& totals, const LaunchRequest& request, const Occupancy& resident, const Work& work);

// With `local`, `totals` has what accesses to memory private to a thread do. Blocks that differ are put on the compute
// units one by one, see block_works.h.
TimeParts model_time(const LaunchRequest& request, const Analysis& analysis, const LaunchTotals& totals,
                     const BlockWorks& blocks, const Occupancy& resident, const Work& work, bool local);

double transfer_time_ns(const char* operation, uint64_t bytes);

}  // namespace simt
