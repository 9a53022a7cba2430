"""Records survive the round trip to JSON and back; anything else is refused."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from typing import Any

import pytest

from intelliperf.errors import ProtocolError
from intelliperf.frozen import record
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


def test_records_behave_like_frozen_dataclasses() -> None:
    def place_class(decorate: Any) -> Any:
        @decorate(frozen=True)
        class Place:
            file: str
            line: int = 1
            chain: tuple[int, ...] = field(default_factory=tuple)

            def __post_init__(self) -> None:
                if self.line < 1:
                    raise ValueError("no such line")

        return Place

    ours, standard = place_class(record), place_class(dataclass)
    for one in (ours, standard):
        place = one("a.cu", chain=(2,))
        assert repr(place) == repr(standard("a.cu", 1, (2,))) and place == one("a.cu", 1, (2,))
        assert place != one("a.cu", 2, (2,)) and place != (standard if one is ours else ours)("a.cu", 1, (2,))
        assert hash(place) == hash(("a.cu", 1, (2,))) and replace(place, line=3) == one("a.cu", 3, (2,))
        assert asdict(one("b.cu")) == {"file": "b.cu", "line": 1, "chain": ()}
        for values, named in (((), {}), (("a", 1, (), 0), {}), (("a",), {"file": "b"}), (("a",), {"row": 1})):
            with pytest.raises(TypeError):
                one(*values, **named)
        with pytest.raises(ValueError, match="no such line"):
            one("a.cu", 0)
        with pytest.raises(FrozenInstanceError):
            place.line = 2
        with pytest.raises(FrozenInstanceError):
            del place.line
