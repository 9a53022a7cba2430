"""The kinds of device, in one table. Each is imported when it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.protocols import Backend
from intelliperf.sandbox import Sandbox

Maker = Callable[[Path, "str | None", Sandbox], Backend]


def _emulator(directory: Path, target: str | None, sandbox: Sandbox) -> Backend:
    from intelliperf.emulator.backend import EmulatorBackend

    return EmulatorBackend(directory, target, sandbox)


BACKENDS: Mapping[str, Maker] = {"emulator": _emulator}


def open_backend(name: str, directory: Path, target: str | None, sandbox: Sandbox) -> tuple[Backend, str]:
    """The backend and, in words, why it was chosen. Raises `UsageError` for an unknown name."""
    if name == "auto":
        (only,) = BACKENDS
        return BACKENDS[only](directory, target, sandbox), f"{only}, the only kind of device of this version"
    if name not in BACKENDS:
        raise UsageError(f"unknown backend {name!r}; there are auto, {', '.join(BACKENDS)}")
    return BACKENDS[name](directory, target, sandbox), f"{name}, as asked"
