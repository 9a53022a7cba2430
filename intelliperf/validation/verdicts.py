"""From the gates, asked in order, to a verdict: the first refusal, what each saw and where, what is left for later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from intelliperf.records import (
    DEFERRED,
    NEEDLESS,
    RECORDED,
    Check,
    CheckStatus,
    Device,
    Measurement,
    Outcome,
    Scope,
    Verdict,
)
from intelliperf.sentences import device_in_short, number
from intelliperf.validation.edits.hostcode import Needs
from intelliperf.validation.edits.names import with_arguments, without_mangling
from intelliperf.validation.runs.reached import unreached
from intelliperf.validation.strength import shown
from intelliperf.validation.trial import GATES, Rejection, Trial

_WITHOUT_DEVICE = (GATES[0], GATES[1], GATES[6], "sandbox")

Gate = Callable[[Trial], "Rejection | None"]


def through(
    trial: Trial, gates: Sequence[tuple[str, Gate]], deferred: Callable[[], bool] = lambda: False
) -> Rejection | None:
    """The first refusal. `deferred`: the gates that are left are for later."""
    rejection: Rejection | None = None
    for position, (name, gate) in enumerate(gates, 1):
        if rejection is not None or deferred():
            trial.note(name, CheckStatus.NOT_RUN, NEEDLESS if rejection is not None else DEFERRED)
            continue
        trial.case.steps.begun(name, position, len(gates))
        noted, begun_s = len(trial.checks), monotonic()
        rejection = gate(trial)
        if rejection is not None:
            trial.note(name, CheckStatus.FAILED, rejection.detail)
        _timed(trial.checks, noted, monotonic() - begun_s)
    return rejection


def _timed(checks: list[Check], first: int, seconds: float) -> None:
    """One gate's time, on the first check that it noted. Gates within a gate have theirs beside its own."""
    if len(checks) > first:
        checks[first] = replace(checks[first], seconds=round(seconds, 2))


def note_reached(trial: Trial) -> None:
    """What no gate's run of the candidate executed was not checked by any of them."""
    case = trial.case
    texts = {edit.path: (case.sources.get(edit.path, ""), edit.text) for edit in case.candidate.edits}
    found = unreached(trial.reached, trial.application.project, texts)
    if found is not None:
        unseen = [one for one in (_unlaunched(trial), found.unseen) if one]
        trial.note("executed code", CheckStatus.PASSED, found.told, unseen="; ".join(unseen))


def _unlaunched(trial: Trial) -> str:
    """Other instances of a template, which the candidate changes as well."""
    names = [with_arguments(symbol) for symbol in sorted(trial.static.changed - trial.reached.launched)]
    return f"no run launched {', '.join(names)}, which the candidate changes as well" if names else ""


def placed(trial: Trial, device: Device) -> tuple[Check, ...]:
    """The checks with the device that they ran on."""
    place = device_in_short(device)
    checks = [*trial.checks, *(trial.checker.checks() if trial.checker else ())]
    return tuple(check if _needs_no_device(check) else replace(check, device=place) for check in checks)


def verdict_on(trial: Trial, rejection: Rejection | None, sandbox: Check, device: Device) -> Verdict:
    seen = trial.replayed or trial  # where recorded dispatches decided, it is those that were looked at
    checker = seen.checker
    strength, proof = shown(seen) if rejection is None else (None, "")
    checks = [*placed(trial, device)]
    if trial.replayed is not None:
        checks += [replace(check, name=f"{RECORDED}{check.name}") for check in placed(trial.replayed, device)]
    return Verdict(
        outcome=rejection.outcome if rejection else Outcome.ACCEPTED,
        detail=without_mangling(rejection.detail) if rejection else _summary(seen, proof),
        checks=(*checks, sandbox),
        measurements=seen.timing.measurements,
        compared_bytes=max(0, checker.compared_bytes) if checker else 0,
        compared_dispatches=len(checker.syncs) if checker else 0,
        strength=strength,
        proof=proof,
        on_recordings=trial.on_recordings,
    )


def _needs_no_device(check: Check) -> bool:
    return bool(check.device) or check.status is CheckStatus.NOT_RUN or check.name.startswith(_WITHOUT_DEVICE)


def edited(trial: Trial) -> str:
    edits = trial.case.candidate.edits
    files = ", ".join(edit.path for edit in edits)
    return f"device code in {files}; host code as compiled is the original's{_declared(trial)}"


def own_sizes(trial: Trial) -> str:
    """What one command cannot show of launch sizes that the candidate's host code computes; empty where it has none."""
    if trial.static.needs is Needs.NOTHING:
        return ""
    return "launch sizes for other inputs: its host code computes its own, by this command only (see --also-run)"


def _declared(trial: Trial) -> str:
    if trial.declared.kernels:
        return " but for launches and their memory, as declared"
    return " but for launch sizes, as declared" if trial.declared.geometry else ""


def kernel_gain(trial: Trial) -> Measurement:
    return next(m for m in trial.timing.measurements if m.scope is Scope.KERNEL)


def _summary(trial: Trial, proof: str) -> str:
    gain = kernel_gain(trial)
    return f"{proof}; {gain.provenance.value} {number(gain.ratio)}×"
