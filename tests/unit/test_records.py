"""What a record refuses to hold: contradictions are found where they are made."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import pytest
from reported import accepted_report, healthy_report

import intelliperf.records
from intelliperf.errors import MissingMetric, UsageError
from intelliperf.records import (
    EMULATED,
    NEEDLESS,
    NO_EXCHANGE,
    NO_FLOATS,
    Application,
    Attempt,
    Candidate,
    Check,
    CheckStatus,
    Declined,
    Ending,
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
from intelliperf.records.metrics import Metric, Quantity
from intelliperf.records.reports import SCHEMA_VERSION
from intelliperf.search.conclusion import total_usage

RULE = Origin(OriginKind.RULE, "pad")
EDIT = FileEdit("a.hip", "0" * 64, "x")
CANDIDATE = Candidate((EDIT,), "why", RULE)


def gain(low: float, scope: Scope = Scope.KERNEL) -> Measurement:
    return Measurement(scope, 4.0, 2.0, 2.0, low, 3.0, Provenance.MODELLED, 3)


def accepted(**changes: object) -> Verdict:
    fields: dict[str, object] = {"measurements": (gain(1.1),), "compared_bytes": 1, "compared_dispatches": 1, **changes}
    return Verdict(Outcome.ACCEPTED, "the same", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"compared_bytes": 0}, "without a comparison"),
        ({"compared_dispatches": 0}, "without a comparison"),
        ({"compared_bytes": -1}, "without a comparison"),
        ({"checks": (Check("races", CheckStatus.FAILED, "one"),)}, "with a failed check"),
        ({"checks": (Check("a", CheckStatus.PASSED, ""), Check("b", CheckStatus.FAILED, ""))}, "with a failed check"),
        ({"measurements": ()}, "without a measured or modelled gain"),
        ({"measurements": (gain(1.0),)}, "without a measured or modelled gain"),
        ({"measurements": (gain(1.1), gain(0.9))}, "without a measured or modelled gain"),
        ({"measurements": (gain(2.0, Scope.APPLICATION),)}, "without a measured or modelled gain"),
    ],
)
def test_nothing_is_accepted_without_a_comparison_a_gain_and_clean_checks(changes: dict[str, object], why: str) -> None:
    assert accepted().accepted
    with pytest.raises(ValueError, match=why):
        accepted(**changes)
    refused = Verdict(Outcome.WRONG_OUTPUT, "3, expected 4", **changes)  # type: ignore[arg-type]
    assert not refused.accepted, "what is refused may lack any of it"


def test_the_application_may_lose_where_the_kernel_gains() -> None:
    assert accepted(measurements=(gain(1.0001), gain(0.5, Scope.APPLICATION))).accepted


def test_one_pair_of_runs_cannot_show_a_gain_only_deny_it_and_more_than_one_can() -> None:
    doubtful = dataclasses.replace(gain(0.9), pairs=(1.1,))
    assert accepted(measurements=(doubtful,)).accepted
    for wrong in (
        dataclasses.replace(doubtful, pairs=(1.1, 1.0)),
        dataclasses.replace(doubtful, pairs=(0.95,), high=1.0),
    ):
        with pytest.raises(ValueError, match="without a measured or modelled gain"):
            accepted(measurements=(wrong,))


def test_what_may_hide_something_wrong_is_named_first_and_what_may_not_last() -> None:
    checks = (
        Check("unit tests", CheckStatus.NOT_RUN, "no --unittest-command was given"),
        Check("executed code", CheckStatus.PASSED, "3 of 4", unseen="no run executed 1 line"),
        Check("algebraic equality", CheckStatus.NOT_RUN, NO_FLOATS),
        Check("other wave size", CheckStatus.NOT_RUN, NO_EXCHANGE),
        Check("recorded: other numbers", CheckStatus.NOT_RUN, "the original is not deterministic"),
    )
    assert accepted(checks=checks).left_open == (
        "recorded: other numbers: the original is not deterministic",
        "executed code: no run executed 1 line",
        "unit tests: no --unittest-command was given",
    )


def test_what_was_left_open_is_named_once_by_reason_and_not_where_a_refusal_made_it_needless() -> None:
    checks = (
        Check("b", CheckStatus.NOT_RUN, "no command"),
        Check("a", CheckStatus.WEAK, "no command"),
        Check("c", CheckStatus.PASSED, "fine", unseen="half of it"),
        Check("d", CheckStatus.NOT_RUN, NEEDLESS),
        Check("e", CheckStatus.PASSED, "fine"),
    )
    assert accepted(checks=checks).left_open == ("b, a: no command", "c: half of it")


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.hip", "a/../../b", "", "a//b", "./a", "a/", "a\0b"])
def test_an_edit_stays_inside_the_project(path: str) -> None:
    with pytest.raises((ValueError, UsageError)):
        FileEdit(path, "0" * 64, "x")


def test_a_candidate_edits_each_of_its_files_once() -> None:
    with pytest.raises(ValueError, match="without edits"):
        Candidate((), "why", RULE)
    with pytest.raises(ValueError, match="two edits"):
        Candidate((EDIT, EDIT), "why", RULE)


def test_an_attempt_is_judged_or_declined_and_never_both() -> None:
    declined = Declined(RULE, "no LDS array")
    wrong = Verdict(Outcome.WRONG_OUTPUT, "3, expected 4")
    for verdict, reason, candidate in ((None, None, None), (wrong, declined, CANDIDATE), (wrong, None, None)):
        with pytest.raises(ValueError, match="verdict"):
            Attempt(1, candidate, verdict, reason)
    assert Attempt(1, None, None, declined).origin == RULE
    assert not Attempt(1, CANDIDATE, wrong, None).accepted
    assert Attempt(1, CANDIDATE, accepted(), None).accepted


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"command": ()}, "no program given"),
        ({"project": Path("x")}, "absolute paths"),
        ({"directory": Path("x")}, "absolute paths"),
        ({"exit_status": 256}, "not an exit status"),
        ({"exit_status": -1}, "not an exit status"),
    ],
)
def test_an_application_that_cannot_be_run_is_refused(changes: dict[str, object], why: str) -> None:
    good = Application(("./a",), Path("/p"), Path("/p"), (("make",),), exit_status=255)
    with pytest.raises(UsageError, match=why):
        dataclasses.replace(good, **changes)  # type: ignore[arg-type]


def test_an_application_knows_what_of_its_environment_the_emulator_reads() -> None:
    def of(*environment: tuple[str, str]) -> Application:
        return Application(("./a",), Path("/p"), Path("/p"), environment=environment)

    before, after = ("A", "7"), ("Z", "9")
    stop, tolerate = "_".join(("INTELLIPERF", "STOP", "AFTER")), "_".join(("INTELLIPERF", "TOLERATE"))
    assert of(before, (stop, "12"), after).stop_after == 12
    assert of(before, after).stop_after is None
    assert of(before, (tolerate, "1"), after).tolerates is True
    assert of(before, after).tolerates is False
    assert of((tolerate, "1")).stop_after is None and of((stop, "1")).tolerates is False


def test_the_price_of_a_run_is_unknown_where_that_of_one_attempt_is(tmp_path: Path) -> None:
    report = accepted_report(tmp_path, "a.hip", "a\n", "b\n")
    last = report.attempts[-1]
    priced = total_usage(report.attempts)
    assert priced.usd == pytest.approx(0.03) and priced.input_tokens == 300
    free = dataclasses.replace(last, usage=Usage(200, 20, None, 3.0))
    unknown = total_usage((*report.attempts[:-1], free))
    assert unknown.usd is None and unknown.output_tokens == 30
    assert total_usage(report.attempts[:1]).usd is None, "no model call has no price, which is not a price of zero"


def _record_classes() -> list[type]:
    modules = [
        importlib.import_module(f"{intelliperf.records.__name__}.{module.name}")
        for module in pkgutil.iter_modules(intelliperf.records.__path__)
    ]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    own = [one for one in classes if one.__module__.startswith(intelliperf.records.__name__)]
    return sorted({one for one in own if not issubclass(one, (Enum, Protocol))}, key=lambda one: one.__qualname__)


@pytest.mark.parametrize("record", _record_classes(), ids=lambda record: record.__name__)
def test_a_record_is_frozen_and_compared_by_value(record: Any) -> None:
    of_its_own = vars(record)["__dataclass_params__"]
    assert of_its_own.frozen and of_its_own.eq


def test_readers_know_this_version_of_a_report() -> None:
    """Whoever raises it writes what reads reports of both versions, and then changes this."""
    assert SCHEMA_VERSION == 1


def test_a_gate_that_the_emulator_ran_instead_is_not_open_and_one_that_it_ran_weakly_is() -> None:
    open_here = Check("races", CheckStatus.NOT_RUN, "not on this device")
    ran = Check(f"{EMULATED}races", CheckStatus.PASSED, "none")
    assert accepted(checks=(open_here, ran)).left_open == ()
    weakly = Check(f"{EMULATED}races", CheckStatus.WEAK, "one order only")
    assert accepted(checks=(open_here, weakly)).left_open == (
        f"{EMULATED}races: one order only",
        "races: not on this device",
    )


def test_a_quantity_that_was_not_collected_is_named_and_never_zero() -> None:
    quantity = Quantity(0.0, Provenance.MEASURED)
    profile = accepted_report(Path("/p"), "a.hip", "x", "y").profiles[0]
    counted = dataclasses.replace(profile, quantities={Metric.SECTORS: quantity})
    assert counted.quantity(Metric.SECTORS) is quantity
    with pytest.raises(MissingMetric, match=f"{Metric.SECTORS.value} was not collected"):
        profile.quantity(Metric.SECTORS)


@pytest.mark.parametrize("ending", Ending)
def test_a_report_fails_by_3_unless_it_is_healthy_diagnosed_or_improved(ending: Ending) -> None:
    report = accepted_report(Path("/p"), "a.hip", "x", "y")
    healthy = ending in (Ending.IMPROVED, Ending.NOTHING_TO_IMPROVE, Ending.DIAGNOSED)
    without = dataclasses.replace(healthy_report(Path("/p")), ending=ending) if ending is not Ending.IMPROVED else None
    if without is not None:
        assert without.exit_status == (0 if healthy else 1 if ending is Ending.UNCONFIRMED else 3)
    accepted_status = dataclasses.replace(report, ending=ending).exit_status
    assert accepted_status == (ending is Ending.UNCONFIRMED), "a patch was accepted nevertheless"
