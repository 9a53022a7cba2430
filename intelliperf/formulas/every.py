"""Every bottleneck at once: what a run looks for that names no formula."""

from __future__ import annotations

from collections.abc import Sequence

from intelliperf.errors import MissingMetric
from intelliperf.formulas.base import Formula, Symptom
from intelliperf.records import Device, Finding, KernelProfile, Metric, ProcessFinding, Quantity, SourceEvidence
from intelliperf.records.timeline import Timeline


class Every(Formula):
    """Asks the formulas that it is made of; each finding keeps the name of the one that made it."""

    name = "all"
    summary = "looks for every bottleneck in every kernel, the most promising first"
    watched = Metric.DEVICE_TIME_NS
    needs = (Metric.DEVICE_TIME_NS,)
    knowledge = ""

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._formulas = tuple(formulas)

    def findings(self, profile: KernelProfile, device: Device) -> tuple[Finding, ...]:
        """What each formula finds in the kernel, the most promising first; those that lack a quantity are left out."""
        found = []
        for formula in self._formulas:
            try:
                finding = formula.diagnose(profile, device)
            except MissingMetric:
                continue
            if finding is not None:
                found.append(finding)
        return tuple(sorted(found, key=lambda finding: -finding.gain_ceiling))

    @property
    def of_process(self) -> tuple[str, ...]:
        """See `protocols.Formula`."""
        return tuple(name for formula in self._formulas for name in formula.of_process)

    def process_findings(self, timeline: Timeline) -> tuple[ProcessFinding, ...]:
        found = [finding for formula in self._formulas for finding in formula.process_findings(timeline)]
        return tuple(sorted(found, key=lambda finding: -finding.gain_ceiling))

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        return None

    def diagnose(self, profile: KernelProfile, device: Device) -> Finding | None:
        return next(iter(self.findings(profile, device)), None)

    def of(self, finding: Finding) -> Formula:
        return next((formula for formula in self._formulas if formula.name == finding.formula), self)

    def excess(self, evidence: SourceEvidence) -> float:
        """Lines by their time: what is blamed on a line is not known without a formula."""
        quantity: Quantity | None = evidence.quantities.get(Metric.DEVICE_TIME_NS)
        return quantity.value if quantity is not None else 0.0


class DiagnoseOnly(Every):
    """The same, to be told and not to be changed."""

    name = "diagnoseOnly"
    diagnosis_only = True
    summary = "ranks the kernels and names their bottlenecks, without changing anything"
