"""Small implementations of the protocols: a "program" is a text with one kernel per line.

Each line of `app.hip` reads `NAME NANOSECONDS [contended|uncounted]`; kernels named `lib_…` have no source
in the project. Builds run a real shell, so that scratch copies, logs and build errors are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rewrite_task import device
from rewrite_task import evidence as tally_evidence

from intelliperf.errors import SourceNotFound
from intelliperf.project.journal import Journal
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version
from intelliperf.protocols import ApplicationProfile, Memory, Proposal, Rewriter, Task, Timing
from intelliperf.records import (
    Application,
    Attempt,
    Candidate,
    Check,
    CheckStatus,
    Declined,
    Device,
    Feature,
    FileEdit,
    Finding,
    Geometry,
    Interception,
    Kernel,
    KernelProfile,
    Measurement,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    ProcessFinding,
    Provenance,
    Quantity,
    Scope,
    SourceEvidence,
    Verdict,
    content_hash,
)
from intelliperf.records.timeline import HostLine, Timeline
from intelliperf.search.observer import RunSettings
from intelliperf.search.run import Run
from intelliperf.sentences import NOT_TO_PATCH

SOURCE = "app.hip"
BUILD = (
    "/bin/sh",
    "-c",
    "! grep -n broken app.hip && cp app.hip app && chmod +x app && "
    """printf '{"directory": "%s", "source": "app.hip", "reader_flags": []}\\n' "$PWD" """
    '>> "$INTELLIPERF_COMPILE_LOG"',
)


def application(project: Path, text: str, build: tuple[str, ...] = BUILD) -> Application:
    project.mkdir(parents=True, exist_ok=True)
    (project / SOURCE).write_text(text)
    return Application(("./app",), project, project, (build,))


class TextBackend:
    """Reads times and contention from the built text."""

    name = "text"
    honours: frozenset[Feature] = frozenset()

    def __init__(self) -> None:
        self.profiled = 0
        self.calls: Timeline | None = None

    def probe(self) -> Device:
        return device()

    def build_environment(self) -> Mapping[str, str]:
        return {}

    def other_wave_build(self) -> Mapping[str, str]:
        return {}

    def rounded_build(self, way: str) -> Mapping[str, str]:
        return {}

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile:
        self.profiled += 1
        rows = [line.split() for line in (application.project / "app").read_text().splitlines() if line]
        total = sum(float(row[1]) for row in rows)
        kernels = [_profile(row[0], float(row[1]), float(row[1]) / total, row[2:]) for row in rows]
        return ApplicationProfile(tuple(sorted(kernels, key=lambda k: -k.share)), total, 0)

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        return tuple(kernels)

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        if kernel.name.startswith("lib_"):
            raise SourceNotFound(f"{kernel.name}: outside the project")
        if kernel.name.startswith("far_"):
            return (tally_evidence(Path("/toolkit/include/sort.cuh"), 1),)
        return (tally_evidence(application.project / SOURCE, 1),)

    def timeline(self, application: Application, deadline_s: float) -> Timeline | None:
        if self.calls is None:
            return None
        return replace(self.calls, line=lambda site: HostLine(application.project / SOURCE, site, "tally();", what="x"))

    def line_notes(self) -> tuple[str, ...]:
        return ()

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        return {}

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory:
        raise AssertionError("a scripted application has no memory to open")

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float, by_chance: bool = True
    ) -> tuple[Check, ...]:
        return ()

    def strictness(self, application: Application, candidate: Application) -> Check:
        return Check("compile", CheckStatus.PASSED)

    def homes(self, recording: object) -> dict[object, object]:
        return {}

    def is_long(self, application: Application) -> bool:
        return False

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        before, after = (self.profile(a, deadline_s).device_time_ns for a in (reference, candidate))
        return Timing((measurement(before, after),))


def measurement(before: float, after: float) -> Measurement:
    ratio = before / after
    return Measurement(Scope.KERNEL, before, after, ratio, ratio, ratio, Provenance.MODELLED, 1)


def _profile(name: str, time_ns: float, share: float, marks: Sequence[str]) -> KernelProfile:
    lanes = Quantity(32.0 if "contended" in marks else 1.0, Provenance.MEASURED)
    return KernelProfile(
        Kernel(f"_Z{name}", name),
        1,
        (Geometry((1, 1, 1), (64, 1, 1)),),
        (time_ns,),
        Provenance.MODELLED,
        share,
        {} if "uncounted" in marks else {Metric.ATOMIC_SERIALIZATION: lanes},
        notes=(f"a compiler made it from model.py:3: {NOT_TO_PATCH}",) if "compiled" in marks else (),
    )


class Contention:
    """A `Formula`: whatever is marked as contended."""

    name = "contention"
    watched = Metric.ATOMIC_SERIALIZATION
    knowledge = "none"
    rules = ()
    of_process: tuple[str, ...] = ()

    def findings(self, profile: KernelProfile, device: Device) -> tuple[Finding, ...]:
        if profile.quantity(self.watched).value == 1:
            return ()
        sentence = f"{profile.kernel.name} is contended"
        ceiling = 1 / (1 - 0.9 * profile.share)
        return (Finding(self.name, profile, sentence, 0.9 * profile.share, self.watched, 32.0, 1.0, ceiling),)

    def process_findings(self, timeline: Timeline) -> tuple[ProcessFinding, ...]:
        lines = [line for call in timeline.calls if (line := timeline.line(call.site)) is not None]
        return (ProcessFinding(self.name, f"{len(lines)} calls", 2.0, tuple(lines), "fewer"),)

    def of(self, finding: Finding) -> Contention:
        return self

    def blame(self, evidence: Sequence[SourceEvidence]) -> tuple[SourceEvidence, ...]:
        return tuple(evidence)

    def value(self, profile: KernelProfile) -> Quantity:
        return profile.quantity(self.watched)


@dataclass
class Scripted:
    """A `Rewriter` that plays: (old, new) replaces text, a str declines, an exception is raised."""

    name: str
    script: list[tuple[str, str] | str | Exception]
    seen: list[tuple[Task, tuple[Attempt, ...]]] = field(default_factory=list)

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        self.seen.append((task, tuple(attempts)))
        if not self.script:
            return None
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        origin = Origin(OriginKind.RULE if self.name == "rules" else OriginKind.MODEL, f"{self.name} step")
        if isinstance(step, str):
            return Proposal(None, Declined(origin, step))
        old = task.sources[SOURCE]
        edit = FileEdit(SOURCE, content_hash(old), old.replace(*step))
        return Proposal(Candidate((edit,), "because", origin), None)


def judge(
    candidate: Candidate,
    finding: Finding,
    evidence: Sequence[SourceEvidence],
    reference: Version,
    baseline: Version,
    build: Callable[[], tuple[Version, Built]],
    logs: Path,
) -> Verdict:
    """Accepted where it builds and takes less time than the baseline."""
    state, built = build()
    if not built.ok:
        return Verdict(Outcome.BUILD_FAILED, built.errors[0])
    backend = TextBackend()
    gain = measurement(
        backend.profile(baseline.application, 1).device_time_ns, backend.profile(state.application, 1).device_time_ns
    )
    if gain.ratio <= 1:
        return Verdict(Outcome.NOT_FASTER, f"{gain.ratio:.1f} times as fast")
    return Verdict(Outcome.ACCEPTED, "faster", (), (gain,), 64, 1)


def scripted_run(application: Application, journal: Journal, *rewriters: Rewriter, **settings: object) -> Run:
    return Run(
        settings=RunSettings(formula="contention", **settings),  # type: ignore[arg-type]
        application=application,
        backend=TextBackend(),
        formula=Contention(),
        rewriters=rewriters,
        judge=judge,
        journal=journal,
    )
