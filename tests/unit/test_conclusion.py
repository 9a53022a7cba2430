"""What a report says of one kernel's figures that were measured in two ways."""

from __future__ import annotations

import pytest

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
from intelliperf.search.conclusion import replays_beside_whole_runs


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
