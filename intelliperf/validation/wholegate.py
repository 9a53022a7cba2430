"""The whole application, for all accepted candidates together: one run of the original and one of the candidate.

What recorded dispatches have shown of the original's own variation is taken for the application's. Where the two runs
differ by more, or print something else, that proves nothing yet: `Judge.judge_whole` then learns from further runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.interception.messages import Dispatch
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend, KeepsTraces
from intelliperf.records import ANY_KERNEL, CheckStatus, Feature, Interception
from intelliperf.sentences import counted
from intelliperf.validation.buffers.output import OutputModel
from intelliperf.validation.buffers.tolerance import Allowance, loosest
from intelliperf.validation.calibration import BASE, POISON, Calibration, Masks
from intelliperf.validation.checker import Checker
from intelliperf.validation.replaygate import ReplayGate, Won
from intelliperf.validation.runs.events import Rule
from intelliperf.validation.runs.lockstep import Followed, Setting, follow
from intelliperf.validation.runs.pairing import Key
from intelliperf.validation.runs.side import Failure, SideFailed, SideRun
from intelliperf.validation.trial import GATES, Settings, Trial

NAME = "runs of the application"
_TOGETHER = "candidate"
_PATIENCE = 10.0  # either may take this many times as long as the original did before


class WholeGate:
    """Compares original and candidate after every dispatch of every kernel, and at their ends."""

    def __init__(self, backend: Backend, sandbox: Sandbox, settings: Settings, replays: ReplayGate) -> None:
        self._backend = backend
        self._sandbox = sandbox
        self._settings = settings
        self._replays = replays

    def settles(self, trial: Trial) -> bool:
        """Whether the two runs agree; notes what they showed, or why it takes further runs to tell."""
        why = self._unfit(trial) or self._disagreement(trial)
        if why:
            trial.note(NAME, CheckStatus.PASSED, f"one of each does not settle it, so there were more: {why}")
        return not why

    def _unfit(self, trial: Trial) -> str:
        if not (self._traces() or self._backend.is_long(trial.case.reference)):
            return f"the {self._backend.name} backend tells nothing else of a run that is compared"
        if trial.declared.kernels:
            return "kernels were added, split or renamed"
        if not self._replays.won:
            return "what the original varies by was learnt in an earlier process"
        return ""

    def _traces(self) -> bool:
        return Feature.TRACE in self._backend.honours and isinstance(self._backend, KeepsTraces)

    def _disagreement(self, trial: Trial) -> str:
        case, records = trial.case, trial.case.logs / "records"
        records.mkdir(parents=True, exist_ok=True)
        plain = Interception(kernels=(ANY_KERNEL,), poison=POISON, memory="strict")
        traced = replace(plain, trace=records if self._traces() else None)
        runs = (
            SideRun(BASE, case.reference, plain),
            SideRun(_TOGETHER, trial.application, traced),
        )
        rule = Rule(lambda d: d.target, ANY_KERNEL if trial.declared.geometry else None)
        calibration = joined(self._replays.won.values())
        checker = Checker(calibration, self._settings.tolerance, restricted=trial.static.restricted)
        try:
            followed = follow(self._setting(trial), runs, rule, checker)
        except SideFailed as error:
            if error.label == BASE and error.failure is Failure.TIMED_OUT:  # so would every further run of it
                raise ApplicationFailed(f"{error}; {self._seconds(trial):.0f} s were enough before") from error
            return str(error)
        if (divergence := followed.divergences.get(_TOGETHER)) is not None:
            return divergence.detail
        if any(isinstance(event, Dispatch) and event.status for event in followed.events) or not checker.compared_bytes:
            return "the original has launches that fail, or none that can be compared"
        return self._ended(trial, followed, checker)

    def _ended(self, trial: Trial, followed: Followed, checker: Checker) -> str:
        base, ended = followed.ended[BASE], followed.ended[_TOGETHER]
        earlier = self._replays.ended.get(trial.case.reference)
        output = OutputModel.learn(base, [earlier] if earlier is not None else [])
        apart = loosest(checker.calibration.allowances, checker.unsure)
        difference = output.difference(ended, max(self._settings.tolerance.rtol or 0.0, apart))
        if difference is not None:
            return difference
        backend = self._backend
        try:
            if isinstance(backend, KeepsTraces):
                records = trial.case.logs / "records"
                backend.adopt(trial.application, records, ended.exit_status or 0, ended.seconds)
        except (ApplicationFailed, ProtocolError) as error:
            return str(error)
        trial.checker, trial.ended = checker, ended
        trial.proven = {key: account for won in self._replays.won.values() for key, account in won.proven.items()}
        told = f"{checker.compared_bytes:,} bytes after {counted(len(checker.syncs), 'launch', 'es')}, of all kernels"
        partly = f"after {len(checker.partly):,} of the launches only what the kernel was handed, for time"
        trial.note(GATES[2], CheckStatus.PASSED, told, checker.control(), partly if checker.partly else "")
        trial.note_output(output.steady, output.compared())
        trial.note(NAME, CheckStatus.PASSED, "one of the original and one of all accepted candidates together")
        return ""

    def _seconds(self, trial: Trial) -> float:
        """That the original ran for before; 0 where that is not known."""
        ended = self._replays.ended.get(trial.case.reference)
        return self._backend.run_seconds(trial.case.reference) or (ended.seconds if ended else 0.0)

    def _setting(self, trial: Trial) -> Setting:
        case, seconds = trial.case, self._seconds(trial)
        silence_s = seconds * _PATIENCE + self._settings.grace_s
        return Setting(
            self._backend,
            case.kernel,
            self._sandbox,
            case.logs,
            self._settings.run_deadline_s * 2,
            silence_s,
            case.jit,
            base_silence_s=silence_s if seconds else math.inf,
        )


def joined(won: Iterable[Won]) -> Calibration:
    """What the original varies by, of all kernels; where several say something of a buffer, the weakest rule."""
    parts = [one.calibration for one in won]
    allowances: dict[Key, Allowance] = {}
    for part in parts:
        for key, rule in part.allowances.items():
            known = allowances.get(key)
            if known is None or (known.steadiness, known.rtol) < (rule.steadiness, rule.rtol):
                allowances[key] = rule
    noisy: dict[str, frozenset[int]] = {}
    for part in parts:
        for kernel, indices in part.noisy_arguments.items():
            noisy[kernel] = noisy.get(kernel, frozenset()) | indices
    return replace(
        parts[0],
        allowances=allowances,
        undefined=Masks(),
        noisy_arguments=noisy,
        events=(),
        notes=(),
        names={key: name for part in parts for key, name in part.names.items()},
        uncovered=(),
        erratic_at=frozenset(),
        parallel=frozenset(pair for part in parts for pair in part.parallel),
        coverage="",
    )
