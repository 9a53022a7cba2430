"""Runs a program whose kernel records its accesses, and counts what they cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from threading import Event

from intelliperf.counting import NATIVE
from intelliperf.errors import ApplicationFailed, ToolchainError
from intelliperf.interception.building import built, run_tool
from intelliperf.processes.endings import ended_well
from intelliperf.processes.process import output_of, run
from intelliperf.project.scratch import Workspace
from intelliperf.records import AccessKind, Application, Device, Kernel, MemorySpace
from intelliperf.rocm import native, toolchain
from intelliperf.rocm.compilers import as_text
from intelliperf.rocm.machinesites import MachineAccess, Module, read_module
from intelliperf.rocm.passplugin import recorder
from intelliperf.rocm.symbols import plain

_HERE = Path(__file__).resolve().parent
_SOURCES = (
    *sorted((_HERE / "counting").glob("*.[ch]*")),
    *(_HERE / "native" / name for name in ("records.h", "recordfile.h")),
    *sorted(NATIVE.glob("*.[ch]*")),
)
_FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra")
_BUFFER_BYTES = 256 << 20
_MOST_RUNS = 3
_RESERVE = 1.1
_COUNT_DEADLINE_S = 300.0
_SPACES = {MemorySpace.GLOBAL: "g", MemorySpace.SHARED: "l", MemorySpace.LOCAL: "p", MemorySpace.MIXED: "f"}
_KINDS = {AccessKind.LOAD: "l", AccessKind.STORE: "s", AccessKind.ATOMIC: "a", AccessKind.REDUCTION: "a"}
_FATES = (
    "recorded",
    "beyond the limit",
    "not instrumented",
    "no memory for the records",
    "ran beside another that recorded",
)


@dataclass(frozen=True)
class RecordedDispatch:
    """`figures` has an entry per machine access of `Recording.accesses`; see counting/figures.h for their names."""

    identity: str
    fate: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    groups: int
    recorded_groups: int
    waves_per_group: int
    wave_size: int
    wanted_words: int
    kept_words: int
    figures: tuple[Mapping[str, float], ...]

    @property
    def complete(self) -> bool:
        """Nothing of the recorded work-groups was lost for want of room."""
        return self.kept_words == self.wanted_words


@dataclass(frozen=True)
class Recording:
    accesses: tuple[MachineAccess, ...]
    dispatches: tuple[RecordedDispatch, ...]
    modules: tuple[Module, ...]
    workspace: Workspace  # in which the instrumented program was built
    compiler: str = ""  # that built it in place of the user's own, and why

    @property
    def recorded(self) -> tuple[RecordedDispatch, ...]:
        return tuple(one for one in self.dispatches if one.fate == _FATES[0])


@lru_cache(maxsize=1)
def counting_program() -> Path:
    """The program that counts, built if need be. Raises `ToolchainError`."""

    def compile_all(compiler: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        run_tool([compiler, *_FLAGS, f"-I{copy}", *sources, "-o", str(made)])

    files = {path.name: path.read_bytes() for path in _SOURCES}
    return built("rocm", "count-records", files, _FLAGS, compile_all)


@contextmanager
def recording_beside(
    application: Application, kernel: Kernel, device: Device, deadline_s: float, logs: Path
) -> Iterator[Callable[[], Recording]]:
    """Builds the project once more, with records, beside what its user does meanwhile.

    What it yields waits for the build and runs it until the records have room, three times at most. The build is gone
    afterwards. It raises `ToolchainError` where the kernel cannot be made to record, `ApplicationFailed` where it does
    not run.
    """
    workspace = Workspace.create(application, logs / "instrumented")
    stopped = Event()
    try:
        with ThreadPoolExecutor(1) as beside:
            building = beside.submit(_instrumented, workspace, kernel, device, deadline_s, logs, stopped)
            try:
                yield lambda: _recorded(workspace, building.result(), kernel, device, deadline_s, logs)
            finally:
                stopped.set()
    finally:
        workspace.remove()


def _recorded(
    workspace: Workspace, modules: tuple[Module, ...], kernel: Kernel, device: Device, deadline_s: float, logs: Path
) -> Recording:
    words = 0
    for attempt in range(_MOST_RUNS):
        place = logs / f"records{attempt}"
        place.mkdir()
        environment = native.record_environment(place / "records", plain(kernel.symbol), _BUFFER_BYTES, words)
        _run(workspace.application, environment, kernel, deadline_s, place)
        compiler = recorder(device.architecture).describe()
        found = Recording(*_counted(modules, place, device), modules, workspace, compiler)
        if not found.recorded:
            fates = ", ".join(sorted({one.fate for one in found.dispatches})) or "it was not launched"
            raise ToolchainError(f"nothing of {kernel.name} was recorded: {fates}")
        if all(one.complete for one in found.recorded):
            break
        # A sample of the work-groups may want more than another of the same size.
        words = max(
            ceil(_RESERVE * one.wanted_words / (one.recorded_groups * one.waves_per_group)) for one in found.recorded
        )
    return found


def _instrumented(
    workspace: Workspace, kernel: Kernel, device: Device, deadline_s: float, logs: Path, stopped: Event
) -> tuple[Module, ...]:
    """Builds the project so that the kernel records."""

    def look() -> None:
        if stopped.is_set():
            raise ToolchainError("the build with records was stopped")

    if not workspace.original.build_commands:
        raise ToolchainError("there is no build command to build the kernel with records")
    architecture = device.architecture
    recording_build = instrumentation((kernel.symbol,), logs, architecture)
    environment = {**toolchain.build_environment(architecture), **recording_build}
    done = workspace.build(environment, deadline_s, logs, look)
    if not done.ok:
        raise ToolchainError(f"with records {done.complaint()}")
    modules = read_modules(sites_directory(logs))
    if not any(plain(kernel.symbol) in module.kernels for module in modules):
        raise ToolchainError(f"no compilation that our compiler saw holds {kernel.name}")
    return modules


def sites_directory(logs: Path) -> Path:
    return logs / "sites"


def instrumentation(kernels: Iterable[str], logs: Path, architecture: str) -> dict[str, str]:
    """The environment in which our compiler drop-ins make the kernels record. Raises `ToolchainError`."""
    found = recorder(architecture)
    place = sites_directory(logs)
    place.mkdir(parents=True, exist_ok=True)
    return {
        toolchain.PLUGIN: str(found.plugin),
        **({toolchain.RECORDER: as_text(found.compiler)} if found.why else {}),
        "INTELLIPERF_SITES": str(place),
        "INTELLIPERF_INSTRUMENT": ",".join(plain(symbol) for symbol in kernels),
    }


def read_modules(sites: Path) -> tuple[Module, ...]:
    return tuple(read_module(table) for table in sorted(sites.glob("*.json")))


def _run(
    application: Application, variables: Mapping[str, str], kernel: Kernel, deadline_s: float, place: Path
) -> None:
    environment = {**dict(application.environment), **variables, "TMPDIR": str(place)}
    done = run(application.argv, application.directory, deadline_s, place, "run", environment)
    if not ended_well(done, application):
        raise ApplicationFailed(f"with records of {kernel.name} the application ends with {done.describe()}")


def _counted(
    modules: Sequence[Module], place: Path, device: Device
) -> tuple[tuple[MachineAccess, ...], tuple[RecordedDispatch, ...]]:
    return counted(modules, sorted(place.glob("records.*")), device, place)


def counted(
    modules: Sequence[Module], files: Sequence[Path], device: Device, place: Path
) -> tuple[tuple[MachineAccess, ...], tuple[RecordedDispatch, ...]]:
    """The machine accesses of the modules, and what each dispatch in the record files did with them."""
    owners = [(module.identity, access) for module in modules for access in module.accesses]
    plan = place / "plan"
    plan.write_text("".join(_plan_line(identity, access) for identity, access in owners))
    dispatches = []
    for file in files:
        argv = [str(counting_program()), str(plan), str(device.limits.lds_banks), str(file)]
        done, out, err = output_of(argv, _COUNT_DEADLINE_S)
        if not done.ok:
            raise ToolchainError(f"the records cannot be counted: {err.strip() or done.describe()}")
        dispatches += [_dispatch(json.loads(line)) for line in out.splitlines()]
        file.unlink()
    return tuple(access for _, access in owners), tuple(dispatches)


def _plan_line(identity: str, access: MachineAccess) -> str:
    parts = " ".join(f"{part.displacement} {part.width}" for part in access.parts)
    space, kind = _SPACES[access.site.space], _KINDS[access.operation.access]
    return f"{identity} {access.site.number} {space} {kind} {parts}\n"


def _dispatch(told: Mapping[str, object]) -> RecordedDispatch:
    def whole(name: str) -> int:
        value = told[name]
        assert isinstance(value, int)
        return value

    grid, block, figures = told["grid"], told["block"], told["figures"]
    assert isinstance(grid, list) and isinstance(block, list) and isinstance(figures, list)
    return RecordedDispatch(
        identity=str(told["identity"]),
        fate=_FATES[whole("fate")],
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        groups=grid[0] * grid[1] * grid[2],
        recorded_groups=whole("recorded_groups"),
        waves_per_group=whole("waves_per_group"),
        wave_size=whole("wave_size"),
        wanted_words=whole("wanted_words"),
        kept_words=whole("kept_words"),
        figures=tuple(figures),
    )
