"""The validation package wired to runs: which files a candidate may touch, how it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from intelliperf import run as runs
from intelliperf.cli.options import Options
from intelliperf.processes.sandbox import Sandbox
from intelliperf.processes.storage import cache_directory
from intelliperf.project.builder import COMPILE_LOG
from intelliperf.project.scratch import Built, Workspace
from intelliperf.project.versions import Version, sources
from intelliperf.protocols import Backend
from intelliperf.records import Application, Candidate, Finding, SourceEvidence, Verdict

if TYPE_CHECKING:
    from intelliperf.validation.edits.reading import Reading
    from intelliperf.validation.edits.units import Compiler
    from intelliperf.validation.judge import Judge
    from intelliperf.validation.trial import BuildFailure

_HEADERS_DEADLINE_S = 120.0
_HEADERS = 24  # two for each list of includes: some 100 MB at most


def judge_for(options: Options, backend: Backend, sandbox: Sandbox) -> runs.Judge:
    """A judge that keeps the reference's calibration for all candidates of the run; loaded with the first of them."""

    @lru_cache(maxsize=1)
    def judge() -> Judge:
        from intelliperf.validation.buffers.tolerance import UserTolerance
        from intelliperf.validation.judge import Judge
        from intelliperf.validation.trial import Settings

        tests = ("/bin/sh", "-c", options.unittest_command) if options.unittest_command else ()
        settings = Settings(
            run_deadline_s=options.run_timeout,
            unit_tests=tests,
            test_environment=backend.build_environment() if tests else {},
            tolerance=UserTolerance(options.rtol, options.atol),
        )
        return Judge(backend, sandbox, settings)

    @lru_cache(maxsize=4)
    def reading(root: Path, tree: Path) -> Reading:
        from intelliperf.validation.edits.reading import Reading
        from intelliperf.validation.edits.units import logged_units

        return Reading(compiler_for(root / "reading"), tree, logged_units(root / COMPILE_LOG))

    def judged(
        candidate: Candidate,
        finding: Finding,
        evidence: Sequence[SourceEvidence],
        reference: Version,
        baseline: Version,
        build: Callable[[], tuple[Version, Built]],
        logs: Path,
    ) -> Verdict:
        from intelliperf.validation.trial import BuildFailure, Case

        def attempt_build() -> Application | BuildFailure:
            state, built = build()
            if not built.ok:
                return BuildFailure(built.errors, built.completed.timed_out)
            return state.application

        return judge().judge(
            Case(
                candidate=candidate,
                finding=finding,
                reference=reference.application,
                baseline=baseline.application,
                sources=sources(baseline, evidence),
                allowed=frozenset(sources(baseline, evidence)),
                build=attempt_build,
                logs=logs,
                reading=reading(baseline.workspace.root, baseline.workspace.tree),
                rounded=lambda way: rounded_build(backend, reference, way, options.build_timeout),
                standing=baseline.declares,
            )
        )

    return judged


def compiler_for(scratch: Path) -> Compiler:
    """clang as the edit gate's eyes, with headers precompiled once for all."""
    from intelliperf.codegen.syntax.prefix import Prefixes
    from intelliperf.dropins.toolchain import find_toolchain, tool_environment
    from intelliperf.validation.edits.units import Compiler

    headers = Prefixes(cache_directory() / "judged-headers", tool_environment(), _HEADERS_DEADLINE_S, _HEADERS)
    return Compiler(tuple(find_toolchain().driver()), tool_environment(), scratch, headers.precompiled)


def rounded_build(backend: Backend, reference: Version, way: str, deadline_s: float) -> Application | None:
    """The original in a scratch copy beside the reference's, built to round `way`; None where it cannot be had."""
    environment = backend.rounded_build(way)
    if not environment:
        return None
    root = reference.workspace.root.with_name(f"rounded-{way}")
    Workspace(reference.workspace.original, root).remove()
    workspace = Workspace.create(reference.workspace.original, root)
    built = workspace.build({**backend.build_environment(), **environment}, deadline_s, root)
    return workspace.application if built.ok else None
