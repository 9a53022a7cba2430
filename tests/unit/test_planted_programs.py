"""How the benchmark of planted programs cuts its files and reads reports."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rules"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARK))
    return importlib.import_module("planted")


def test_the_tool_gets_only_the_planted_part_of_a_file(planted: Any) -> None:
    text = "// head\n//// both\nint a;\n//// planted\nint slow;\n//// expert\nint fast;\n//// both\nint main() {}\n"

    assert planted.part(text, "planted") == "// head\nint a;\nint slow;\nint main() {}\n"
    assert planted.part(text, "expert") == "// head\nint a;\nint fast;\nint main() {}\n"


def test_gains_of_accepted_changes_multiply_and_the_first_outcome_stays(planted: Any) -> None:
    def attempt(rule: str, outcome: str, before: float, after: float) -> dict[str, Any]:
        times = {"scope": "kernel", "baseline_ns": before, "candidate_ns": after}
        verdict = {"outcome": outcome, "detail": "a reason", "measurements": [times]}
        return {"formula": "f", "candidate": {"origin": {"name": rule}}, "declined": None, "verdict": verdict}

    attempts = [attempt("a", "ACCEPTED", 80, 20), attempt("b", "WRONG_OUTPUT", 20, 1), attempt("c", "ACCEPTED", 20, 10)]
    now = planted.outcome({"attempts": attempts, "ending": ""})
    nothing = planted.outcome({"attempts": attempts[1:2], "ending": ""})

    assert now == {"rules": ["a", "c"], "gain": 8.0}
    assert nothing == {"rules": [], "gain": None, "why": ["f b: WRONG_OUTPUT a reason"]}
    row = {"shape": "s", "device": "d", "before_us": 80.0, "expert_us": 1.25}
    kept = planted.merged(planted.merged({}, {**row, "now": nothing}), {**row, "now": now})
    assert planted.table({"p": kept}).splitlines()[-1] == "| p | s | 80 | – | 8.00 | a, c | 64.00 | 50% |"
