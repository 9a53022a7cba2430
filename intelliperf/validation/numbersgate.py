"""The gate of other numbers: each launch once more, altered, see `othernumbers`.

An answer that is remembered or known beforehand is wrong there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from intelliperf.interception.messages import Dispatch
from intelliperf.records import CheckStatus, Feature, Interception, Outcome
from intelliperf.validation.algebragate import CANDIDATE, AlgebraGate, Proof
from intelliperf.validation.besideshadows import BesideShadows
from intelliperf.validation.buffers.algebra import Level
from intelliperf.validation.buffers.tolerance import Steadiness
from intelliperf.validation.calibration import BASE, Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.edits.hostcode import Needs
from intelliperf.validation.numberswords import ALTERED, NO_ALTERATION, Told, summed, told_of, uncounted
from intelliperf.validation.otherconstants import OtherConstants, of_both
from intelliperf.validation.othernumbers import (
    ALTERATIONS,
    CONSTANTS,
    COPIES,
    COPIES_ABOVE,
    COPIES_ALIKE,
    MORE_ORDERS,
    MOST_SECONDS,
    NAMED,
    NAN_LOSES,
    NAN_WINS,
    NO_ONE_ANSWER,
    OTHER_GARBAGE,
    PATIENCE,
    TOGETHER,
    TWIN,
    TWIN_ORDER,
    WIDE,
    Alteration,
    BesideTwin,
    DoubtingChecker,
    kept,
    last_launch,
    suited,
)
from intelliperf.validation.reference import Reference
from intelliperf.validation.rounding import widened
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.effort import Effort
from intelliperf.validation.runs.events import Divergence, Rule, failed_dispatch
from intelliperf.validation.runs.lockstep import ByWay, Followed, Observer, Uncompared, follow, follow_planned, record
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.sameorder import own_blocks
from intelliperf.validation.trial import GATES, Rejection, Trial

NAME = GATES[5]
_MOST_CONSTANTS = 32
_MOST_NAMED = 64
_MOST_LIMITS = 6  # each of them costs two launches
_RACES_SECONDS = 4.0  # of all launches that are looked at for races
_TWIN_PATIENCE = 3  # and of the original in another order, which spins there, else
_NO_REPETITION = "not on this device for declared kernels: no launch of one program stands for a launch of the other"


@dataclass(frozen=True)
class _Wrong:
    """How a run of several ways went wrong, and in which of them, where that is known."""

    outcome: Outcome
    alteration: Alteration | None


class NumbersGate:
    """Judges candidates against what the original does on other numbers."""

    def __init__(self, reference: Reference, algebra: AlgebraGate) -> None:
        self._reference = reference
        self._algebra = algebra

    def judge(self, trial: Trial) -> Rejection | None:
        if Feature.OTHER_NUMBERS not in self._reference.backend.honours:
            trial.note(NAME, CheckStatus.NOT_RUN, "this device does not run launches twice")
            return None
        if trial.declared.kernels and Feature.OTHER_SHAPES not in self._reference.backend.honours:
            trial.note(NAME, CheckStatus.NOT_RUN, _NO_REPETITION)
            return None
        alterations = self._alterations(trial)
        unknown = {one: self._unknown_shapes(trial) for one in alterations if one.of_arguments}
        told = {one: Told(failed=(f"scalar arguments not altered: {why}",)) for one, why in unknown.items() if why}
        together = [one for one in alterations if not one.own_memory and one not in told]
        first: Alteration | None = None
        roomy = Feature.ROOMY_MEMORY in self._reference.backend.honours
        if len(together) > 1 and roomy and not trial.declared.kernels:
            first = self._in_one_run(trial, together, told)
        for alteration in sorted(alterations, key=lambda one: _later(one, first)):
            if alteration in told:
                continue
            found = self._altered(trial, alteration)
            if isinstance(found, Rejection):
                return found
            told[alteration] = found
        raced = self._raced(trial, [one for one in together if told[one].passed])
        if raced is not None:
            return raced
        trial.unaltered = any(told[one].failed for one in alterations if one in ALTERATIONS and one.of_arguments)
        whole = summed([told[alteration] for alteration in alterations])
        status = CheckStatus.PASSED if whole.passed else CheckStatus.NOT_RUN
        constants = filter(None, [self._other_constants(trial).unseen])
        unseen = "; ".join([*whole.failed, *whole.unseen, *constants, *uncounted(trial)]) if whole.passed else ""
        trial.note(NAME, status, "; ".join(whole.passed or whole.failed), unseen=unseen)
        return None

    def _raced(self, trial: Trial, alterations: Sequence[Alteration]) -> Rejection | None:
        """Does the candidate race where the original does not, in small launches that are altered in these ways?

        Every access is followed, without shadows: what is counted or compacted on some data alone races on these alone.
        Nothing else is compared.
        """
        calibration, _ = self._reference.calibration(trial)
        if Feature.OTHER_RACES not in self._reference.backend.honours or trial.declared.kernels or not alterations:
            return None
        effort = Effort(seconds=_RACES_SECONDS, round_seconds=_RACES_SECONDS)
        try:
            followed = self._followed(trial, alterations, calibration, Uncompared(), effort=effort, races=True)
        except SideFailed:  # every access takes more memory
            return None
        found = followed.divergences.get(ALTERED)
        if found is None or found.outcome is not Outcome.RACE:
            return None
        return Rejection(found.outcome, f"on other numbers: {found.detail}")

    def _alterations(self, trial: Trial) -> Sequence[Alteration]:
        if trial.declared.kernels:
            return [COPIES, COPIES_ABOVE, COPIES_ALIKE]
        narrower = trial.compared.widths and Feature.OTHER_WIDTHS in self._reference.backend.honours
        together = Feature.ROOMY_MEMORY in self._reference.backend.honours
        named = trial.compared.named and Feature.OTHER_NAMED in self._reference.backend.honours
        compiled = bool(self._other_constants(trial).ways)
        asked = ((TOGETHER, together), (WIDE, narrower), (NAMED, named), (CONSTANTS, compiled))
        return [*ALTERATIONS, *(one for one, wanted in asked if wanted)]

    def _other_constants(self, trial: Trial) -> OtherConstants:
        if Feature.OTHER_COMPILED not in self._reference.backend.honours or trial.declared.kernels:
            return OtherConstants()
        trees = trial.case.reference.project, trial.application.project
        return of_both(*trees, trial.case.kernel.symbol, trial.compared.shapes)

    def _unknown_shapes(self, trial: Trial) -> str:
        """Why it is not known which grids an altered argument must suit; empty where it is."""
        if suited(trial.compared.shapes) is None:
            return "the kernel is launched in too many shapes"
        if trial.declared.geometry and Feature.OTHER_SHAPES not in self._reference.backend.honours:
            return "the grid that goes with them is the candidate's own"
        return ""

    def _in_one_run(
        self, trial: Trial, alterations: Sequence[Alteration], told: dict[Alteration, Told]
    ) -> Alteration | None:
        """Several ways in turn at each launch, into `told` where nothing is wrong in any of them.

        Else nothing is concluded: each is looked at alone, best that first which is returned.
        """
        calibration, _ = self._reference.calibration(trial)
        apart = _apart(trial, calibration)  # most likely here, too: the shadows first
        proven = self._proven_together(trial, alterations, calibration, told) if apart else None
        if proven is not None and not proven:
            return None
        followed, wrong, silent = self._followed_together(trial, alterations, dict.fromkeys(alterations, calibration))
        if wrong is not None and wrong.outcome is Outcome.WRONG_OUTPUT:
            if not apart:
                proven = self._proven_together(trial, alterations, calibration, told)
            if proven is None:
                return wrong.alteration
            if not proven:
                return None
            followed, wrong, silent = self._followed_together(trial, alterations, proven)
        if wrong is not None:
            return wrong.alteration
        if followed is not None:
            enough = [one for one in alterations if one not in silent and _seen_enough(one, followed)]
            told |= {one: told_of(one, followed, True) for one in enough}
        return None

    def _proven_together(
        self,
        trial: Trial,
        alterations: Sequence[Alteration],
        calibration: Calibration,
        told: dict[Alteration, Told],
    ) -> Mapping[Alteration, Calibration] | None:
        """Empty where the shadows prove all, which is told then; else what they allow; None where that is nothing."""
        altered = self._altered_by(trial, alterations, calibration)
        ways = [one.way for one in alterations]
        beside = {one.way: self._beside_shadows(trial, one, altered, calibration) for one in alterations}
        proofs = self._algebra.on_each_way(trial, ways, altered, calibration, beside)
        if proofs is None:
            return None
        if all(_holds(one) for one in beside.values()):
            seen = {one: beside[one.way].followed for one in alterations if beside[one.way].has_one_answer}
            told |= {
                one: told_of(one, of, True, beside[one.way].left_open)
                for one, of in seen.items()
                if of and _seen_enough(one, of)
            }
            return {}
        allowed = {one: self._algebra.allowed(calibration, proofs[one.way]) for one in alterations}
        return {one: found or calibration for one, found in allowed.items()} if any(allowed.values()) else None

    def _followed_together(
        self, trial: Trial, alterations: Sequence[Alteration], calibrations: Mapping[Alteration, Calibration]
    ) -> tuple[Followed | None, _Wrong | None, Collection[Alteration]]:
        """What came of it, or how it went wrong; neither where the original is not deterministic, or does not run.

        Last the ways in which all that the kernel writes depended on the order.
        """
        ways = {one.way: BesideTwin(self._observer(trial, one, calibrations[one])) for one in alterations}
        observer = ByWay(ways)
        try:
            followed = self._followed(trial, alterations, calibrations[alterations[0]], observer)
        except SideFailed:
            return None, None, ()
        found = followed.divergences.get(ALTERED)
        if found is not None:
            own = next((one for one in alterations if one.way == observer.wrong), None)
            return None, _Wrong(found.outcome, own), ()
        for one in alterations:
            if ways[one.way].unsettled(ALTERED) is not None:
                return None, _Wrong(Outcome.WRONG_OUTPUT, one), ()
        silent = [one for one in alterations if ways[one.way].no_one_answer]
        return (None if TWIN in followed.divergences else followed), None, silent

    def _altered(self, trial: Trial, alteration: Alteration) -> Rejection | Told:
        """A rejection, or what to report: what the candidate did right, or why there is nothing to compare with."""
        calibration, _ = self._reference.calibration(trial)
        found = self._held_to(trial, alteration, calibration)
        # However far apart: a long sum of like numbers may lose most of its digits in the original's order.
        if isinstance(found, Divergence) and found.outcome is Outcome.WRONG_OUTPUT:
            beside = self._beside_shadows(
                trial, alteration, self._altered_by(trial, [alteration], calibration), calibration
            )
            proof = self._proof(trial, alteration, calibration, beside)
            if proof.rejection is not None:
                return Rejection(proof.rejection.outcome, f"{alteration.wrong}: {proof.rejection.detail}")
            if proof.observer is not None and beside.followed is not None and _holds(beside) and beside.has_one_answer:
                roomy = Feature.ROOMY_MEMORY in self._reference.backend.honours
                return told_of(alteration, beside.followed, roomy, beside.left_open)
            allowed = self._algebra.allowed(calibration, proof)
            found = self._held_to(trial, alteration, allowed) if allowed is not None else found
            if (
                isinstance(found, Divergence)
                and found.near
                and allowed is not None
                and found.sync >= proof.compared
                and proof.coverage
                and any(any(account.largest) for account in proof.proven().values())  # not of some launches alone
            ):
                # The proof was left early, so that what the two may be apart by there was not learnt.
                return Told(passed=(f"{alteration.passed} ({proof.coverage})",))
        if isinstance(found, Divergence) and found.near:
            altered = Interception(other_numbers=(alteration.way,), other_seconds=_TWIN_PATIENCE * MOST_SECONDS)
            same = [key for key, account in trial.proven.items() if account.level is Level.EQUAL]
            wider = widened(calibration, self._reference.rounding_errors(trial, altered), same)
            found = self._held_to(trial, alteration, wider) if wider is not None else found
        if isinstance(found, Divergence):
            return Rejection(found.outcome, f"{alteration.wrong}: {found.detail}")
        return found

    def _proof(self, trial: Trial, alteration: Alteration, calibration: Calibration, beside: BesideShadows) -> Proof:
        """Are they the same real numbers on those numbers?"""
        if trial.declared.kernels:
            return Proof()
        altered = self._altered_by(trial, [alteration], calibration)
        return self._algebra.on_other_numbers(trial, altered, calibration, beside)

    def _beside_shadows(
        self, trial: Trial, alteration: Alteration, altered: Interception, calibration: Calibration
    ) -> BesideShadows:
        doubts = self._doubts(alteration)
        common = self._reference.common(trial) | trial.own_grids[0]
        twin = self._twin(trial, common | altered) if doubts else None
        return BesideShadows(lambda: self._observer(trial, alteration, calibration), twin)

    def _twin(self, trial: Trial, altered: Interception, order: Interception = TWIN_ORDER) -> SideRun:
        """A number that makes it much slower than the original is left alone."""
        patient = replace(altered, other_seconds=_TWIN_PATIENCE * MOST_SECONDS)
        return SideRun(TWIN, trial.case.reference, patient | NAN_WINS | order | OTHER_GARBAGE)

    def _by_ways(self, trial: Trial, alterations: Sequence[Alteration], calibration: Calibration) -> Interception:
        """What both versions' launches are altered by, whatever the alterations are of."""
        return Interception(
            kernels=_of_target_alone(trial),
            other_numbers=tuple(one.way for one in alterations),
            other_kept=kept(calibration),
            other_constants=tuple(sorted(trial.compared.constants, key=_nearest_first)[:_MOST_CONSTANTS]),
            other_limits=tuple(sorted(trial.compared.limits, key=_nearest_first)[:_MOST_LIMITS]),
            other_held=tuple(sorted(trial.compared.held)) or None,
            other_alike=_may_be_apart(trial, calibration),
            other_cancelling=trial.compared.uncompensated,
            other_last=last_launch(calibration, trial.case.kernel),
        )

    def _altered_by(self, trial: Trial, alterations: Sequence[Alteration], calibration: Calibration) -> Interception:
        """What has both versions' launches altered."""
        shaped = trial.declared.geometry and any(one.of_arguments for one in alterations)
        return replace(
            self._by_ways(trial, alterations, calibration),
            other_widths=tuple(sorted(trial.compared.widths, reverse=True)) if WIDE in alterations else None,
            other_compiled=tuple((how,) for how in self._other_constants(trial).ways)
            if CONSTANTS in alterations
            else None,
            other_named=tuple(sorted(trial.compared.named)[:_MOST_NAMED]) if NAMED in alterations else None,
            other_shapes=suited(trial.compared.shapes) or () if shaped else None,
        )

    def _held_to(self, trial: Trial, alteration: Alteration, calibration: Calibration) -> Divergence | Told:
        if trial.declared.kernels:
            return self._planned_otherwise(trial, alteration, calibration)
        observer = self._observer(trial, alteration, calibration)
        try:
            followed = self._followed(trial, [alteration], calibration, observer)
            for number, order in enumerate(MORE_ORDERS):
                if not _may_be_order(followed.divergences.get(ALTERED), observer, number == 0):
                    break
                ranked = order | (NAN_WINS if number % 2 else NAN_LOSES)
                followed = self._followed(trial, [alteration], calibration, observer, ranked)
        except SideFailed as error:
            return Told(failed=(f"{alteration.wrong}: the original does not run: {error}",))
        if (twin := followed.divergences.get(TWIN)) is not None:
            late = f"the original fails in another order: {twin.detail}"
            why = late if twin.outcome is Outcome.TIMED_OUT else NO_ONE_ANSWER
            return Told(failed=(f"{alteration.wrong}: {why}",))
        found = followed.divergences.get(ALTERED) or observer.unsettled(ALTERED)
        if isinstance(observer, DoubtingChecker) and (
            0 < followed.syncs <= len(observer.doubtful) or found is None and observer.no_one_answer
        ):
            return Told(failed=(f"{alteration.wrong}: {observer.why_doubtful}",))
        roomy = Feature.ROOMY_MEMORY in self._reference.backend.honours
        if found is not None:
            return found
        left_open = observer.left_open if isinstance(observer, DoubtingChecker) else ()
        return told_of(alteration, followed, roomy, left_open)

    def _observer(self, trial: Trial, alteration: Alteration, calibration: Calibration) -> Checker | DoubtingChecker:
        tolerance = self._reference.settings.tolerance
        checker = Checker(calibration, tolerance, altered=True)
        if not self._doubts(alteration):
            return checker
        own = Checker(calibration, tolerance, altered=True, puts_aside=False)
        trial.same_order.own_blocks = own_blocks(calibration.events, trial.case.kernel.symbol)
        return DoubtingChecker(checker, own, alteration, same_order=trial.same_order)

    def _doubts(self, alteration: Alteration) -> bool:
        return alteration.doubtful or not TWIN_ORDER.features <= self._reference.backend.honours

    def _followed(
        self,
        trial: Trial,
        alterations: Sequence[Alteration],
        calibration: Calibration,
        observer: Observer,
        order: Interception = TWIN_ORDER,
        effort: Effort | None = None,
        races: bool = False,
    ) -> Followed:
        """Raises `SideFailed` where the original does not run."""
        altered = self._reference.common(trial) | self._altered_by(trial, alterations, calibration)
        altered |= Interception(other_races=races)
        # A number that makes the original slow is left alone.
        base, others = (replace(altered, other_seconds=most) for most in (MOST_SECONDS, PATIENCE * MOST_SECONDS))
        own, theirs = trial.own_grids
        candidate = SideRun(ALTERED, trial.application, others | theirs | OTHER_GARBAGE)
        runs = [SideRun(BASE, trial.case.reference, base | own), candidate]
        if any(map(self._doubts, alterations)) and not races:
            runs.insert(1, self._twin(trial, altered | own, order))
        rule = Rule(
            lambda d: d.target and d.status == 0,
            self._reference.free_geometry(trial),
            after_failures=True,
            bounded=(TWIN, ALTERED),
            beside=(TWIN,),
            alike=calibration.is_noisy,
            doubted=lambda number: _doubts_at(observer, number),
            effort=effort or Effort().times(len(alterations)),
        )
        return follow(self._reference.setting(trial, len(runs)), runs, rule, observer)

    def _planned_otherwise(self, trial: Trial, alteration: Alteration, calibration: Calibration) -> Divergence | Told:
        """Both programs as a whole, aligned anew: on other numbers they may do other things."""
        altered = self._reference.common(trial) | self._by_ways(trial, [alteration], calibration)
        setting = self._reference.setting(trial, 2)
        base, twin = (
            SideRun(BASE, trial.case.reference, altered),
            SideRun(TWIN, trial.case.reference, altered | TWIN_ORDER | OTHER_GARBAGE),
        )
        candidate = SideRun(ALTERED, trial.application, altered | OTHER_GARBAGE)
        known, own = (Checker(calibration, self._reference.settings.tolerance, free_arguments=True) for _ in range(2))
        known.forgets = True
        checker = DoubtingChecker(known, own, alteration)
        try:
            events, _ = record(setting, base)
            mine, done = record(setting, candidate)
            broken = failed_dispatch(ALTERED, mine, done)
            if broken is not None and failed_dispatch(BASE, events, done) is None:
                return broken
            plan = align(events, mine, trial.case.kernel.symbol, self._reference.sites(trial))
            fails = any(isinstance(event, Dispatch) and event.status for event in events)
            if fails or (plan.problem and not plan.points):
                return Told(failed=(f"{alteration.wrong}: the two programs cannot be aligned, or the original fails",))
            follow_planned(setting, (base, twin), [(left, left) for left, _ in plan.points], checker)
            followed = follow_planned(setting, (base, candidate), plan.points, checker, plan.totalled)
        except SideFailed as error:
            if error.label == ALTERED:
                return Divergence(ALTERED, Outcome.CRASHED, str(error))
            return Told(failed=(f"{alteration.wrong}: the original does not run: {error}",))
        if ALTERED in followed.divergences:
            return followed.divergences[ALTERED]
        if plan.problem:
            return Told(failed=(f"{alteration.wrong}: only until the two launch something else: {plan.problem}",))
        if followed.syncs == 0:
            return Told(failed=(f"{alteration.wrong}: {NO_ALTERATION}",))
        return Told(passed=(alteration.passed,))


def _of_target_alone(trial: Trial) -> tuple[str, ...] | None:
    """Where other launches are only what accepted candidates made them, which were judged with theirs.

    How each version comes by the grids of those is not known here.
    """
    inherited = trial.all_geometry and trial.static.needs is Needs.NOTHING and not trial.static.beyond_target
    return (trial.case.kernel.symbol,) if inherited else None


def _doubts_at(observer: Observer, number: int) -> bool:
    if isinstance(observer, ByWay):
        return any(_doubts_at(one, number) for one in observer.observers.values())
    if isinstance(observer, BesideTwin):
        return _doubts_at(observer.observer, number)
    return isinstance(observer, DoubtingChecker) and observer.doubts(number)


def _may_be_order(found: Divergence | None, observer: Observer, first: bool) -> bool:
    """Is it beside elements that depend on the order, of which more orders may show more?

    `first`: NaN won wherever the twin compared numbers, but has not lost yet.
    """
    if found is None or found.outcome is not Outcome.WRONG_OUTPUT or not isinstance(observer, DoubtingChecker):
        return False
    return first and found.sync in observer.nan or any(number == found.sync for number, _ in observer.checker.loose)


def _may_be_apart(trial: Trial, calibration: Calibration) -> bool:
    """May launches find other numbers than the original's, because earlier ones rounded otherwise?"""
    noisy = any(one.steadiness is Steadiness.NUMERIC for one in calibration.allowances.values())
    return noisy and bool(trial.compared.apart) and not trial.declared.kernels


def _nearest_first(constant: float) -> tuple[float, float]:
    return abs(constant), constant


def _later(alteration: Alteration, first: Alteration | None) -> bool:
    """What was wrong together with other data may be so by itself, which is said rather."""
    if first is None or not first.of_arguments:
        return alteration != first
    return not alteration.of_arguments


def _apart(trial: Trial, calibration: Calibration) -> bool:
    """Do numbers of the two differ as they are, and only the shadows say that they are the same?"""
    return any(calibration.allowances[key].by_algebra for key in trial.compared.apart & calibration.allowances.keys())


def _holds(beside: BesideShadows) -> bool:
    """Was nothing wrong with the numbers in the whole run, nor with the run?"""
    ended_well = beside.wrong is None and beside.followed is not None and not beside.followed.divergences
    return ended_well and beside.unsettled(ALTERED) is None


def _seen_enough(alteration: Alteration, followed: Followed) -> bool:
    """As much as if it had been alone: a run that was left early may have come to the others only."""
    launches = (e for e in followed.events if isinstance(e, Dispatch) and e.target and e.status == 0)
    own = sum(e.way == alteration.way for e in launches)
    return not followed.left.keys() & {ALTERED, CANDIDATE} or followed.round_seen or own >= Effort().least_syncs
