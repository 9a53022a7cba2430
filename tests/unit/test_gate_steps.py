"""What is told of a judgement before it ends."""

from __future__ import annotations

from pathlib import Path

from intelliperf.cli.gatesteps import GateSteps
from intelliperf.project.journal import Journal


def test_a_gate_is_told_at_once_and_its_launches_once_a_second(tmp_path: Path) -> None:
    told: list[str] = []
    now_s = 0.0
    with Journal.create(tmp_path, "all", lambda event: told.append(event["text"])) as journal:
        steps = GateSteps(journal, "emulator: ", lambda: now_s)
        steps.begun("other numbers", 7, 11)
        for launches in range(1, 41):
            now_s += 0.125
            steps.compared(launches)

    assert told == [
        "gate 7 of 11: emulator: other numbers",
        *(f"gate 7 of 11: emulator: other numbers, {n} launches compared" for n in (8, 16, 24, 32, 40)),
    ]


def test_no_launch_is_told_of_before_a_gate_or_where_none_was_compared(tmp_path: Path) -> None:
    told: list[str] = []
    now_s = 10.0
    with Journal.create(tmp_path, "all", lambda event: told.append(event["text"])) as journal:
        steps = GateSteps(journal, clock=lambda: now_s)
        steps.compared(1)
        steps.begun("orders", 5, 11)
        now_s += 2
        steps.compared(0)
        steps.compared(1)

    assert told == ["gate 5 of 11: orders", "gate 5 of 11: orders, 1 launch compared"]
