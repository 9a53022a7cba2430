"""Each formula finds its own bottleneck in two shapes, and nothing in the same work done well."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.formulas import BOTTLENECKS, FORMULAS
from intelliperf.records import AccessKind, KernelProfile, MemorySpace, Metric

PROGRAMS = Path(__file__).parent / "programs"
BUILDS = {"mi300x": ("hipcc", "bottlenecks.hip"), "h100": ("nvcc", "bottlenecks.cu")}
HEALTHY = ("same_rounds", "joined_again", "small_tables", "each_element<320>")
SHOWN = {
    "own_rounds": "branchDivergence",
    "four_ways": "branchDivergence",
    "large_tables": "occupancy",
    "given_tables": "occupancy",
    "each_element<40>": "launchConfig",
    "long_threads": "launchConfig",
    "last_round": "launchConfig",
}
# What needs the compile for a real AMD chip, or its several dies.
HEALTHY_ON_AMD = ("bounded", "tile_of_a_die")
SHOWN_ON_AMD = {
    "spilling": "registerPressure",
    "indexed": "registerPressure",
    "tile_of_neighbours": "memoryLocality",
    "rows_and_columns": "memoryLocality",
}
SHOWN_ON_NVIDIA = {"sum_in_lds": "atomicContention"}  # where no instruction adds floats in the LDS


@pytest.fixture(scope="module", params=BUILDS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    compiler, source = BUILDS[request.param]
    directory = tmp_path_factory.mktemp("bottlenecks") / "project"
    directory.mkdir()
    for name in (source, "bottlenecks.inc"):
        shutil.copy(PROGRAMS / name, directory)
    return build(directory, [[compiler, "-O2", source, "-o", "app"]], ["./app"], request.param)


on_amd = pytest.mark.parametrize("program", ["mi300x"], indirect=True)


def found(program: Program, profile: KernelProfile) -> list[str]:
    device = program.backend.probe()
    return [
        formula.name
        for formula in BOTTLENECKS
        if profile.has(*formula.needs) and formula.diagnose(profile, device) is not None
    ]


def test_every_kernel_shows_its_bottleneck_and_no_other(program: Program) -> None:
    profiles = program.profile().kernels
    amd = program.backend.probe().vendor == "amd"
    expected = {
        **dict.fromkeys((*HEALTHY, *(HEALTHY_ON_AMD if amd else ()))),
        **SHOWN,
        **(SHOWN_ON_AMD if amd else SHOWN_ON_NVIDIA),
    }
    assert {profile.kernel.name: found(program, profile) for profile in profiles} == {
        kernel: [formula] if formula is not None else [] for kernel, formula in expected.items()
    }


@pytest.mark.parametrize(
    ("kernel", "formula", "text"),
    [
        ("own_rounds", "branchDivergence", "for (int k = 0; k < count; ++k) x = x * 0.999f + 0.5f;"),
        ("four_ways", "branchDivergence", "x = 4 / (x + 1);"),
        ("large_tables", "occupancy", "__global__ void large_tables"),
        ("long_threads", "launchConfig", "__global__ void long_threads"),
    ],
)
def test_the_line_or_the_kernel_is_blamed(program: Program, kernel: str, formula: str, text: str) -> None:
    assert text in FORMULAS[formula].blame(program.lines(kernel))[0].text


@on_amd
def test_the_load_that_comes_again_is_blamed(program: Program) -> None:
    (load,) = FORMULAS["memoryLocality"].blame(program.lines("tile_of_neighbours"))
    assert (load.access, load.text) == (AccessKind.LOAD, "float4 w = from[k];")
    # Eight dies read each line; once would do. Every lane has 16 bytes.
    assert load.quantity(Metric.DRAM_SECTORS_AGAIN).value == (1 << 18) * 16 / 32 * 7
    assert FORMULAS["memoryLocality"].blame(program.lines("tile_of_a_die")) == ()


@on_amd
def test_spills_are_blamed_on_the_lines_that_reload(program: Program) -> None:
    worst = FORMULAS["registerPressure"].blame(program.lines("spilling"))[0]
    assert (worst.space, worst.operation) == (MemorySpace.LOCAL, "spilled register")
    assert worst.text == "for (int k = 0; k < N; ++k) part[k] = part[k] * factor + part[(k * 7 + 3) % N];"
    array = FORMULAS["registerPressure"].blame(program.lines("indexed"))
    assert {line.operation for line in array} == {"array in scratch memory"}


@on_amd
def test_bounds_on_the_block_end_the_spilling(program: Program) -> None:
    without, bounded = program.kernel("spilling"), program.kernel("bounded")
    assert without.quantity(Metric.SPILLED_REGISTERS).value > 0
    assert bounded.quantity(Metric.SPILLED_REGISTERS).value == bounded.quantity(Metric.LOCAL_REQUESTS).value == 0
    assert without.quantity(Metric.DEVICE_TIME_NS).value > 1.3 * bounded.quantity(Metric.DEVICE_TIME_NS).value
    saved = without.quantity(Metric.DEVICE_TIME_NS).value - without.quantity(Metric.LOCAL_TIME_NS).value
    assert saved < bounded.quantity(Metric.DEVICE_TIME_NS).value * 1.2


def test_lanes_of_a_divergent_loop_are_counted_exactly(program: Program) -> None:
    """Lane i of 64 goes round 16 i times: 32 lanes on average, of as many rounds as the last lane takes."""
    wave = program.backend.probe().wave_size
    (code,) = FORMULAS["branchDivergence"].blame(program.lines("own_rounds"))[:1]
    rounds = [16 * lane for lane in range(64)]
    slots = sum(max(rounds[first : first + wave]) for first in range(0, 64, wave)) * wave
    assert code.quantity(Metric.ACTIVE_LANE_RATIO).value == pytest.approx(sum(rounds) / slots, rel=0.02)


def test_lanes_that_fetched_something_do_the_common_work_with_the_others(program: Program) -> None:
    assert program.kernel("joined_again").quantity(Metric.ACTIVE_LANE_RATIO).value > 0.99
