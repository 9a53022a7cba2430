"""The whole process of a version: where its time goes, and what keeps it back that no kernel can mend."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from intelliperf.errors import UsageError
from intelliperf.project.versions import Version
from intelliperf.protocols import Backend, Formula, Profiler
from intelliperf.records import ProcessFinding, ProcessTime
from intelliperf.records.timeline import COPIES, KERNEL, process_ns


@dataclass(frozen=True)
class Process:
    """Both empty where the device's back end does not see the host's calls."""

    findings: tuple[ProcessFinding, ...] = ()
    time: ProcessTime | None = None


def observe(backend: Profiler, formula: Formula, version: Version, deadline_s: float) -> Process:
    """With the user's own paths."""
    timeline = backend.timeline(version.application, deadline_s)
    if timeline is None or not timeline.calls:
        return Process()
    found = tuple(_at_home(finding, version) for finding in formula.process_findings(timeline))
    kernelless = [dataclasses.replace(c, device_ns=0.0) if c.operation == KERNEL else c for c in timeline.calls]
    return Process(
        found,
        ProcessTime(
            total_ns=timeline.process_ns,
            host_ns=timeline.host_ns,
            kernels_ns=timeline.device_ns(KERNEL, "library"),
            copies_ns=timeline.device_ns(*COPIES),
            without_kernels_ns=process_ns(kernelless, timeline.after_ns),
            host=timeline.host,
            device=timeline.device,
        ),
    )


def unseen(process: Process, formula: Formula, backend: Backend) -> str:
    """What was asked for and cannot be seen, for people. Raises `UsageError` where nothing else was asked for."""
    asked = formula.of_process
    if process.time is not None or not asked:
        return ""
    why = f"the {backend.name} backend does not trace the host's calls"
    if asked == (formula.name,):
        raise UsageError(f"-f {formula.name}: {why}; --backend emulator does")
    return f"not looked for: {', '.join(asked)}: {why}"


def _at_home(finding: ProcessFinding, version: Version) -> ProcessFinding:
    lines = [dataclasses.replace(line, file=version.workspace.outside(line.file)) for line in finding.lines]
    return dataclasses.replace(finding, lines=tuple(lines))
