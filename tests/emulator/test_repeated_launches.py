"""Launches that repeat an earlier one are left out, and only those: the program sees no difference."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from inprocess import build_here

from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.processes.process import Completed, run

LAUNCHES = 40
PROGRAM = Path(__file__).parent / "programs" / "repeated.hip"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Completed, list[dict[str, object]]]:
    folder = tmp_path_factory.mktemp("repeated")
    build_here("hipcc", "-O2", str(PROGRAM), "-o", "app", directory=folder)
    environment = {**build_environment(), "INTELLIPERF_TRACE_DIR": str(folder / "trace")}
    done = run(["./app"], folder, 120, folder / "logs", "app", environment)
    lines = (folder / "trace" / "launches.jsonl").read_text(encoding="utf-8").splitlines()
    return done, [row for row in map(json.loads, lines) if row["operation"] == "kernel"]


def test_the_program_prints_what_it_would_print_if_all_were_run(ran: tuple[Completed, object]) -> None:
    said = ran[0].tail("stdout").splitlines()
    sum_of_steps = sum(range(LAUNCHES))
    assert Counter(said)["printed"] == LAUNCHES
    assert [line for line in said if line != "printed"] == [
        "same 3",
        "reset 2",
        "again 3",
        f"grows {LAUNCHES}",
        f"swapped {LAUNCHES}",
        f"host_writes {sum_of_steps + 2 * LAUNCHES}",
        f"symbol {sum_of_steps + 2 * LAUNCHES}",
        f"indirect {sum_of_steps + 2 * LAUNCHES}",
        f"clocks {LAUNCHES}",
    ]


def test_only_what_leaves_the_same_memory_is_left_out(ran: tuple[object, list[dict[str, object]]]) -> None:
    left_out = Counter(str(row["kernel"]) for row in ran[1] if row["repeated"])
    assert {name.split("v")[0][3:].rstrip("PKf") for name in left_out} >= {"same", "reset"}
    assert all("same" in name or "reset" in name for name in left_out), left_out
    assert sum(left_out.values()) > LAUNCHES


def test_a_launch_that_is_left_out_takes_the_time_of_the_others(ran: tuple[object, list[dict[str, object]]]) -> None:
    same = [row for row in ran[1] if "same" in str(row["kernel"])]
    assert len(same) == 4 * LAUNCHES
    assert len({row["time_ns"] for row in same[3:]}) == 1
