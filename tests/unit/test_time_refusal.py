"""What is said of a candidate that is not faster."""

from __future__ import annotations

import pytest

from intelliperf.records import Measurement, Outcome, Provenance, Scope
from intelliperf.validation.timing import time_refusal


def timed(ratio: float, low: float, high: float, provenance: Provenance = Provenance.MODELLED) -> Measurement:
    return Measurement(Scope.KERNEL, 1e6, 1e6 / ratio, ratio, low, high, provenance, 1)


@pytest.mark.parametrize(
    ("measurement", "begin", "advice"),
    [
        (timed(1.25, 0.82, 8.9), "the kernel is not shown to be faster: 1.25× as fast", True),
        (timed(1.25, 0.82, 8.9, Provenance.MEASURED), "the kernel is not shown to be faster: 1.25× as fast", False),
        (timed(0.9, 0.5, 1.2), "the kernel is 0.9× as fast", False),
    ],
)
def test_a_gain_within_the_error_is_told_apart_from_a_loss(measurement: Measurement, begin: str, advice: bool) -> None:
    outcome, reason = time_refusal([measurement], None) or (None, "")
    assert outcome is Outcome.NOT_FASTER and reason.startswith(begin)
    assert reason.endswith("a larger input or a measurement on a GPU could decide") is advice


def test_a_gain_beyond_the_error_is_not_refused() -> None:
    assert time_refusal([timed(1.25, 1.01, 8.9)], None) is None
