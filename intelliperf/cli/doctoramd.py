"""`intelliperf doctor --amd`: the whole chain on an AMD GPU, step by step, and a bundle for a bug report."""

from __future__ import annotations

import grp
import os
import platform
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from intelliperf import __version__
from intelliperf.cli.application import launcher_of
from intelliperf.cli.doctor import SELF_TEST, SELF_TEST_THREADS, Health, Observation
from intelliperf.errors import IntelliPerfError, ToolchainError
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Launcher
from intelliperf.rocm.backend import RocmBackend

_DEADLINE_S = 120.0
_KFD = Path("/dev/kfd")
_GROUPS = ("render", "video")


@dataclass
class _Chain:
    """One self-test under way; each step needs what the ones before it made."""

    root: Path
    launcher: Launcher
    backend: RocmBackend
    application: Application | None = None
    symbol: str = ""

    def built(self) -> Application:
        if self.application is None:
            raise IntelliPerfError("the probe was not built")
        return self.application


def examine_amd(launcher: str | None, emulated: bool, bundle: Path) -> int:
    """Print a verdict per step, write the bundle. Returns 0 where every step of the self-test passed."""
    said: list[str] = []

    def tell(seen: Observation) -> None:
        for line in (f"[{seen.state.value}] {seen.subject}: {seen.detail}", f"     remedy: {seen.remedy}"):
            if not line.endswith("remedy: ") and (seen.state is not Health.GOOD or line.startswith("[")):
                said.append(line)
                print(line)

    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        root = Path(name)
        chosen = launcher_of(launcher, emulated, Path.cwd())
        chain = _Chain(root, chosen, RocmBackend(root / "device", None, UNCONFINED, chosen))
        for seen in (*_versions(), *_permissions()):
            tell(seen)
        bad = False
        for step, work in _STEPS.items():
            seen = _verdict(step, work, chain)
            bad |= seen.state is Health.BAD
            tell(seen)
        (root / "doctor.txt").write_text("\n".join(said) + "\n")
        with tarfile.open(bundle, "w:gz") as archive:
            archive.add(root, arcname="intelliperf-doctor-amd", filter=_small)
    print(f"bundle for a bug report: {bundle}")
    return 1 if bad else 0


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
        has_substitute = work is _instrumentation and isinstance(error, ToolchainError)  # the line table
        return Observation(step, Health.OPTIONAL if has_substitute else Health.BAD, str(error))


def _versions() -> Iterator[Observation]:
    from importlib.metadata import PackageNotFoundError, version

    from intelliperf.profiling.rocprofv3 import find_rocprof
    from intelliperf.rocm import compilers, stack

    yield Observation("intelliperf", Health.GOOD, f"{__version__} on Linux {platform.release()}")
    looks: dict[str, Callable[[], object]] = {
        "compiler": lambda: compilers.find_compiler("gfx90a").describe(),
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
        yield Observation("hip-python", Health.OPTIONAL, "not installed: buffers are opened by HSA itself")


def _permissions() -> Iterator[Observation]:
    from intelliperf.profiling.rocprofv3 import permission_problem

    readable = os.access(_KFD, os.R_OK | os.W_OK)
    state = Health.GOOD if readable else Health.OPTIONAL
    detail = "open to you" if readable else "closed to you" if _KFD.exists() else "absent: no AMD kernel driver here"
    remedy = "sudo usermod -a -G render,video $USER, then log in again" if _KFD.exists() else "load the amdgpu driver"
    yield Observation(str(_KFD), state, detail, remedy)
    own = {entry.gr_name for entry in grp.getgrall() if entry.gr_gid in os.getgroups()}
    inside = [name for name in _GROUPS if name in own]
    told = f"you are in {' and '.join(inside)}" if inside else f"you are in neither {' nor '.join(_GROUPS)}"
    enter = "sudo usermod -a -G render,video $USER, then log in again; in a container, --group-add render"
    yield Observation("groups", Health.GOOD if inside else Health.OPTIONAL, told, enter)
    problem = permission_problem()
    yield Observation("performance counters", Health.OPTIONAL if problem else Health.GOOD, problem or "allowed")


def _device(chain: _Chain) -> str:
    device = chain.backend.probe()
    kind = f"no hardware but {device.runs_on}" if device.emulated else "hardware"
    return f"{device.name} ({device.architecture}, {device.limits.compute_units} compute units), {kind}"


def _build(chain: _Chain) -> str:
    from intelliperf.project.scratch import Workspace

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
    return "hipcc made a program of one kernel"


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
        raise IntelliPerfError("no kernel of the probe was traced")
    return chain.symbol


def _interception(chain: _Chain) -> str:
    from intelliperf.interception.messages import Dispatch
    from intelliperf.records import Kernel
    from intelliperf.validation.runs.lockstep import Setting, record
    from intelliperf.validation.runs.side import Run

    setting = Setting(
        chain.backend, Kernel(chain.symbol or "*", "probe"), UNCONFINED, chain.root / "tools", _DEADLINE_S
    )
    events, _ = record(setting, Run("probe", chain.built(), {"kernels": "*"}))
    launches = [event for event in events if isinstance(event, Dispatch)]
    if not launches or len(launches[0].parameters) != 3:
        raise IntelliPerfError(
            "the tools library saw no dispatch with its three arguments: is another tool registered?"
        )
    geometry = launches[0].grid[0] * launches[0].block[0]
    if geometry != SELF_TEST_THREADS:
        raise IntelliPerfError(f"a dispatch of {geometry} threads was seen, {SELF_TEST_THREADS} were launched")
    return f"{len(launches)} dispatch of {geometry} threads with its arguments"


def _buffers(chain: _Chain) -> str:
    """Every buffer by its handle, if that can be, and as the application copies it: both must be the same."""
    from intelliperf.interception.messages import Dispatch
    from intelliperf.interception.wire import Deadline
    from intelliperf.records import Kernel
    from intelliperf.validation.runs.side import Run, Side

    deadline = Deadline.after(_DEADLINE_S)
    run = Run("buffers", chain.built(), {"kernels": "*"})
    with Side(run, chain.backend, Kernel(chain.symbol or "*", "probe"), chain.root / "buffers", UNCONFINED) as side:
        side.connect(deadline)
        dispatch = side.next(deadline)
        if not isinstance(dispatch, Dispatch):
            raise IntelliPerfError("the tools library saw no dispatch")
        for allocation in dispatch.allocations:
            if side.read(allocation) != side.copied(allocation, deadline):
                raise IntelliPerfError(f"the buffer of {allocation.size} bytes reads otherwise in another process")
        ways = "; ".join(f"{len(buffers)} {way}" for way, buffers in sorted(side.ways.items()))
    return f"{ways or 'all copied by the application'}; the same bytes as the application's copies"


def _instrumentation(chain: _Chain) -> str:
    from intelliperf.records import AccessKind, Kernel
    from intelliperf.rocm import recording

    kernel = Kernel(chain.symbol, "probe")
    logs = chain.root / "records"
    logs.mkdir()
    with recording.record(chain.built(), kernel, chain.backend.probe(), _DEADLINE_S, logs) as recorded:
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
    "device": _device,
    "build": _build,
    "trace": _trace,
    "counters": _counters,
    "source lines": _code_object,
    "PC samples": _samples,
    "tools library": _interception,
    "buffers": _buffers,
    "instrumentation": _instrumentation,
}
