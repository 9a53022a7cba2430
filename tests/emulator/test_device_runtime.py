"""The device side of the emulator's runtime under hand-written kernels that call its hooks directly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.emulator.native import runtime_objects
from intelliperf.processes.process import output_of

NATIVE = Path(__file__).parent / "native"
PACKAGE = Path(__file__).parents[2] / "intelliperf"
HEADERS = [PACKAGE / folder for folder in ("emulator/runtime", "interception/protocol", "counting/native")]
# What the device side needs of the host side; the API itself stays out.
PARTS = (
    "analysis",
    "block_works",
    "cache",
    "code_module",
    "code_object",
    "coalescing",
    "collectives",
    "dead_reads",
    "demand",
    "described",
    "device_file",
    "division",
    "errors",
    "estimate",
    "fault_log",
    "fiber_aarch64",
    "fiber_x86_64",
    "grid_run",
    "horizon",
    "progress",
    "hooks",
    "installation",
    "host_calls",
    "host_requests",
    "host_seeds",
    "json",
    "l2_contents",
    "launch",
    "lds",
    "lds_guards",
    "machine_executor",
    "machine_shadow",
    "machine_shadow_exchange",
    "machine_shadow_laws",
    "machine_shadow_memory",
    "machine_shadow_numbers",
    "machine_shadow_plan",
    "matrix_product",
    "memory",
    "named_launches",
    "alterations",
    "message_pack",
    "order_clock",
    "ordering",
    "race",
    "race_streams",
    "recorder",
    "repeats",
    "scheduler",
    "settings",
    "held_numbers",
    "other_sizes",
    "own_grids",
    "shadow",
    "shadow_cells",
    "shadow_functions",
    "shape_sample",
    "shared_bounds",
    "signals",
    "stacks",
    "time_limit",
    "time_model",
    "wave_counts",
)
CHECKS = (
    "banks",
    "barriers",
    "coalescing",
    "deadlock",
    "divergence",
    "faults",
    "grid_barrier",
    "masks",
    "progress",
    "races",
    "shuffles",
    "uninitialised",
    "wave_order",
)


@pytest.fixture(scope="session")
def semantics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    objects = runtime_objects()
    machine = sorted(path.stem for path in (PACKAGE / "emulator" / "machine").glob("*.cpp"))
    parts = [objects[part] for part in (*PARTS, *machine)]
    program = tmp_path_factory.mktemp("native") / "semantics"
    argv = [
        *find_toolchain().host_linker,
        "-std=c++17",
        "-O1",
        *(f"-I{folder}" for folder in HEADERS),
        str(NATIVE / "semantics.cpp"),
        *map(str, parts),
        "-pthread",
        "-ldl",
        "-lrt",
        "-o",
        str(program),
    ]
    done, _, errors = output_of(argv, 300, tool_environment())
    assert done.ok, errors
    return program


@pytest.mark.parametrize("check", CHECKS)
def test_kernels_run_as_the_programming_model_says(semantics: Path, tmp_path: Path, check: str) -> None:
    environment = {"INTELLIPERF_TRACE_DIR": str(tmp_path)}
    done, _, errors = output_of([str(semantics), check], 60, environment)
    assert done.ok, errors
    end = json.loads((tmp_path / "end.json").read_text())
    assert (end["abi"], end["complete"], end["exit"]) == (5, True, 0)


def test_every_check_of_the_native_program_is_run(semantics: Path) -> None:
    _, names, _ = output_of([str(semantics)], 60)
    assert tuple(names.split()) == CHECKS


def test_equal_runs_leave_equal_records(semantics: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        done, _, errors = output_of([str(semantics), "races"], 60, {"INTELLIPERF_TRACE_DIR": str(tmp_path / name)})
        assert done.ok, errors
    for name in ("sites.bin", "blocks.bin", "faults.jsonl"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_a_full_disk_is_reported_once_and_leaves_no_end(semantics: Path) -> None:
    done, _, errors = output_of([str(semantics), "barriers"], 60, {"INTELLIPERF_TRACE_DIR": "/dev/null/trace"})
    assert errors.count("cannot write the trace") == 1
    assert done.exit_status == 0


@pytest.mark.parametrize("order", ["reverse", "random:7"])
def test_results_do_not_depend_on_the_order_of_lanes(semantics: Path, tmp_path: Path, order: str) -> None:
    orders = {"INTELLIPERF_LANE_ORDER": order, "INTELLIPERF_BLOCK_ORDER": order}
    for check in ("barriers", "shuffles", "masks", "progress", "grid_barrier"):
        environment = {"INTELLIPERF_TRACE_DIR": str(tmp_path / check), **orders}
        done, _, errors = output_of([str(semantics), check], 60, environment)
        assert done.ok, errors


def test_a_race_between_waves_in_lock_step_shows_in_another_order(semantics: Path, tmp_path: Path) -> None:
    seen = set()
    for order in ("forward", "reverse"):
        environment = {"INTELLIPERF_TRACE_DIR": str(tmp_path / order), "INTELLIPERF_LANE_ORDER": order}
        done, out, errors = output_of([str(semantics), "wave_order"], 60, environment)
        assert done.ok, errors
        seen.add(out)
    assert len(seen) == 2


def test_a_second_process_leaves_the_records_of_the_first_alone(semantics: Path, tmp_path: Path) -> None:
    environment = {"INTELLIPERF_TRACE_DIR": str(tmp_path)}
    output_of([str(semantics), "banks"], 60, environment)
    records = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    output_of([str(semantics), "barriers"], 60, environment)
    (added,) = tmp_path.glob("process-*")
    assert (added / "end.json").exists()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == records
