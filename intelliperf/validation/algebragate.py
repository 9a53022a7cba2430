"""The gate of algebraic equality: original and candidate in lock-step, with shadows beside their numbers.

What it proves replaces the tolerance that would be derived from the original's noise. Where a shadow was lost, or
rounding alone decides a branch, it proves nothing and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from intelliperf.errors import ProtocolError
from intelliperf.interception.wire import Deadline
from intelliperf.records import NO_FLOATS, Application, CheckStatus, Feature, Interception, Outcome, Shadow
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.algebrawords import less_exact, said
from intelliperf.validation.besideshadows import BesideShadows
from intelliperf.validation.buffers.algebra import Account, Level
from intelliperf.validation.buffers.compare import as_bytes, differing_chunks
from intelliperf.validation.buffers.elements import FLOAT32, FLOAT64, Bytes, Scalar
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness
from intelliperf.validation.calibration import BASE, Calibration, Launched, scalars
from intelliperf.validation.othernumbers import MOST_SECONDS, OTHER_GARBAGE, PATIENCE, TWIN
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.effort import Effort
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import ByWay, Followed, Observer, Paused, Sync, follow, follow_planned, record
from intelliperf.validation.runs.pairing import Key, Pairing, describe, key_of
from intelliperf.validation.runs.reach import chosen
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.trial import Rejection, Trial

NAME = "algebraic equality"
CANDIDATE = "candidate with shadows"
_NORMAL = "original without shadows"
_PATIENCE = 3  # so many times as long may an altered launch of the original take as without shadows
_NEARLY_EQUAL = 8.0
_BYTES = {"float": 4, "double": 8, "half": 2, "bfloat": 2}
_SCALARS: Mapping[str, Scalar] = {"float": FLOAT32, "double": FLOAT64}


@dataclass(frozen=True)
class Proof:
    """What the gate found. `rejection`: something else is computed; `doubt`: it cannot tell, and why."""

    observer: AlgebraObserver | None = None
    rejection: Rejection | None = None
    doubt: str = ""
    coverage: str = ""

    @property
    def compared(self) -> int:
        """How many launches were compared."""
        return self.observer.compared if self.observer is not None else 0

    def proven(self) -> dict[Key, Account]:
        """Buffers that hold the same real numbers, as exact as the original's."""
        if self.observer is None or self.rejection is not None:
            return {}
        found = self.observer.accounts
        return {key: a for key, a in found.items() if a.level is not Level.DIFFERENT and a.exact_enough}

    def proven_in_part(self, calibration: Calibration) -> dict[Launched, float]:
        """Launches after which a buffer was proven, where other launches were given what earlier kernels made of it.

        These prove nothing: a better sum that an earlier kernel left there is another number to begin with.
        """
        if self.observer is None or self.rejection is not None:
            return {}
        known = {key for key, allowance in calibration.allowances.items() if allowance.by_algebra}
        mine = self.observer.sure & self.observer.apart.keys()
        return {one: self.observer.apart[one] for one in mine if one[2] in self.observer.doubtful.keys() & known}

    @property
    def all_equal(self) -> bool:
        found = self.observer
        return self.rejection is None and found is not None and all(not a.level for a in found.accounts.values())

    def less_exact(self) -> str:
        """The first buffer that is right, but further from the exact numbers; empty where there is none."""
        if self.observer is None:
            return ""
        for key, account in self.observer.accounts.items():
            if account.level is not Level.DIFFERENT and not account.exact_enough:
                return f"{self.observer.names[key]}: {less_exact(account)}"
        return ""


class AlgebraGate:
    """Runs original and candidate with shadows and says what follows from it."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._faithful: dict[tuple[Application, Interception], str] = {}  # why shadows are not to be trusted

    def prove(self, trial: Trial) -> Proof:
        """Once per candidate; notes what it saw."""
        if Feature.SHADOW not in self._reference.backend.honours:
            return Proof()
        if self._reference.settings.tolerance.given:
            trial.note(NAME, CheckStatus.NOT_RUN, "a tolerance was given")
            return Proof()
        calibration, _ = self._reference.calibration(trial)
        if not calibration.formats:
            trial.note(NAME, CheckStatus.NOT_RUN, NO_FLOATS)
            return Proof()
        field_ = Field.drawn()  # the candidate is built: it cannot be made for this prime
        proof = self._run(trial, field_, Interception(), calibration)
        if proof.rejection is None and proof.observer is not None and proof.observer.accounts and not proof.doubt:
            proof = self._symbolic(trial, field_, proof)
        self._note(trial, proof)
        return proof

    def on_other_numbers(
        self, trial: Trial, altered: Interception, calibration: Calibration, beside: BesideShadows | None = None
    ) -> Proof:
        """The same for runs with other options; nothing is noted."""
        if Feature.SHADOW not in self._reference.backend.honours or self._reference.settings.tolerance.given:
            return Proof()
        return self._run(trial, Field.drawn(), altered, calibration, beside=beside)

    def on_each_way(
        self,
        trial: Trial,
        ways: Collection[int],
        altered: Interception,
        calibration: Calibration,
        beside: Mapping[int, BesideShadows],
    ) -> Mapping[int, Proof] | None:
        """The same for several ways to alter launches in one run; None where any of them is to be looked at alone."""
        if Feature.SHADOW not in self._reference.backend.honours or self._reference.settings.tolerance.given:
            return None
        field_ = Field.drawn()
        for free_functions in (False,) if trial.needs_laws else (True, False):
            observers = {way: AlgebraObserver(calibration, field_) for way in ways}
            held = {way: beside[way].begin(one, self._allowed_by(calibration)) for way, one in observers.items()}
            runs = self._runs(trial, _shadow(field_, calibration, False, free_functions), altered)
            try:
                divergence, followed = self._follow(trial, runs, ByWay(held), altered, beside)
            except (SideFailed, ProtocolError):
                return None
            coverage = followed.coverage(CANDIDATE) if followed is not None else ""
            proofs = {way: Proof(one, None, one.doubtfully(), coverage) for way, one in observers.items()}
            free = any(one.free for one in observers.values())
            if divergence is None and (not free or all(proof.all_equal for proof in proofs.values())):
                return proofs
            if not free:
                return None
        return proofs if divergence is None else None

    def allow(self, trial: Trial, proof: Proof) -> bool:
        """Let what was proven replace the tolerance; False where that changes nothing."""
        calibration, _ = self._reference.calibration(trial)
        allowed = self.allowed(calibration, proof)
        if allowed is None:
            return False
        trial.widened = allowed
        if trial.checker is not None:
            trial.checker.calibration = trial.widened
        return True

    def allowed(self, calibration: Calibration, proof: Proof) -> Calibration | None:
        """With what was proven in place of the tolerance; None where that changes nothing."""
        allowances = dict(calibration.allowances)
        proven: dict[Launched, float] = {}
        observer = proof.observer
        for key, account in proof.proven().items():
            if observer is None or not any(account.largest):
                continue
            scalar = observer.scalars[key]
            if not scalar.floating and observer.whole.get(key, False):
                scalar = _SCALARS.get(next(iter(account.kinds)), scalar)
            if scalar.floating:
                allowances[key] = Allowance(Steadiness.NUMERIC, scalar, account.relative, by_algebra=True)
                proven |= {one: apart for one, apart in observer.apart.items() if one[2] == key}
        proven |= proof.proven_in_part(calibration)
        if allowances == dict(calibration.allowances) and not proven:
            return None
        return replace(calibration, allowances=allowances, proven_at=proven)

    def _note(self, trial: Trial, proof: Proof) -> None:
        observer = proof.observer
        if proof.rejection is not None:
            trial.note(NAME, CheckStatus.FAILED, proof.rejection.detail)
        elif observer is None or not observer.shaded:
            trial.note(NAME, CheckStatus.NOT_RUN, proof.doubt or "the runs have no shadows")
        elif not observer.accounts and not proof.doubt:
            trial.note(NAME, CheckStatus.NOT_RUN, observer.why_nothing())
        elif proof.doubt:
            told = f"no evidence: {proof.doubt}; the tolerance derived from the original's noise serves instead"
            trial.note(NAME, CheckStatus.WEAK, told)
        else:
            trial.proven = proof.proven()
            weak = not all(a.exact_enough and a.level is Level.EQUAL for a in observer.accounts.values())
            text = _summary(observer) + (f"; {proof.coverage}" if proof.coverage else "")
            count = len(observer.controls)
            control = f"a number off by a thousandth in each of {count} buffers" if count else ""
            trial.note(NAME, CheckStatus.WEAK if weak else CheckStatus.PASSED, text, control)

    def _run(
        self,
        trial: Trial,
        field_: Field,
        altered: Interception,
        calibration: Calibration,
        symbolic: bool = False,
        beside: BesideShadows | None = None,
    ) -> Proof:
        """Without the laws of roots and quotients first: most candidates leave these alone, and laws cost time."""
        if not trial.needs_laws:
            proof = self._run_once(trial, field_, altered, calibration, symbolic, True, beside)
            unranked = beside is not None and beside.by_nan
            if not unranked and (proof.observer is None or not proof.observer.free or proof.all_equal):
                return proof
        by_laws = self._run_once(trial, field_, altered, calibration, symbolic, False, beside)
        trial.needs_laws |= by_laws.all_equal
        return by_laws

    def _run_once(
        self,
        trial: Trial,
        field_: Field,
        altered: Interception,
        calibration: Calibration,
        symbolic: bool,
        free_functions: bool,
        beside: BesideShadows | None,
    ) -> Proof:
        observer = AlgebraObserver(calibration, field_, symbolic)
        both = observer if beside is None else beside.begin(observer, self._allowed_by(calibration))
        runs = self._runs(trial, _shadow(field_, calibration, symbolic, free_functions), altered)
        try:
            divergence, followed = self._follow(trial, runs, both, altered, {} if beside is None else {0: beside})
        except (SideFailed, ProtocolError) as error:
            return Proof(None, None, f"the original does not run with shadows: {error}")
        coverage = followed.coverage(CANDIDATE) if followed is not None else ""
        if divergence is None:
            return Proof(observer, None, observer.doubtfully(), coverage)
        if divergence.outcome is not Outcome.WRONG_OUTPUT:
            return Proof(observer, None, f"the candidate does not run with shadows: {divergence.detail}")
        if unfaithful := self._unfaithful(trial, runs[0].interception):
            return Proof(observer, None, unfaithful)
        return Proof(observer, Rejection(divergence.outcome, divergence.detail))

    def _runs(self, trial: Trial, shadow: Shadow, altered: Interception) -> tuple[SideRun, SideRun]:
        shadowed = replace(self._reference.common(trial), shadow=shadow) | altered
        own, theirs = trial.own_grids
        if altered != Interception():
            most = _PATIENCE * MOST_SECONDS
            own |= Interception(other_seconds=most)
            theirs |= Interception(other_seconds=PATIENCE * most) | OTHER_GARBAGE
        return (
            SideRun(BASE, trial.case.reference, shadowed | own),
            SideRun(CANDIDATE, trial.application, shadowed | theirs),
        )

    def _allowed_by(self, calibration: Calibration) -> Callable[[AlgebraObserver], Calibration]:
        return lambda observer: self.allowed(calibration, Proof(observer)) or calibration

    def _follow(
        self,
        trial: Trial,
        runs: tuple[SideRun, SideRun],
        observer: Observer,
        altered: Interception,
        beside: Mapping[int, BesideShadows],
    ) -> tuple[Divergence | None, Followed | None]:
        if trial.declared.kernels:
            setting = self._reference.setting(trial, 2)
            events = self._reference.calibration(trial)[0].events
            candidate, _ = record(setting, runs[1])
            plan = align(events, candidate, trial.case.kernel.symbol, self._reference.sites(trial))
            if plan.problem:
                return Divergence(CANDIDATE, Outcome.DISPATCHES_CHANGED, plan.problem), None
            followed = follow_planned(setting, runs, plan.points, observer, plan.totalled)
            return followed.divergences.get(CANDIDATE), None
        twin = next((one.twin for one in beside.values() if one.twin is not None), None)
        doubting = list(beside.values())
        rule = Rule(
            lambda d: d.target and d.status == 0,
            self._reference.free_geometry(trial),
            after_failures=altered != Interception(),
            bounded=(TWIN, CANDIDATE),
            beside=(TWIN,),
            alike=self._reference.calibration(trial)[0].is_noisy,
            doubted=lambda number: any(one.doubts(number) for one in doubting),
            effort=Effort().times(len(beside) or 1),
        )
        all_runs = (runs[0], twin, runs[1]) if twin is not None else runs
        followed = follow(self._reference.setting(trial, len(all_runs)), all_runs, rule, observer)
        for one in doubting:
            one.followed = followed
        return followed.divergences.get(CANDIDATE), followed

    def _unfaithful(self, trial: Trial, shadowed: Interception) -> str:
        """Does the original come out otherwise when it carries shadows? Then its shadows prove nothing."""
        plain = replace(shadowed, shadow=None)
        key = trial.case.reference, plain
        if key not in self._faithful:
            runs = SideRun(BASE, trial.case.reference, plain), SideRun(_NORMAL, trial.case.reference, shadowed)
            observer = SameBits(self._reference.calibration(trial)[0])
            rule = Rule(lambda d: d.target, bounded=(_NORMAL,))
            try:
                found = follow(self._reference.setting(trial, 2), runs, rule, observer).divergences.get(_NORMAL)
            except SideFailed as error:
                self._faithful[key] = f"the original does not run twice: {error}"
                return self._faithful[key]
            self._faithful[key] = f"the original comes out otherwise with shadows: {found.detail}" if found else ""
        return self._faithful[key]

    def _symbolic(self, trial: Trial, field_: Field, proof: Proof) -> Proof:
        """Once more with unknowns for what the host uploads: is it the same function, or the same number by chance?"""
        observer = proof.observer
        if observer is None or not observer.accounts:
            return proof
        if any(a.level is not Level.EQUAL for a in observer.accounts.values()):
            return proof
        calibration, _ = self._reference.calibration(trial)
        other = self._run(trial, field_, Interception(), calibration, symbolic=True)
        if other.doubt or other.observer is None:
            return proof
        detail = other.rejection.detail if other.rejection is not None else _not_equal(other.observer)
        if not detail:
            trial.note(SYMBOLIC_NAME, CheckStatus.PASSED, _ALONG)
            return proof
        text = f"another formula: it coincides on these inputs only; with unknowns for them, {detail}"
        if other.observer.choices:  # what numbers decide may differ where they are equal by chance
            trial.note(SYMBOLIC_NAME, CheckStatus.WEAK, text)
            return proof
        return replace(proof, rejection=Rejection(Outcome.WRONG_OUTPUT, text))


def _not_equal(observer: AlgebraObserver) -> str:
    """The first buffer in which unknowns give another result; empty where there is none."""
    for key, account in observer.accounts.items():
        if account.level is not Level.EQUAL:
            return (
                f"{account.close + account.different:,} of {account.elements:,} numbers of {observer.names[key]} differ"
            )
    return ""


SYMBOLIC_NAME = "same arithmetic on unknowns"
_ALONG = (
    "with unknowns for uploaded floats and float arguments: the same real numbers along the branches, indices and "
    "integers of this run"
)


@dataclass
class SameBits:
    """Two runs of one program must leave the same bits, where they are steady at all; one NaN is as good as another."""

    calibration: Calibration

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        due = chosen(sync, base)
        known = scalars(base.dispatch, base.side.hello)
        for mine, theirs in pairing.pairs:
            allowance = self.calibration.allowances.get(key_of(mine), Allowance())
            if (due is not None and mine.id not in due) or allowance.steadiness >= Steadiness.UNORDERED:
                continue
            scalar = known.get(mine.id, ("", allowance.scalar))[1]
            left, right = (as_bytes(p.content(a.id)) for p, a in ((base, mine), (other, theirs)))
            if left.size == right.size and _unlike(scalar, left, right, deadline):
                return Divergence(other.side.label, Outcome.WRONG_OUTPUT, f"{sync.where}: {describe(mine, {})}")
        return None


def _unlike(scalar: Scalar, left: Bytes, right: Bytes, deadline: Deadline) -> bool:
    for _, mine, theirs in differing_chunks(left, right, deadline):
        if not scalar.floating or mine.size % scalar.size:
            return True
        nan = np.isnan(scalar.floats(mine)) & np.isnan(scalar.floats(theirs))
        if ((scalar.bits(mine) != scalar.bits(theirs)) & ~nan).any():
            return True
    return False


def _shadow(field_: Field, calibration: Calibration, symbolic: bool, free_functions: bool) -> Shadow:
    formats = calibration.formats
    return Shadow(
        field_.fold,
        half="half" in formats,
        bfloat="bfloat" in formats,
        single=not formats or "float" in formats,
        symbolic=symbolic,
        free_functions=free_functions,
    )


def _summary(observer: AlgebraObserver) -> str:
    """What was found by buffer; those without any rounding error, inputs among them, are only counted."""
    told = [f"{observer.names[key]}: {said(a)}" for key, a in observer.accounts.items() if any(a.largest) or a.level]
    plain = sum(a.elements for a in observer.accounts.values() if not any(a.largest) and not a.level)
    return "; ".join([*told, *([f"{plain:,} numbers without rounding errors are the same"] if plain else [])])
