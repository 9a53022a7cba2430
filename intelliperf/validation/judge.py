"""The validator: every gate in order, from the text of the edit to the time of the kernel.

A candidate is accepted only if it passes all of them; the first that refuses decides the outcome, and
the verdict lists the others as not run. Cheap gates come first. What the original does by itself is
learnt once per kernel and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.processes.process import Completed, run
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend
from intelliperf.records import (
    Application,
    CheckStatus,
    Finding,
    Kernel,
    KernelProfile,
    Outcome,
    Provenance,
    Scope,
    Verdict,
)
from intelliperf.sentences import counted, number
from intelliperf.validation import replaygate
from intelliperf.validation.algebragate import AlgebraGate, Proof
from intelliperf.validation.alsorun import also_run
from intelliperf.validation.buffers.tolerance import loosest
from intelliperf.validation.calibration import BASE, OTHER_POISON, POISON, Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.edits.gate import StaticVerdict, examine
from intelliperf.validation.numbersgate import NumbersGate
from intelliperf.validation.reference import Reference
from intelliperf.validation.replaygate import Recorder, ReplayGate
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.lockstep import Divergence, Rule, failed_dispatch, follow, follow_planned, record
from intelliperf.validation.runs.side import Run, SideFailed
from intelliperf.validation.strength import shown
from intelliperf.validation.timing import time_refusal
from intelliperf.validation.trial import GATES, BuildFailure, Case, Examined, Rejection, Settings, Trial
from intelliperf.validation.verdicts import Gate, edited, kernel_gain, note_reached, placed, through, verdict_on
from intelliperf.validation.wavegate import WaveGate
from intelliperf.validation.wholegate import WholeGate

_MARK = ("synchronisation", "races")
_LOCKSTEP = "lockstep"
_LIVE_MEMORY = "live_memory"  # what the parent writes to a paused run's memory is what its next kernel reads
_POISON = "poison"
_UNTRACED = "traced run"  # the check that says that there is nothing to check
_RESTRICT = "__restrict"
_LOST_ORDER = "not compared, for the original fails in that order"
ORDERS: tuple[tuple[str, dict[str, str]], ...] = (
    ("other poison", {}),
    ("reversed order", {"lane_order": "reverse", "block_order": "reverse"}),
    ("random order", {"lane_order": "random:3", "block_order": "random:3", "preemption": "random:3"}),
    ("few resident blocks", {"block_order": "random:7", "resident_blocks": "2"}),
)


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
        self._algebra = AlgebraGate(self._reference)
        self._waves = WaveGate(self._reference, self._algebra)
        self._numbers = NumbersGate(self._reference, self._algebra)
        self._tests_stand: bool | None = None
        self._whole = WholeGate(backend, sandbox, settings, self._replays) if self._replays else None

    def judge(self, case: Case) -> Verdict:
        """Raises `ApplicationFailed` where the unmodified application cannot serve as the reference."""
        trial = Trial(case, case.standing.joined(case.candidate.declares))
        gates = (
            self._edit,
            self._build,
            self._compare,
            self._output,
            self._orders,
            self._numbers.judge,
            self._strictness,
            self._safety,
            self._unit_tests,
            self._time,
        )
        named: list[tuple[str, Gate]] = [*zip(GATES, gates, strict=True)]
        if self._replays is not None:
            replays, again = self._replays, self._of_replays()
            named.insert(2, (replaygate.NAME, lambda trial: replays.judge(trial, again)))
        before = next(number for number, (name, _) in enumerate(named) if name == GATES[8])
        named[before:before] = self._other_commands()
        rejection = through(trial, named, lambda: trial.replayed is not None)
        if rejection is None or rejection.outcome is Outcome.NOT_FASTER:  # all gates of results have run
            note_reached(trial.replayed or trial)
        return verdict_on(trial, rejection, self._sandbox.check(), self._backend.probe())

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        """Kernels that candidates are likely to be for: their launches are recorded in one run."""
        if self._replays is not None:
            self._replays.expect(kernels)

    def prepare(self, reference: Application, finding: Finding, logs: Path) -> None:
        """See `ReplayGate.prepare`."""
        if self._replays is not None:
            self._replays.prepare(reference, finding, logs)

    def stand_in(
        self, reference: Application, version: Application, kernel: Kernel, logs: Path, reshaped: bool
    ) -> Application | None:
        """See `ReplayGate.stand_in`."""
        return self._replays.stand_in(reference, version, kernel, logs, reshaped) if self._replays is not None else None

    def judge_whole(self, case: Case, kernels: Sequence[Kernel]) -> Verdict:
        """All accepted changes together, which the case's candidate holds, on the whole application.

        Their edits were examined one by one. `kernels`: those that they are for; that of the case is the first.
        """
        texts = [(case.sources[edit.path], edit.text) for edit in case.candidate.edits]
        restricted = any(after.count(_RESTRICT) > before.count(_RESTRICT) for before, after in texts)
        trial = Trial(case, case.candidate.declares, StaticVerdict(beyond_target=True, restricted=restricted))
        last: list[tuple[str, Gate]] = [
            (GATES[6], self._strictness),
            (GATES[7], self._safety),
            *self._other_commands(),
            (GATES[8], self._unit_tests),
            (GATES[9], self._time),
        ]
        rejection = through(trial, [(GATES[1], self._build)])
        if rejection is None and self._whole is not None and self._whole.settles(trial):
            rejection = through(trial, [*last, (GATES[9], lambda trial: self._time_others(trial, kernels))])
        elif rejection is None:
            first = [self._compare, self._output, self._orders, self._numbers.judge]
            rejection = through(trial, [*zip(GATES[2:6], first, strict=True), *last])
            if rejection is None:
                note_reached(trial)
        return verdict_on(trial, rejection, self._sandbox.check(), self._backend.probe())

    def examine(self, case: Case) -> Examined:
        """What the candidate computes here; not whether it may be edited so, its tests, or its time.

        Raises `ApplicationFailed` as `judge`.
        """
        trial = Trial(case, case.standing.joined(case.candidate.declares))
        gates = (self._build, self._compare, self._output, self._orders, self._numbers.judge)
        named = [*zip(GATES[1:], gates, strict=False), (GATES[7], self._safety), *self._other_commands()]
        rejection = through(trial, named)
        if rejection is None:
            note_reached(trial)
        _, proof = shown(trial) if rejection is None else (None, "")
        return Examined(rejection, placed(trial, self._backend.probe()), proof)

    def _of_replays(self) -> tuple[replaygate.Gate, ...]:
        """Sanitizers of hardware start a process for each of their tools: the whole application is enough for them."""
        cheap = _LOCKSTEP in self._backend.honours
        if not cheap:
            return (self._compare,)
        return self._compare, self._orders, self._numbers.judge, self._strictness, self._safety

    def _other_commands(self) -> list[tuple[str, Gate]]:
        """The gates that look at results, for each further command."""
        gates = (self._compare, self._output, self._orders, self._numbers.judge)
        named = [*zip(GATES[2:], gates, strict=False), (GATES[7], self._safety)]
        return [also_run(command, named) for command in self._settings.also_run]

    def _edit(self, trial: Trial) -> Rejection | None:
        case = trial.case
        trial.static = examine(
            case.candidate, case.sources, case.allowed, case.kernel.name, case.reading, case.kernel.file
        )
        if trial.static.refusal:
            return Rejection(Outcome.FORBIDDEN_EDIT, trial.static.refusal)
        trial.note(GATES[0], CheckStatus.PASSED, edited(trial))
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

    def _compare(self, trial: Trial) -> Rejection | None:
        """Lock-step in the normal order; once more where only rounding may be to blame."""
        divergence = self._lockstep(trial)
        if divergence is not None and divergence.outcome is Outcome.DISPATCHES_CHANGED and trial.declared.geometry:
            trial.all_geometry = not trial.declared.kernels  # a block size may be that of several kernels
            divergence = self._lockstep(trial) if trial.all_geometry else divergence
        proof = Proof()
        if divergence is None or divergence.outcome is Outcome.WRONG_OUTPUT:
            proof = self._algebra.prove(trial)
            if self._algebra.allow(trial, proof) and divergence is not None:
                divergence = self._lockstep(trial)
        if divergence is not None and divergence.near and proof.rejection is None and self._reference.widen(trial):
            divergence = self._lockstep(trial)
        rejection = proof.rejection
        if divergence is not None and (rejection is None or not divergence.near):
            rejection = Rejection(divergence.outcome, "; ".join(filter(None, [divergence.detail, proof.less_exact()])))
        if rejection is not None:
            synchronises = trial.static.synchronisation and rejection.outcome is Outcome.WRONG_OUTPUT
            cheap = _LOCKSTEP in self._backend.honours  # on hardware it takes a sanitizer
            return self._blamed(trial, rejection) if synchronises and cheap else rejection
        checker = trial.compared
        if checker.compared_bytes <= 0:
            raise ApplicationFailed(
                f"{trial.case.kernel.name}: nothing to compare; no buffer of the original is the same in two runs"
            )
        if trial.declared.kernels:
            told = f"compared at {counted(len(trial.points), 'point')} of the two runs"
            trial.note("declared kernels", CheckStatus.PASSED, told)
        told, unseen = f"{checker.compared_bytes:,} bytes after {counted(len(checker.syncs), 'launch', 'es')}", ""
        if partly := checker.partly:
            unseen = f"after {len(partly):,} of the launches only the buffers that the kernel was handed, for time"
        trial.note(GATES[2], CheckStatus.PASSED, told, checker.control(), unseen)
        return None

    def _lockstep(self, trial: Trial) -> Divergence | None:
        calibration, memory = self._reference.calibration(trial)
        declared = trial.declared
        trial.checker = Checker(
            calibration,
            self._settings.tolerance,
            free_arguments=declared.kernels,
            restricted=trial.static.restricted,
            forgets=declared.kernels and _LIVE_MEMORY in self._backend.honours,
        )
        options = {"kernels": self._reference.kernels(trial), "poison": POISON, "memory": memory}
        runs = Run(BASE, trial.case.reference, options), Run("candidate", trial.application, options)
        if declared.kernels:
            divergence, trial.ended = self._planned(trial, calibration, runs)
            return divergence
        rule = Rule(lambda d: d.target, self._reference.free_geometry(trial))
        followed = follow(self._reference.setting(trial, 2), runs, rule, trial.checker)
        trial.ended = followed.ended.get("candidate")
        return followed.divergences.get("candidate")

    def _planned(
        self, trial: Trial, calibration: Calibration, runs: tuple[Run, Run]
    ) -> tuple[Divergence | None, Completed | None]:
        """For other kernels than the reference's: align the two lists first, then compare at the matching points."""
        checker = trial.compared
        setting = self._reference.setting(trial, 2)
        try:
            events, done = record(setting, runs[1])
        except SideFailed as error:
            return Divergence("candidate", Outcome.CRASHED, str(error)), None
        broken = failed_dispatch("candidate", events, done)
        if broken is not None and failed_dispatch(BASE, calibration.events, calibration.ended) is None:
            return broken, None
        plan = align(calibration.events, events, trial.case.kernel.symbol)
        if plan.problem:
            return Divergence("candidate", Outcome.DISPATCHES_CHANGED, plan.problem), None
        trial.points = plan.points
        followed = follow_planned(setting, runs, plan.points, checker)
        return followed.divergences.get("candidate"), followed.ended.get("candidate")

    def _output(self, trial: Trial) -> Rejection | None:
        calibration, _ = self._reference.calibration(trial)
        if trial.ended is None:
            return Rejection(Outcome.CRASHED, "the candidate's run has no end")
        rtol = self._output_tolerance(trial)
        difference = calibration.output.difference(trial.ended, rtol)
        if difference is not None and self._reference.learn_output(trial):
            calibration, _ = self._reference.calibration(trial)
            difference = calibration.output.difference(trial.ended, rtol)
        if difference is not None:
            return Rejection(Outcome.WRONG_OUTPUT, difference)
        if not calibration.output.steady:
            trial.note(GATES[3], CheckStatus.WEAK, "exit status only: the original prints something else each time")
        else:
            trial.note(GATES[3], CheckStatus.PASSED, calibration.output.compared())
        return None

    def _output_tolerance(self, trial: Trial) -> float:
        calibration, _ = self._reference.calibration(trial)
        unsure = trial.checker.unsure if trial.checker is not None else ()
        return max(loosest(calibration.allowances, unsure), self._settings.tolerance.rtol or 0.0)

    def _orders(self, trial: Trial) -> Rejection | None:
        """The same buffers must come out under other orders and from other garbage."""
        alike: dict[str, str] = {}  # orders in which the original goes another way as well, and what was made of it
        found = self._under_orders(trial, alike)
        if found is not None and found[1].near and self._reference.widen(trial):
            found = self._under_orders(trial, alike)
        while found is not None and found[0] not in alike and self._goes_astray(trial, found[0]):
            alike[found[0]] = "held to the original in that order, which goes another way there"
            found = self._under_orders(trial, alike)
        if found is not None:
            return self._explained(trial, _order_rejection(*found))
        orders = [label for label, order in ORDERS if self._backend.honours.issuperset(order)]
        if _POISON not in self._backend.honours:
            orders.remove(ORDERS[0][0])
        told = ", ".join(f"{label} ({alike[label]})" if label in alike else label for label in orders)
        if len(orders) == len(ORDERS):
            lost = [f"{label}: {why}" for label, why in alike.items() if why == _LOST_ORDER]
            unseen = "; ".join([*([f"only{trial.coverage}"] if trial.coverage else []), *lost])
            trial.note(GATES[4], CheckStatus.PASSED, told + trial.coverage, unseen=unseen)
        elif orders:
            trial.note(GATES[4], CheckStatus.WEAK, f"{told} only; this device gives no choice of orders")
        else:
            trial.note(GATES[4], CheckStatus.NOT_RUN, "this device gives no choice of orders or poison")
        return self._waves.judge(trial)

    def _goes_astray(self, trial: Trial, label: str) -> bool:
        """Does the original leave its own path in that order, too?"""
        if trial.declared.kernels:
            return False
        _, memory = self._reference.calibration(trial)
        common = {"kernels": self._reference.kernels(trial), "poison": OTHER_POISON, "memory": memory}
        runs = (
            Run(BASE, trial.case.reference, common),
            Run(label, trial.case.reference, {**common, **dict(ORDERS)[label]}),
        )
        checker = Checker(self._reference.calibration(trial)[0], self._settings.tolerance)
        followed = follow(self._reference.setting(trial, 2), runs, Rule(lambda d: d.target, bounded=[label]), checker)
        return label in followed.divergences

    def _under_orders(self, trial: Trial, alike: dict[str, str]) -> tuple[str, Divergence] | None:
        """The first run that leaves the reference's path, and where; of those `alike`, the original's in that order."""
        calibration, memory = self._reference.calibration(trial)
        common = {"kernels": self._reference.kernels(trial), "poison": OTHER_POISON, "memory": memory}
        base = Run(BASE, trial.case.reference, common)
        orders = [(label, order) for label, order in ORDERS if self._backend.honours.issuperset(order)]
        runs = [Run(label, trial.application, {**common, **order}) for label, order in orders]
        divergences: dict[str, Divergence] = {}
        if trial.declared.kernels:
            for run_ in runs:
                setting = self._reference.setting(trial, 2)
                divergences |= follow_planned(setting, (base, run_), trial.points, trial.compared).divergences
        else:
            rule = Rule(
                lambda d: d.target, self._reference.free_geometry(trial), bounded=[label for label, _ in orders]
            )
            groups = [([base, *(run for run in runs if run.label not in alike)])]
            groups += [[replace(base, options=run.options), run] for run in runs if run.label in alike]
            for group in groups:
                try:
                    followed = follow(self._reference.setting(trial, len(group)), group, rule, trial.compared)
                except SideFailed:
                    if group[0].options == common:
                        raise
                    alike[group[1].label] = _LOST_ORDER
                    continue
                divergences |= followed.divergences
                trial.coverage = next((f" on {followed.coverage(label)}" for label in followed.left), trial.coverage)
        return next(((label, divergences[label]) for label, _ in orders if label in divergences), None)

    def _explained(self, trial: Trial, rejection: Rejection) -> Rejection:
        told = rejection.outcome in (Outcome.RACE, Outcome.MEMORY_ERROR)
        return self._blamed(trial, rejection) if told else rejection

    def _blamed(self, trial: Trial, rejection: Rejection) -> Rejection:
        """With the lines that the traced run blames, where it blames any."""
        case = trial.case
        checks = self._backend.safety(case.reference, trial.application, case.kernel, self._settings.run_deadline_s)
        blamed = next((c for c in checks if c.status is CheckStatus.FAILED and c.name != _UNTRACED), None)
        if blamed is None:
            return rejection
        return Rejection(rejection.outcome, f"{rejection.detail}; {blamed.name}: {blamed.detail}")

    def _strictness(self, trial: Trial) -> Rejection | None:
        try:
            check = self._backend.strictness(trial.case.reference, trial.application)
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"the traced run fails: {error}")
        if check.status is CheckStatus.FAILED:
            return Rejection(Outcome.BUILD_FAILED, check.detail)
        trial.checks.append(replace(check, name=f"{GATES[6]}: {check.name}"))
        return None

    def _safety(self, trial: Trial) -> Rejection | None:
        case = trial.case
        checks = self._backend.safety(case.reference, trial.application, case.kernel, self._settings.run_deadline_s)
        failed = next((check for check in checks if check.status is CheckStatus.FAILED), None)
        trial.checks += [check for check in checks if check is not failed]
        if failed is not None:
            outcome = Outcome.RACE if failed.name in _MARK else Outcome.MEMORY_ERROR
            return Rejection(outcome, f"{failed.name}: {failed.detail}")
        ran = sum(check.status is not CheckStatus.NOT_RUN for check in checks)
        trial.note(GATES[7], CheckStatus.PASSED if ran else CheckStatus.NOT_RUN, f"{ran} of {len(checks)} checks ran")
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
        environment = {**dict(application.environment), **self._settings.test_environment}
        argv = self._sandbox.wrap(self._settings.unit_tests, [application.project], [*environment])
        return run(argv, application.project, self._settings.run_deadline_s, logs, label, environment)

    def _time(self, trial: Trial) -> Rejection | None:
        case = trial.case
        try:
            trial.timing = self._backend.time(
                case.baseline, trial.application, case.kernel, self._settings.run_deadline_s
            )
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"it cannot be timed: {error}")
        if (difference := self._timed_otherwise(trial)) is not None:
            return Rejection(Outcome.WRONG_OUTPUT, f"in the timed run: {difference}")
        floor_ns = trial.timing.floor_ns
        refusal = time_refusal(trial.timing.measurements, floor_ns)
        if refusal is not None:
            return Rejection(*refusal)
        gain = kernel_gain(trial)
        told = "; ".join([f"{gain.provenance.value} {number(gain.ratio)}× for the kernel", *trial.timing.notes])
        trial.note(GATES[9], CheckStatus.PASSED, told)
        if floor_ns is not None:
            told = f"{gain.candidate_ns:.0f} ns, and no device of this kind needs less than {floor_ns:.0f} ns"
            trial.note("roofline floor", CheckStatus.PASSED, told)
        elif gain.provenance is not Provenance.MODELLED:
            # A modelled time holds the candidate's own traffic at the peak rates and cannot be below it.
            trial.note("roofline floor", CheckStatus.NOT_RUN, "no lower bound of the kernel's time is known")
        return None

    def _timed_otherwise(self, trial: Trial) -> str | None:
        """How the timed run's output differs from that of the compared ones, where the original's does not."""
        if trial.timing.ended is None or not self._reference.is_calibrated(trial):
            return None
        output = self._reference.calibration(trial)[0].output
        rtol = self._output_tolerance(trial)
        reference, candidate = (
            Completed((), one.exit_status, None, False, False, 0.0, one.stdout, one.stderr)
            for one in trial.timing.ended
        )
        return output.difference(candidate, rtol) if output.difference(reference, rtol) is None else None

    def _time_others(self, trial: Trial, kernels: Sequence[Kernel]) -> Rejection | None:
        """The first kernel and the application were timed by the gate before."""
        case, told = trial.case, []
        for kernel in kernels:
            if kernel.symbol == case.kernel.symbol:
                continue
            timing = self._backend.time(case.baseline, trial.application, kernel, self._settings.run_deadline_s)
            own = [m for m in timing.measurements if m.scope is Scope.KERNEL]
            refusal = time_refusal(own, timing.floor_ns)
            if refusal is not None:
                return Rejection(refusal[0], f"{kernel.name}: {refusal[1]}")
            told.append(f"{number(own[0].ratio)}× for {kernel.name}")
        if told:
            trial.note(f"{GATES[9]} of the other kernels", CheckStatus.PASSED, ", ".join(told))
        return None


def _order_rejection(label: str, divergence: Divergence) -> Rejection:
    """A buffer that changes with the order alone is a race; with the poison alone, an uninitialised read."""
    outcome = divergence.outcome
    if outcome is Outcome.WRONG_OUTPUT:
        outcome = Outcome.MEMORY_ERROR if label == ORDERS[0][0] else Outcome.RACE
    why = "it reads memory that nobody wrote" if outcome is Outcome.MEMORY_ERROR else "it depends on the order"
    reason = f"{why}: " if outcome is not divergence.outcome else ""
    return Rejection(outcome, f"under {label}: {reason}{divergence.detail}")
