"""A small finished run, shared by the tests of reports and of the commands on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rewrite_task import device, evidence, finding

from intelliperf.project.diff import unified_diff
from intelliperf.records import (
    SCHEMA_VERSION,
    Application,
    Attempt,
    Candidate,
    Check,
    CheckStatus,
    Declined,
    Ending,
    FileEdit,
    Measurement,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Report,
    Scope,
    Usage,
    Verdict,
    content_hash,
)


def accepted_report(project: Path, path: str, before: str, after: str) -> Report:
    """One declined, one wrong and one accepted attempt on one file."""
    edit = FileEdit(path, content_hash(before), after)
    gains = tuple(
        Measurement(scope, 4000.0, after_ns, 4000 / after_ns, 3900 / after_ns, 4100 / after_ns, Provenance.MODELLED, 3)
        for scope, after_ns in ((Scope.KERNEL, 1000.0), (Scope.APPLICATION, 2000.0))
    )
    checks = (Check("races", CheckStatus.PASSED, "none"), Check("unit tests", CheckStatus.NOT_RUN, "no command"))
    model = Candidate((edit,), "fewer <atomics> & |bars|", Origin(OriginKind.MODEL, "demo-model", "ab" * 32))
    attempts = (
        Attempt(1, None, None, Declined(Origin(OriginKind.RULE, "pad"), "no LDS array")),
        Attempt(
            2, model, Verdict(Outcome.WRONG_OUTPUT, "out[17]: 3.0 | expected\n4.0"), None, Usage(100, 10, 0.01, 2.0)
        ),
        Attempt(
            3,
            model,
            Verdict(
                Outcome.ACCEPTED, "the same buffers; modelled 4×", checks, gains, 4096, 3, proof="the same buffers"
            ),
            None,
            Usage(200, 20, 0.02, 3.0),
            unified_diff({path: before}, [edit]),
        ),
    )
    return Report(
        schema_version=SCHEMA_VERSION,
        tool_version="0.1.0",
        run_id="20260101-000000-atomicContention",
        started_at="2026-01-01T00:00:00Z",
        seconds=12.5,
        application=Application(("./app", "a b", "q'uote", "new\nline"), project, project, (("make",),)),
        device=device(),
        backend="emulator",
        formula="atomicContention",
        ending=Ending.IMPROVED,
        profiles=(finding().profile,),
        finding=finding(),
        evidence=(evidence(project / path),),
        attempts=attempts,
        accepted=3,
        measurements=gains,
        patch=unified_diff({path: before}, [edit]),
        usage=Usage(300, 30, 0.03, 5.0),
        not_checked=("unit tests: no command",),
        notes=("a note",),
        stage_seconds={"build": 1.0},
    )


def healthy_report(project: Path) -> Report:
    """Nothing found, nothing tried."""
    return replace(
        accepted_report(project, "a.hip", "x", "y"),
        ending=Ending.NOTHING_TO_IMPROVE,
        finding=None,
        evidence=(),
        attempts=(),
        accepted=None,
        measurements=(),
        patch="",
        usage=Usage(),
        not_checked=(),
        notes=(),
    )


def refused_report(project: Path, path: str, before: str, after: str) -> Report:
    """As `accepted_report`, without the attempt that was accepted."""
    report = accepted_report(project, path, before, after)
    return replace(
        report,
        ending=Ending.NO_ACCEPTED_CANDIDATE,
        attempts=report.attempts[:2],
        accepted=None,
        measurements=(),
        patch="",
        not_checked=(),
        usage=Usage(100, 10, 0.01, 2.0),
    )
