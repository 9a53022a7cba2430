"""`intelliperf compare --against DIR -k KERNEL -- ./app`: two versions of a program timed against each other."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from intelliperf.backends import with_gpu
from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import scratch
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.cli.wiring import open_run
from intelliperf.errors import BuildFailed, UsageError
from intelliperf.project.journal import Journal, to_json
from intelliperf.project.scratch import Workspace
from intelliperf.report.wording import gain, scope


def compare_versions(options: Options, against: Path) -> int:
    """Write `timing.json` into the run directory and print the ratios, above 1 where this version is the faster."""
    before = against.resolve()
    if not before.is_dir():
        raise UsageError(f"--against {against}: no such directory")
    application, _ = application_of(options)
    inside = application.directory.relative_to(application.project)
    other = dataclasses.replace(application, project=before, directory=before / inside)
    with (
        view_for(options.json_events, options.verbose, None) as view,
        Journal.create(run_root(options, application.project), "compare", view) as journal,
        scratch(options, journal),
    ):
        run = open_run(options, application, journal)
        reference = run.versions.build_original()
        (kernel, *more) = run.profile().kernels
        if more:
            names = ", ".join(item.kernel.name for item in (kernel, *more))
            raise UsageError(f"--kernel {options.kernel} matches more than one kernel: {names}")
        with run.stages.stage("build", commands=[list(command) for command in other.build_commands]):
            version = with_gpu(other, run.backend.name, options.target)
            workspace = Workspace.create(version, journal.work / "against")
            logs = journal.directory / "against"
            built = workspace.build(run.backend.build_environment(), options.build_timeout, logs)
        if not built.ok:
            raise BuildFailed(f"{before}: {built.complaint()}")
        with run.stages.stage("time"):
            timing = run.backend.time(workspace.application, reference.application, kernel.kernel, options.run_timeout)
        journal.write("timing.json", to_json(timing))
        device = run.backend.probe()
    out = sys.stderr if options.json_events else sys.stdout
    for measurement in timing.measurements:
        print(f"{scope(measurement, application)}: {gain(measurement, device)}", file=out)
    return 0
