"""`intelliperf doctor --amd`: the whole chain on an AMD GPU, step by step, and a bundle for a bug report.

Every step runs confined as the main job's runs are. Where there is no device, that is said once, and what needs none is
tried: compilers, the plugin, the tools library, the counters' tables, memory shared out of the sandbox.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from intelliperf import __version__
from intelliperf.cli.application import launcher_of
from intelliperf.cli.doctor import SELF_TEST, SELF_TEST_THREADS, Health, Observation
from intelliperf.cli.view import show
from intelliperf.errors import IntelliPerfError, ToolchainError
from intelliperf.processes.process import Child
from intelliperf.processes.sandbox import Sandbox
from intelliperf.records import ANY_KERNEL, Application, Interception, Launcher
from intelliperf.rocm.backend import RocmBackend

_DEADLINE_S = 120.0
_ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")  # tried where no device says its own
_AGAIN = "fix what the lines marked !! report, then run intelliperf doctor --amd again"


@dataclass
class _Chain:
    """One self-test under way; each step needs what the ones before it made."""

    root: Path
    launcher: Launcher
    backend: RocmBackend
    sandbox: Sandbox
    application: Application | None = None
    symbol: str = ""

    def built(self) -> Application:
        if self.application is None:
            raise IntelliPerfError("the probe was not built")
        return self.application

    def made(self, name: str) -> Path:
        """A directory of a step, which a sandbox needs before it starts."""
        place = self.root / name
        place.mkdir()
        return place


def examine_amd(launcher: str | None, emulated: bool, bundle: Path) -> int:
    """Print a verdict per step, write the bundle. Returns 0 where every step of the self-test passed."""
    said: list[str] = []
    causes: dict[str, str] = {}

    def tell(seen: Observation) -> None:
        seen = once(seen, causes)
        for line in (f"[{seen.state.value}] {seen.subject}: {seen.detail}", f"     remedy: {seen.remedy}"):
            if not line.endswith("remedy: ") and (seen.state is not Health.GOOD or line.startswith("[")):
                said.append(line)
                show(f"{line}\n", sys.stdout, headline=False)

    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        root = Path(name)
        chosen = launcher_of(launcher, emulated, Path.cwd())
        sandbox = Sandbox.probe(root)
        chain = _Chain(root, chosen, RocmBackend(root / "device", None, sandbox, chosen), sandbox)
        for seen in (*_versions(), *_permissions(), _confinement(sandbox)):
            tell(seen)
        found = _verdict("device", _device, chain)
        tell(found)
        bad = found.state is Health.BAD
        for step, work in (_WITHOUT_DEVICE if bad else _STEPS).items():
            seen = _verdict(step, work, chain)
            bad |= seen.state is Health.BAD
            tell(seen)
        if found.state is Health.BAD:
            tell(Observation("not tried without a device", Health.OPTIONAL, ", ".join(_STEPS), _AGAIN))
        (root / "doctor.txt").write_text("\n".join(said) + "\n")
        with tarfile.open(bundle, "w:gz") as archive:
            archive.add(root, arcname="intelliperf-doctor-amd", filter=_small)
    print(f"bundle for a bug report: {bundle}")
    return 1 if bad else 0


def once(seen: Observation, causes: dict[str, str]) -> Observation:
    """What several steps lack is told of the first of them; `causes` has that one by what was told, and grows."""
    first = causes.setdefault(seen.detail, seen.subject)
    if seen.state is Health.GOOD or first == seen.subject:
        return seen
    return Observation(seen.subject, seen.state, f"for the same reason as {first}")


def default_bundle() -> Path:
    return Path(f"intelliperf-doctor-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz")


def _small(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Logs and recordings; whatever is larger than a megabyte says nothing more."""
    return member if not member.isfile() or member.size < 1 << 20 else None


def _verdict(step: str, work: Callable[[_Chain], str], chain: _Chain) -> Observation:
    """What is wrong with one step must not hide what is wrong with the next."""
    try:
        return Observation(step, Health.GOOD, work(chain))
    except (IntelliPerfError, OSError) as error:
        has_substitute = work in (_instrumentation, _recorder) and isinstance(error, ToolchainError)  # the line table
        return Observation(step, Health.OPTIONAL if has_substitute else Health.BAD, str(error))


def _versions() -> Iterator[Observation]:
    from importlib.metadata import PackageNotFoundError, version

    from intelliperf.profiling.rocprofv3 import find_rocprof
    from intelliperf.rocm import stack

    yield Observation("intelliperf", Health.GOOD, f"{__version__} on Linux {platform.release()}")
    looks: dict[str, Callable[[], object]] = {
        "HSA headers": lambda: (
            f"{stack.hsa_headers().directory}, interface {stack.hsa_headers().interface or 'unknown'}"
        ),
        "rocprofv3": lambda: find_rocprof().name,
    }
    for subject, look in looks.items():
        try:
            yield Observation(subject, Health.GOOD, str(look()))
        except IntelliPerfError as error:
            yield Observation(subject, Health.BAD, str(error))
    try:
        yield Observation("hip-python", Health.GOOD, version("hip-python"))
    except PackageNotFoundError:
        how = "pip install 'intelliperf[amd]'"
        yield Observation("hip-python", Health.OPTIONAL, "not installed: buffers are opened by HSA itself", how)


def _permissions() -> Iterator[Observation]:
    """Of the driver's file the device's own line tells; these tell no cause twice."""
    from intelliperf.profiling.rocprofv3 import permission_problem
    from intelliperf.rocm.probe import mixed_releases

    problem = permission_problem(Path(os.devnull))  # of the driver's file the device's line tells
    yield Observation("performance counters", Health.OPTIONAL if problem else Health.GOOD, problem or "allowed")
    mixed = mixed_releases("", os.environ)
    if mixed:
        yield Observation("ROCm's releases", Health.BAD, mixed)


def _confinement(sandbox: Sandbox) -> Observation:
    if sandbox.available:
        return Observation("sandbox", Health.GOOD, "available: every step below runs in it, as candidates do")
    how = "sudo sysctl kernel.unprivileged_userns_clone=1, or in a container --security-opt seccomp=unconfined"
    return Observation("sandbox", Health.OPTIONAL, sandbox.reason, how)


def _compilers(chain: _Chain) -> str:
    """One of the architectures is enough: which the device will have is not known."""
    from intelliperf.rocm.compilers import find_compiler

    builds: dict[str, list[str]] = {}
    refused, without = "", []
    for architecture in _ARCHITECTURES:
        try:
            builds.setdefault(find_compiler(architecture).describe(), []).append(architecture)
        except ToolchainError as error:
            refused = refused or str(error)
            without.append(architecture)
    if not builds:
        raise ToolchainError(refused)
    told = [f"{words} builds for {', '.join(chips)}" for words, chips in builds.items()]
    return "; ".join([*told, f"nothing here builds for {', '.join(without)}"] if without else told)


def _recorder(chain: _Chain) -> str:
    from intelliperf.rocm.passplugin import recorder

    for architecture in _ARCHITECTURES:
        with contextlib.suppress(ToolchainError):
            found = recorder(architecture)
            return f"loaded by {found.describe() or found.compiler.version}"
    recorder(_ARCHITECTURES[0])
    raise ToolchainError("no compiler here loads it")


def _library(chain: _Chain) -> str:
    from intelliperf.rocm.native import tools_library

    return f"{tools_library().name} was built against the HSA headers"


def _tables(chain: _Chain) -> str:
    from intelliperf.profiling.rocprofv3 import pack
    from intelliperf.rocm.counters import needed

    passes = {chip: (len(needed(chip)), len(pack(needed(chip), chip))) for chip in _ARCHITECTURES[:4]}
    return ", ".join(f"{chip}: {count} counters in {number} passes" for chip, (count, number) in passes.items())


_SENDER = """
import os, socket, sys
memory = os.memfd_create("probe")
os.write(memory, bytes(range(256)))
with socket.socket(socket.AF_UNIX) as there:
    there.connect(sys.argv[1])
    socket.send_fds(there, [b"x"], [memory])
"""


def _shared_memory(chain: _Chain) -> str:
    """How copies of buffers come out of the sandbox where no handle does."""
    place = chain.made("shared")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "socket"))
        listener.listen(1)
        listener.settimeout(_DEADLINE_S)
        argv = [sys.executable, "-I", "-c", _SENDER, str(place / "socket")]
        started = time.monotonic()
        with Child(chain.sandbox.wrap(argv, [place]), place, {}, place, "sender"):
            connection, _ = listener.accept()
            with connection:
                _, files, _, _ = socket.recv_fds(connection, 1, 1)
    seconds = time.monotonic() - started
    with open(files[0], "rb") as memory:  # noqa: PTH123 (a descriptor)
        if os.pread(memory.fileno(), 256, 0) != bytes(range(256)):
            raise IntelliPerfError("what came out of the sandbox is not what was written in it")
    where = "the sandbox" if chain.sandbox.available else "another process"
    return f"256 bytes came out of {where} unchanged in {seconds:.2f} s"


def _device(chain: _Chain) -> str:
    device = chain.backend.probe()
    kind = f"no hardware but {device.runs_on}" if device.emulated else "hardware"
    units = device.limits.compute_units
    return "; ".join(
        (f"{device.name} ({device.architecture}, {units} compute units), {kind}", *chain.backend.restricted)
    )


def _build(chain: _Chain) -> str:
    from intelliperf.project.scratch import Workspace
    from intelliperf.rocm.compilers import find_compiler

    source = chain.root / "source"
    source.mkdir()
    (source / "probe.hip").write_text(SELF_TEST)
    build = (("hipcc", "-O2", "-o", "probe", "probe.hip"),)
    application = Application(("./probe",), source, source, build, launcher=chain.launcher)
    workspace = Workspace.create(application, chain.root / "work")
    built = workspace.build(chain.backend.build_environment(), 300.0, chain.root / "build")
    if not built.ok:
        raise IntelliPerfError(f"the probe does not build: {'; '.join(built.errors)}")
    chain.application = workspace.application
    architecture = chain.backend.probe().architecture
    return f"{find_compiler(architecture).describe()} made a program of one kernel for {architecture}"


def _trace(chain: _Chain) -> str:
    (profile,) = chain.backend.profile(chain.built(), _DEADLINE_S).kernels
    chain.symbol = profile.kernel.symbol
    return f"{profile.kernel.name} took {profile.device_time_ns[0]:.0f} ns ({profile.time_provenance.value})"


def _counters(chain: _Chain) -> str:
    profiles = chain.backend.profile(chain.built(), _DEADLINE_S).kernels
    (counted,) = chain.backend.quantities(chain.built(), profiles, _DEADLINE_S)
    new = set(counted.quantities) - set(profiles[0].quantities)
    if not new:
        raise IntelliPerfError("; ".join(counted.notes) or "no counter was read")
    return f"{len(new)} quantities from counters"


def _code_object(chain: _Chain) -> str:
    from intelliperf.records import AccessKind, Kernel

    symbol = _symbol(chain)
    lines = chain.backend.lines(chain.built(), Kernel(symbol, "probe"), _DEADLINE_S)
    accesses = [item for item in lines if item.access not in (AccessKind.KERNEL, AccessKind.CODE)]
    if not accesses:
        raise IntelliPerfError("no access of the probe has a source line")
    places = ", ".join(sorted({f"{item.file.name}:{item.line}" for item in accesses}))
    return f"{len(accesses)} accesses at {places}"


def _samples(chain: _Chain) -> str:
    """Not every device takes them, so that their absence is told and not held against it."""
    _symbol(chain)
    return "; ".join(chain.backend.line_notes()) or "not tried"


def _symbol(chain: _Chain) -> str:
    chain.built()
    if not chain.symbol:
        raise IntelliPerfError("no kernel of the probe was seen, by rocprofv3 or by our tools library")
    return chain.symbol


def _interception(chain: _Chain) -> str:
    from intelliperf.interception.messages import Dispatch
    from intelliperf.records import Kernel
    from intelliperf.validation.runs.lockstep import Setting, record
    from intelliperf.validation.runs.side import SideRun

    logs = chain.made("tools")
    setting = Setting(chain.backend, Kernel(chain.symbol or "*", "probe"), chain.sandbox, logs, _DEADLINE_S)
    events, _ = record(setting, SideRun("probe", chain.built(), Interception(kernels=(ANY_KERNEL,))))
    launches = [event for event in events if isinstance(event, Dispatch)]
    if not launches or len(launches[0].parameters) != 3:
        raise IntelliPerfError(
            "the tools library saw no dispatch with its three arguments: is another tool registered?"
        )
    chain.symbol = chain.symbol or launches[0].kernel
    geometry = launches[0].grid[0] * launches[0].block[0]
    if geometry != SELF_TEST_THREADS:
        raise IntelliPerfError(f"a dispatch of {geometry} threads was seen, {SELF_TEST_THREADS} were launched")
    return f"{len(launches)} dispatch of {geometry} threads with its arguments"


def _buffers(chain: _Chain) -> str:
    """Every buffer by its handle, if that can be, and as the application copies it: both must be the same."""
    from intelliperf.interception.messages import Dispatch
    from intelliperf.interception.wire import Deadline
    from intelliperf.records import Kernel
    from intelliperf.validation.runs.side import Side, SideRun

    deadline = Deadline.after(_DEADLINE_S)
    run = SideRun("buffers", chain.built(), Interception(kernels=(ANY_KERNEL,)))
    kernel = Kernel(chain.symbol or "*", "probe")
    slowest = 0.0
    with Side(run, chain.backend, kernel, chain.made("buffers"), chain.sandbox) as side:
        side.connect(deadline)
        dispatch = side.next(deadline)
        if not isinstance(dispatch, Dispatch):
            raise IntelliPerfError("the tools library saw no dispatch")
        for allocation in dispatch.allocations:
            started = time.monotonic()
            content = side.read(allocation)
            if allocation is not dispatch.allocations[0]:  # with the first, the process that opens handles starts
                slowest = max(slowest, time.monotonic() - started)
            if content != side.copied(allocation, deadline):
                raise IntelliPerfError(f"the buffer of {allocation.size} bytes reads otherwise in another process")
        ways = "; ".join(f"{len(buffers)} {way}" for way, buffers in sorted(side.ways.items()))
        loaded = side.hello.raw.get("way") if side.hello is not None else None
    same = f"the same bytes as the application's copies; the slowest took {slowest:.2f} s"
    return f"{ways or 'all copied by the application'}; {same}; calls seen through {loaded}"


def _instrumentation(chain: _Chain) -> str:
    from intelliperf.records import AccessKind, Kernel
    from intelliperf.rocm import recording

    kernel = Kernel(_symbol(chain), "probe")
    logs = chain.made("records")
    with recording.recording_beside(chain.built(), kernel, chain.backend.probe(), _DEADLINE_S, logs) as recording_of:
        recorded = recording_of()
        (dispatch,) = recorded.recorded
        stored = sum(
            figures["lanes"]
            for access, figures in zip(recorded.accesses, dispatch.figures, strict=True)
            if access.operation.access is AccessKind.STORE
        )
    if stored != SELF_TEST_THREADS:
        raise IntelliPerfError(f"{stored:,.0f} stores were recorded, {SELF_TEST_THREADS} threads store once")
    return f"{SELF_TEST_THREADS} stores of one kernel were recorded, with their addresses"


_STEPS: dict[str, Callable[[_Chain], str]] = {
    "build": _build,
    "trace": _trace,
    "counters": _counters,
    "tools library": _interception,  # tells the kernel's symbol, too, where nothing was traced
    "buffers": _buffers,
    "source lines": _code_object,
    "PC samples": _samples,
    "instrumentation": _instrumentation,
}
_WITHOUT_DEVICE: dict[str, Callable[[_Chain], str]] = {
    "compilers": _compilers,
    "plugin that records accesses": _recorder,
    "tools library's build": _library,
    "counters' tables": _tables,
    "shared host memory": _shared_memory,
}
