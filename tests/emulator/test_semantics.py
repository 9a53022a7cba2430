"""Real HIP programs on the emulator: what they compute, what is counted, what is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inprocess import build_here

from intelliperf.emulator.tracefiles import SITE_DTYPE
from intelliperf.processes.process import output_of

PROGRAMS = Path(__file__).parent / "programs"


def _build(name: str, directory: Path) -> Path:
    program = directory / name
    source = PROGRAMS / f"{name}.hip"
    build_here("hipcc", "-O2", str(source), "-o", str(program), directory=directory)
    return program


@pytest.fixture(scope="session")
def semantics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("semantics", tmp_path_factory.mktemp("semantics"))


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("broken", tmp_path_factory.mktemp("broken"))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"INTELLIPERF_LOCKSTEP": "always"},
        {"INTELLIPERF_LANE_ORDER": "reverse"},
        {"INTELLIPERF_LANE_ORDER": "random:11"},
        {"INTELLIPERF_BLOCK_ORDER": "reverse"},
        {"INTELLIPERF_BLOCK_ORDER": "random:3", "INTELLIPERF_LANE_ORDER": "random:4"},
    ],
    ids=lambda environment: ",".join(environment.values()) or "default",
)
def test_programs_compute_what_a_gpu_would(semantics: Path, environment: dict[str, str]) -> None:
    done, out, errors = output_of([str(semantics)], 120, environment)
    assert "FAIL" not in out, out
    assert done.ok, errors
    assert out.count("ok ") == 28


def _trace(program: Path, directory: Path, *words: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    environment = {"INTELLIPERF_TRACE_DIR": str(directory)}
    done, out, errors = output_of([str(program), *words], 120, environment)
    assert done.ok, errors
    return _lines(directory / "launches.jsonl"), _lines(directory / "faults.jsonl"), out + errors


def test_requests_of_divergent_rows_are_those_of_lock_step(semantics: Path, tmp_path: Path) -> None:
    launches, _, _ = _trace(semantics, tmp_path)
    (first, *_) = [launch for launch in launches if "rows" in launch.get("kernel", "")]
    sites = json.loads((tmp_path / "module-0.json").read_text())["sites"]
    records = np.fromfile(tmp_path / "sites.bin", SITE_DTYPE)
    loads = [
        record
        for record in records
        if record["launch"] == first["index"]
        and sites[record["site"]]["kind"] == "load"
        and "weight" in sites[record["site"]]["function"]
    ]
    lengths = [row * 7 % 9 for row in range(200)]
    waves = [lengths[at : at + 64] for at in range(0, 200, 64)]
    (load,) = loads  # a function that was not inlined: lanes meet again inside it
    assert load["requests"] == sum(max(wave) for wave in waves)
    assert load["lanes"] == sum(lengths)


def test_a_kernel_that_relies_on_wave_order_keeps_it_for_all_blocks(semantics: Path, tmp_path: Path) -> None:
    launches, _, _ = _trace(semantics, tmp_path)
    by_name = {launch["kernel"]: launch for launch in launches if launch["operation"] == "kernel"}
    (relying,) = [launch for name, launch in by_name.items() if "warp_synchronous" in name]
    (plain,) = [launch for name, launch in by_name.items() if "reduce_by_shuffle" in name]
    assert relying["lockstep"] is True
    assert plain["lockstep"] is False


def test_equal_runs_leave_equal_records(semantics: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        _trace(semantics, tmp_path / name)
    for name in ("sites.bin", "blocks.bin", "faults.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_correct_program_has_no_faults(broken: Path, tmp_path: Path) -> None:
    launches, faults, out = _trace(broken, tmp_path, "fine")
    assert faults == []
    assert out == "0\n"
    assert [launch["operation"] for launch in launches] == ["memset", "kernel"]


@pytest.mark.parametrize(
    ("name", "kind", "scope", "space", "status"),
    [
        ("outside", "out_of_bounds", None, "global", None),
        ("no_barrier", "race", "block", "shared", 0),
        ("between_blocks", "race", "grid", "global", 0),
        ("fresh", "uninitialized", None, "global", 0),
        ("forever", "deadlock", "grid", "global", 702),
        ("divergent", "divergent_barrier", "block", "shared", 0),
        ("asserts", "assert", None, "global", 710),
    ],
)
def test_faults_are_found_and_named(
    broken: Path, tmp_path: Path, name: str, kind: str, scope: str | None, space: str, status: int | None
) -> None:
    _, faults, out = _trace(broken, tmp_path, name)
    (fault, *_) = [fault for fault in faults if fault["kind"] == kind]
    assert fault["scope"] == scope
    assert fault["space"] == space
    assert name in fault["kernel"]
    assert status is None or out.split()[0] == str(status)
