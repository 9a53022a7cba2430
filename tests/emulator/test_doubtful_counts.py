"""Counts that hardware may have otherwise are never told as exact, and say why; others are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.records import AccessKind, MemorySpace, Metric, SourceEvidence

SOURCE = Path(__file__).parent / "programs" / "doubtful.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory = tmp_path_factory.mktemp("doubtful") / "project"
    directory.mkdir()
    shutil.copy(SOURCE, directory)
    return build(directory, [["nvcc", "-O3", "doubtful.cu", "-o", "app"]], ["./app"], "h200")


def the_one(
    program: Program, kernel: str, access: AccessKind, text: str, space: MemorySpace = MemorySpace.GLOBAL
) -> SourceEvidence:
    lines = [line for line in program.lines(kernel) if line.access is access and line.space is space]
    (found,) = [line for line in lines if text in line.text]
    return found


@pytest.mark.parametrize(
    ("kernel", "access", "text", "why"),
    [
        ("placed", AccessKind.STORE, "y[first", "which thread comes first"),
        ("summed", AccessKind.REDUCTION, "atomicAdd", "compare-and-swap"),
        ("ragged", AccessKind.LOAD, "x[k * 512", "different turns"),
        ("along", AccessKind.LOAD, "row[k]", "neighbours"),
        ("scaled", AccessKind.LOAD, "scale;", "before the loop"),
    ],
)
def test_a_count_that_hardware_decides_says_so(
    program: Program, kernel: str, access: AccessKind, text: str, why: str
) -> None:
    lines = [line for line in program.lines(kernel) if line.access is access and text in line.text]
    assert any(why in line.unsure for line in lines), [line.unsure for line in lines]


@pytest.mark.parametrize(
    ("kernel", "access", "text", "space"),
    [
        ("placed", AccessKind.LOAD, "x[INDEX]", MemorySpace.GLOBAL),
        ("even", AccessKind.LOAD, "x[k * 512", MemorySpace.GLOBAL),
        ("ragged", AccessKind.STORE, "y[INDEX]", MemorySpace.GLOBAL),
        ("along", AccessKind.STORE, "row[threadIdx.x]", MemorySpace.SHARED),
    ],
)
def test_other_counts_of_these_kernels_are_exact(
    program: Program, kernel: str, access: AccessKind, text: str, space: MemorySpace
) -> None:
    assert the_one(program, kernel, access, text, space).unsure == ""


def test_both_branches_keep_their_stores(program: Program) -> None:
    """nvcc stores in each: 16 waves, and every store touches all four sectors of its wave's lanes."""
    for text in ("grown", "shrunk"):
        line = the_one(program, "two_ways", AccessKind.STORE, text)
        assert (line.quantity(Metric.REQUESTS).value, line.quantity(Metric.SECTORS).value) == (16, 64)


def test_neighbours_in_lds_are_stored_together_though_memory_is_read_in_between(program: Program) -> None:
    """ptxas makes three STS.64 of them."""
    shared = the_one(program, "records", AccessKind.STORE, "own[threadIdx", MemorySpace.SHARED)
    assert (shared.element_bytes, shared.quantity(Metric.LDS_REQUESTS).value) == (8, 48)
