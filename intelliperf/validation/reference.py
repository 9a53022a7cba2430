"""What the unmodified application does by itself: learnt once per kernel, and what every run beside it goes by."""

from __future__ import annotations

from dataclasses import replace

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend, CallerLines
from intelliperf.records import ANY_KERNEL, Application, Bounds, CheckStatus, Feature, Interception, Metric
from intelliperf.validation.buffers.tolerance import loosest
from intelliperf.validation.calibration import BASE, POISON, Additions, Calibration, calibrate
from intelliperf.validation.rounding import WAYS, RoundingErrors, widened
from intelliperf.validation.rounding import rounding_errors as errors_of_rounding
from intelliperf.validation.runs.events import Rule
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.side import SideRun
from intelliperf.validation.runs.totalled import NO_SITES, TotalSites
from intelliperf.validation.trial import Case, Settings, Trial

_TRACED_PATIENCE, _TRACED_GRACE_S = 20.0, 20.0
_PATIENCE = 10.0  # one step of a candidate may take this many times as long as the whole reference


class Reference:
    """Keeps calibrations. `backend` and `settings` are the judge's."""

    def __init__(self, backend: Backend, sandbox: Sandbox, settings: Settings) -> None:
        self.backend = backend
        self.settings = settings
        self._sandbox = sandbox
        self._calibrations: dict[tuple[Application, str, str], tuple[Calibration, Bounds]] = {}
        self._rounding: dict[tuple[Application, str, str, tuple[int, ...] | None], RoundingErrors] = {}
        self._builds: dict[tuple[Application, str], Application | None] = {}

    def kernels(self, trial: Trial) -> str:
        """All kernels are compared where others than the target may be touched."""
        every = trial.static.beyond_target or trial.declared.kernels or trial.all_geometry
        return ANY_KERNEL if every else trial.case.kernel.symbol

    def free_geometry(self, trial: Trial) -> str | None:
        if trial.all_geometry:
            return ANY_KERNEL
        return trial.case.kernel.symbol if trial.declared.geometry else None

    def calibration(self, trial: Trial) -> tuple[Calibration, Bounds]:
        """The reference's own behaviour, and the memory mode in which it runs."""
        case, kernels = trial.case, self.kernels(trial)
        key = case.reference, case.kernel.symbol, kernels
        if key not in self._calibrations:
            deadline_s = self.settings.run_deadline_s * 5
            setting = Setting(self.backend, case.kernel, self._sandbox, case.logs, deadline_s)
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

    def of_all_kernels(self, trial: Trial) -> Calibration:
        """As `calibration`, where what the target leaves is looked at in what others make of it."""
        case = trial.case
        key = case.reference, case.kernel.symbol, ANY_KERNEL
        if key not in self._calibrations:
            deadline_s = self.settings.run_deadline_s * 5
            setting = Setting(self.backend, case.kernel, self._sandbox, case.logs, deadline_s)
            self._calibrations[key] = _calibrate(setting, case, ANY_KERNEL)
        return self._calibrations[key][0]

    def is_calibrated(self, trial: Trial) -> bool:
        return (trial.case.reference, trial.case.kernel.symbol, self.kernels(trial)) in self._calibrations

    def widen(self, trial: Trial) -> bool:
        """Allow what the original's own rounding errors come to; False where that is no more than before."""
        calibration, _ = self.calibration(trial)
        trial.widened = widened(calibration, self.rounding_errors(trial, Interception())) or trial.widened
        if trial.checker is not None and trial.widened is not None:
            trial.checker.calibration = trial.widened
        return trial.widened is not None and trial.widened is not calibration

    def learn_output(self, trial: Trial) -> bool:
        """Where equal real numbers were allowed to round otherwise: what other rounding does to what is printed."""
        calibration, _ = self.calibration(trial)
        if not any(allowance.by_algebra for allowance in calibration.allowances.values()):
            return False
        errors = self.rounding_errors(trial, Interception())
        rtol = max(allowance.rtol for allowance in calibration.allowances.values())
        trial.widened = replace(calibration, output=calibration.output.rounded(errors.ended, rtol))
        return bool(errors.ended)

    def output_tolerance(self, trial: Trial) -> float:
        """Relative, of printed numbers."""
        calibration, _ = self.calibration(trial)
        unsure = trial.checker.unsure if trial.checker is not None else ()
        return max(loosest(calibration.allowances, unsure), self.settings.tolerance.rtol or 0.0)

    def sites(self, trial: Trial) -> TotalSites:
        """Where the two programs copy what their hosts need the total of alone."""
        if not isinstance(self.backend, CallerLines) or trial.case.baseline != trial.case.reference:
            return NO_SITES
        return TotalSites(trial.static.totals, self.backend.lines_of)

    def common(self, trial: Trial, poison: int = POISON) -> Interception:
        """What every run that is compared asks for."""
        _, memory = self.calibration(trial)
        return Interception(kernels=(self.kernels(trial),), poison=poison, memory=memory)

    def rounding_errors(self, trial: Trial, altered: Interception) -> RoundingErrors:
        if self.settings.tolerance.given:
            return RoundingErrors()
        case, kernels = trial.case, self.kernels(trial)
        key = case.reference, case.kernel.symbol, kernels, altered.other_numbers
        if key not in self._rounding:
            base = SideRun(BASE, case.reference, self.common(trial) | altered)
            rounded = self._rounded(case, base)
            rule = Rule(lambda d: d.target and d.status == 0, after_failures=True)
            errors = errors_of_rounding(self.setting(trial, 3), base, rounded, rule) if rounded else RoundingErrors()
            self._rounding[key] = errors
        return self._rounding[key]

    def _rounded(self, case: Case, base: SideRun) -> list[SideRun]:
        """The same run, rounded up and down: by an option where the backend has it, else by other builds."""
        if Feature.ROUNDING in self.backend.honours:
            return [
                replace(base, label=f"rounded {way}", interception=replace(base.interception, rounding=way))
                for way in WAYS
            ]
        for way in WAYS:
            if (case.reference, way) not in self._builds:
                self._builds[case.reference, way] = case.rounded(way)
        builds = [(way, self._builds[case.reference, way]) for way in WAYS]
        return [replace(base, label=f"rounded {way}", application=built) for way, built in builds if built is not None]

    def traced_deadline_s(self, trial: Trial) -> float:
        """For a run of a candidate with every access watched, of which nothing depends but words."""
        ended = self.calibration(trial)[0].ended
        return min(self.settings.run_deadline_s, _TRACED_PATIENCE * ended.seconds + _TRACED_GRACE_S)

    def setting(self, trial: Trial, runs: int) -> Setting:
        """As long as the user allows, but a hang is noticed soon: a step may take a multiple of the reference's run."""
        silence_s = self.calibration(trial)[0].ended.seconds * _PATIENCE * runs / 2 + self.settings.grace_s
        deadline_s = self.settings.run_deadline_s * runs
        return Setting(
            self.backend,
            trial.case.kernel,
            self._sandbox,
            trial.case.logs,
            deadline_s,
            silence_s,
            trial.case.jit,
            trial.built,
            trial.reached,
            trial.case.steps.compared,
        )


def _calibrate(setting: Setting, case: Case, kernels: str) -> tuple[Calibration, Bounds]:
    """In strict memory; where the original itself goes out of bounds, in slack memory."""
    rule = Rule(lambda d: d.target)
    additions = _additions(case, Feature.LANE_ORDER in setting.backend.honours)
    try:
        return calibrate(setting, case.reference, kernels, rule, "strict", additions), "strict"
    except ApplicationFailed:
        return calibrate(setting, case.reference, kernels, rule, "slack", additions), "slack"


def _additions(case: Case, orders: bool) -> Additions:
    counted = {metric: quantity.value for metric, quantity in case.finding.profile.quantities.items()}
    memory = counted.get(Metric.ATOMIC_LANES, counted.get(Metric.ATOMIC_LANES_AT_MOST, 0.0))
    floats = counted.get(Metric.ATOMIC_FLOAT_SITES, 0.0) > 0
    return Additions(memory + counted.get(Metric.LDS_ATOMIC_LANES, 0.0), floats and not orders, floats and orders)
