"""The kinds of device, in one table. Each is imported when it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from intelliperf.errors import BackendUnavailable, UsageError
from intelliperf.protocols import Backend
from intelliperf.sandbox import Sandbox

Maker = Callable[[Path, "str | None", Sandbox], Backend]


def _emulator(directory: Path, target: str | None, sandbox: Sandbox) -> Backend:
    from intelliperf.emulator.backend import EmulatorBackend

    return EmulatorBackend(directory, target, sandbox)


def _cuda(directory: Path, target: str | None, sandbox: Sandbox) -> Backend:
    from intelliperf.cuda.backend import CudaBackend

    return CudaBackend(directory, target, sandbox)


BACKENDS: Mapping[str, Maker] = {"emulator": _emulator, "cuda": _cuda}


def open_backend(
    name: str, directory: Path, target: str | None, sandbox: Sandbox, project: Path
) -> tuple[Backend, str]:
    """The backend and, in words, why it was chosen. Raises `UsageError` for an unknown name.

    `auto` prefers real hardware that can run what `project` holds.
    """
    if name == "auto":
        chosen, why = _chosen(target, project)
        return BACKENDS[chosen](directory, target, sandbox), f"{chosen}, {why}"
    if name not in BACKENDS:
        raise UsageError(f"unknown backend {name!r}; there are auto, {', '.join(BACKENDS)}")
    return BACKENDS[name](directory, target, sandbox), f"{name}, as asked"


def _chosen(target: str | None, project: Path) -> tuple[str, str]:
    if target is not None:
        return "emulator", f"because --target {target} names a chip to emulate"
    if not Path("/dev/nvidiactl").exists():
        return "emulator", "no GPU that this version drives is here"
    from intelliperf.cuda import driver_api, toolkit
    from intelliperf.discover import is_hip_only

    try:
        found = driver_api.device_name()
        toolkit.find_toolkit()
    except BackendUnavailable as error:
        return "emulator", f"there is an NVIDIA GPU, but {error}"
    if is_hip_only(project):
        return "emulator", f"this is a HIP program, and {found} runs CUDA; --backend cuda tries nonetheless"
    return "cuda", f"there is an {found}"
