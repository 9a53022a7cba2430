"""Accesses keep their lines where the optimiser moves or merges them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.records import AccessKind, Metric, SourceEvidence

SOURCE = Path(__file__).parent / "programs" / "moved_accesses.hip"
N = 64  # threads of the one block of a launch, and passes of its loop
ACCESSES = (AccessKind.LOAD, AccessKind.STORE, AccessKind.ATOMIC, AccessKind.REDUCTION)
# Wave-level requests of each marked access: 1 where it was moved out of the loop.
MARKED = {
    "both_ways start": 1, "both_ways row": N - 4, "both_ways other row": 4, "both_ways result": 1,
    "hoisted moving": N, "hoisted still": 1,
    "sunk sum": 1, "sunk term": N,
    "merged_tail test": 1, "merged_tail one": 1,
    "runs_once moving": N, "runs_once still": 1, "runs_once result": 1,
    "calls one": 2,
    "macros one": 1, "macros other": 1,
    "templates element": 2,
    "vectors whole": 1,
    "queue one": N,
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory = tmp_path_factory.mktemp("moved") / "project"
    directory.mkdir()
    shutil.copy(SOURCE, directory)
    return build(directory, [["hipcc", "-O3", SOURCE.name, "-o", "app"]], ["./app"], "mi300x")


def marked(name: str) -> tuple[int, AccessKind]:
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        found = re.search(r"// at: (\w+) (.*)$", line)
        if found and found[2] == name:
            return number, AccessKind(found[1])
    raise AssertionError(name)


def accesses(program: Program, kernel: str) -> list[SourceEvidence]:
    return [evidence for evidence in program.lines(kernel) if evidence.access in ACCESSES]


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKED)
def test_an_access_is_counted_on_its_own_line(program: Program, name: str) -> None:
    line, kind = marked(name)
    found = [e for e in accesses(program, name.split()[0]) if (e.line, e.access) == (line, kind)]
    requests = sum(evidence.quantity(Metric.REQUESTS).value for evidence in found)
    if kind is AccessKind.REDUCTION:
        requests = sum(evidence.quantity(Metric.ATOMIC_REQUESTS).value for evidence in found)
    assert requests == MARKED[name]


def test_no_access_is_on_a_line_that_has_none_and_none_is_without_a_line(program: Program) -> None:
    text = SOURCE.read_text().splitlines()
    for kernel in {name.split()[0] for name in MARKED}:
        for evidence in accesses(program, kernel):
            assert re.search(r"\[|ELEMENT|atomicAdd", text[evidence.line - 1]), evidence
        assert program.backend.line_notes() == (), kernel


@pytest.mark.parametrize(("one", "other"), [("merged_tail one", "merged_tail other"), ("calls one", "calls other")])
def test_an_access_that_two_lines_share_names_both(program: Program, one: str, other: str) -> None:
    line, kind = marked(one)
    (evidence,) = [e for e in accesses(program, one.split()[0]) if (e.line, e.access) == (line, kind)]
    assert evidence.shared_with == f"one access with line {marked(other)[0]}"


def test_a_merged_access_whose_other_line_is_not_known_says_so(program: Program) -> None:
    (evidence,) = [e for e in accesses(program, "queue") if e.access is AccessKind.REDUCTION]
    assert evidence.shared_with == "merged with another access of the same kind"


def test_the_parts_of_a_vector_that_was_moved_are_one_access(program: Program) -> None:
    (load,) = [e for e in accesses(program, "vectors") if e.access is AccessKind.LOAD]
    assert load.element_bytes == 16
