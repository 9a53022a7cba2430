"""Whether this machine lets a process make the namespaces that the sandbox stands on."""

from __future__ import annotations

import tempfile
from pathlib import Path

from intelliperf.processes.sandbox import Sandbox


def missing() -> str | None:
    with tempfile.TemporaryDirectory() as directory:
        sandbox = Sandbox.probe(Path(directory) / "probe")
        return None if sandbox.available else sandbox.reason  # in here: it is found out when it is asked for
