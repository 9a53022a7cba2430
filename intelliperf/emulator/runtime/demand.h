// What a launch asks of each part of the chip, and how long each part needs for it.
//
//   T = launch + (dispatch^p + issue^p + lds^p + constant^p + l1^p + max(l2, dram)^p + atomic^p + latency^p)^(1/p)
//
// The parts work side by side, so that the longest one sets the pace, but never perfectly: with p = kOverlap two equal
// ones take 1.3 times as long as one alone. What streams through the L2 streams from memory at the same time.
//
//   dispatch  blocks and waves over the rates at which the chip starts them. Empty kernels on an H200: a block each
//             0.61 ns however many waves it has, up to one wave per compute unit and 10.5 cycles. What makes a kernel
//             with one element per thread slower than one with four is mostly this.
//   issue     wave instructions by what they cost the issue slots of the busiest compute unit.
//   lds       passes over the banks on the busiest compute unit.
//   constant  addresses of loads by the constant cache, one by one, but for those that are operands of instructions: the
//             lanes share them, and where they lie is known beforehand. On AMD loads by the scalar cache.
//   l1        the largest of tag look-ups, passes over the data banks (NVIDIA's L1 has those of shared memory) and
//             bytes of sectors, on the busiest compute unit. On NVIDIA what it passes on to the L2 comes on top of that:
//             kernels whose lanes walk through lines of their own take as long as both together.
//   l2        sectors over the rate of all slices, or over what one compute unit can take in. A sector that a store
//             fills in part only counts kPartial times more.
//   dram      bytes over what of the peak rate a copy reaches.
//   atomic    the longest of the queues: of one address, of one slice, of all slices; see atomic_queues.h.
//   latency   of a block's longest wave, from its start to its end, for as many blocks as follow one another in one
//             place: its instructions at the pace of a wave alone, its barriers, and its loads, of which several are
//             under way at once. How many depends on how far apart the program has them: the compiler unrolls small
//             loops (ptxas: 16 loads where nothing but their sum is in the loop, 2 or 3 where there are 25 instructions
//             to each; loads of one basic block go together however much it does besides), loads whose address or whose very turn of a loop comes from another load wait for that
//             (see ir/waits.py), and loads do not pass stores to what may be the same memory, or barriers (see
//             ir/runs.py). Loads that are under way together wait for the slowest of them: threads that walk through
//             a sector of L1 miss once per sector however few of their loads do. Of a block's loads beyond L1 a wave
//             waits for its own; where waves share lines, the first one has them all. Operations that need one another
//             from turn to turn of a loop take their latency, see ir/recurrences.py.
//             A block that takes another's place waits kTurnaround for it. Where blocks differ each has its own time,
//             from its own loads and what the caches had of them, and each starts in the place that is free first.
//
// Rates and latencies are in the device file, with their sources. The constants here were fitted to the calibration
// half of benchmarks/hardware/corpus on an H200, starting from what benchmarks/hardware/rates.cu says of each.
#pragma once
#include <cstdint>

#include "block_works.h"

namespace simt {

struct TimeParts {  // ns
  double launch = 0, dispatch = 0, issue = 0, lds = 0, constant = 0, l1 = 0, l2 = 0, dram = 0, atomic = 0, latency = 0;
  double total() const;
};

struct Demand {
  double blocks = 0, waves = 0;  // waves of all blocks
  double resident = 1;           // blocks on one compute unit at once
  double in_a_row = 1;           // blocks one after another in one place of it
  double row_cycles = 0;         // where blocks differ: how long the longest row of them in one place takes
  // The busiest unit's part of all.
  double busiest_issue = 1, busiest_lds = 1, busiest_global = 1;

  double instructions = 0;  // of all waves, by what they cost the issue slots
  double steps = 0;         // of all waves, by how long a wave alone is busy with each
  double lds_phases = 0;
  double spin_turns = 0;  // of compare-and-swap loops that stand for LDS atomics
  double l1_tags = 0, l1_passes = 0, l1_bytes = 0;
  double l2_bytes = 0, partial_sectors = 0;
  double dram_bytes = 0;
  double hottest_lanes = 0;  // atomics on one address
  bool hottest_float = false;
  double longest_queue_ns = 0, all_queues_ns = 0;

  // Of all waves; of the longest wave of each block, summed over blocks.
  double global_requests = 0, lds_requests = 0, other_requests = 0;  // loads; loads and stores; the rest
  double l2_loads = 0, dram_loads = 0;                               // of the global loads, those that L1 did not have
  double on_their_way = 0;   // share of what L2 serves that is as late as if from memory, see fetches.h
  double waited = 1;         // share of a block's that its wave with the most has
  double waiting_loads = 0;  // of the loads, those that only one can be under way of
  double waiting_global_loads = 0;
  double loads = 0, load_runs = 0;  // loads, and those before which a store or a barrier ends what was under way
  double joined_loads = 0;          // that stand beside another one, whatever else the block does
  double global_accesses = 0, lds_accesses = 0;  // loads, stores and atomics
  // Of constant memory, where lanes read different addresses: loads, their addresses, and loads that wait for others.
  double constant_loads = 0, divergent_addresses = 0, constant_waits = 0;
  double indexed_loads = 0, indexed_waits = 0;  // likewise, where lanes share an address that is computed
  double longest_wave_requests = 0;
  double operations = 0;                                    // of all waves
  double barriers = 0, barrier_waves = 0, collectives = 0;  // of blocks, of waves, of waves
};

// Of one block that differs from others, from its start to its end, as the latency of all is modelled; the longest wave
// also waits for `more` loads of memory private to a thread. `demand` may lack what is known of compute units.
double block_cycles(const Demand& demand, const BlockWork& work, double more);

TimeParts time_parts(const Demand& demand);

}  // namespace simt
