"""The validator: every gate in order, from the text of the edit to the time of the kernel.

A candidate is accepted only if it passes all of them; the first that refuses decides the outcome, and
the verdict lists the others as not run. Cheap gates come first. What the original does by itself is
learnt once per kernel and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.process import Completed, run
from intelliperf.protocols import Backend, Timing
from intelliperf.records import (
    Application,
    Candidate,
    Check,
    CheckStatus,
    Declaration,
    Finding,
    Kernel,
    Measurement,
    Metric,
    Outcome,
    Provenance,
    Scope,
    Verdict,
)
from intelliperf.sandbox import Sandbox
from intelliperf.validation.alignment import align
from intelliperf.validation.calibration import BASE, OTHER_POISON, POISON, Additions, Calibration, calibrate
from intelliperf.validation.checker import Checker
from intelliperf.validation.gates import StaticVerdict, examine
from intelliperf.validation.lockstep import (
    ANY_KERNEL,
    Divergence,
    Observer,
    Rule,
    Setting,
    failed_dispatch,
    follow,
    follow_planned,
    record,
)
from intelliperf.validation.messages import Dispatch
from intelliperf.validation.othernumbers import (
    ALTERATIONS,
    COPIES,
    KEPT,
    OPTION,
    SHAPES,
    TWIN,
    TWIN_ORDER,
    Alteration,
    DoubtingChecker,
    kept_option,
    shapes_option,
)
from intelliperf.validation.rounding import OPTION as ROUNDING
from intelliperf.validation.rounding import RoundingErrors, rounding_errors, widened
from intelliperf.validation.side import Run, SideFailed
from intelliperf.validation.source import without_mangling
from intelliperf.validation.timing import time_refusal
from intelliperf.validation.tolerance import UserTolerance

GATES = (
    "edit allowed",
    "build",
    "dispatches and buffers",
    "exit status and output",
    "other orders and poison",
    "other numbers",
    "strictness",
    "safety",
    "unit tests",
    "time",
)
_PATIENCE = 10.0  # one step of a candidate may take this many times as long as the whole reference
_MARK = ("synchronisation", "races")
_LOCKSTEP = "lockstep"
_LIVE_MEMORY = "live_memory"  # what the parent writes to a paused run's memory is what its next kernel reads
_ALTERED = "candidate on other numbers"
_NO_REPETITION = "not on this device for declared kernels: no launch of one program stands for a launch of the other"
_NO_ALTERATION = "no launch was altered: nothing that it takes can be, or more memory is allocated than is put back"
_UNTRACED = "traced run"  # the check that says that there is nothing to check
ORDERS: tuple[tuple[str, dict[str, str]], ...] = (
    ("other poison", {}),
    ("reversed order", {"lane_order": "reverse", "block_order": "reverse"}),
    ("random order", {"lane_order": "random:3", "block_order": "random:3"}),
)


@dataclass(frozen=True)
class BuildFailure:
    """The candidate does not build: the compiler's first complaints."""

    errors: tuple[str, ...]
    timed_out: bool = False


@dataclass(frozen=True)
class Case:
    """All that there is to say about one candidate."""

    candidate: Candidate
    finding: Finding
    reference: Application  # the original, built
    baseline: Application  # the best accepted state, built; the reference itself at first
    sources: Mapping[str, str]  # texts of the baseline by project-relative path
    allowed: Collection[str]  # paths that may change: sources of the kernel and their headers
    build: Callable[[], Application | BuildFailure]
    logs: Path
    standing: Declaration = Declaration()  # what the accepted candidates that the baseline holds have declared

    @property
    def kernel(self) -> Kernel:
        return self.finding.profile.kernel


@dataclass(frozen=True)
class Settings:
    """Deadlines in seconds. `unit_tests` runs in the candidate's project directory; never split or joined."""

    run_deadline_s: float = 300.0
    # What a candidate gets beyond a multiple of the reference's time, which is short where launches are repeated.
    grace_s: float = 120.0
    unit_tests: tuple[str, ...] = ()
    test_environment: Mapping[str, str] = field(default_factory=dict)
    tolerance: UserTolerance = UserTolerance()


@dataclass(frozen=True)
class Rejection:
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class _Told:
    """What the gate of other numbers reports of one way to alter launches."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass
class _Trial:
    """What the gates find out about one candidate, as they go."""

    case: Case
    declared: Declaration  # by this candidate or by accepted ones that it builds on
    static: StaticVerdict = StaticVerdict()
    built: Application | None = None
    checker: Checker | None = None
    all_geometry: bool = False  # other kernels' launches changed with the target's
    widened: Calibration | None = None  # by what other rounding does to the original, once that was asked for
    points: tuple[tuple[int, int], ...] = ()  # where declared kernels are compared, see `alignment`
    ended: Completed | None = None
    checks: list[Check] = field(default_factory=list)
    timing: Timing = Timing(())
    coverage: str = ""  # where other orders were not followed to the end

    @property
    def application(self) -> Application:
        if self.built is None:
            raise ProtocolError("a gate ran before the build")
        return self.built

    def note(self, gate: str, status: CheckStatus, detail: str = "") -> None:
        self.checks.append(Check(gate, status, detail))


class Judge:
    """Judges candidates of one application; keeps calibrations and the unit tests' standing."""

    def __init__(self, backend: Backend, sandbox: Sandbox, settings: Settings) -> None:
        self._backend = backend
        self._sandbox = sandbox
        self._settings = settings
        self._calibrations: dict[tuple[Application, str, str], tuple[Calibration, str]] = {}
        self._rounding: dict[tuple[Application, str, str, str], RoundingErrors] = {}
        self._tests_stand: bool | None = None

    def judge(self, case: Case) -> Verdict:
        """Raises `ApplicationFailed` where the unmodified application cannot serve as the reference."""
        trial = _Trial(case, case.standing.joined(case.candidate.declares))
        gates = (
            self._edit,
            self._build,
            self._compare,
            self._output,
            self._orders,
            self._other_numbers,
            self._strictness,
            self._safety,
            self._unit_tests,
            self._time,
        )
        rejection: Rejection | None = None
        for name, gate in zip(GATES, gates, strict=True):
            if rejection is not None:
                trial.note(name, CheckStatus.NOT_RUN, "an earlier gate refused the candidate")
                continue
            rejection = gate(trial)
            if rejection is not None:
                trial.note(name, CheckStatus.FAILED, rejection.detail)
        return _verdict(trial, rejection, self._sandbox.check())

    def _edit(self, trial: _Trial) -> Rejection | None:
        case = trial.case
        trial.static = examine(case.candidate, case.sources, case.allowed, case.kernel.name)
        if trial.static.refusal:
            return Rejection(Outcome.FORBIDDEN_EDIT, trial.static.refusal)
        trial.note(GATES[0], CheckStatus.PASSED)
        return None

    def _build(self, trial: _Trial) -> Rejection | None:
        built = trial.case.build()
        if isinstance(built, BuildFailure):
            outcome = Outcome.TIMED_OUT if built.timed_out else Outcome.BUILD_FAILED
            return Rejection(outcome, "; ".join(built.errors) or "the build fails")
        trial.built = built
        trial.note(GATES[1], CheckStatus.PASSED)
        return None

    def _compare(self, trial: _Trial) -> Rejection | None:
        """Lock-step in the normal order; once more where only rounding may be to blame."""
        divergence = self._lockstep(trial)
        if divergence is not None and divergence.outcome is Outcome.DISPATCHES_CHANGED and trial.declared.geometry:
            trial.all_geometry = not trial.declared.kernels  # a block size may be that of several kernels
            divergence = self._lockstep(trial) if trial.all_geometry else divergence
        if divergence is not None and divergence.near and self._widen(trial):
            divergence = self._lockstep(trial)
        if divergence is not None:
            rejection = Rejection(divergence.outcome, divergence.detail)
            synchronises = trial.static.synchronisation and divergence.outcome is Outcome.WRONG_OUTPUT
            cheap = _LOCKSTEP in self._backend.honours  # on hardware it takes a sanitizer
            return self._blamed(trial, rejection) if synchronises and cheap else rejection
        checker = _checker(trial)
        if checker.compared_bytes <= 0:
            raise ApplicationFailed(
                f"{trial.case.kernel.name}: nothing to compare; no buffer of the original is the same in two runs"
            )
        if trial.declared.kernels:
            told = f"compared at {len(trial.points)} points of the two runs"
            trial.note("declared kernels", CheckStatus.PASSED, told)
        told = f"{checker.compared_bytes} bytes at {len(checker.syncs)} points"
        if partly := checker.partly:
            told += f"; at {len(partly)} of them only the buffers that the kernel was handed, to bound the effort"
        trial.note(GATES[2], CheckStatus.PASSED, told)
        return None

    def _lockstep(self, trial: _Trial) -> Divergence | None:
        calibration, memory = self._calibration(trial)
        declared = trial.declared
        trial.checker = Checker(
            calibration,
            self._settings.tolerance,
            free_arguments=declared.kernels,
            restricted=trial.static.restricted,
            forgets=declared.kernels and _LIVE_MEMORY in self._backend.honours,
        )
        options = {"kernels": self._kernels(trial), "poison": POISON, "memory": memory}
        runs = Run(BASE, trial.case.reference, options), Run("candidate", trial.application, options)
        if declared.kernels:
            divergence, trial.ended = self._planned(trial, calibration, runs)
            return divergence
        rule = Rule(lambda d: d.target, self._free_geometry(trial))
        followed = follow(self._setting(trial, calibration, 2), runs, rule, trial.checker)
        trial.ended = followed.ended.get("candidate")
        return followed.divergences.get("candidate")

    def _planned(
        self, trial: _Trial, calibration: Calibration, runs: tuple[Run, Run]
    ) -> tuple[Divergence | None, Completed | None]:
        """For other kernels than the reference's: align the two lists first, then compare at the matching points."""
        checker = _checker(trial)
        setting = self._setting(trial, calibration, 2)
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

    def _output(self, trial: _Trial) -> Rejection | None:
        calibration, _ = self._calibration(trial)
        if trial.ended is None:
            return Rejection(Outcome.CRASHED, "the candidate's run has no end")
        rtol = max((a.rtol for a in calibration.allowances.values()), default=0.0)
        rtol = max(rtol, self._settings.tolerance.rtol or 0.0)
        difference = calibration.output.difference(trial.ended, rtol)
        if difference is not None:
            return Rejection(Outcome.WRONG_OUTPUT, difference)
        if not calibration.output.steady:
            trial.note(GATES[3], CheckStatus.WEAK, "exit status only: the original prints something else each time")
        else:
            trial.note(GATES[3], CheckStatus.PASSED)
        return None

    def _orders(self, trial: _Trial) -> Rejection | None:
        """The same buffers must come out under other orders and from other garbage."""
        found = self._under_orders(trial)
        if found is not None and found[1].near and self._widen(trial):
            found = self._under_orders(trial)
        if found is not None:
            return self._explained(trial, _order_rejection(*found))
        orders = [label for label, order in ORDERS if self._backend.honours.issuperset(order)]
        missing = "" if len(orders) == len(ORDERS) else "; this device gives no choice of orders"
        trial.note(GATES[4], CheckStatus.PASSED, ", ".join(orders) + trial.coverage + missing)
        return None

    def _under_orders(self, trial: _Trial) -> tuple[str, Divergence] | None:
        """The first run that leaves the reference's path, and where."""
        calibration, memory = self._calibration(trial)
        common = {"kernels": self._kernels(trial), "poison": OTHER_POISON, "memory": memory}
        base = Run(BASE, trial.case.reference, common)
        orders = [(label, order) for label, order in ORDERS if self._backend.honours.issuperset(order)]
        runs = [Run(label, trial.application, {**common, **order}) for label, order in orders]
        divergences: dict[str, Divergence] = {}
        if trial.declared.kernels:
            for run_ in runs:
                setting = self._setting(trial, calibration, 2)
                divergences |= follow_planned(setting, (base, run_), trial.points, _checker(trial)).divergences
        else:
            rule = Rule(lambda d: d.target, self._free_geometry(trial), bounded=[label for label, _ in orders])
            setting = self._setting(trial, calibration, len(runs) + 1)
            followed = follow(setting, [base, *runs], rule, _checker(trial))
            divergences |= followed.divergences
            trial.coverage = next((f" on {followed.coverage(label)}" for label in followed.left), "")
        return next(((label, divergences[label]) for label, _ in orders if label in divergences), None)

    def _other_numbers(self, trial: _Trial) -> Rejection | None:
        """Each launch once more, altered: an answer that is remembered or known beforehand is wrong there."""
        if OPTION not in self._backend.honours:
            trial.note(GATES[5], CheckStatus.NOT_RUN, "this device does not run launches twice")
            return None
        passed: list[str] = []
        failed: list[str] = []
        if trial.declared.kernels and SHAPES not in self._backend.honours:
            trial.note(GATES[5], CheckStatus.NOT_RUN, _NO_REPETITION)
            return None
        for alteration in [COPIES] if trial.declared.kernels else ALTERATIONS:
            unknown = self._unknown_shapes(trial) if alteration.of_arguments else ""
            if unknown:
                failed.append(f"plain arguments not altered: {unknown}")
                continue
            found = self._altered(trial, alteration)
            if isinstance(found, Rejection):
                return found
            passed += found.passed
            failed += found.failed
        status = CheckStatus.PASSED if passed else CheckStatus.NOT_RUN
        trial.note(GATES[5], status, "; ".join([*passed, *failed]))
        return None

    def _unknown_shapes(self, trial: _Trial) -> str:
        """Why it is not known which grids an altered argument must suit; empty where it is."""
        if shapes_option(_checker(trial).shapes) is None:
            return "the kernel is launched in too many shapes"
        if trial.declared.geometry and SHAPES not in self._backend.honours:
            return "the grid that goes with them is the candidate's own"
        return ""

    def _altered(self, trial: _Trial, alteration: Alteration) -> Rejection | _Told:
        """A rejection, or what to report: what the candidate did right, or why there is nothing to compare with."""
        calibration, _ = self._calibration(trial)
        found = self._held_to(trial, alteration, calibration)
        if isinstance(found, Divergence) and found.near:
            wider = widened(calibration, self._rounding_errors(trial, {OPTION: alteration.value}))
            found = self._held_to(trial, alteration, wider) if wider is not None else found
        if isinstance(found, Divergence):
            return Rejection(found.outcome, f"{alteration.wrong}: {found.detail}")
        return found

    def _held_to(self, trial: _Trial, alteration: Alteration, calibration: Calibration) -> Divergence | _Told:
        _, memory = self._calibration(trial)
        options = {"kernels": self._kernels(trial), "poison": POISON, "memory": memory, OPTION: alteration.value}
        options[KEPT] = kept_option(calibration)
        if trial.declared.kernels:
            return self._planned_otherwise(trial, alteration, calibration, options)
        if alteration.of_arguments and trial.declared.geometry:
            options[SHAPES] = shapes_option(_checker(trial).shapes) or ""
        runs = [Run(BASE, trial.case.reference, options), Run(_ALTERED, trial.application, options)]
        observer: Observer = Checker(calibration, self._settings.tolerance)
        if alteration.doubtful or not self._backend.honours.issuperset(TWIN_ORDER):
            runs.insert(1, Run(TWIN, trial.case.reference, {**options, **TWIN_ORDER}))
            observer = DoubtingChecker(
                Checker(calibration, self._settings.tolerance),
                Checker(calibration, self._settings.tolerance),
                alteration,
            )
        rule = Rule(
            lambda d: d.target and d.status == 0,
            self._free_geometry(trial),
            after_failures=True,
            bounded=(TWIN, _ALTERED),
        )
        try:
            followed = follow(self._setting(trial, calibration, len(runs)), runs, rule, observer)
        except SideFailed as error:
            return _Told(failed=(f"{alteration.wrong}: the original does not run: {error}",))
        divergence = followed.divergences.get(_ALTERED)
        if TWIN in followed.divergences:
            return _Told(failed=(f"{alteration.wrong}: the original has no one answer",))
        altered = [event.altered for event in followed.events if isinstance(event, Dispatch) and event.target]
        if divergence is None and altered and not any(count is None or count for count in altered):
            return _Told(failed=(f"{alteration.wrong}: no launch has anything that could be altered",))
        if divergence is not None:
            return divergence
        if followed.syncs == 0:
            return _Told(failed=(f"{alteration.wrong}: {_NO_ALTERATION}",))
        coverage = followed.coverage(_ALTERED)
        return _Told(passed=(alteration.passed + (f" ({coverage})" if coverage else ""),))

    def _planned_otherwise(
        self, trial: _Trial, alteration: Alteration, calibration: Calibration, options: Mapping[str, str]
    ) -> Divergence | _Told:
        """Both programs as a whole, aligned anew: on other numbers they may do other things."""
        setting = self._setting(trial, calibration, 2)
        base, twin = (
            Run(BASE, trial.case.reference, options),
            Run(TWIN, trial.case.reference, {**options, **TWIN_ORDER}),
        )
        candidate = Run(_ALTERED, trial.application, options)
        known, own = (Checker(calibration, self._settings.tolerance, free_arguments=True) for _ in range(2))
        known.forgets = True
        checker = DoubtingChecker(known, own, alteration)
        try:
            events, _ = record(setting, base)
            mine, done = record(setting, candidate)
            broken = failed_dispatch(_ALTERED, mine, done)
            if broken is not None and failed_dispatch(BASE, events, done) is None:
                return broken
            plan = align(events, mine, trial.case.kernel.symbol)
            if plan.problem or any(isinstance(event, Dispatch) and event.status for event in events):
                return _Told(failed=(f"{alteration.wrong}: the two programs cannot be aligned, or the original fails",))
            follow_planned(setting, (base, twin), [(left, left) for left, _ in plan.points], checker)
            followed = follow_planned(setting, (base, candidate), plan.points, checker)
        except SideFailed as error:
            if error.label == _ALTERED:
                return Divergence(_ALTERED, Outcome.CRASHED, str(error))
            return _Told(failed=(f"{alteration.wrong}: the original does not run: {error}",))
        return followed.divergences.get(_ALTERED) or _Told(passed=(alteration.passed,))

    def _explained(self, trial: _Trial, rejection: Rejection) -> Rejection:
        told = rejection.outcome in (Outcome.RACE, Outcome.MEMORY_ERROR)
        return self._blamed(trial, rejection) if told else rejection

    def _blamed(self, trial: _Trial, rejection: Rejection) -> Rejection:
        """With the lines that the traced run blames, where it blames any."""
        case = trial.case
        checks = self._backend.safety(case.reference, trial.application, case.kernel, self._settings.run_deadline_s)
        blamed = next((c for c in checks if c.status is CheckStatus.FAILED and c.name != _UNTRACED), None)
        if blamed is None:
            return rejection
        return Rejection(rejection.outcome, f"{rejection.detail}; {blamed.name}: {blamed.detail}")

    def _strictness(self, trial: _Trial) -> Rejection | None:
        try:
            check = self._backend.strictness(trial.case.reference, trial.application)
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"the traced run fails: {error}")
        if check.status is CheckStatus.FAILED:
            return Rejection(Outcome.BUILD_FAILED, check.detail)
        trial.checks.append(replace(check, name=f"{GATES[6]}: {check.name}"))
        return None

    def _safety(self, trial: _Trial) -> Rejection | None:
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

    def _unit_tests(self, trial: _Trial) -> Rejection | None:
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
        argv = self._sandbox.wrap(self._settings.unit_tests, [application.project])
        environment = {**dict(application.environment), **self._settings.test_environment}
        return run(argv, application.project, self._settings.run_deadline_s, logs, label, environment)

    def _time(self, trial: _Trial) -> Rejection | None:
        case = trial.case
        try:
            trial.timing = self._backend.time(
                case.baseline, trial.application, case.kernel, self._settings.run_deadline_s
            )
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"it cannot be timed: {error}")
        floor_ns = trial.timing.floor_ns
        refusal = time_refusal(trial.timing.measurements, floor_ns)
        if refusal is not None:
            return Rejection(*refusal)
        gain = _kernel_gain(trial)
        told = "; ".join([f"{gain.provenance.value} {gain.ratio:.3g}× for the kernel", *trial.timing.notes])
        trial.note(GATES[9], CheckStatus.PASSED, told)
        if floor_ns is not None:
            told = f"{gain.candidate_ns:.0f} ns, and no device of this kind needs less than {floor_ns:.0f} ns"
            trial.note("roofline floor", CheckStatus.PASSED, told)
        elif gain.provenance is not Provenance.MODELLED:
            # A modelled time holds the candidate's own traffic at the peak rates and cannot be below it.
            trial.note("roofline floor", CheckStatus.NOT_RUN, "no lower bound of the kernel's time is known")
        return None

    def _kernels(self, trial: _Trial) -> str:
        """All kernels are compared where others than the target may be touched."""
        every = trial.static.beyond_target or trial.declared.kernels or trial.all_geometry
        return ANY_KERNEL if every else trial.case.kernel.symbol

    def _free_geometry(self, trial: _Trial) -> str | None:
        if trial.all_geometry:
            return ANY_KERNEL
        return trial.case.kernel.symbol if trial.declared.geometry else None

    def _calibration(self, trial: _Trial) -> tuple[Calibration, str]:
        """The reference's own behaviour, and the memory mode in which it runs."""
        case, kernels = trial.case, self._kernels(trial)
        key = case.reference, case.kernel.symbol, kernels
        if key not in self._calibrations:
            deadline_s = self._settings.run_deadline_s * 5
            setting = Setting(self._backend, case.kernel, self._sandbox, case.logs, deadline_s)
            self._calibrations[key] = _calibrate(setting, case, kernels)
        calibration, memory = self._calibrations[key]
        calibration = trial.widened or calibration
        if memory != "strict" and not any(c.name == "original's memory" for c in trial.checks):
            trial.note("original's memory", CheckStatus.WEAK, "the original itself goes out of bounds; tolerated")
        if calibration.coverage and not any(c.name == "calibration's draws" for c in trial.checks):
            trial.note("calibration's draws", CheckStatus.PASSED, calibration.coverage)
        for text in calibration.notes:
            if not any(check.detail == text for check in trial.checks):
                trial.note("calibration", CheckStatus.WEAK, text)
        return calibration, memory

    def _widen(self, trial: _Trial) -> bool:
        """Allow what the original's own rounding errors come to; False where that is no more than before."""
        calibration, _ = self._calibration(trial)
        trial.widened = widened(calibration, self._rounding_errors(trial, {})) or trial.widened
        if trial.checker is not None and trial.widened is not None:
            trial.checker.calibration = trial.widened
        return trial.widened is not None and trial.widened is not calibration

    def _rounding_errors(self, trial: _Trial, altered: Mapping[str, str]) -> RoundingErrors:
        if ROUNDING not in self._backend.honours or self._settings.tolerance.given:
            return RoundingErrors()
        case, kernels = trial.case, self._kernels(trial)
        key = case.reference, case.kernel.symbol, kernels, altered.get(OPTION, "")
        if key not in self._rounding:
            calibration, memory = self._calibration(trial)
            options = {"kernels": kernels, "poison": POISON, "memory": memory, **altered}
            rule = Rule(lambda d: d.target and d.status == 0, after_failures=True)
            setting = self._setting(trial, calibration, 3)
            self._rounding[key] = rounding_errors(setting, case.reference, options, rule)
        return self._rounding[key]

    def _setting(self, trial: _Trial, calibration: Calibration, runs: int) -> Setting:
        """As long as the user allows, but a hang is noticed soon: a step may take a multiple of the reference's run."""
        silence_s = calibration.ended.seconds * _PATIENCE * runs / 2 + self._settings.grace_s
        deadline_s = self._settings.run_deadline_s * runs
        return Setting(self._backend, trial.case.kernel, self._sandbox, trial.case.logs, deadline_s, silence_s)


def _calibrate(setting: Setting, case: Case, kernels: str) -> tuple[Calibration, str]:
    """In strict memory; where the original itself goes out of bounds, in slack memory."""
    rule = Rule(lambda d: d.target)
    additions = _additions(case, "lane_order" in setting.backend.honours)
    try:
        return calibrate(setting, case.reference, kernels, rule, "strict", additions), "strict"
    except ApplicationFailed:
        return calibrate(setting, case.reference, kernels, rule, "slack", additions), "slack"


def _additions(case: Case, orders: bool) -> Additions:
    counted = {metric: quantity.value for metric, quantity in case.finding.profile.quantities.items()}
    memory = counted.get(Metric.ATOMIC_LANES, counted.get(Metric.ATOMIC_LANES_AT_MOST, 0.0))
    floats = counted.get(Metric.ATOMIC_FLOAT_SITES, 0.0) > 0
    return Additions(memory + counted.get(Metric.LDS_ATOMIC_LANES, 0.0), floats and not orders, floats and orders)


def _checker(trial: _Trial) -> Checker:
    if trial.checker is None:
        raise ProtocolError("a gate ran before the comparison")
    return trial.checker


def _order_rejection(label: str, divergence: Divergence) -> Rejection:
    """A buffer that changes with the order alone is a race; with the poison alone, an uninitialised read."""
    outcome = divergence.outcome
    if outcome is Outcome.WRONG_OUTPUT:
        outcome = Outcome.MEMORY_ERROR if label == ORDERS[0][0] else Outcome.RACE
    why = "it reads memory that nobody wrote" if outcome is Outcome.MEMORY_ERROR else "it depends on the order"
    reason = f"{why}: " if outcome is not divergence.outcome else ""
    return Rejection(outcome, f"under {label}: {reason}{divergence.detail}")


def _verdict(trial: _Trial, rejection: Rejection | None, sandbox: Check) -> Verdict:
    checker = trial.checker
    checks = [*trial.checks, *(checker.checks() if checker else ()), sandbox]
    return Verdict(
        outcome=rejection.outcome if rejection else Outcome.ACCEPTED,
        detail=without_mangling(rejection.detail) if rejection else _summary(trial),
        checks=tuple(checks),
        measurements=trial.timing.measurements,
        compared_bytes=max(0, checker.compared_bytes) if checker else 0,
        compared_dispatches=len(checker.syncs) if checker else 0,
    )


def _kernel_gain(trial: _Trial) -> Measurement:
    return next(m for m in trial.timing.measurements if m.scope is Scope.KERNEL)


def _summary(trial: _Trial) -> str:
    gain = _kernel_gain(trial)
    return f"the same buffers after {len(_checker(trial).syncs)} dispatches, {gain.provenance.value} {gain.ratio:.3g}×"
