"""What a report says of one kernel's figures that were measured in two ways."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from intelliperf.protocols import Timing
from intelliperf.records import (
    Attempt,
    Candidate,
    FileEdit,
    Measurement,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Scope,
    Usage,
    Verdict,
)
from intelliperf.search.conclusion import final_timing, replays_beside_whole_runs


def measured(before_ns: float, after_ns: float, kernel: str = "") -> Measurement:
    ratio = before_ns / after_ns
    return Measurement(
        Scope.KERNEL, before_ns, after_ns, ratio, ratio * 0.99, ratio * 1.01, Provenance.MEASURED, 20, kernel=kernel
    )


def attempt(replayed: Measurement, on_recordings: bool = True) -> Attempt:
    verdict = Verdict(
        Outcome.ACCEPTED,
        "",
        measurements=(replayed,),
        compared_bytes=4,
        compared_dispatches=1,
        on_recordings=on_recordings,
    )
    candidate = Candidate((FileEdit("app.cu", "0", ""),), "", Origin(OriginKind.RULE, "rule"))
    return Attempt(1, candidate, verdict, None, Usage(), "", "histogram", "atomicContention")


def test_a_ratio_that_replays_and_whole_runs_disagree_on_is_told_with_both_pairs_of_times() -> None:
    notes = replays_beside_whole_runs([attempt(measured(119_000, 5_220))], [measured(121_000, 6_690, "histogram")])
    assert list(notes) == [
        "histogram: 22.8× by replayed dispatches (119 µs and 5.22 µs), 18.1× by whole runs (121 µs and 6.69 µs): "
        "replays launch recorded dispatches by themselves, whole runs all of them in their place"
    ]


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        (attempt(measured(119_000, 6_600)), measured(121_000, 6_690, "histogram")),
        (attempt(measured(119_000, 5_220)), measured(121_000, 6_690, "scan")),
        (attempt(measured(119_000, 5_220), on_recordings=False), measured(121_000, 6_690, "histogram")),
    ],
    ids=["they agree", "another kernel", "not replayed"],
)
def test_nothing_is_said_of_ratios_that_agree_or_have_no_counterpart(given: Attempt, whole: Measurement) -> None:
    assert list(replays_beside_whole_runs([given], [whole])) == []


def target(kernel: str, before: str, after: str) -> Any:
    """A finding whose accepted change made version `after` of version `before`."""
    finding = SimpleNamespace(profile=SimpleNamespace(kernel=SimpleNamespace(symbol=kernel, name=kernel)))
    versions = [SimpleNamespace(application=version) for version in (before, after)]
    return SimpleNamespace(finding=finding, before=versions[0], after=versions[1])


def test_a_kernel_that_two_changes_improved_is_timed_once_over_both() -> None:
    asked: list[tuple[str, str, str]] = []

    class Clock:
        def time(self, before: Any, after: Any, kernel: Any, deadline_s: float) -> Timing:
            asked.append((before, after, kernel.name))
            return Timing((measured(400.0, 100.0),))

    targets = [target("radial", "a", "b"), target("other", "b", "c"), target("radial", "c", "d")]
    timing = final_timing(Clock(), targets, 1.0)  # type: ignore[arg-type]
    assert asked == [("a", "d", "radial"), ("b", "c", "other"), ("a", "d", "radial")]
    assert [m.kernel for m in timing.measurements] == ["radial", "other"]
