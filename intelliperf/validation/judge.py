"""The validator: every gate in order, from the text of the edit to the time of the kernel.

A candidate is accepted only if it passes all of them; the first that refuses decides the outcome, and
the verdict lists the others as not run. Cheap gates come first. What the original does by itself is
learnt once per kernel and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from intelliperf.processes.process import Completed, run
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend
from intelliperf.records import (
    STOP_AFTER,
    STOP_STATUS,
    Application,
    CheckStatus,
    Feature,
    Kernel,
    KernelProfile,
    OriginKind,
    Outcome,
    Verdict,
)
from intelliperf.validation import replaygate
from intelliperf.validation.algebragate import AlgebraGate
from intelliperf.validation.alsorun import also_run
from intelliperf.validation.comparegate import CompareGate
from intelliperf.validation.devicechecks import DeviceChecks
from intelliperf.validation.edits.gate import StaticVerdict, examine
from intelliperf.validation.numbersgate import NumbersGate
from intelliperf.validation.ordersgate import OrdersGate
from intelliperf.validation.othercommands import OtherCommands
from intelliperf.validation.reference import Reference
from intelliperf.validation.replaygate import Launches, Recorder, ReplayGate
from intelliperf.validation.strength import shown
from intelliperf.validation.timegate import TimeGate
from intelliperf.validation.trial import GATES, BuildFailure, Case, Examined, Rejection, Settings, Trial
from intelliperf.validation.verdicts import Gate, edited, note_reached, own_sizes, placed, through, verdict_on
from intelliperf.validation.wavegate import WaveGate
from intelliperf.validation.wholegate import WholeGate

_RESTRICT = "__restrict"
_OTHER_LAUNCHES = (
    "it adds, splits or renames kernels: with --stop-after-launches the two versions would end at different points"
)
_NOTHING = "it changes nothing that the compiler sees: the same tokens, compiled to the same code"
_NOTHING_LATE = "it changes nothing that is compiled: the same syntax trees"


class Judge:
    """Judges candidates of one application; keeps what the original does and the unit tests' standing."""

    def __init__(
        self, backend: Backend, sandbox: Sandbox, settings: Settings, recorder: Recorder | None = None
    ) -> None:
        self._replays = ReplayGate(backend, sandbox, recorder, settings.run_deadline_s) if recorder else None
        self._backend = backend
        self._sandbox = sandbox
        self._settings = settings
        self._reference = Reference(backend, sandbox, settings)
        self._checks = DeviceChecks(self._reference)
        algebra = AlgebraGate(self._reference)
        self._compare = CompareGate(self._reference, algebra, self._checks)
        self._orders = OrdersGate(self._reference, WaveGate(self._reference, algebra), self._checks)
        self._numbers = NumbersGate(self._reference, algebra)
        results = (self._compare.judge, self._compare.output, self._orders.judge)
        self._commands = OtherCommands(self._reference, [*zip(GATES[2:5], results, strict=True)])
        self._time = TimeGate(self._reference)
        self._tests_stand: bool | None = None
        self._whole = WholeGate(backend, sandbox, settings, self._replays) if self._replays else None

    def judge(self, case: Case) -> Verdict:
        """Raises `ApplicationFailed` where the unmodified application cannot serve as the reference."""
        trial = Trial(case, case.standing.joined(case.candidate.declares))
        gates = (
            self._edit,
            self._build,
            self._compare.judge,
            self._compare.output,
            self._orders.judge,
            self._other_numbers,
            self._checks.strictness,
            self._checks.safety,
            self._unit_tests,
            self._time.judge,
        )
        named: list[tuple[str, Gate]] = [*zip(GATES, gates, strict=True)]
        if case.candidate.origin.kind is OriginKind.RULE:
            # Hardly ever wrong, and where it is slower the gates of results would take that many times as long.
            named.insert(4, named.pop())
        if self._replays is not None:
            replays, again = self._replays, self._of_replays(case.reference)
            named.insert(2, (replaygate.NAME, lambda trial: replays.judge(trial, again)))
        before = next(number for number, (name, _) in enumerate(named) if name == GATES[8])
        named[before:before] = self._other_commands()
        rejection = through(trial, named, lambda: trial.replayed is not None)
        timed = rejection is None or rejection.outcome is Outcome.NOT_FASTER
        if timed and trial.built is not None:  # all gates of results have run
            note_reached(trial.replayed or trial)
        return self._verdict(trial, rejection)

    def _verdict(self, trial: Trial, rejection: Rejection | None) -> Verdict:
        stop = trial.case.reference.stop_after
        if stop is not None:
            told = f"--stop-after-launches {stop}: neither the launches after the first {stop:,} nor what follows them"
            trial.note("rest of the program", CheckStatus.NOT_RUN, told)
        return verdict_on(trial, rejection, self._sandbox.check(), self._backend.probe())

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        """Kernels that candidates are likely to be for: their launches are recorded in one run."""
        if self._replays is not None:
            self._replays.expect(kernels)

    def prepare(self, reference: Application, profile: KernelProfile, logs: Path) -> None:
        """See `ReplayGate.prepare`."""
        if self._replays is not None:
            self._replays.prepare(reference, profile, logs)

    def stand_in(
        self, reference: Application, version: Application, kernel: Kernel, logs: Path, reshaped: bool
    ) -> Application | None:
        """See `ReplayGate.stand_in`."""
        return self._replays.stand_in(reference, version, kernel, logs, reshaped) if self._replays is not None else None

    def launches(self, reference: Application, version: Application, kernel: Kernel) -> Launches | None:
        """See `ReplayGate.launches`."""
        return self._replays.launches(reference, version, kernel) if self._replays is not None else None

    def judge_whole(self, case: Case, kernels: Sequence[Kernel]) -> Verdict:
        """All accepted changes together, which the case's candidate holds, on the whole application.

        Their edits were examined one by one. `kernels`: those that they are for; that of the case is the first.
        """
        texts = [(case.sources[edit.path], edit.text) for edit in case.candidate.edits]
        restricted = any(after.count(_RESTRICT) > before.count(_RESTRICT) for before, after in texts)
        trial = Trial(case, case.candidate.declares, StaticVerdict(beyond_target=True, restricted=restricted))
        is_long = self._backend.is_long(case.reference)
        strict: tuple[str, Gate] = (GATES[6], self._checks.strictness)
        last: list[tuple[str, Gate]] = [
            *self._other_commands(),
            (GATES[8], self._unit_tests),
            (GATES[9], lambda trial: self._time.judge(trial, shown=is_long)),
        ]
        rejection = through(trial, [(GATES[1], self._build)])
        if rejection is None and self._whole is not None and self._whole.settles(trial):
            # recorded dispatches have shown what there is where blocks and lanes are interrupted
            in_order: Gate = _safety_of_replays if is_long else self._checks.safety_in_order
            last.append((GATES[9], lambda trial: self._time.others(trial, kernels, is_long)))
            rejection = through(trial, [strict, (GATES[7], in_order), *last])
        elif rejection is None:
            first = [self._compare.judge, self._compare.output, self._orders.judge, self._other_numbers]
            safe: Gate = _safety_of_replays if is_long else self._checks.safety
            rejection = through(trial, [*zip(GATES[2:6], first, strict=True), strict, (GATES[7], safe), *last])
            if rejection is None:
                note_reached(trial)
        return self._verdict(trial, rejection)

    def examine(self, case: Case, replayed: bool = False) -> Examined:
        """What the candidate computes here; not whether it may be edited so, its tests, or its time.

        `replayed`: the case's programs make recorded launches, and have no output. Raises `ApplicationFailed` as
        `judge`.
        """
        trial = Trial(case, case.standing.joined(case.candidate.declares))
        numbers = self._numbers.judge if replayed else self._other_numbers
        gates = (self._build, self._compare.judge, self._compare.output, self._orders.judge, numbers)
        named: list[tuple[str, Gate]] = [*zip(GATES[1:], gates, strict=False), (GATES[7], self._checks.safety)]
        if replayed:
            named = [(name, gate) for name, gate in named if name != GATES[3]]
        else:
            named += self._other_commands()
        rejection = through(trial, named)
        if rejection is None:
            note_reached(trial)
        _, proof = shown(trial) if rejection is None else (None, "")
        return Examined(rejection, placed(trial, self._backend.probe()), proof)

    def _of_replays(self, reference: Application) -> tuple[replaygate.Gate, ...]:
        """Sanitizers of hardware start a process for each of their tools: once, on the application if that is short."""
        if Feature.CHEAP_TRACES not in self._backend.honours:
            return (self._compare.judge, *([self._checks.safety] if self._backend.is_long(reference) else []))
        return (
            self._compare.judge,
            self._numbers.judge,
            self._orders.judge,
            self._checks.strictness,
            self._checks.safety,
        )

    def _other_numbers(self, trial: Trial) -> Rejection | None:
        """In launches, and in the command where these do not show other sizes, unless the user names commands."""
        rejection = self._numbers.judge(trial)
        return self._commands.judge(trial) if rejection is None and not self._settings.also_run else rejection

    def _other_commands(self) -> list[tuple[str, Gate]]:
        """The gates that look at results, for each further command."""
        gates = (self._compare.judge, self._compare.output, self._orders.judge, self._numbers.judge)
        named = [*zip(GATES[2:], gates, strict=False), (GATES[7], self._checks.safety)]
        return [also_run(command, named) for command in self._settings.also_run]

    def _edit(self, trial: Trial) -> Rejection | None:
        case = trial.case
        if case.reference.stop_after is not None and trial.declared.kernels:
            return Rejection(Outcome.FORBIDDEN_EDIT, _OTHER_LAUNCHES)
        trial.static = examine(
            case.candidate,
            case.sources,
            case.allowed,
            case.kernel.name,
            case.reading,
            case.kernel.file,
            case.kernel.symbol,
        )
        if trial.static.refusal:
            return Rejection(Outcome.FORBIDDEN_EDIT, trial.static.refusal)
        if trial.static.unchanged:
            return Rejection(Outcome.NOT_FASTER, _NOTHING_LATE if case.jit else _NOTHING)
        trial.all_geometry = trial.static.others_launched
        unseen = "" if self._settings.also_run else own_sizes(trial)
        trial.note(GATES[0], CheckStatus.PASSED, edited(trial), unseen=unseen)
        return None

    def _build(self, trial: Trial) -> Rejection | None:
        built = trial.case.build()
        if isinstance(built, BuildFailure):
            outcome = Outcome.TIMED_OUT if built.timed_out else Outcome.BUILD_FAILED
            return Rejection(outcome, "; ".join(built.errors) or "the build fails")
        if trial.static.unread:
            told = f"it builds, but cannot be read, so nothing vouches for its host code: {trial.static.unread}"
            return Rejection(Outcome.FORBIDDEN_EDIT, told)
        trial.built = built
        trial.note(GATES[1], CheckStatus.PASSED, "by the project's own commands")
        return None

    def _unit_tests(self, trial: Trial) -> Rejection | None:
        if not self._settings.unit_tests:
            trial.note(GATES[8], CheckStatus.NOT_RUN, "no --unittest-command was given")
            return None
        if self._tests_stand is None:
            self._tests_stand = self._run_tests(trial.case.reference, trial.case.logs, "unit-tests-reference").ok
        if not self._tests_stand:
            trial.note(GATES[8], CheckStatus.NOT_RUN, "they fail for the unmodified application, too")
            return None
        done = self._run_tests(trial.application, trial.case.logs, "unit-tests")
        if not done.ok:
            said = " | ".join((done.tail("stderr", 2000) or done.tail("stdout", 2000)).strip().splitlines()[-3:])
            return Rejection(Outcome.TESTS_FAILED, f"{done.describe()}: {said}")
        trial.note(GATES[8], CheckStatus.PASSED)
        return None

    def _run_tests(self, application: Application, logs: Path, label: str) -> Completed:
        own = {name: value for name, value in application.environment if name not in (STOP_AFTER, STOP_STATUS)}
        environment = {**own, **self._settings.test_environment}  # tests run to their end
        argv = self._sandbox.wrap(self._settings.unit_tests, [application.project], [*environment])
        return run(argv, application.project, self._settings.run_deadline_s, logs, label, environment)


def _safety_of_replays(trial: Trial) -> None:
    told = "a run takes long: the recorded dispatches of each candidate were looked at in place of the application"
    trial.note(GATES[7], CheckStatus.NOT_RUN, told)
