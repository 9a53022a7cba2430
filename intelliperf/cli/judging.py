"""The validation package wired to runs: which files a candidate may touch, how it is built."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from intelliperf.cli.options import Options
from intelliperf.errors import UsageError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.processes.storage import cache_directory
from intelliperf.project.journal import Journal
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.project.scratch import COMPILE_LOG, Built, Workspace
from intelliperf.project.versions import Version, sources
from intelliperf.protocols import Backend, Builds, Task
from intelliperf.records import (
    EMULATED,
    Application,
    Candidate,
    Finding,
    Kernel,
    KernelProfile,
    SourceEvidence,
    Verdict,
)

if TYPE_CHECKING:
    from intelliperf.cli.emulated import EmulatedGates
    from intelliperf.validation.edits.reading import Reading
    from intelliperf.validation.edits.units import Compiler
    from intelliperf.validation.judge import Judge
    from intelliperf.validation.trial import BuildFailure, Settings, Steps

_HEADERS_TIMEOUT_S = 120.0
_HEADERS_BYTES = 192 * 1024**2  # of precompiled headers: two for each list of includes


class RunJudge:
    """Judges the candidates of one run; keeps the original's calibration for all, and is loaded with the first.

    The run's directory takes recordings; its listener is told of each gate.
    """

    def __init__(self, options: Options, backend: Backend, sandbox: Sandbox, journal: Journal) -> None:
        self._directory = journal.directory
        self._work = journal.work
        self._journal = journal
        self._record_limit = record_limit(options)
        self._options = options
        self._backend = backend
        self._sandbox = sandbox
        self._expected: tuple[KernelProfile, ...] = ()
        self._on_recordings: dict[str, Verdict] = {}  # accepted ones, by the kernel's symbol
        self._original_otherwise: tuple[Application | None] | None = None  # built for waves of the other size
        self._rounded_builds: dict[tuple[Path, str], Application | None] = {}  # by scratch copy and direction

    def __call__(
        self,
        candidate: Candidate,
        finding: Finding,
        evidence: Sequence[SourceEvidence],
        reference: Version,
        baseline: Version,
        build: Callable[[], tuple[Version, Built]],
        logs: Path,
    ) -> Verdict:
        from intelliperf.validation.trial import Case

        given = sources(baseline, evidence)
        candidates: list[Version] = []

        def made() -> tuple[Version, Built]:
            version, built = build()
            candidates.append(version)
            return version, built

        verdict = self._judge.judge(
            Case(
                candidate=candidate,
                finding=finding,
                reference=reference.application,
                baseline=baseline.application,
                sources=given,
                allowed=frozenset(given),
                build=lambda: _application_of(*made()),
                logs=logs,
                reading=reading_of(baseline.workspace) if reads_compiled(candidate) else None,
                rounded=lambda way: self._rounded(reference, way),
                other_wave=lambda: self._other_wave(reference, candidates[-1]),
                standing=baseline.declares,
                steps=self._steps(),
            )
        )
        if not verdict.accepted or self._backend.name == "emulator":
            return verdict
        if not verdict.on_recordings:
            return self._emulated.joined(verdict, candidate, finding, baseline)
        if not self._judged_by_recordings(reference):
            return verdict  # all that was accepted is judged there together, at the end of the run
        return self._emulated_recordings(verdict, candidate, finding, baseline, reference, candidates[-1])

    def _judged_by_recordings(self, reference: Version) -> bool:
        """Does the emulator see recorded dispatches in place of the application?"""
        return self._backend.is_long(reference.application) and not self._options.judge_run

    def _emulated_recordings(
        self,
        verdict: Verdict,
        candidate: Candidate,
        finding: Finding,
        baseline: Version,
        reference: Version,
        version: Version,
    ) -> Verdict:
        kernel = finding.profile.kernel
        launches = self._judge.launches(reference.application, version.application, kernel)
        if launches is None:
            return verdict
        verdict = self._emulated.on_recordings(verdict, candidate, finding, baseline, launches)
        if verdict.accepted:
            self._on_recordings[kernel.symbol] = verdict
        return verdict

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        """See `run.Recordings`, as the next ones."""
        self._expected = tuple(kernels)

    def prepare(self, reference: Version, profile: KernelProfile) -> None:
        logs = self._directory / "replays"
        logs.mkdir(exist_ok=True)
        self._judge.prepare(reference.application, profile, logs)

    def stand_in(self, reference: Version, version: Version, kernel: Kernel) -> Application | None:
        logs = self._directory / "replays"
        logs.mkdir(exist_ok=True)
        reshaped = version.declares.geometry
        return self._judge.stand_in(reference.application, version.application, kernel, logs, reshaped)

    def judge_whole(
        self, candidate: Candidate, findings: Sequence[Finding], reference: Version, final: Version, logs: Path
    ) -> Verdict:
        from intelliperf.validation.trial import Case

        verdict = self._judge.judge_whole(
            Case(
                candidate=candidate,
                finding=findings[0],
                reference=reference.application,
                baseline=reference.application,
                sources={edit.path: reference.workspace.text(edit.path) for edit in candidate.edits},
                allowed=(),
                build=lambda: final.application,
                logs=logs,
                reading=None,
                rounded=lambda way: self._rounded(reference, way),
                other_wave=lambda: self._other_wave(reference, final),
                steps=self._steps(),
            ),
            [finding.profile.kernel for finding in findings],
        )
        if verdict.accepted and self._judged_by_recordings(reference):
            return self._gathered(verdict, findings)
        for finding in findings if self._backend.name != "emulator" else ():
            verdict = self._emulated.joined(verdict, candidate, finding, reference) if verdict.accepted else verdict
        return verdict

    def _gathered(self, verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
        from intelliperf.cli.emulated import gathered, without

        names = {finding.profile.kernel.symbol: finding.profile.kernel.name for finding in findings}
        if missing := [name for symbol, name in names.items() if symbol not in self._on_recordings]:
            why = f"a run takes long, and no recorded dispatch of {', '.join(missing)} was judged since the run began"
            return without(verdict, f"{why} or was resumed; a smaller command may do: --judge-run 'COMMAND'")
        return gathered(verdict, {name: self._on_recordings[symbol] for symbol, name in names.items()})

    def _rounded(self, reference: Version, way: str) -> Application | None:
        key = reference.workspace.root, way
        if key not in self._rounded_builds:
            self._rounded_builds[key] = rounded_build(self._backend, reference, way, self._options.build_timeout)
        return self._rounded_builds[key]

    def _other_wave(self, reference: Version, candidate: Version) -> tuple[Application, Application] | None:
        environment = self._backend.other_wave_build()
        if not environment:
            return None
        environment = {**self._backend.build_environment(), **environment}
        sides = [(candidate, "other-wave-candidate")]
        if self._original_otherwise is None:
            sides.append((reference, "other-wave"))
        with ThreadPoolExecutor(len(sides)) as pool:
            timeout_s = self._options.build_timeout
            built = list(pool.map(lambda side: _rebuilt(side[0], side[1], environment, timeout_s), sides))
        if len(built) > 1:
            self._original_otherwise = (built[1],)
        (original,) = self._original_otherwise or (None,)
        return (original, built[0]) if original is not None and built[0] is not None else None

    def _steps(self, before: str = "") -> Steps:
        from intelliperf.cli.gatesteps import GateSteps

        return GateSteps(self._journal, before)

    @cached_property
    def _emulated(self) -> EmulatedGates:
        from intelliperf.cli.emulated import EmulatedGates

        architecture = self._backend.probe().architecture
        places = self._directory, self._work
        return EmulatedGates(
            self._options, self._sandbox, self._settings, places, architecture, lambda: self._steps(EMULATED)
        )

    @cached_property
    def _settings(self) -> Settings:
        from intelliperf.validation.buffers.tolerance import UserTolerance
        from intelliperf.validation.trial import Settings

        options = self._options
        tests = ("/bin/sh", "-c", options.unittest_command) if options.unittest_command else ()
        return Settings(
            run_deadline_s=options.run_timeout,
            unit_tests=tests,
            test_environment=self._backend.build_environment() if tests else {},
            tolerance=UserTolerance(options.rtol, options.atol),
            also_run=options.also_run,
        )

    @cached_property
    def _judge(self) -> Judge:
        from intelliperf.validation.judge import Judge
        from intelliperf.validation.replaygate import RECORDINGS, Recorder

        places = self._directory / RECORDINGS, self._directory / "work" / "replays"
        judge = Judge(self._backend, self._sandbox, self._settings, Recorder(*places, self._record_limit))
        judge.expect(self._expected)
        return judge


class Lint:
    """The edit gate before an attempt is made of a reply: syntax errors and forbidden edits, with their lines."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._one_by_one = Lock()

    def __call__(self, candidate: Candidate, task: Task) -> str:
        """What is wrong; empty where nothing is, or where the compiler's eyes are closed."""
        with self._one_by_one:
            return self._complaint(candidate, task)

    def _complaint(self, candidate: Candidate, task: Task) -> str:
        from intelliperf.validation.edits.gate import examine

        reading = None
        if reads_compiled(candidate):
            root = Path(str(task.project).removesuffix(f"/root{self._project}"))
            if not (root / COMPILE_LOG).exists():
                return ""
            reading = _reading(root, task.project)
        kernel = task.finding.profile.kernel
        found = examine(candidate, task.sources, frozenset(task.sources), kernel.name, reading, kernel.file)
        return found.refusal or (f"it does not compile: {found.unread}" if found.unread else "")


def reading_of(workspace: Workspace) -> Reading:
    """What the edit gate reads a built version with: its units as they were compiled. Kept, with what was read."""
    return _reading(workspace.root, workspace.tree)


@lru_cache(maxsize=4)
def _reading(root: Path, tree: Path) -> Reading:
    from intelliperf.validation.edits.reading import Reading
    from intelliperf.validation.edits.units import logged_units

    return Reading(compiler_for(root / "reading"), tree, logged_units(root / COMPILE_LOG))


def _application_of(version: Version, built: Built) -> Application | BuildFailure:
    from intelliperf.validation.trial import BuildFailure

    return version.application if built.ok else BuildFailure(built.errors, built.completed.timed_out)


def reads_compiled(candidate: Candidate) -> bool:
    """Does the edit gate need a compiler's eyes? Not for Python."""
    return any(not edit.path.endswith(SUFFIX) for edit in candidate.edits)


def record_limit(options: Options) -> int:
    """Bytes of `--record-limit`: a number with K, M, G or T behind it, or none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", options.record_limit.strip(), re.IGNORECASE)
    if match is None:
        raise UsageError(
            f"--record-limit {options.record_limit}: give a size such as 512M or 4G, or 0 for no recording"
        )
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def compiler_for(scratch: Path) -> Compiler:
    """clang as the edit gate's eyes, with headers precompiled once for all."""
    from intelliperf.dropins.precompiled import KeptHeaders
    from intelliperf.dropins.toolchain import find_toolchain, tool_environment
    from intelliperf.validation.edits.units import Compiler

    headers = KeptHeaders(cache_directory() / "judged-headers", _HEADERS_BYTES, _HEADERS_TIMEOUT_S)
    return Compiler(tuple(find_toolchain().driver()), tool_environment(), scratch, headers)


def _rebuilt(version: Version, name: str, environment: Mapping[str, str], timeout_s: float) -> Application | None:
    """The version in a scratch copy beside its own, built anew; None where it does not build so."""
    root = version.workspace.root.with_name(name)
    Workspace(version.workspace.original, root).remove()
    workspace = Workspace.create(version.workspace.original, root)
    workspace.apply(version.edits)
    return workspace.application if workspace.build(environment, timeout_s, root).ok else None


def rounded_build(backend: Builds, reference: Version, way: str, timeout_s: float) -> Application | None:
    """The original in a scratch copy beside the reference's, built to round `way`; None where that is not possible."""
    environment = backend.rounded_build(way)
    if not environment:
        return None
    root = reference.workspace.root.with_name(f"rounded-{way}")
    Workspace(reference.workspace.original, root).remove()
    workspace = Workspace.create(reference.workspace.original, root)
    built = workspace.build({**backend.build_environment(), **environment}, timeout_s, root)
    return workspace.application if built.ok else None
