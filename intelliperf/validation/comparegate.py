"""The gate of dispatches and buffers: original and candidate in lock-step, byte by byte, and what they print."""

from __future__ import annotations

from dataclasses import replace

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.process import Completed
from intelliperf.records import CheckStatus, Feature, Interception, Outcome
from intelliperf.sentences import counted
from intelliperf.validation.algebragate import AlgebraGate, Proof
from intelliperf.validation.calibration import BASE, Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.devicechecks import DeviceChecks
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.events import Divergence, Rule, failed_dispatch
from intelliperf.validation.runs.lockstep import follow, follow_planned, record
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.trial import GATES, Rejection, Trial

_RESTRICTED = "__restrict__ was added"


class CompareGate:
    """Compares the runs of a candidate with the reference's, in the normal order."""

    def __init__(self, reference: Reference, algebra: AlgebraGate, checks: DeviceChecks) -> None:
        self._reference = reference
        self._algebra = algebra
        self._checks = checks

    def judge(self, trial: Trial) -> Rejection | None:
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
        if divergence is None and proof.rejection is None:
            divergence = self._apart(trial)
        rejection = proof.rejection
        if divergence is not None and (rejection is None or not divergence.near):
            rejection = Rejection(divergence.outcome, "; ".join(filter(None, [divergence.detail, proof.less_exact()])))
        if rejection is not None:
            rejection = _with_totals_named(trial, rejection)
            synchronises = trial.static.synchronisation and rejection.outcome is Outcome.WRONG_OUTPUT
            cheap = Feature.CHEAP_TRACES in self._reference.backend.honours  # on hardware it takes a sanitizer
            return self._checks.blamed(trial, rejection) if synchronises and cheap else rejection
        checker = trial.compared
        if checker.compared_bytes <= 0:
            raise ApplicationFailed(
                f"{trial.case.kernel.name}: nothing to compare; no buffer of the original is the same in two runs"
            )
        if trial.declared.kernels:
            told = f"compared at {counted(len(trial.points), 'point')} of the two runs"
            if checker.totalled:
                told += f"; by its total, which is all that the host makes of it: {', '.join(sorted(checker.totalled))}"
            trial.note("declared kernels", CheckStatus.PASSED, told)
        told, unseen = f"{checker.compared_bytes:,} bytes after {counted(len(checker.syncs), 'launch', 'es')}", ""
        if partly := checker.partly:
            unseen = f"after {len(partly):,} of the launches only the buffers that the kernel was handed, for time"
        trial.note(GATES[2], CheckStatus.PASSED, told, checker.control(), unseen)
        return None

    def output(self, trial: Trial) -> Rejection | None:
        calibration, _ = self._reference.calibration(trial)
        if trial.ended is None:
            return Rejection(Outcome.CRASHED, "the candidate's run did not finish")
        rtol = self._reference.output_tolerance(trial)
        difference = calibration.output.difference(trial.ended, rtol)
        if difference is not None and self._reference.learn_output(trial):
            calibration, _ = self._reference.calibration(trial)
            difference = calibration.output.difference(trial.ended, rtol)
        if difference is not None:
            return Rejection(Outcome.WRONG_OUTPUT, difference)
        trial.note_output(calibration.output.steady, calibration.output.compared())
        return None

    def _apart(self, trial: Trial) -> Divergence | None:
        """Is nothing that is written through one pointer accessed through another, as added __restrict__ promises?"""
        known = trial.compared
        looks = known.shared or trial.declared.kernels
        if not trial.static.restricted or not looks or Feature.APART not in self._reference.backend.honours:
            return None
        divergence, _ = self._followed(trial, self._checker(trial), Interception(apart=True))
        if divergence is not None:
            shared = f"{known.shared} point" if known.shared else "two arguments point"
            text = (
                f"{_RESTRICTED}, but {shared} into one buffer, and what is written through one is accessed through the "
            )
            return Divergence("candidate", Outcome.FORBIDDEN_EDIT, f"{text}other: {divergence.detail}")
        if known.shared:
            text = (
                f"{_RESTRICTED}; {known.shared} point into one buffer, in which the accesses of this run are disjoint"
            )
            trial.note("restrict", CheckStatus.PASSED, text)
        return None

    def _checker(self, trial: Trial) -> Checker:
        calibration, _ = self._reference.calibration(trial)
        declared = trial.declared
        return Checker(
            calibration,
            self._reference.settings.tolerance,
            free_arguments=declared.kernels,
            restricted=trial.static.restricted and Feature.APART not in self._reference.backend.honours,
            forgets=declared.kernels and Feature.LIVE_MEMORY in self._reference.backend.honours,
        )

    def _lockstep(self, trial: Trial) -> Divergence | None:
        trial.checker = self._checker(trial)
        divergence, trial.ended = self._followed(trial, trial.checker, Interception())
        return divergence

    def _followed(
        self, trial: Trial, checker: Checker, asked: Interception
    ) -> tuple[Divergence | None, Completed | None]:
        """`asked` of the candidate alone."""
        common = self._reference.common(trial)
        runs = SideRun(BASE, trial.case.reference, common), SideRun("candidate", trial.application, common | asked)
        if trial.declared.kernels:
            return self._planned(trial, self._reference.calibration(trial)[0], runs, checker)
        rule = Rule(lambda d: d.target, self._reference.free_geometry(trial))
        followed = follow(self._reference.setting(trial, 2), runs, rule, checker)
        return followed.divergences.get("candidate"), followed.ended.get("candidate")

    def _planned(
        self, trial: Trial, calibration: Calibration, runs: tuple[SideRun, SideRun], checker: Checker
    ) -> tuple[Divergence | None, Completed | None]:
        """For other kernels than the reference's: align the two lists first, then compare at the matching points."""
        setting = self._reference.setting(trial, 2)
        try:
            events, done = record(setting, runs[1])
        except SideFailed as error:
            return Divergence("candidate", Outcome.CRASHED, str(error)), None
        broken = failed_dispatch("candidate", events, done)
        if broken is not None and failed_dispatch(BASE, calibration.events, calibration.ended) is None:
            return broken, None
        plan = align(calibration.events, events, trial.case.kernel.symbol, self._reference.sites(trial))
        if plan.problem:
            return Divergence("candidate", Outcome.DISPATCHES_CHANGED, plan.problem), None
        trial.points, trial.totalled = plan.points, plan.totalled
        followed = follow_planned(setting, runs, plan.points, checker, plan.totalled)
        return followed.divergences.get("candidate"), followed.ended.get("candidate")


def _with_totals_named(trial: Trial, rejection: Rejection) -> Rejection:
    """Other partial results may still have the same total."""
    if rejection.outcome is not Outcome.WRONG_OUTPUT or trial.declared.kernels:
        return rejection
    places = [mine.places[0] for mine, _ in trial.static.totals_if_declared() if mine.how and mine.places]
    if not places:
        return rejection
    where = ", ".join(f"{file}:{line}" for file, line in places)
    told = f"what the host copies only to add it up ({where}) is compared by its total with --allow-kernels"
    return replace(rejection, detail=f"{rejection.detail}; {told}")
