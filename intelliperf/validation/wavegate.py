"""Waves of the other size: HIP programs run on chips with waves of 64 lanes and on chips with waves of 32.

Original and candidate are built again for a chip of the other kind and compared after each dispatch there. What the
original does on that chip is the measure: a program that is for one size alone proves nothing.
"""

from __future__ import annotations

from dataclasses import replace

from intelliperf.records import NO_EXCHANGE, Bounds, CheckStatus, Interception, Order
from intelliperf.sentences import counted
from intelliperf.validation.algebragate import AlgebraGate
from intelliperf.validation.calibration import BASE, POISON, Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import follow
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.trial import Rejection, Trial

NAME = "other wave size"
_WRONG = "with waves of the other size"
_CANDIDATE = "candidate with waves of the other size"
_TWIN = "original with waves of the other size, in another order"
_REVERSED = "candidate with waves of the other size, in another order"


class WaveGate:
    """Judges candidates by what the original does with waves of the other size."""

    def __init__(self, reference: Reference, algebra: AlgebraGate) -> None:
        self._backend = reference.backend
        self._reference = reference
        self._algebra = algebra

    def judge(self, trial: Trial) -> Rejection | None:
        if not self._backend.other_wave_build():
            return None
        if trial.declared.kernels:
            trial.note(NAME, CheckStatus.NOT_RUN, "not for declared kernels")
            return None
        if not trial.compared.by_wave:
            trial.note(NAME, CheckStatus.NOT_RUN, NO_EXCHANGE)
            return None
        sides = trial.case.other_wave()
        if sides is None:
            trial.note(NAME, CheckStatus.NOT_RUN, "one of the versions does not build for a chip of the other size")
            return None
        original, candidate = sides
        other = replace(trial, case=replace(trial.case, reference=original), built=candidate)
        calibration, memory = self._reference.calibration(trial)
        found = self._compared(other, calibration, memory)
        if isinstance(found, Divergence) and found.near:
            proof = self._algebra.on_other_numbers(other, Interception(), calibration)
            if proof.rejection is not None:
                return Rejection(proof.rejection.outcome, f"{_WRONG}: {proof.rejection.detail}")
            allowed = self._algebra.allowed(calibration, proof)
            found = self._compared(other, allowed, memory) if allowed is not None else found
        if isinstance(found, Divergence):
            return Rejection(found.outcome, f"{_WRONG}: {found.detail}")
        trial.note(NAME, *found)
        return None

    def _compared(self, trial: Trial, calibration: Calibration, memory: Bounds) -> Divergence | tuple[CheckStatus, str]:
        """How the candidate leaves the original's path, or what to report."""
        plain = Interception(kernels=(self._reference.kernels(trial),), poison=POISON, memory=memory)
        twin = plain | Interception(lane_order=Order(), block_order=Order())
        runs = (
            SideRun(BASE, trial.case.reference, plain),
            SideRun(_CANDIDATE, trial.application, plain),
            SideRun(_TWIN, trial.case.reference, twin),
            SideRun(_REVERSED, trial.application, twin),
        )
        bounded = [_CANDIDATE, _TWIN, _REVERSED]
        rule = Rule(lambda d: d.target, self._reference.free_geometry(trial), bounded=bounded)
        checker = Checker(calibration, self._reference.settings.tolerance)
        try:
            followed = follow(self._reference.setting(trial, len(runs)), runs, rule, checker)
        except SideFailed as error:
            return CheckStatus.NOT_RUN, f"the original does not run with it: {error}"
        twin_apart = followed.divergences.get(_TWIN)
        if twin_apart is not None and not twin_apart.near:
            return CheckStatus.NOT_RUN, f"the original is not deterministic with it: {twin_apart.detail}"
        divergence = followed.divergences.get(_CANDIDATE) or followed.divergences.get(_REVERSED)
        if divergence is not None:
            return divergence
        coverage = followed.coverage(_CANDIDATE)
        return CheckStatus.PASSED, f"{counted(followed.syncs, 'dispatch', 'es')} compared" + (
            f", {coverage}" if coverage else ""
        )
