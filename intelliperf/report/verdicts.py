"""`verdict.json`: what was judged and how it was shown, for programs; the schema is in `verdict.schema.json`.

A small file beside report.json that stays the same where the report's own records change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from intelliperf.records import (
    Attempt,
    Check,
    CheckStatus,
    Measurement,
    Outcome,
    Provenance,
    Report,
    Scope,
    Strength,
    Verdict,
)
from intelliperf.report import wording

FORMAT_VERSION = 1
SCHEMA_PATH = Path(__file__).parent / "verdict.schema.json"


@dataclass(frozen=True)
class Gate:
    name: str
    result: CheckStatus
    saw: str
    device: str  # where it ran; empty where it takes no device
    control: str  # what it was shown to reject in this run; empty where nothing was planted
    unseen: str  # what it did not look at, although it ran
    seconds: float | None  # of wall time; null where it did not run, or where its time stands with another check


@dataclass(frozen=True)
class Gain:
    """Times faster, original against candidate, with the interval that holds 95 % or more."""

    scope: Scope
    kernel: str
    ratio: float
    low: float
    high: float
    provenance: Provenance


@dataclass(frozen=True)
class Judged:
    """One candidate. `not_checked` is what the gates left open; read it before `strength`."""

    not_checked: tuple[str, ...]
    attempt: int
    origin: str
    outcome: Outcome
    accepted: bool
    strength: Strength | None  # of an accepted one: the weakest proof that any buffer needed
    proof: str
    detail: str
    gates: tuple[Gate, ...]
    gains: tuple[Gain, ...]


@dataclass(frozen=True)
class Verdicts:
    """All candidates of a run; `accepted` is that of the run as a whole."""

    format: int
    tool_version: str
    run_id: str
    command: tuple[str, ...]
    backend: str
    device: str
    emulated: bool  # the device is modelled: no gain is a measurement
    judged_on_emulator: bool  # an emulator's gates ran as well, where something was accepted
    headline: str
    accepted: bool
    not_checked: tuple[str, ...]
    verdicts: tuple[Judged, ...]
    whole: Judged | None = None  # all accepted ones together, where some met recorded dispatches alone


def schema() -> dict[str, Any]:
    """The JSON Schema of verdict.json, made from the records. Published in `verdict.schema.json`."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Verdicts).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "IntelliPerf verdicts"}


def verdicts(report: Report) -> Verdicts:
    return Verdicts(
        format=FORMAT_VERSION,
        tool_version=report.tool_version,
        run_id=report.run_id,
        command=report.application.command,
        backend=report.backend,
        device=report.device.name,
        emulated=report.device.emulated,
        judged_on_emulator=not wording.only_on_hardware(report),
        headline=wording.headline(report),
        accepted=report.accepted is not None,
        not_checked=report.not_checked,
        verdicts=tuple(_judged(a, a.verdict) for a in report.attempts if a.verdict is not None),
        whole=_together(report),
    )


def _together(report: Report) -> Judged | None:
    last = next((attempt for attempt in report.attempts if attempt.index == report.accepted), None)
    if report.whole is None or last is None:
        return None
    return replace(_judged(last, report.whole), origin="all accepted changes together")


def _judged(attempt: Attempt, verdict: Verdict) -> Judged:
    return Judged(
        not_checked=verdict.left_open,
        attempt=attempt.index,
        origin=wording.origin(attempt),
        outcome=verdict.outcome,
        accepted=verdict.accepted,
        strength=verdict.strength,
        proof=verdict.proof,
        detail=verdict.detail,
        gates=tuple(_gate(check) for check in verdict.checks),
        gains=tuple(_gain(measurement) for measurement in verdict.measurements),
    )


def _gate(check: Check) -> Gate:
    return Gate(check.name, check.status, check.detail, check.device, check.control, check.unseen, check.seconds)


def _gain(measurement: Measurement) -> Gain:
    m = measurement
    return Gain(m.scope, m.kernel, m.ratio, m.low, m.high, m.provenance)
