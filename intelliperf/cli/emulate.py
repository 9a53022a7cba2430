"""`intelliperf emulate -- ./app`: build in a scratch copy, run once on the emulator, print the lines."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from intelliperf.cli.application import application_of
from intelliperf.cli.improve import keep_output
from intelliperf.cli.options import Options
from intelliperf.errors import BuildFailed
from intelliperf.project.journal import PROGRAM_OUTPUT
from intelliperf.project.scratch import Workspace
from intelliperf.report.wording import build_line


def _print_output(root: Path) -> None:
    """What the program itself printed, on standard error: the table is the output."""
    keep_output(root)
    for name in PROGRAM_OUTPUT:
        if (root / name).is_file():
            sys.stderr.write((root / name).read_text("utf-8", "replace"))


def emulate_application(options: Options) -> int:
    """Print the table. Returns 0: a program that does not end as it should is an error."""
    from intelliperf.backends import with_gpu
    from intelliperf.emulator.backend import EmulatorBackend
    from intelliperf.emulator.table import emulate, json_object, print_emulation

    application, reason = application_of(options)
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        root = Path(name)
        backend = EmulatorBackend(
            root / "device", options.target, tell=lambda text: print(text, file=sys.stderr, flush=True)
        )
        application = with_gpu(application, backend.name, options.target)
        workspace = Workspace.create(application, root / "work")
        print(f"build: {build_line(application.build_commands, reason)}", file=sys.stderr)
        built = workspace.build(backend.build_environment(), options.build_timeout, root / "logs")
        if not built.ok:
            raise BuildFailed(built.complaint())
        try:
            seen = emulate(backend, workspace.application, options.run_timeout, options.top_n)
        finally:
            if options.verbose:
                _print_output(root)
        if options.kernel is not None:
            wanted = re.compile(options.kernel)
            kept = tuple(kernel for kernel in seen.kernels if wanted.search(kernel.profile.kernel.name))
            seen = dataclasses.replace(seen, kernels=kept)
    if options.json_events:
        print(json.dumps(json_object(seen)))
    else:
        print_emulation(seen, application.project, Console())
    return 0
