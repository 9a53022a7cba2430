"""The one command that judges a run's patch again."""

from __future__ import annotations

import shlex
from pathlib import Path

from intelliperf.records import Report
from intelliperf.report.wording import command_line


def options(report: Report) -> list[str]:
    """Of `intelliperf verify`, as the run had them."""
    application = report.application
    words = ["--backend", report.backend]
    if report.device.emulated and not report.device.runs_on:
        words += ["--target", report.device.name.lower()]
    for build in application.build_commands:
        words += ["-b", command_line(build)]
    if application.exit_status:
        words += ["--expect-exit", str(application.exit_status)]
    accepted = [a.candidate.declares for a in report.attempts if a.accepted and a.candidate is not None]
    words += ["--allow-geometry"] * any(d.geometry for d in accepted)
    words += ["--allow-kernels"] * any(d.kernels for d in accepted)
    if application.launcher.words:
        words += ["--launcher", shlex.join(application.launcher.words)]
    return words


def command(report: Report, patch: str | Path) -> str:
    """As one would type it."""
    application = report.application
    words = ["intelliperf", "verify", str(patch), *options(report), "--", *application.command]
    return f"cd {shlex.quote(str(application.project))} && {shlex.join(words)}"
