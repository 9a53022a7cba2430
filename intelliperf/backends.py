"""The kinds of device, in one table. Each is imported when it is chosen."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from intelliperf.errors import BackendUnavailable, UsageError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend
from intelliperf.records import Application, Executor, Launcher

_PROFILERS = frozenset({"ncu", "nsys", "nvprof", "compute-sanitizer", "omniperf"})
_FAMILIES = ("rocprof", "omnitrace")


@dataclass(frozen=True)
class Manner:
    """How a backend is to run programs, beyond what it runs them on.

    `flush_l2`: the L2 holds nothing of the application when the kernel that is timed begins.
    """

    launcher: Launcher = Launcher()
    flush_l2: bool = False
    executor: Executor = Executor.COMPILED
    tell: Callable[[str], None] = lambda text: None  # what is told when it is known, as of runs that take long


Maker = Callable[[Path, "str | None", Sandbox, Manner], Backend]


def _emulator(directory: Path, target: str | None, sandbox: Sandbox, manner: Manner) -> Backend:
    from intelliperf.emulator.backend import EmulatorBackend

    return EmulatorBackend(directory, target, sandbox, manner.executor, manner.tell, manner.flush_l2)


def _cuda(directory: Path, target: str | None, sandbox: Sandbox, manner: Manner) -> Backend:
    from intelliperf.cuda.backend import CudaBackend

    _refuse_executor("cuda", manner.executor)
    if manner.launcher.emulates:
        raise UsageError("--backend cuda measures: it takes no launcher that emulates the GPU")
    return CudaBackend(directory, target, sandbox, manner.flush_l2)


def _rocm(directory: Path, target: str | None, sandbox: Sandbox, manner: Manner) -> Backend:
    from intelliperf.rocm.backend import RocmBackend

    if manner.flush_l2:
        raise UsageError("--backend rocm takes no --flush-l2: it does not empty the L2 between timed launches")
    _refuse_executor("rocm", manner.executor)
    return RocmBackend(directory, target, sandbox, manner.launcher, manner.tell)


def _refuse_executor(name: str, executor: Executor) -> None:
    if executor is not Executor.COMPILED:
        raise UsageError(f"--executor {executor.value} is for --backend emulator: {name} runs programs on the GPU")


def _refuse_beyond_emulator(name: str, application: Application) -> None:
    if name == "emulator":
        return
    if application.stop_after is not None:
        raise UsageError(
            f"--stop-after-launches is for --backend emulator: with {name} the program runs to its end on the GPU"
        )
    if application.tolerates:
        raise UsageError(
            f"--tolerate is for --backend emulator: with {name} the GPU itself decides which bad accesses it lets pass"
        )


def _refuse_profilers(application: Application) -> None:
    """A command line that is copied with its profiler: two of them in one program do not work."""
    first = Path(application.command[0]).name
    if first in _PROFILERS or first.startswith(_FAMILIES):
        _, _, program = shlex.join(application.command).partition(" -- ")
        raise UsageError(
            f"{first} is a profiler, and intelliperf starts its own: name the program itself, -- {program or './app'}"
        )


BACKENDS: Mapping[str, Maker] = {"emulator": _emulator, "cuda": _cuda, "rocm": _rocm}


_AS_USUAL = Manner()


def open_backend(
    name: str,
    directory: Path,
    target: str | None,
    sandbox: Sandbox,
    application: Application,
    manner: Manner = _AS_USUAL,
) -> tuple[Backend, str]:
    """The backend and, in words, why it was chosen. Raises `UsageError` for an unknown name.

    `auto` prefers real hardware that can run what the project holds. The launcher is the application's.
    """
    _refuse_profilers(application)
    manner = replace(manner, launcher=application.launcher)
    if name == "auto":
        chosen, why = _chosen(target, application, manner.executor)
        _refuse_beyond_emulator(chosen, application)
        return BACKENDS[chosen](directory, target, sandbox, manner), f"{chosen}, {why}"
    check_backend(name)
    _refuse_beyond_emulator(name, application)
    return BACKENDS[name](directory, target, sandbox, manner), f"{name}, as asked"


def check_backend(name: str) -> None:
    """Raises `UsageError` for an unknown name, with what may have been meant."""
    if name != "auto" and name not in BACKENDS:
        near = get_close_matches(name, BACKENDS, 1)
        meant = f"did you mean {near[0]}?" if near else f"choose one of: auto, {', '.join(BACKENDS)}"
        raise UsageError(f"unknown backend {name!r}; {meant}")


def with_gpu(application: Application, backend: str, target: str | None) -> Application:
    """The application as `backend` runs it: on the emulator, a Python program finds a GPU in its environment.

    Others find the runtime library there, which they may have been linked with by a search path of their own.
    Raises `UsageError` for a chip whose machine code is not executed.
    """
    if backend != "emulator":
        return application
    from intelliperf.emulator.native import runtime_library
    from intelliperf.project.recipes import is_python
    from intelliperf.python.environment import presented

    if is_python(application.command[0], application.directory):
        return presented(application, target, runtime_library())
    given = dict(application.environment)
    known = given.get("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH"))
    places = os.pathsep.join([str(runtime_library().parent), *filter(None, [known])])
    return replace(application, environment=tuple({**given, "LD_LIBRARY_PATH": places}.items()))


def _chosen(target: str | None, application: Application, executor: Executor) -> tuple[str, str]:
    from intelliperf.project.recipes import is_hip_only

    if executor is not Executor.COMPILED:
        return "emulator", f"because --executor {executor.value} asks for it"
    if target is not None:
        return "emulator", f"because --target {target} names a chip to emulate"
    if Path("/dev/kfd").exists() and is_hip_only(application.project):
        return _amd()
    if not Path("/dev/nvidiactl").exists():
        return "emulator", "no GPU that this version drives is here"
    from intelliperf.cuda import driver_api, toolkit

    try:
        found = driver_api.device_name()
        toolkit.find_toolkit()
    except BackendUnavailable as error:
        return "emulator", f"there is an NVIDIA GPU, but {error}"
    if is_hip_only(application.project):
        return "emulator", f"this is a HIP program, and {found} runs CUDA; --backend cuda tries nonetheless"
    return "cuda", f"there is an {found}"


def _amd() -> tuple[str, str]:
    from intelliperf.profiling.rocprofv3 import find_rocprof

    try:
        found = find_rocprof()
    except BackendUnavailable as error:
        return "emulator", f"there is an AMD GPU, but {error}"
    return "rocm", f"there is an AMD GPU, and {found.name}"
