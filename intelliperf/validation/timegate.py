"""The gate of time: a candidate must be faster beyond the error, and answer in the timed run as it did before."""

from __future__ import annotations

from collections.abc import Sequence

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.processes.process import Completed
from intelliperf.records import CheckStatus, Kernel, Outcome, Provenance, Scope
from intelliperf.sentences import number
from intelliperf.validation.reference import Reference
from intelliperf.validation.timing import time_refusal
from intelliperf.validation.trial import GATES, Rejection, Trial
from intelliperf.validation.verdicts import kernel_gain


class TimeGate:
    """Times a candidate beside the baseline."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    def judge(self, trial: Trial, shown: bool = False) -> Rejection | None:
        """`shown`: see `time_refusal`."""
        case = trial.case
        try:
            trial.timing = self._reference.backend.time(
                case.baseline, trial.application, case.kernel, self._reference.settings.run_deadline_s
            )
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"it cannot be timed: {error}")
        if (difference := self._timed_otherwise(trial)) is not None:
            return Rejection(Outcome.WRONG_OUTPUT, f"in the timed run: {difference}")
        floor_ns = trial.timing.floor_ns
        refusal = time_refusal(trial.timing.measurements, floor_ns, shown)
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
        rtol = self._reference.output_tolerance(trial)
        reference, candidate = (
            Completed((), one.exit_status, None, False, False, 0.0, one.stdout, one.stderr)
            for one in trial.timing.ended
        )
        return output.difference(candidate, rtol) if output.difference(reference, rtol) is None else None

    def others(self, trial: Trial, kernels: Sequence[Kernel], shown: bool = False) -> Rejection | None:
        """The first kernel and the application were timed by the gate before."""
        case, told = trial.case, []
        for kernel in kernels:
            if kernel.symbol == case.kernel.symbol:
                continue
            timing = self._reference.backend.time(
                case.baseline, trial.application, kernel, self._reference.settings.run_deadline_s
            )
            own = [m for m in timing.measurements if m.scope is Scope.KERNEL]
            refusal = time_refusal(own, timing.floor_ns, shown)
            if refusal is not None:
                return Rejection(refusal[0], f"{kernel.name}: {refusal[1]}")
            told.append(f"{number(own[0].ratio)}× for {kernel.name}")
        if told:
            trial.note(f"{GATES[9]} of the other kernels", CheckStatus.PASSED, ", ".join(told))
        return None
