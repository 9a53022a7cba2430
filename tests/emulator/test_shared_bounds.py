"""Accesses beyond arrays in block-shared memory, static and dynamic, are found; those within are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inprocess import build_here

from intelliperf.processes.process import output_of

PROGRAMS = Path(__file__).parent / "programs"
COMPILERS = (("hipcc", "-fgpu-rdc"), ("nvcc", "-rdc=true", "-x", "cu"))


@pytest.fixture(scope="session", params=COMPILERS, ids=lambda words: words[0])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shared") / "shared_bounds"
    sources = [str(PROGRAMS / name) for name in ("shared_bounds.hip", "shared_bounds_part.hip")]
    build_here(*request.param, "-O2", *sources, "-o", str(made), directory=made.parent)
    return made


def _run(
    program: Path, directory: Path, word: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    done, _, errors = output_of([str(program), word], 120, {"INTELLIPERF_TRACE_DIR": str(directory)})
    assert done.ok, errors
    faults, launches = (
        [json.loads(line) for line in (directory / name).read_text().splitlines()]
        for name in ("faults.jsonl", "launches.jsonl")
    )
    return faults, launches, json.loads((directory / "module-0.json").read_text())


@pytest.mark.parametrize(
    ("word", "kind", "offset", "size", "lanes"),
    [
        ("write_over", "store", 63 * 4, 63 * 4, 1),
        ("read_over", "load", 63 * 4, 63 * 4, 1),
        ("below", "load", -4, 64 * 4, 1),
        ("into_next", "store", 60 * 4, 60 * 4, 4),
        ("mixed", "load", 64 * 4, 64 * 4, 1),
        ("elsewhere", "store", 60 * 4, 60 * 4, 4),
    ],
)
def test_an_access_beyond_a_shared_array_is_found(
    program: Path, tmp_path: Path, word: str, kind: str, offset: int, size: int, lanes: int
) -> None:
    faults, launches, module = _run(program, tmp_path, word)
    found = [fault for fault in faults if fault["kind"] == "out_of_bounds"]
    (fault, *others) = found
    assert fault["space"] == "shared"
    assert word in fault["kernel"]
    assert module["sites"][fault["site"]]["kind"] == kind
    assert (fault["address_offset"], fault["allocation_bytes"]) == (offset, size)
    (launch,) = [launch for launch in launches if launch["operation"] == "kernel"]
    assert fault["count"] == lanes * launch["traced_blocks"]
    assert all(other["allocation_bytes"] == size for other in others)


def test_accesses_within_shared_arrays_are_not(program: Path, tmp_path: Path) -> None:
    faults, _, module = _run(program, tmp_path, "fine")
    assert faults == []
    sizes = {kernel["name"].partition("(")[0]: kernel["static_lds"] for kernel in module["kernels"].values()}
    assert sizes["right"] == 2 * 32 * 33 * 4 + 64 * 4 + 8 + 7 * 4
    assert sizes["into_next"] == (60 + 64) * 4
