"""The gates of results once more, for another command of the user's: other inputs, other sizes, other options.

Original and candidate are not built again. What the original does by that command is the measure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from intelliperf.errors import ApplicationFailed
from intelliperf.records import SHELL, Application, CheckStatus
from intelliperf.validation.runs.side import SideFailed
from intelliperf.validation.strength import shown
from intelliperf.validation.trial import Rejection, Steps, Trial
from intelliperf.validation.verdicts import Gate, through

Change = Callable[[tuple[str, ...]], tuple[str, ...]]  # of a command


def name_of(command: str) -> str:
    return f"also run `{command}`"


def also_run(command: str, gates: Sequence[tuple[str, Gate]]) -> tuple[str, Gate]:
    """A gate that runs `gates` with `command`, a text for the shell, in place of the application's own."""

    def judge(trial: Trial) -> Rejection | None:
        other = otherwise(trial, lambda _: (*SHELL, command))
        try:
            rejection = through(other, gates)
            proof = shown(other)[1] if rejection is None else ""
        except (ApplicationFailed, SideFailed) as error:
            trial.note(name_of(command), CheckStatus.NOT_RUN, str(error))
            return None
        if rejection is not None:
            return Rejection(rejection.outcome, f"with `{command}`: {rejection.detail}")
        lost = [check.detail for check in other.checks if check.status in (CheckStatus.WEAK, CheckStatus.NOT_RUN)]
        lost += [check.unseen for check in other.checks if check.unseen]
        trial.note(name_of(command), CheckStatus.PASSED, proof, unseen="; ".join(dict.fromkeys(lost)))
        return None

    return name_of(command), judge


def otherwise(trial: Trial, command: Change) -> Trial:
    """The same candidate and original, run otherwise. What runs execute counts for both trials."""
    case, candidate = trial.case, _with(trial.application, command)

    def rounded(way: str) -> Application | None:
        built = case.rounded(way)
        return None if built is None else _with(built, command)

    def other_wave() -> tuple[Application, Application] | None:
        built = case.other_wave()
        return None if built is None else (_with(built[0], command), _with(built[1], command))

    other = replace(
        case,
        reference=_with(case.reference, command),
        baseline=_with(case.baseline, command),
        build=lambda: candidate,
        rounded=rounded,
        other_wave=other_wave,
        steps=Steps(),
    )
    return Trial(other, trial.declared, static=trial.static, built=candidate, reached=trial.reached)


def _with(application: Application, command: Change) -> Application:
    return replace(application, command=command(application.command))
