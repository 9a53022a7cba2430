"""How an accepted candidate's results were shown to be the original's: the weakest proof that any buffer needed."""

from __future__ import annotations

from intelliperf.records import CheckStatus, Strength
from intelliperf.sentences import counted
from intelliperf.validation.algebragate import SYMBOLIC_NAME
from intelliperf.validation.algebrawords import proven
from intelliperf.validation.buffers.algebra import Level
from intelliperf.validation.buffers.tolerance import Steadiness
from intelliperf.validation.runs.pairing import Key
from intelliperf.validation.trial import Trial

_ORDER = tuple(Strength)
_SHOWN = 3  # buffers that are named


def shown(trial: Trial) -> tuple[Strength, str]:
    """The strength over all buffers, and what was shown of those that are not bit equal, in words."""
    checker = trial.compared
    told: list[tuple[Strength, str]] = []
    for key in sorted(checker.apart):
        told.append(_of_buffer(trial, key))
    erratic = checker.calibration.erratic()
    told += [(Strength.PARTLY, f"{name} differs from run to run of the original") for name in erratic]
    rest = f"{checker.compared_bytes:,} bytes compared after {counted(len(checker.syncs), 'launch', 'es')}"
    if not told:
        return Strength.BIT_EQUAL, f"bit equal in all {rest}"
    strength = max((strength for strength, _ in told), key=_ORDER.index)
    told.sort(key=lambda item: _ORDER.index(item[0]), reverse=True)
    parts = [text for _, text in told[:_SHOWN]]
    if len(told) > _SHOWN:
        parts.append(f"{counted(len(told) - _SHOWN, 'more buffer')}, no worse")
    return strength, "; ".join([*parts, f"all else bit equal; {rest}"])


def _of_buffer(trial: Trial, key: Key) -> tuple[Strength, str]:
    checker = trial.compared
    name, rule, account = checker.name(key), checker.rule(key), trial.proven.get(key)
    if rule.by_algebra and account is not None:
        strength = Strength.SAME_NUMBERS if account.level is Level.EQUAL else Strength.CLOSE
        return strength, f"{name}: {proven(account)}{_function(trial)}"
    if key in checker.unsure:
        return Strength.PARTLY, f"{name}: no evidence, the original's own sum may err by as much as it differs"
    if rule.steadiness is Steadiness.UNORDERED:
        return Strength.BIT_EQUAL, f"{name}: the same elements, in no order, as in the original"
    passing = checker.too_wide().get(key)
    wide = f", which would accept {', '.join(sorted(passing))} as well" if passing else ""
    return Strength.TOLERANCE, f"{name}: within {rule.describe()}{wide}"


def _function(trial: Trial) -> str:
    symbolic = any(check.name == SYMBOLIC_NAME and check.status is CheckStatus.PASSED for check in trial.checks)
    return "; the same with unknown floats for inputs, along the branches of this run" if symbolic else ""
