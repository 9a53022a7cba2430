"""The formulas on counters of real GPUs: AMD's recorded unit-stride copies, and changed ones that are made up."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rocprofdata import VCOPY, known_counters, vcopy

from intelliperf.dropins.toolchain import find_toolchain, include_directory, tool_environment
from intelliperf.errors import MissingMetric, UsageError
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.processes.process import output_of
from intelliperf.profiling.rocprofv3 import SLOTS, Agent, Counted, CountedDispatch
from intelliperf.records import Device, DeviceLimits, Geometry, Kernel, KernelProfile, Metric, Provenance
from intelliperf.rocm import counters
from intelliperf.rocm.codeobject import Accesses, parse_disassembly

# Compute units, dies, DRAM bytes per second and clock of the recorded machines (their sysinfo.csv; MI350's lacks two).
MACHINES = {
    "MI100": (120, 1, 1.2288e12, 1.502e9),
    "MI200": (104, 1, 1.6384e12, 1.7e9),
    "MI300A_A1": (228, 6, 5.3248e12, 2.1e9),
    "MI300X_A1": (304, 8, 5.3248e12, 2.1e9),
    "MI350": (128, 8, 8.0e12, 2.4e9),
}
COPIED_BYTES = 2 * 8 * 1048576
FORMULAS = (MemoryAccess(), BankConflict(), AtomicContention())
SOURCE = """
extern "C" __global__ void vecCopy(double* a, double* b, double* c, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}
"""


def device_of(gpu: str) -> Device:
    units, _, rate, clock = MACHINES[gpu]
    limits = DeviceLimits(units, clock, 32, 65536, 65536, 32, 131072, 16384, 2**23, rate, None, None)
    return Device("amd", VCOPY[gpu], gpu, 64, False, limits)


def counted_of(gpu: str, changes: Mapping[str, float] | None = None) -> Counted:
    units, dies, _, _ = MACHINES[gpu]
    agent = Agent(2, VCOPY[gpu], units, 4, 8, 64, dies)
    dispatches = tuple(replace(one, values={**one.values, **(changes or {})}) for one in vcopy(gpu))
    return Counted(dispatches, (agent,))


def profile_of(dispatches: tuple[CountedDispatch, ...]) -> KernelProfile:
    """Times as recorded; MI300's are rounded away, for which 20 microseconds are made up."""
    times = tuple(float(one.duration_ns or 20000) for one in dispatches)
    kernel = Kernel(dispatches[0].symbol, "vecCopy")
    return KernelProfile(kernel, len(times), (Geometry((4096, 1, 1), (256, 1, 1)),), times, Provenance.MEASURED, 1.0)


def judged(gpu: str, changes: Mapping[str, float] | None = None, accesses: Accesses | None = None) -> KernelProfile:
    counted = counted_of(gpu, changes)
    code = accesses if accesses is not None else copy_accesses(VCOPY[gpu])
    return counters.with_quantities(profile_of(counted.dispatches), counted, code, device_of(gpu))


@cache
def copy_accesses(architecture: str) -> Accesses:
    """From machine code that the product's own compiler makes for the very chip."""
    with tempfile.TemporaryDirectory() as name:
        source, assembly = Path(name) / "copy.hip", Path(name) / "copy.s"
        source.write_text(SOURCE)
        argv = [
            *(*find_toolchain().driver(), "--cuda-device-only", f"--offload-arch={architecture}", "-nogpulib"),
            *("-nogpuinc", "-DSIMT_WAVE_SIZE=64", f"-I{include_directory()}", "-include", "simt/core.h", "-x", "hip"),
            *("-O3", "-w", "-S", str(source), "-o", str(assembly)),
        ]
        done, _, err = output_of(argv, 120.0, tool_environment())
        assert done.ok, err
        return parse_disassembly(assembly.read_text())["vecCopy"]


@pytest.mark.parametrize("gpu", VCOPY)
def test_a_recorded_copy_moves_exactly_what_it_asks_for_and_has_no_conflicts_and_no_atomics(gpu: str) -> None:
    profile = judged(gpu)
    assert profile.quantity(Metric.REQUESTS).value == 2 * 16384
    assert profile.quantity(Metric.BYTES_AT_MOST).value == COPIED_BYTES
    assert profile.quantity(Metric.L1_L2_BYTES).value == COPIED_BYTES
    assert profile.quantity(Metric.L1_L2_EXCESS_BYTES).value == 0
    assert profile.quantity(Metric.LDS_PHASES).value == profile.quantity(Metric.LDS_PHASES_IDEAL).value == 0
    assert profile.quantity(Metric.ATOMIC_REQUESTS).value == profile.quantity(Metric.ATOMIC_STALL_NS).value == 0
    assert profile.quantity(Metric.ACTIVE_LANE_RATIO).value == 1.0
    for formula in FORMULAS:
        assert formula.diagnose(profile, device_of(gpu)) is None, formula.name


@pytest.mark.parametrize("gpu", VCOPY)
def test_the_vendors_percentage_would_have_called_the_same_copy_a_quarter_coalesced(gpu: str) -> None:
    values = vcopy(gpu)[0].values
    assert values["TA_TOTAL_WAVEFRONTS_sum"] * 64 * 100 / (values["TCP_TOTAL_ACCESSES_sum"] * 4) == 25.0


@pytest.mark.parametrize("gpu", ["MI100", "MI200", "MI300A_A1", "MI300X_A1"])
def test_dram_traffic_of_a_recorded_copy_is_what_it_copies(gpu: str) -> None:
    counted = counted_of(gpu)
    cold = replace(counted, dispatches=counted.dispatches[:1])  # later ones find a part in L2
    profile = counters.with_quantities(profile_of(cold.dispatches), cold, None, device_of(gpu))
    assert profile.quantity(Metric.DRAM_BYTES).value == pytest.approx(COPIED_BYTES, rel=0.01)
    assert profile.quantity(Metric.DRAM_TIME_NS).provenance is Provenance.MODELLED


def test_where_the_recording_lacks_counters_the_quantities_are_absent_not_zero() -> None:
    profile = judged("MI350")
    assert not profile.has(Metric.DRAM_BYTES), "that tool did not know the 128-byte requests of this chip yet"
    assert not profile.has(Metric.L2_TIME_NS)
    scattered = judged("MI350", {"TCP_TCC_WRITE_REQ_sum": 131072.0 * 8})
    with pytest.raises(MissingMetric, match="dram_bytes"):
        MemoryAccess().diagnose(scattered, device_of("MI350"))


@pytest.mark.parametrize("gpu", ["MI100", "MI200", "MI300X_A1"])
def test_occupancy_and_times_lie_within_the_kernels_time(gpu: str) -> None:
    profile = judged(gpu)
    time_ns = profile.quantity(Metric.DEVICE_TIME_NS).value
    for part in (Metric.ISSUE_TIME_NS, Metric.L1_TIME_NS, Metric.L2_TIME_NS):
        assert 0 < profile.quantity(part).value < time_ns
    assert profile.quantity(Metric.L2_TIME_NS).provenance is Provenance.MODELLED
    assert 0 < profile.quantity(Metric.OCCUPANCY_RATIO).value <= 1
    assert 0 <= profile.quantity(Metric.L2_HIT_RATIO).value <= 1


def test_a_share_of_counted_cycles_is_measured_and_one_of_the_highest_clock_modelled() -> None:
    """The first copy on MI200 ran below its highest clock; the cycles around a later one are more than it can have."""
    counted = counted_of("MI200")
    seen = []
    for one in counted.dispatches[:2]:
        alone = replace(counted, dispatches=(one,))
        profile = counters.with_quantities(profile_of((one,)), alone, None, device_of("MI200"))
        seen.append(profile.quantity(Metric.ISSUE_TIME_NS))
    assert [quantity.provenance for quantity in seen] == [Provenance.MEASURED, Provenance.MODELLED]
    values = counted.dispatches[0].values
    assert seen[0].value == pytest.approx(20480 * values["SQ_ACTIVE_INST_VALU"] / (104 * values["GRBM_GUI_ACTIVE"]))
    assert seen[1].value == pytest.approx(values["SQ_ACTIVE_INST_VALU"] / 104 / 1.7)


def test_scattered_stores_are_found_though_loads_hit_in_l1() -> None:
    """Made up: every store of a wave in a line of its own, and loads that L1 answers to a half."""
    changes = {"TCP_TCC_WRITE_REQ_sum": 16384.0 * 64, "TCP_TCC_READ_REQ_sum": 131072 / 2, "TCC_REQ_sum": 800000.0}
    profile = judged("MI200", {**changes, "TCC_EA_WRREQ_sum": 16384.0 * 64, "TCC_EA_WRREQ_64B_sum": 0.0})
    finding = MemoryAccess().diagnose(profile, device_of("MI200"))
    assert finding is not None
    assert finding.metric is Metric.L1_L2_BYTES
    assert profile.quantity(Metric.L1_L2_EXCESS_BYTES).value == 16384 * (64 * 64 - 512)
    assert "were not asked for" in finding.sentence
    assert MemoryAccess().value(profile).value == finding.value


def test_misaligned_loads_are_not_called_scattered() -> None:
    profile = judged("MI200", {"TCP_TCC_READ_REQ_sum": 16384.0 * 9, "TCP_TCC_WRITE_REQ_sum": 16384.0 * 9})
    assert MemoryAccess().diagnose(profile, device_of("MI200")) is None


def test_bytes_asked_for_are_absent_where_the_code_is_not_known() -> None:
    counted = counted_of("MI200")
    profile = counters.with_quantities(profile_of(counted.dispatches), counted, None, device_of("MI200"))
    assert not profile.has(Metric.BYTES_AT_MOST)
    assert any("bytes asked for are not known" in note for note in profile.notes)
    with pytest.raises(MissingMetric):
        MemoryAccess().diagnose(profile, device_of("MI200"))


def test_accesses_of_a_kernel_with_private_memory_are_not_called_global() -> None:
    counted = counted_of("MI200", {"TCP_TCC_WRITE_REQ_sum": 16384.0 * 64})
    spilling = replace(counted, dispatches=tuple(replace(one, scratch_bytes=64) for one in counted.dispatches))
    code = copy_accesses("gfx90a")
    profile = counters.with_quantities(profile_of(counted.dispatches), spilling, code, device_of("MI200"))
    assert not profile.has(Metric.REQUESTS) and not profile.has(Metric.L1_L2_EXCESS_BYTES)
    assert not profile.has(Metric.LOCAL_REQUESTS), "nor are they known to be private"
    assert any("private memory" in note for note in profile.notes)


def lds(conflicts: float, cycles: float) -> dict[str, float]:
    return {"SQ_INSTS_LDS": 65536.0, "SQ_LDS_IDX_ACTIVE": cycles, "SQ_LDS_BANK_CONFLICT": conflicts}


def test_bank_conflicts_are_cycles_beyond_those_without_any() -> None:
    """Made up: LDS busy for more than half of the kernel, most of it for conflicts."""
    tile = replace(copy_accesses("gfx90a"), lds_moves=True)
    cycles = 20000.0 * 104
    profile = judged("MI200", lds(0.75 * cycles, cycles), tile)
    assert profile.quantity(Metric.LDS_PHASES_IDEAL).value == cycles / 4
    finding = BankConflict().diagnose(profile, device_of("MI200"))
    assert finding is not None and "4.0×" in finding.sentence
    assert BankConflict().diagnose(judged("MI200", lds(0.0, cycles), tile), device_of("MI200")) is None


@pytest.mark.parametrize("other", ["lds_atomics", "lds_shuffles", "flat"])
def test_conflicts_are_not_claimed_of_a_kernel_whose_lds_cycles_have_other_causes(other: str) -> None:
    mixed = replace(copy_accesses("gfx90a"), lds_moves=True, **{other: True})
    profile = judged("MI200", lds(30000.0, 40000.0), mixed)
    assert not profile.has(Metric.LDS_PHASES)
    assert profile.has(Metric.LDS_TIME_NS), "how long LDS is busy is counted still"
    assert any("other things" in note for note in profile.notes)


def atomics(stalled: float) -> dict[str, float]:
    return {
        "TA_FLAT_ATOMIC_WAVEFRONTS_sum": 16384.0,
        "TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum": stalled,
        "TCC_ATOMIC_sum": 16384.0 * 16,
    }


def test_contended_atomics_are_found_by_how_long_an_l1_waits_for_them() -> None:
    profile = judged("MI200", atomics(20000.0 * 104))
    finding = AtomicContention().diagnose(profile, device_of("MI200"))
    assert finding is not None
    assert finding.metric is Metric.ATOMIC_STALL_NS
    assert "16,384 atomic requests" in finding.sentence
    assert not profile.has(Metric.ATOMIC_LANES), "no counter tells how many lanes took part"
    assert AtomicContention().diagnose(judged("MI200", atomics(100.0)), device_of("MI200")) is None


@pytest.mark.parametrize(
    ("instructions", "most", "floats"),
    [
        ("global_atomic_add_f32 v0, v1, s[0:1]", 64, 1),
        ("global_atomic_add v0, v1, s[0:1]", 64, 0),
        ("flat_atomic_pk_add_f16 v0, v1, s[0:1]", 64, 1),
        ("global_atomic_cmpswap v0, v1, v[2:3], s[0:1] glc", 1, 1),
        ("global_atomic_cmpswap v0, v1, v[2:3], s[0:1] glc\n\tglobal_atomic_add_f64 v0, v[2:3], s[0:1]", 64, 2),
    ],
)
def test_atomic_operations_are_bounded_by_requests_and_known_to_add_floats_by_their_code(
    instructions: str, most: int, floats: int
) -> None:
    code = parse_disassembly(f"0000000000000000 <k>:\n\t{instructions}\n")["k"]
    profile = judged("MI200", atomics(0.0), code)
    assert profile.quantity(Metric.ATOMIC_LANES_AT_MOST).value == 16384 * most
    assert profile.quantity(Metric.ATOMIC_FLOAT_SITES).value == floats
    assert not profile.has(Metric.ATOMIC_LANES)


def test_atomics_that_stay_in_l2_have_no_latency_rather_than_zero_over_zero() -> None:
    values = {"TCC_ATOMIC_sum": 1000.0, "TCC_EA_ATOMIC_sum": 0.0, "TCC_EA_ATOMIC_LEVEL_sum": 0.0}
    note = counters.fabric_atomics(values, "gfx90a")
    assert note is not None and "stayed in L2" in note
    left = counters.fabric_atomics({**values, "TCC_EA_ATOMIC_sum": 10.0, "TCC_EA_ATOMIC_LEVEL_sum": 5000.0}, "gfx90a")
    assert left is not None and "500 cycles each" in left
    assert counters.fabric_atomics({**values, "TCC_ATOMIC_sum": 0.0}, "gfx90a") is None


def rdna(values: Mapping[str, float]) -> KernelProfile:
    shape = vcopy("MI200")[0].shape
    agent = Agent(1, "gfx1100", 96, 2, 16, 32, 1)
    counted = Counted((CountedDispatch("k", shape, 1, 1, values),), (agent,))
    profile = replace(profile_of(vcopy("MI200")), kernel=Kernel("k", "k"))
    device = replace(device_of("MI200"), architecture="gfx1100")
    return counters.with_quantities(profile, counted, Accesses(lds_moves=True), device)


def test_on_rdna_only_what_its_counters_tell_is_there() -> None:
    base = {"GRBM_GUI_ACTIVE": 30000.0, "SQ_WAVES": 32768.0, "SQ_INSTS_VALU": 1e5, "SQ_WAVE_CYCLES": 3e6}
    lds_counts = {"SQ_INSTS_LDS": 1000.0, "SQC_LDS_IDX_ACTIVE": 4000.0, "SQC_LDS_BANK_CONFLICT": 3000.0}
    reads = {f"GL2C_EA_RDREQ_{size}B_sum": 100.0 for size in (32, 64, 96, 128)}
    writes = {"GL2C_EA_WRREQ_64B_sum": 100.0, "GL2C_MC_WRREQ_sum": 150.0}
    hits = {"GL2C_HIT_sum": 300.0, "GL2C_MISS_sum": 100.0}
    profile = rdna({**base, **lds_counts, **reads, **writes, **hits})
    assert profile.quantity(Metric.LDS_PHASES).value == 4000 and profile.quantity(Metric.LDS_PHASES_IDEAL).value == 1000
    assert profile.quantity(Metric.L2_HIT_RATIO).value == 0.75
    assert profile.quantity(Metric.DRAM_BYTES).value == 100 * 320 + 100 * 64 + 50 * 32
    assert not profile.has(Metric.LDS_TIME_NS) and not profile.has(Metric.REQUESTS)
    asleep = rdna({**base, **lds_counts, **reads, **writes, "GL2C_HIT_sum": 0.0, "GL2C_MISS_sum": 0.0})
    assert not asleep.has(Metric.DRAM_BYTES) and not asleep.has(Metric.L2_HIT_RATIO)
    assert any("STABLE_STD" in note for note in asleep.notes)


@pytest.mark.parametrize("architecture", SLOTS)
def test_every_counter_that_we_ask_for_is_defined_for_the_architecture(architecture: str) -> None:
    # The snapshot has RDNA 3.5 under its family's name.
    known = known_counters()["gfx11" if architecture.startswith("gfx115") else architecture]
    names = {name for block in known.values() for name in block}
    asked = counters.needed(architecture)
    assert len(set(asked)) == len(asked) > 8
    assert set(asked) <= names


def test_an_unknown_architecture_is_refused_with_the_list() -> None:
    with pytest.raises(UsageError, match=r"gfx1010; known are gfx908, gfx90a"):
        counters.needed("gfx1010")
