"""The gate of other orders and poison: the same buffers must come out however lanes and blocks are scheduled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from intelliperf.records import ANY_KERNEL, Application, CheckStatus, Feature, Interception, Order, Outcome
from intelliperf.validation.calibration import BASE, OTHER_POISON
from intelliperf.validation.checker import Checker
from intelliperf.validation.devicechecks import DeviceChecks
from intelliperf.validation.othernumbers import COPIES, TWIN, DoubtingChecker
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import follow, follow_planned
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.trial import GATES, Rejection, Trial
from intelliperf.validation.wavegate import WaveGate

_IN_ORDER = "in order"
_LOST_ORDER = "not compared, for the original fails in that order"
ORDERS: tuple[tuple[str, Interception], ...] = (
    ("other poison", Interception()),
    ("reversed order", Interception(lane_order=Order(), block_order=Order())),
    ("random order", Interception(lane_order=Order(3), block_order=Order(3), preemption=Order(3))),
    ("few resident blocks", Interception(block_order=Order(7), resident_blocks=2)),
)
# Where threads change a structure together that no two runs have alike, such as a forest of labels, few orders show a
# lost update, and only in what later kernels make of it.
MORE_ORDERS: tuple[tuple[str, Interception], ...] = tuple(
    (f"random order {seed}", Interception(lane_order=Order(seed), block_order=Order(seed), preemption=Order(seed)))
    for seed in (1, 2, 5, 8)
)


class OrdersGate:
    """Runs the candidate under every order that the device can be asked for, and at its other wave size."""

    def __init__(self, reference: Reference, waves: WaveGate, checks: DeviceChecks) -> None:
        self._reference = reference
        self._waves = waves
        self._checks = checks

    def judge(self, trial: Trial) -> Rejection | None:
        """The same buffers must come out under other orders and from other garbage."""
        alike: dict[str, str] = {}  # orders in which the original goes another way as well, and what was made of it
        found = self._under_orders(trial, alike)
        if found is not None and found[1].near and self._reference.widen(trial):
            found = self._under_orders(trial, alike)
        while found is not None and found[0] not in alike and self._goes_astray(trial, found[0]):
            alike[found[0]] = "held to the original in that order, which goes another way there"
            found = self._under_orders(trial, alike)
        if found is not None:
            return self._checks.explained(trial, _order_rejection(*found))
        found = self._afterwards(trial)
        if found is not None:
            return self._checks.explained(trial, _order_rejection(*found))
        orders = [label for label, order in ORDERS if order.features <= self._reference.backend.honours]
        if Feature.POISON not in self._reference.backend.honours:
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

    def _afterwards(self, trial: Trial) -> tuple[str, Divergence] | None:
        """What all kernels make of buffers that no two runs have alike, under more orders."""
        calibration, _ = self._reference.calibration(trial)
        orders = [(label, order) for label, order in MORE_ORDERS if order.features <= self._reference.backend.honours]
        if not orders or trial.declared.kernels or not calibration.erratic():
            return None
        common = replace(self._reference.common(trial, OTHER_POISON), kernels=(ANY_KERNEL,))
        checker = Checker(self._reference.of_all_kernels(trial), self._reference.settings.tolerance)

        def under_orders(application: Application) -> Mapping[str, Divergence]:
            base = SideRun(BASE, trial.case.reference, common)
            runs = [SideRun(_IN_ORDER, application, common)]
            runs += [SideRun(label, application, common | order) for label, order in orders]
            rule = Rule(lambda d: d.target, self._reference.free_geometry(trial), bounded=[run.label for run in runs])
            return follow(self._reference.setting(trial, 1 + len(runs)), [base, *runs], rule, checker).divergences

        found = {label: one for label, one in under_orders(trial.application).items() if not one.near}
        if not found or _IN_ORDER in found:  # it rounds otherwise: what other gates have proven is not known here
            return None
        known = under_orders(trial.case.reference)
        return next(((label, found[label]) for label, _ in orders if label in found and label not in known), None)

    def _goes_astray(self, trial: Trial, label: str) -> bool:
        """Does the original leave its own path in that order, too?"""
        common = self._reference.common(trial, OTHER_POISON)
        runs = (
            SideRun(BASE, trial.case.reference, common),
            SideRun(label, trial.case.reference, common | dict(ORDERS)[label]),
        )
        checker = Checker(self._reference.calibration(trial)[0], self._reference.settings.tolerance)
        setting = self._reference.setting(trial, 2)
        if trial.declared.kernels:
            return label in follow_planned(setting, runs, _own(trial), checker).divergences
        followed = follow(setting, runs, Rule(lambda d: d.target, bounded=[label]), checker)
        return label in followed.divergences

    def _planned(self, trial: Trial, base: SideRun, run: SideRun, alike: bool) -> Mapping[str, Divergence]:
        """Other kernels; `alike`: without the elements that are others in the original in that order."""
        setting = self._reference.setting(trial, 2)
        if not alike:
            followed = follow_planned(setting, (base, run), trial.points, trial.compared, trial.totalled)
            return followed.divergences
        checker = replace(trial.compared, without=set(trial.compared.without), loose=dict(trial.compared.loose))
        own = Checker(self._reference.calibration(trial)[0], self._reference.settings.tolerance)
        observer = DoubtingChecker(checker, own, COPIES)
        theirs = replace(base, interception=run.interception)
        follow_planned(setting, (base, replace(theirs, label=TWIN)), _own(trial), observer)
        return follow_planned(setting, (theirs, run), trial.points, observer, trial.totalled).divergences

    def _under_orders(self, trial: Trial, alike: dict[str, str]) -> tuple[str, Divergence] | None:
        """The first run that leaves the reference's path, and where; of those `alike`, the original's in that order."""
        common = self._reference.common(trial, OTHER_POISON)
        base = SideRun(BASE, trial.case.reference, common)
        orders = [(label, order) for label, order in ORDERS if order.features <= self._reference.backend.honours]
        runs = [SideRun(label, trial.application, common | order) for label, order in orders]
        divergences: dict[str, Divergence] = {}
        if trial.declared.kernels:
            for run in runs:
                divergences |= self._planned(trial, base, run, run.label in alike)
        else:
            rule = Rule(
                lambda d: d.target, self._reference.free_geometry(trial), bounded=[label for label, _ in orders]
            )
            groups = [([base, *(run for run in runs if run.label not in alike)])]
            groups += [[replace(base, interception=run.interception), run] for run in runs if run.label in alike]
            for group in groups:
                try:
                    followed = follow(self._reference.setting(trial, len(group)), group, rule, trial.compared)
                except SideFailed:
                    if group[0].interception == common:
                        raise
                    alike[group[1].label] = _LOST_ORDER
                    continue
                divergences |= followed.divergences
                trial.coverage = next((f" on {followed.coverage(label)}" for label in followed.left), trial.coverage)
        return next(((label, divergences[label]) for label, _ in orders if label in divergences), None)


def _own(trial: Trial) -> list[tuple[int, int]]:
    """The points of comparison of the original with itself."""
    return [(left, left) for left, _ in trial.points]


def _order_rejection(label: str, divergence: Divergence) -> Rejection:
    """A buffer that changes with the order alone is a race; with the poison alone, an uninitialised read."""
    outcome = divergence.outcome
    if outcome is Outcome.WRONG_OUTPUT:
        outcome = Outcome.MEMORY_ERROR if label == ORDERS[0][0] else Outcome.RACE
    why = "it reads memory that nobody wrote" if outcome is Outcome.MEMORY_ERROR else "it depends on the order"
    reason = f"{why}: " if outcome is not divergence.outcome else ""
    return Rejection(outcome, f"under {label}: {reason}{divergence.detail}")
