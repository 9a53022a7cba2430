"""The gates that the device itself answers: strictness of its compiler, and safety as its traced run sees it."""

from __future__ import annotations

from dataclasses import replace

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.records import CheckStatus, Outcome
from intelliperf.validation.reference import Reference
from intelliperf.validation.trial import GATES, Rejection, Trial

_MARK = ("synchronisation", "races")
_UNTRACED = "traced run"  # the check that says that there is nothing to check


class DeviceChecks:
    """Asks the device about a candidate beside the original."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._backend = reference.backend
        self._settings = reference.settings

    def explained(self, trial: Trial, rejection: Rejection) -> Rejection:
        told = rejection.outcome in (Outcome.RACE, Outcome.MEMORY_ERROR)
        return self.blamed(trial, rejection) if told else rejection

    def blamed(self, trial: Trial, rejection: Rejection) -> Rejection:
        """With the lines that the traced run blames, where it blames any: what is wrong already may not end."""
        case, deadline_s = trial.case, self._reference.traced_deadline_s(trial)
        checks = self._backend.safety(case.reference, trial.application, case.kernel, deadline_s)
        blamed = next((c for c in checks if c.status is CheckStatus.FAILED and c.name != _UNTRACED), None)
        if blamed is None:
            return rejection
        return Rejection(rejection.outcome, f"{rejection.detail}; {blamed.name}: {blamed.detail}")

    def strictness(self, trial: Trial) -> Rejection | None:
        try:
            check = self._backend.strictness(trial.case.reference, trial.application)
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"the traced run fails: {error}")
        if check.status is CheckStatus.FAILED:
            return Rejection(Outcome.BUILD_FAILED, check.detail)
        trial.checks.append(replace(check, name=f"{GATES[6]}: {check.name}"))
        return None

    def safety(self, trial: Trial) -> Rejection | None:
        return self._safety(trial, by_chance=True)

    def safety_in_order(self, trial: Trial) -> Rejection | None:
        """For what has been run with its blocks and lanes interrupted already."""
        return self._safety(trial, by_chance=False)

    def _safety(self, trial: Trial, by_chance: bool) -> Rejection | None:
        case, deadline_s = trial.case, self._settings.run_deadline_s
        checks = self._backend.safety(case.reference, trial.application, case.kernel, deadline_s, by_chance)
        failed = next((check for check in checks if check.status is CheckStatus.FAILED), None)
        trial.checks += [check for check in checks if check is not failed]
        if failed is not None:
            outcome = Outcome.RACE if failed.name in _MARK else Outcome.MEMORY_ERROR
            return Rejection(outcome, f"{failed.name}: {failed.detail}")
        ran = sum(check.status is not CheckStatus.NOT_RUN for check in checks)
        trial.note(GATES[7], CheckStatus.PASSED if ran else CheckStatus.NOT_RUN, f"{ran} of {len(checks)} checks ran")
        return None
