"""Which proof a verdict rests on, and how it is told: the weakest that any buffer needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from intelliperf.processes.process import Completed
from intelliperf.records import Check, CheckStatus, Declaration, Strength
from intelliperf.validation.algebragate import SYMBOLIC_NAME
from intelliperf.validation.buffers.algebra import Account
from intelliperf.validation.buffers.elements import FLOAT32
from intelliperf.validation.buffers.output import OutputModel
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness
from intelliperf.validation.calibration import Calibration, Masks
from intelliperf.validation.checker import Checker
from intelliperf.validation.runs.pairing import Key
from intelliperf.validation.strength import shown
from intelliperf.validation.trial import Case, Trial

SAME = Account(elements=8, erring=1, squares=(4.0, 1.0))
NEAR = Account(elements=8, close=3)
ALGEBRA = Allowance(Steadiness.NUMERIC, FLOAT32, 1e-6, by_algebra=True)
TOLERANCE = Allowance(Steadiness.NUMERIC, FLOAT32, 1e-6, 1e-9)
UNORDERED = Allowance(Steadiness.UNORDERED, FLOAT32)


def key(name: str) -> Key:
    return ("device", ord(name), "")


def judged(
    rules: Mapping[str, Allowance], proven: Mapping[str, Account] | None = None, apart: str | None = None
) -> Trial:
    """Buffers a, b, …, all of them different somewhere, with what each was held to and what the shadows said."""
    names = {key(name): name for name in rules}
    ended = Completed((), 0, None, False, False, 0.0, Path(), Path())
    allowances = {key(name): rule for name, rule in rules.items()}
    model = OutputModel(0, (), frozenset(), True)
    checker = Checker(Calibration(allowances, Masks(), {}, (), ended, model, (), names))
    checker.apart = {key(name) for name in (rules if apart is None else apart)}
    checker.compared_bytes, checker.syncs = 4096, {0, 1}
    accounts = {key(name): account for name, account in (proven or {}).items()}
    return Trial(cast(Case, None), Declaration(), checker=checker, proven=accounts)


def test_equal_bits_say_how_many() -> None:
    assert shown(judged({})) == (Strength.BIT_EQUAL, "bit equal in all 4,096 bytes compared after 2 launches")
    assert shown(judged({"a": ALGEBRA}, apart=""))[0] is Strength.BIT_EQUAL


@pytest.mark.parametrize(
    ("rule", "account", "strength", "told"),
    [
        (ALGEBRA, SAME, Strength.SAME_NUMBERS, "a: the same real numbers in all 8 outputs"),
        (ALGEBRA, NEAR, Strength.CLOSE, "a: not proven algebraically in 3 of 8 outputs"),
        (ALGEBRA, None, Strength.TOLERANCE, "a: within rtol 1e-06, atol 0 (the same real numbers"),
        (TOLERANCE, SAME, Strength.TOLERANCE, "a: within rtol 1e-06, atol 1e-09 (from the reference's own spread)"),
        (UNORDERED, None, Strength.BIT_EQUAL, "a: the same elements, in no order, as in the original"),
    ],
)
def test_a_buffer_is_as_sure_as_what_it_was_held_to(
    rule: Allowance, account: Account | None, strength: Strength, told: str
) -> None:
    found, text = shown(judged({"a": rule}, {"a": account} if account else {}))
    assert found is strength
    assert text.startswith(told) and "no worse" not in text
    assert text.endswith("; all else bit equal; 4,096 bytes compared after 2 launches")


def test_the_weakest_buffer_decides_and_comes_first() -> None:
    rules = {"a": UNORDERED, "b": ALGEBRA, "c": TOLERANCE}
    strength, text = shown(judged(rules, {"b": SAME}))
    assert strength is Strength.TOLERANCE
    assert [part[0] for part in text.split("; ") if part[1] == ":"] == ["c", "b", "a"]


def test_more_than_three_buffers_are_counted() -> None:
    rules = {"a": UNORDERED, "b": ALGEBRA, "c": TOLERANCE, "d": UNORDERED, "e": UNORDERED}
    assert "; 2 more buffers, no worse; all else" in shown(judged(rules, {"b": SAME}))[1]
    del rules["e"]
    assert "; 1 more buffer, no worse; all else" in shown(judged(rules, {"b": SAME}))[1]
    del rules["d"]
    assert "more buffer" not in shown(judged(rules, {"b": SAME}))[1]


def test_sums_that_err_themselves_are_no_evidence() -> None:
    trial = judged({"a": TOLERANCE})
    trial.compared.unsure[key("a")] = "1e-3"
    strength, text = shown(trial)
    assert strength is Strength.PARTLY and "a: no evidence" in text


def test_a_proof_outranks_what_is_no_evidence() -> None:
    trial = judged({"a": ALGEBRA}, {"a": SAME})
    trial.compared.unsure[key("a")] = "1e-3"
    assert shown(trial)[0] is Strength.SAME_NUMBERS


def test_what_varies_by_itself_is_named() -> None:
    erratic = Allowance(Steadiness.ERRATIC, FLOAT32)
    strength, text = shown(judged({"a": ALGEBRA, "z": erratic}, {"a": SAME}, apart="a"))
    assert strength is Strength.PARTLY
    assert text.startswith("z differs from run to run of the original; a: ")


def test_a_tolerance_tells_what_it_would_let_pass() -> None:
    trial = judged({"a": TOLERANCE})
    trial.compared.weak[key("a")] = {"zeros", "mean"}
    assert "spread), which would accept mean, zeros as well; " in shown(trial)[1]
    assert "accept" not in shown(judged({"a": TOLERANCE}))[1]


@pytest.mark.parametrize("status", CheckStatus)
def test_unknown_inputs_are_told_where_they_were_tried(status: CheckStatus) -> None:
    trial = judged({"a": ALGEBRA}, {"a": SAME})
    trial.checks += [Check("another gate", CheckStatus.PASSED), Check(SYMBOLIC_NAME, status)]
    assert ("with unknown floats" in shown(trial)[1]) == (status is CheckStatus.PASSED)
    trial.checks.pop()
    assert "with unknown floats" not in shown(trial)[1]
