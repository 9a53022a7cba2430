"""The gates of results once more with other numbers in the command, where launches did not show other sizes.

No launch of a candidate with kernels of its own stands for one of the original, so that no argument can be altered; the
original may have no one answer where it is; and a grid may go by what no kernel is handed. The program is then run for
other sizes as a whole. The user's own further commands take the place of these.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic

from intelliperf.errors import ApplicationFailed
from intelliperf.records import CheckStatus
from intelliperf.sentences import counted
from intelliperf.validation.alsorun import otherwise
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.side import SideFailed
from intelliperf.validation.trial import Rejection, Trial
from intelliperf.validation.verdicts import Gate, through

NAME = "other numbers in the command"
_NUMBER = re.compile(r"(|--?[A-Za-z][-\w]*=|-[A-Za-z])(\d{1,9})")
_LEAST, _MOST = 2, 1 << 26
_MOST_COMMANDS, _FEW_COMMANDS = 6, 3  # few: where arguments were altered as well
_MOST_SECONDS = 60.0  # no further command is begun then
_LONG_S = 5.0  # an original that takes longer is not given more to do
_SIZES = "other sizes than this command's (with kernels of its own no argument of a launch is altered)"


@dataclass(frozen=True)
class OtherWord:
    """Of a command."""

    at: int
    text: str

    def within(self, command: tuple[str, ...]) -> tuple[str, ...]:
        return (*command[: self.at], self.text, *command[self.at + 1 :])


def other_words(command: Sequence[str], longer: bool) -> Iterator[OtherWord]:
    """Each number twice as large, half as large and one less; `longer`: larger ones, too."""
    numbers = [(at, match) for at, word in enumerate(command) if at and (match := _NUMBER.fullmatch(word)) is not None]
    sizes = [(at, match[1], int(match[2])) for at, match in numbers if _LEAST <= int(match[2]) <= _MOST]
    others = [(2 * size, size // 2, size - 1)[0 if longer else 1 :] for _, _, size in sizes]
    for every in zip(*others, strict=True):
        for (at, option, _), size in zip(sizes, every, strict=True):
            yield OtherWord(at, f"{option}{size}")


class OtherCommands:
    """A gate: `gates`, with each such command that the original runs as well as its own."""

    def __init__(self, reference: Reference, gates: Sequence[tuple[str, Gate]]) -> None:
        self._reference = reference
        self._gates = gates

    def judge(self, trial: Trial) -> Rejection | None:
        if not trial.sizes_open:
            return None
        began, passed, late = monotonic(), [], 0
        most = _MOST_COMMANDS if trial.declared.kernels or trial.unaltered else _FEW_COMMANDS
        calibration, _ = self._reference.calibration(trial)
        longer = calibration.ended.seconds <= _LONG_S
        own = trial.case.reference.command
        for word in islice(other_words(own, longer), most):
            if monotonic() - began > _MOST_SECONDS:
                late += 1
                continue
            other = otherwise(trial, word.within)
            try:
                if not self._runs_as_well(trial, other):
                    continue
                rejection = through(other, self._gates)
            except (ApplicationFailed, SideFailed):
                continue
            if rejection is not None:
                return Rejection(rejection.outcome, f"with `{shlex.join(word.within(own))}`: {rejection.detail}")
            passed.append(shlex.join(word.within(own)))
        self._tell(trial, passed, late)
        return None

    def _runs_as_well(self, trial: Trial, other: Trial) -> bool:
        """Within its buffers, where it stays within them by its own command: else the command makes no sense to it."""
        _, bounds = self._reference.calibration(trial)
        return self._reference.calibration(other)[1] == bounds

    @staticmethod
    def _tell(trial: Trial, passed: Sequence[str], late: int) -> None:
        unseen = f"{counted(late, 'further command')} with other numbers, for time" if late else ""
        if passed:
            trial.note(
                NAME, CheckStatus.PASSED, "the same by " + ", ".join(f"`{one}`" for one in passed), unseen=unseen
            )
            return
        if not trial.declared.kernels:
            return  # the gates that leave sizes open say so
        why = "the command has no numbers with which the original runs otherwise"
        trial.note(NAME, CheckStatus.NOT_RUN, f"{_SIZES}: {why}; name other commands with --also-run")
