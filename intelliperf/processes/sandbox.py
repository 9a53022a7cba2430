"""Argv wrapper that takes network, other processes and write access away from a candidate's runs.

Uses Linux user namespaces through `confine.py`. Where the machine does not allow them the sandbox
is honest about it: `available` is False, `reason` says why, and commands run unwrapped.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from intelliperf.processes.process import output_of
from intelliperf.records import Check, CheckStatus

_CONFINE = Path(__file__).with_name("confine.py")
_PROBE_DEADLINE_S = 20.0
_MARK = "sandbox-works"
# Positive control: what is written elsewhere must not arrive, and the network must be gone.
_PROBE = """
import contextlib, pathlib, socket, sys
elsewhere, own = map(pathlib.Path, sys.argv[1:3])
(own / "inside").write_text("x")
with contextlib.suppress(OSError):
    (elsewhere / "inside").write_text("x")
if any(name != "lo" for _, name in socket.if_nameindex()):
    sys.exit("there is a network")
print("sandbox-works")
"""


class Sandbox:
    """Made by `probe`; whether it works here is tried when it is first needed."""

    def __init__(self, find_out: Callable[[], str]) -> None:
        """`find_out` returns why it does not work, "" where it does; called at most once."""
        self._find_out = find_out
        self._lock = Lock()
        self._reason: str | None = None

    @property
    def reason(self) -> str:
        """Why it is not available; empty where it is."""
        with self._lock:
            if self._reason is None:
                self._reason = self._find_out()
        return self._reason

    @property
    def available(self) -> bool:
        return not self.reason

    @classmethod
    def probe(cls, scratch: Path) -> Sandbox:
        """Tried once, with what it must forbid, below the directory `scratch`."""

        def find_out() -> str:
            scratch.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="sandbox-", dir=scratch) as name:
                return cls._probe(Path(name))

        return cls(find_out)

    @classmethod
    def _probe(cls, scratch: Path) -> str:
        outside, own = scratch / "outside", scratch / "own"
        for directory in (outside, own):
            directory.mkdir()
        argv = cls(str).wrap([sys.executable, "-I", "-S", "-c", _PROBE, str(outside), str(own)], [own])
        done, out, err = output_of(argv, _PROBE_DEADLINE_S)
        leaked = (outside / "inside").exists()
        if done.ok and _MARK in out and (own / "inside").exists() and not leaked:
            return ""
        said = "a directory outside was written" if leaked else (err.strip().splitlines() or [done.describe()])[-1]
        return f"it cannot be set up here, as in most containers ({said})"

    def wrap(self, command: Sequence[str], writable: Sequence[Path]) -> tuple[str, ...]:
        """`command` confined to write in `writable` (existing directories) only; unchanged if not available."""
        if not self.available:
            return tuple(command)
        spec = json.dumps({"writable": sorted({str(path.resolve()) for path in writable})})
        return (sys.executable, "-I", "-S", str(_CONFINE), spec, *command)

    def check(self) -> Check:
        if self.available:
            return Check("sandbox", CheckStatus.PASSED, "no network, no other process, one writable directory")
        return Check("sandbox", CheckStatus.NOT_RUN, self.reason)


UNCONFINED = Sandbox(lambda: "switched off")
