"""Per-line figures against values worked out on paper: equality, for both wave sizes and both languages."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from profile_programs import Program, build

from intelliperf.records import AccessKind, MemorySpace, Metric, SourceEvidence

PROGRAMS = Path(__file__).parent / "programs"
THREADS, COUNT = 192, 6 * 192
BUILDS = {"mi300x": ("hipcc", "counts.hip"), "rx7900xtx": ("hipcc", "counts.hip"), "h100": ("nvcc", "counts.cu")}


@pytest.fixture(scope="module", params=BUILDS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    compiler, source = BUILDS[request.param]
    directory = tmp_path_factory.mktemp("counts") / "project"
    directory.mkdir()
    for name in (source, "counts.inc"):
        shutil.copy(PROGRAMS / name, directory)
    return build(directory, [[compiler, "-O2", source, "-o", "app"]], ["./app"], request.param)


@pytest.fixture
def wave(program: Program) -> int:
    return program.backend.probe().wave_size


def line_of(mark: str) -> int:
    text = (PROGRAMS / "counts.inc").read_text().splitlines()
    (number,) = (n for n, line in enumerate(text, 1) if line.endswith(f"// mark: {mark}"))
    return number


def access(
    program: Program, kernel: str, mark: str, kind: AccessKind, space: MemorySpace = MemorySpace.GLOBAL
) -> SourceEvidence:
    """The one access of that kind and memory on the marked line."""
    found = [
        evidence
        for evidence in program.lines(kernel)
        if (evidence.line, evidence.access, evidence.space) == (line_of(mark), kind, space)
    ]
    (evidence,) = found
    assert evidence.file.name == "counts.inc"
    assert evidence.text.endswith(f"// mark: {mark}")
    return evidence


def figures(evidence: SourceEvidence, *metrics: Metric) -> tuple[float, ...]:
    assert all(evidence.quantity(metric).error is None for metric in metrics), "traced whole, so without error"
    return tuple(evidence.quantity(metric).value for metric in metrics)


@pytest.mark.parametrize("stride", [1, 2, 8, 32])
def test_sectors_of_a_strided_load(program: Program, wave: int, stride: int) -> None:
    load = access(program, f"strided<{stride}, float>", "strided", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.REQUESTS, Metric.LANES, Metric.BYTES, Metric.SECTORS, Metric.SECTORS_IDEAL) == (
        waves,
        COUNT,
        COUNT * 4,
        waves * min(wave, wave * stride // 8),
        waves * wave // 8,
    )


@pytest.mark.parametrize("stride", [1, 2, 8, 32])
def test_lines_of_a_strided_load(program: Program, wave: int, stride: int) -> None:
    load = access(program, f"strided<{stride}, float>", "strided", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.LINES_64B, Metric.LINES_128B, Metric.LINES_128B_IDEAL) == (
        waves * min(wave, wave * stride // 16),
        waves * min(wave, wave * stride // 32),
        waves * wave // 32,
    )


def test_the_store_beside_a_strided_load_is_dense(program: Program, wave: int) -> None:
    store = access(program, "strided<32, float>", "strided", AccessKind.STORE)
    assert figures(store, Metric.SECTORS, Metric.SECTORS_IDEAL) == (COUNT // 8, COUNT // 8)


def test_unit_stride_doubles_are_ideal(program: Program, wave: int) -> None:
    load = access(program, "strided<1, double>", "strided", AccessKind.LOAD)
    assert load.element_bytes == 8
    assert figures(load, Metric.SECTORS, Metric.SECTORS_IDEAL) == (COUNT // 4, COUNT // 4)


def test_a_shifted_load_touches_one_sector_more(program: Program, wave: int) -> None:
    load = access(program, "shifted", "shifted", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.SECTORS, Metric.SECTORS_IDEAL) == (waves * (wave // 8 + 1), waves * wave // 8)


def test_a_broadcast_is_one_sector_and_ideal(program: Program, wave: int) -> None:
    load = access(program, "broadcast", "broadcast", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.LANES, Metric.SECTORS, Metric.SECTORS_IDEAL) == (COUNT, waves, waves)


def test_rows_that_many_lanes_share_are_ideal(program: Program, wave: int) -> None:
    load = access(program, "rows", "rows", AccessKind.LOAD)
    assert figures(load, Metric.SECTORS, Metric.SECTORS_IDEAL, Metric.LINES_128B, Metric.LINES_128B_IDEAL) == (
        COUNT // 16,
        COUNT // 16,
        COUNT // 16,
        COUNT // wave * max(1, wave // 32),
    )


@pytest.mark.parametrize(("number", "size"), [*enumerate((16, 16, 8, 4))], ids=("float4", "double2", "int2", "uchar4"))
@pytest.mark.parametrize(("kind", "mark"), [(AccessKind.LOAD, "whole"), (AccessKind.STORE, "stored")])
def test_a_vector_is_one_access(
    program: Program, wave: int, number: int, size: int, kind: AccessKind, mark: str
) -> None:
    (kernel,) = (k.kernel.name for k in program.profile().kernels if k.kernel.name.startswith(f"vectors<{number},"))
    whole = access(program, kernel, mark, kind)
    assert whole.element_bytes == size
    assert figures(whole, Metric.REQUESTS, Metric.BYTES, Metric.SECTORS, Metric.SECTORS_IDEAL) == (
        COUNT // wave,
        COUNT * size,
        COUNT * size // 32,
        COUNT * size // 32,
    )


@pytest.mark.parametrize("kind", [AccessKind.LOAD, AccessKind.STORE])
def test_a_float3_is_three_words_on_nvidia_and_one_access_on_amd(program: Program, wave: int, kind: AccessKind) -> None:
    copy = access(program, "triples", "triple", kind)
    each = 3 if program.backend.probe().vendor == "nvidia" else 1
    assert figures(copy, Metric.REQUESTS, Metric.BYTES, Metric.SECTORS, Metric.SECTORS_IDEAL) == (
        each * COUNT // wave,
        COUNT * 12,
        each * COUNT * 12 // 32,
        COUNT * 12 // 32,
    )


def test_a_gather_agrees_with_its_addresses(program: Program, wave: int) -> None:
    loads = [e for e in program.lines("gather") if e.line == line_of("gather") and e.access is AccessKind.LOAD]
    addresses = (np.arange(COUNT) * 7919 % COUNT).reshape(-1, wave) * 4
    sectors = sum(len(np.unique(row // 32)) for row in addresses)
    lines = sum(len(np.unique(row // 128)) for row in addresses)
    counted = {figures(load, Metric.SECTORS, Metric.LINES_128B) for load in loads}
    assert counted == {(COUNT // 8, COUNT // 32), (sectors, lines)}


def test_a_field_of_a_record_pulls_in_the_record(program: Program, wave: int) -> None:
    load = access(program, "field_of", "field", AccessKind.LOAD)
    assert figures(load, Metric.SECTORS, Metric.SECTORS_IDEAL) == (COUNT, COUNT // 8)


def test_every_second_lane_is_half_the_lanes(program: Program, wave: int) -> None:
    load = access(program, "odd_lanes", "odd", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.REQUESTS, Metric.LANES, Metric.ACTIVE_LANE_RATIO) == (waves, COUNT // 2, 0.5)
    assert figures(load, Metric.SECTORS, Metric.SECTORS_IDEAL) == (COUNT // 8, COUNT // 16)


def test_a_loop_runs_as_often_as_its_longest_lane(program: Program, wave: int) -> None:
    load = access(program, "trips", "trips", AccessKind.LOAD)
    waves = COUNT // wave
    assert figures(load, Metric.REQUESTS, Metric.LANES) == (7 * waves, 28 * COUNT // 8)


def test_a_partial_wave_counts_its_own_lanes(program: Program, wave: int) -> None:
    load = access(program, "tail", "tail", AccessKind.LOAD)
    assert figures(load, Metric.REQUESTS, Metric.LANES) == (math.ceil((COUNT - 100) / wave), COUNT - 100)


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 32, 33])
def test_lds_phases_are_the_common_divisor_of_stride_and_banks(program: Program, wave: int, stride: int) -> None:
    load = access(program, f"banks<{stride}>", "banks", AccessKind.LOAD, MemorySpace.SHARED)
    halves = COUNT // 32  # banks serve 32 lanes at a time
    assert figures(load, Metric.LDS_REQUESTS, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL) == (
        COUNT // wave,
        halves * math.gcd(stride, 32),
        halves,
    )


def test_lds_doubles_are_served_sixteen_lanes_at_a_time(program: Program, wave: int) -> None:
    load = access(program, "wide_banks", "wide", AccessKind.LOAD, MemorySpace.SHARED)
    assert figures(load, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL) == (COUNT // 16, COUNT // 16)


def test_an_lds_broadcast_is_free_of_conflicts(program: Program, wave: int) -> None:
    load = access(program, "one_word", "word", AccessKind.LOAD, MemorySpace.SHARED)
    assert figures(load, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL) == (COUNT // 32, COUNT // 32)


@pytest.mark.parametrize(
    ("kernel", "mark", "lanes_together", "addresses"),
    [("one_address", "one", 1, 1), ("four_addresses", "four", 4, 4), ("own_address", "own", None, COUNT)],
)
def test_lanes_of_an_atomic_that_share_an_address(
    program: Program, wave: int, kernel: str, mark: str, lanes_together: int | None, addresses: int
) -> None:
    """`lanes_together`: the wave is spread over so many addresses; None: each lane has its own.

    LLVM for AMD lets one lane add for all of a wave where the address is provably the same; ptxas not for floats.
    """
    atomic = access(program, kernel, mark, AccessKind.REDUCTION)
    waves = COUNT // wave
    each = 1 if lanes_together is None else wave // lanes_together
    combined = mark == "one" and program.backend.probe().vendor == "amd"
    assert figures(atomic, Metric.ATOMIC_REQUESTS, Metric.ATOMIC_LANES, Metric.ATOMIC_SERIALIZATION) == (
        waves,
        waves if combined else COUNT,
        waves if combined else waves * each,
    )
    assert atomic.quantity(Metric.ACTIVE_LANE_RATIO).value == 1
    profile = program.kernel(kernel)
    assert profile.quantity(Metric.ATOMIC_ADDRESSES).value == addresses
    assert profile.quantity(Metric.ATOMIC_HOTTEST_SHARE).value == pytest.approx(1 / addresses)
    assert atomic.quantity(Metric.ATOMIC_HOTTEST_SHARE).value == pytest.approx(1 / addresses)


def test_lanes_of_an_lds_atomic_go_one_after_another(program: Program, wave: int) -> None:
    """Increments on NVIDIA aside: the lanes on one word are counted (ATOMS.POPC.INC) and added at once."""
    atomic = access(program, "hot_word", "hot", AccessKind.REDUCTION, MemorySpace.SHARED)
    passes = COUNT if program.backend.probe().vendor == "amd" else COUNT // 32
    assert figures(atomic, Metric.ATOMIC_SERIALIZATION, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL) == (
        passes,
        passes,
        COUNT // 32,
    )
    profile = program.kernel("hot_word")
    assert profile.quantity(Metric.LDS_ATOMIC_SERIALIZATION).value == passes
    assert profile.quantity(Metric.ATOMIC_REQUESTS).value == 0


def test_the_sum_over_lines_is_the_kernels(program: Program) -> None:
    lines = [line for line in program.lines("field_of") if Metric.REQUESTS in line.quantities]
    profile = program.kernel("field_of")
    for metric in (Metric.REQUESTS, Metric.SECTORS, Metric.SECTORS_IDEAL, Metric.BYTES):
        assert sum(line.quantity(metric).value for line in lines) == profile.quantity(metric).value


def test_a_line_that_a_store_brought_in_is_filled_up_once(program: Program) -> None:
    """AMD's L2 fetches the other three sectors of the line, NVIDIA's the one that is asked for."""
    read = 3 if program.backend.probe().vendor == "amd" else 1
    moved = program.kernel("beside_a_store").quantity(Metric.DRAM_BYTES).value
    assert moved == (read + 2) * 32 * COUNT


def test_a_volatile_load_finds_nothing_in_the_l1(program: Program) -> None:
    look = access(program, "looked_at_twice", "look", AccessKind.LOAD)
    assert look.quantity(Metric.L1_HIT_RATIO).value == 0 < look.quantity(Metric.L2_HIT_RATIO).value


def test_two_runs_give_the_same_records(program: Program) -> None:
    again = type(program)(program.backend, program.application)
    program.backend.forget()
    first = again.profile()
    program.backend.forget()
    assert again.profile() == first
