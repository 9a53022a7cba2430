"""Numbers with a name, a unit and an origin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Provenance(str, Enum):
    """Where a number comes from."""

    MEASURED = "measured"  # read from hardware, or counted exactly while the program ran
    MODELLED = "modelled"  # computed by a documented model from counts
    STATIC = "static"  # read from a compiled binary or the source


class Metric(str, Enum):
    """Quantities by our own names; the unit is in the name.

    Per access site, line or kernel; all counts are totals over the dispatch unless they are
    named a ratio. The emulator counts them, the hardware back ends map vendor counters onto them.
    """

    REQUESTS = "requests"  # wave-level memory instructions
    LANES = "lanes"  # active lanes summed over requests
    BYTES = "bytes"  # bytes asked for by active lanes
    SECTORS = "sectors_32b"  # distinct 32-byte sectors per request, summed
    SECTORS_IDEAL = "sectors_32b_ideal"  # with the lanes' elements side by side; never more than the actual ones
    LINES_64B = "lines_64b"
    LINES_128B = "lines_128b"
    LINES_128B_IDEAL = "lines_128b_ideal"
    # Where hardware counts no sectors per request: what L1 and L2 exchange, in whole lines.
    L1_L2_BYTES = "l1_l2_bytes"
    L1_L2_EXCESS_BYTES = "l1_l2_bytes_not_asked_for"  # at least so many of them
    BYTES_AT_MOST = "bytes_at_most"  # asked for, if every lane of every request was active
    DRAM_BYTES = "dram_bytes"
    DRAM_BYTES_COMPULSORY = "dram_bytes_compulsory"  # every line that was read once, and what was written
    # Where hardware counts no distinct addresses: as if all memory that the kernel can reach was read once. Only there
    # where more than that was read, which proves that something came again.
    DRAM_BYTES_COMPULSORY_AT_MOST = "dram_bytes_compulsory_at_most"
    DRAM_SECTORS_AGAIN = "dram_sectors_32b_again"  # of an access: read from memory though they had been before
    L1_HIT_RATIO = "l1_hit_ratio"
    L2_HIT_RATIO = "l2_hit_ratio"
    LDS_REQUESTS = "lds_requests"
    LDS_LANES = "lds_lanes"  # of a kernel: active lanes summed over these requests
    LDS_PHASES = "lds_phases"  # bank cycles needed
    LDS_PHASES_IDEAL = "lds_phases_ideal"  # bank cycles without any conflict
    # Loads by the constant cache, or by AMD's scalar cache; a request has one address at a time.
    CONSTANT_REQUESTS = "constant_requests"
    CONSTANT_ADDRESSES = "constant_addresses"  # distinct ones per request, summed
    # Of a kernel: the LDS_* above are its loads and stores, these its atomics in LDS.
    LDS_ATOMIC_LANES = "lds_atomic_lanes"
    LDS_ATOMIC_REQUESTS = "lds_atomic_requests"
    LDS_ATOMIC_SERIALIZATION = "lds_atomic_same_address_lanes"
    LDS_ATOMIC_PHASES = "lds_atomic_phases"
    ATOMIC_REQUESTS = "atomic_requests"  # of a kernel, like all ATOMIC_*: those in global memory
    ATOMIC_LANES = "atomic_lanes"
    # Where hardware counts no lanes: operations if all were active; of a compare-and-swap loop, one lane per turn.
    ATOMIC_LANES_AT_MOST = "atomic_lanes_at_most"
    # Instructions of the code that may add floating-point numbers in whatever order the hardware takes them.
    ATOMIC_FLOAT_SITES = "atomic_float_sites"
    ATOMIC_SERIALIZATION = "atomic_same_address_lanes"  # max lanes on one address, summed over requests
    ATOMIC_ADDRESSES = "atomic_distinct_addresses"
    ATOMIC_HOTTEST_SHARE = "atomic_hottest_address_share"  # 0..1 of all atomic lane operations
    ATOMIC_TIME_NS = "atomic_time_ns"  # time that the hottest address alone needs
    ATOMIC_STALL_NS = "atomic_stall_ns"  # time that an L1 waits, on average, for a line that an earlier atomic holds
    # Of a line: samples of warps that waited there. Rates of sampling differ between runs.
    WAITING_SAMPLES = "waiting_warp_samples"
    ACTIVE_LANE_RATIO = "active_lane_ratio"  # 0..1; of an access over its requests, else over instructions
    INSTRUCTIONS = "wave_instructions"
    LANE_INSTRUCTIONS = "lane_instructions"  # active lanes summed over wave instructions
    LANES_LOST = "lanes_lost"  # threads that sat out an instruction of their wave, summed over instructions
    DEVICE_TIME_NS = "device_time_ns"
    TIME_SHARE = "device_time_share"  # 0..1 of the application's device time
    # Parts of the device time by what they wait for; they overlap, so that their sum may exceed it.
    LAUNCH_TIME_NS = "launch_time_ns"
    ISSUE_TIME_NS = "issue_time_ns"
    LDS_TIME_NS = "lds_time_ns"
    CONSTANT_TIME_NS = "constant_time_ns"  # one address after another
    L1_TIME_NS = "l1_time_ns"
    L2_TIME_NS = "l2_time_ns"
    DRAM_TIME_NS = "dram_time_ns"
    DISPATCH_TIME_NS = "dispatch_time_ns"  # starting blocks and waves
    LATENCY_TIME_NS = "latency_time_ns"
    OCCUPANCY_RATIO = "occupancy_ratio"  # resident waves of those that a compute unit holds; hardware: as observed
    OCCUPANCY_LIMIT_RATIO = "occupancy_limit_ratio"  # the most that the kernel's own needs allow
    # Waves that one resource of a compute unit holds if nothing else limits them.
    WAVES_BY_REGISTERS = "waves_by_registers"
    WAVES_BY_LDS = "waves_by_lds"
    WAVES_BY_BLOCKS = "waves_by_blocks"
    # How the launch fills the device, each 0..1 with 1 for full.
    LANE_FILL_RATIO = "lane_fill_ratio"  # threads of a block with work of their own to the lanes of its waves
    UNIT_FILL_RATIO = "unit_fill_ratio"  # blocks per compute unit, mean to busiest
    ROUND_FILL_RATIO = "round_fill_ratio"  # blocks to those that the rounds they take could hold
    CHAINED_LOAD_RATIO = "chained_load_ratio"  # of the loads, those that wait for one in an earlier turn of their loop
    # Loads and stores of memory private to a thread: spilled registers and arrays that registers cannot hold.
    LOCAL_REQUESTS = "local_requests"
    LOCAL_TIME_NS = "local_time_ns"  # what the device time would be less without them
    # What the device time would be less if lanes never met in the loops that stand for atomics in the LDS.
    LDS_SPIN_TIME_NS = "lds_spin_time_ns"
    VGPRS = "vgprs_per_thread"
    SGPRS = "sgprs_per_wave"
    SPILLED_REGISTERS = "spilled_registers"
    SCRATCH_BYTES = "scratch_bytes_per_thread"
    LDS_BYTES = "lds_bytes_per_block"


@dataclass(frozen=True)
class Quantity:
    """A value, where it comes from, and the half-width of its 95 % interval if it was sampled."""

    value: float
    provenance: Provenance
    error: float | None = None
