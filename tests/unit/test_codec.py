"""Records survive the round trip to JSON and back; anything else is refused."""

from __future__ import annotations

import json

import pytest

from intelliperf.errors import ProtocolError
from intelliperf.project.codec import decode, encode
from intelliperf.records import (
    Attempt,
    Candidate,
    Check,
    CheckStatus,
    FileEdit,
    Kernel,
    KernelProfile,
    Measurement,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Quantity,
    Scope,
    Verdict,
)


def accepted_attempt() -> Attempt:
    edit = FileEdit("src/ä.hip", "0" * 64, "not utf-8: \udcff\r\n")
    gain = Measurement(Scope.KERNEL, 2.0, 1.0, 2.0, 1.9, 2.1, Provenance.MODELLED, 3)
    verdict = Verdict(Outcome.ACCEPTED, "equal", (Check("race", CheckStatus.PASSED),), (gain,), 128, 2)
    return Attempt(1, Candidate((edit,), "why", Origin(OriginKind.RULE, "pad")), verdict, None)


def test_an_attempt_with_text_that_is_not_utf8_survives() -> None:
    attempt = accepted_attempt()
    assert decode(Attempt, json.loads(json.dumps(encode(attempt)))) == attempt


def test_a_mapping_by_metric_survives() -> None:
    profile = KernelProfile(
        Kernel("_Z1kv", "k()"),
        1,
        (),
        (5.0,),
        Provenance.MODELLED,
        1.0,
        {Metric.LANES: Quantity(3, Provenance.MEASURED)},
    )
    assert decode(KernelProfile, json.loads(json.dumps(encode(profile)))) == profile


@pytest.mark.parametrize(
    "broken",
    [
        {"name": "x", "status": "passed", "detail": 3},
        {"name": "x", "status": "no such status"},
        {"name": "x", "status": "passed", "surprise": 1},
        ["x"],
    ],
)
def test_a_value_of_another_shape_is_refused(broken: object) -> None:
    with pytest.raises(ProtocolError):
        decode(Check, broken)
