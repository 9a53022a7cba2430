"""Further commands of the user's, and the timed run: what they refuse, on planned runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from interceptedbackend import CHILD, PlannedBackend, plan_of
from test_validation_judge import BUFFERS, STEP, STEPS, Bench, named, reading

from intelliperf.protocols import Ended, Timing
from intelliperf.records import CheckStatus, Outcome

__all__ = ["reading"]  # the fixture is this module's, too

WRONG = [STEPS[0], {**STEP, "floats": {"out": [2.5] * 100}}, *STEPS[2:]]
COMMAND = f"{sys.executable} -S {CHILD} other.json"
NAME = f"also run `{COMMAND}`"


def bench_with(root: Path, original: Any, candidate: Any) -> Bench:
    """`other.json` is what the further command plays, in each version's own directory."""
    bench = Bench(root, also_run=(COMMAND,))
    for side, steps in (("reference", original), ("candidate", candidate)):
        (root / side).mkdir(exist_ok=True)
        (root / side / "other.json").write_text(json.dumps(plan_of(*steps, **BUFFERS)))
    return bench


@pytest.mark.slow
def test_a_candidate_that_is_right_by_every_command_is_accepted(tmp_path):
    verdict = bench_with(tmp_path, STEPS, STEPS).verdict()
    assert verdict.accepted, verdict.detail
    check = named(verdict, NAME)
    assert check.status is CheckStatus.PASSED and check.detail.startswith("bit equal in all ")


def test_what_is_wrong_by_a_further_command_alone_is_refused_with_the_command(tmp_path):
    verdict = bench_with(tmp_path, STEPS, WRONG).verdict()
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert verdict.detail.startswith(f"with `{COMMAND}`: ")
    assert named(verdict, NAME).status is CheckStatus.FAILED


def test_a_command_that_the_original_cannot_run_is_not_checked_and_said_so(tmp_path):
    verdict = bench_with(tmp_path, [{"exit": 3}], STEPS).verdict()
    assert verdict.accepted, verdict.detail
    assert named(verdict, NAME).status is CheckStatus.NOT_RUN
    assert any(item.startswith(NAME) for item in verdict.left_open)


class _TimedBackend(PlannedBackend):
    """Its timed runs are files with what they wrote."""

    def __init__(self, *outputs: Path) -> None:
        super().__init__()
        self._outputs = outputs

    def time(self, *_: object) -> Timing:
        reference, candidate = (Ended(0, path, path) for path in self._outputs)
        return Timing(super().time().measurements, ended=(reference, candidate))


def _timed(root: Path, *texts: str) -> Bench:
    paths = [root / f"timed-{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return Bench(root, _TimedBackend(*paths))


def test_a_candidate_that_prints_something_else_when_it_is_timed_is_refused(tmp_path):
    assert _timed(tmp_path, "sum = 150\n", "sum = 150\n").verdict().accepted
    verdict = _timed(tmp_path, "sum = 150\n", "sum = 151\n").verdict()
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert verdict.detail.startswith("in the timed run: line 1 of the output is 'sum = 151'")


def test_a_timed_run_proves_nothing_where_the_originals_prints_something_else_as_well(tmp_path):
    assert _timed(tmp_path, "sum = 7\n", "sum = 151\n").verdict().accepted
