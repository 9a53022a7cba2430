"""The validation package wired to runs: which files a candidate may touch, how it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from intelliperf import run as runs
from intelliperf.cli.options import Options
from intelliperf.protocols import Backend
from intelliperf.records import Application, Candidate, Finding, SourceEvidence, Verdict
from intelliperf.sandbox import Sandbox
from intelliperf.state import State, sources
from intelliperf.workspace import Built

if TYPE_CHECKING:
    from intelliperf.validation.judge import Judge
    from intelliperf.validation.trial import BuildFailure


def judge_for(options: Options, backend: Backend, sandbox: Sandbox) -> runs.Judge:
    """A judge that keeps the reference's calibration for all candidates of the run; loaded with the first of them."""

    @lru_cache(maxsize=1)
    def judge() -> Judge:
        from intelliperf.validation.judge import Judge
        from intelliperf.validation.tolerance import UserTolerance
        from intelliperf.validation.trial import Settings

        tests = ("/bin/sh", "-c", options.unittest_command) if options.unittest_command else ()
        settings = Settings(
            run_deadline_s=options.run_deadline,
            unit_tests=tests,
            test_environment=backend.build_environment() if tests else {},
            tolerance=UserTolerance(options.rtol, options.atol),
        )
        return Judge(backend, sandbox, settings)

    def judged(
        candidate: Candidate,
        finding: Finding,
        evidence: Sequence[SourceEvidence],
        reference: State,
        baseline: State,
        build: Callable[[], tuple[State, Built]],
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
                standing=baseline.declares,
            )
        )

    return judged
