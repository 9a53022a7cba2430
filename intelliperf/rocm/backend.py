"""An AMD GPU under ROCm as a `Backend`: real, or an emulated one below the real runtime."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.errors import (
    ApplicationFailed,
    BackendUnavailable,
    NotReplayable,
    SourceNotFound,
    ToolchainError,
    UsageError,
)
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.profiling import pairs
from intelliperf.profiling.rocprofv3 import Trace, application_profile, collect, find_rocprof, trace
from intelliperf.protocols import ApplicationProfile, BufferKey, Memory, Plans, Timing
from intelliperf.records import (
    Application,
    Check,
    CheckStatus,
    Device,
    Interception,
    Kernel,
    KernelProfile,
    Launcher,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)
from intelliperf.records.timeline import Timeline
from intelliperf.rocm import (
    codeobject,
    compilers,
    counters,
    ipc,
    lines,
    linetimes,
    native,
    probe,
    recording,
    recordlines,
    surroundings,
    threadtrace,
    toolchain,
)
from intelliperf.rocm.agreement import kind_of
from intelliperf.rocm.codeobject import Accesses
from intelliperf.rocm.lines import Code
from intelliperf.rocm.linetimes import LineTimes
from intelliperf.rocm.metadata import KernelNeeds, kernel_needs
from intelliperf.rocm.recording import Recording
from intelliperf.rocm.samples import NAMES, Samples, interval_for, sampled_lines, take
from intelliperf.rocm.symbols import plain

_NO_LAUNCHER = Launcher()
_UNCHECKED = ("races", "out of bounds", "uninitialised reads")


@dataclass(frozen=True)
class _Lines:
    """`whole`: what was known of the kernel when these were looked up."""

    whole: Mapping[Metric, Quantity]
    evidence: tuple[SourceEvidence, ...]
    notes: tuple[str, ...]


class RocmBackend:
    """Runs HIP programs as they are. See `protocols.Backend`.

    `directory` is the run's own and takes the records. Hardware decides the order of
    lanes and blocks, and its clock cannot be skewed: what an interception asks of these is left out.
    """

    name = "rocm"
    honours = native.HONOURED

    def __init__(
        self,
        directory: Path,
        target: str | None = None,
        sandbox: Sandbox = UNCONFINED,
        launcher: Launcher = _NO_LAUNCHER,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        if target is not None:
            raise UsageError("--target names a chip to emulate; on real hardware the chip is what is there")
        self._directory = directory
        self._sandbox = sandbox
        self._launcher = launcher
        self._tell = tell
        self.restricted: tuple[str, ...] = ()  # what of the GPUs programs cannot use, once the device was asked
        self._mixed = ""
        self._device: Device | None = None
        self._isa = ""  # the device's architecture with its settings, as "gfx90a:sramecc+:xnack-"
        self._runs = 0
        self._reader: ipc.IpcReader | None = None
        self._line_notes: tuple[str, ...] = ()
        self._lines: dict[tuple[Path, int, str], _Lines] = {}
        self._samples: dict[tuple[Path, int, str, int], Samples] = {}
        self._run_ns: dict[tuple[Path, int], float] = {}  # of a program's kernels and copies
        self._whole: dict[tuple[Path, int, str], Mapping[Metric, Quantity]] = {}
        self._modelled: dict[tuple[Application, tuple[Path, int]], list[Trace]] = {}

    def probe(self) -> Device:
        """The first GPU that the runtime shows, under the launcher. Raises `BackendUnavailable`.

        And `UsageError` before anything is built where another tool would keep ours out.
        """
        native.refuse_other_tools(os.environ)
        if self._device is None:
            declared = f"what {Path(self._launcher.words[0]).name} emulates" if self._launcher.emulates else None
            told = probe.ask(self._launcher.words, {}, self._logs("probe"))
            self._device = probe.device_record(told, declared)
            self._isa = str(told.get("isa") or "").rpartition("--")[2] or self._device.architecture
            self.restricted = probe.hidden_or_parted(told, self._launcher.words, self._device)
            self._mixed = probe.mixed_releases(str(told.get("runtime") or ""), os.environ)
            for text in self._warnings():
                self._tell(text)
        return self._device

    def _warnings(self) -> list[str]:
        return [*filter(None, [self._mixed]), *self.restricted]

    @property
    def _timing(self) -> Provenance:
        return Provenance.MODELLED if self.probe().emulated else Provenance.MEASURED

    def build_environment(self) -> Mapping[str, str]:
        """Raises `ToolchainError` where nothing here builds HIP."""
        return toolchain.build_environment(self.probe().architecture)

    def other_wave_build(self) -> Mapping[str, str]:
        return {}

    def rounded_build(self, way: str) -> Mapping[str, str]:
        return {}

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile:
        self.probe()
        self._refuse_other_code(application)
        try:
            traced = self._traced(application, deadline_s, UNCONFINED)
        except ApplicationFailed as error:
            raise ApplicationFailed(f"{error}{self._hint(application)}") from error
        if self.probe().emulated:
            self._modelled.setdefault((application, _identity(application)), []).append(traced)
        self._run_ns[_identity(application)] = traced.device_time_ns
        seen = application_profile(traced, timing=self._timing)
        return replace(seen, kernels=tuple(_plainly(kernel) for kernel in seen.kernels))

    def _refuse_other_code(self, application: Application) -> None:
        """Raises `UsageError` where the program has device code, and none for this device."""
        try:
            targets = codeobject.targets(_program(application))
        except ToolchainError:
            return  # a script, say
        problem = surroundings.wrong_code(targets, self._isa)
        if problem:
            raise UsageError(problem)

    def _hint(self, application: Application) -> str:
        """What in the machine may be why the application fails."""
        hints = self._warnings()
        with contextlib.suppress(ToolchainError):
            program, architecture = _program(application), self.probe().architecture
            images = codeobject.code_objects(program, architecture, self._logs("codeobjects"))
            hints += [surroundings.STRIPPED for image in images[:1] if codeobject.without_symbols(image)]
            hints += [surroundings.COMPRESSED] if codeobject.is_compressed(program) else []
        return "".join(f"; {hint}" for hint in hints)

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        """Where no counters are available, the profiles say why."""
        device = self.probe()
        names = [profile.kernel.symbol for profile in kernels]
        try:
            counted = collect(
                find_rocprof(),
                application,
                names,
                counters.needed(device.architecture),
                device.architecture,
                deadline_s,
                self._logs("counters"),
                application.launcher.words,
            )
        except BackendUnavailable as error:
            return tuple(replace(k, notes=(*k.notes, f"no hardware counters: {error}")) for k in kernels)
        widths, needs, note = self._code(application)
        done = []
        for profile in kernels:
            symbol = profile.kernel.symbol
            known = counters.with_quantities(profile, counted, widths.get(symbol), device, needs.get(symbol))
            done.append(replace(known, notes=(*known.notes, note)) if note else known)
            key = (*_identity(application), profile.kernel.symbol)
            self._whole[key] = known.quantities
        return tuple(done)

    def _code(self, application: Application) -> tuple[Mapping[str, Accesses], Mapping[str, KernelNeeds], str]:
        """What machine code and metadata tell, by symbol, and a note where they are not known."""
        scratch = self._logs("codeobjects")
        widths: dict[str, Accesses] = {}
        needs: dict[str, KernelNeeds] = {}
        try:
            images = codeobject.code_objects(_program(application), self.probe().architecture, scratch)
            for image in images:
                needs.update({plain(symbol): one for symbol, one in kernel_needs(image).items()})
            for symbol, accesses in codeobject.from_images(images, self.probe().architecture, scratch).items():
                widths[plain(symbol)] = accesses
        except ToolchainError as error:
            return widths, needs, f"how many bytes its lanes ask for is not known: {error}"
        return widths, needs, ""

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        """What instrumented code records of each access; where it cannot be had, the machine code's line table.

        And time, by PC samples or a thread trace. What is counted for the whole kernel is told of its lines.
        A program whose lines are known is not built with records and run again: a report asks once more.
        """
        key = (*_identity(application), kernel.symbol)
        whole = self._whole.get(key, {})
        if key not in self._lines or self._lines[key].whole != whole:
            self._lines[key] = self._looked_up(application, kernel, deadline_s, whole)
        self._line_notes = self._lines[key].notes
        return self._lines[key].evidence

    def _looked_up(
        self, application: Application, kernel: Kernel, deadline_s: float, whole: Mapping[Metric, Quantity]
    ) -> _Lines:
        # The build with records needs the processor, the runs that find times per line the device.
        with recording.recording_beside(
            application, kernel, self.probe(), deadline_s, self._logs("records")
        ) as recorded:
            times = self._line_times(application, kernel, deadline_s)
            return self._lines_by(application, kernel, whole, times, recorded)

    def _lines_by(
        self,
        application: Application,
        kernel: Kernel,
        whole: Mapping[Metric, Quantity],
        times: LineTimes,
        recorded: Callable[[], Recording],
    ) -> _Lines:
        device = self.probe()
        project = application.project
        seen = lines.Seen(whole, times, device.wave_size)
        scratch = self._logs("lines")
        code: Code | Exception
        try:
            objects = codeobject.code_objects(_program(application), device.architecture, scratch)
            code = lines.kernel_code(objects, kernel, scratch)
        except (ToolchainError, SourceNotFound) as error:
            code = error  # its code is in a library, say
        try:
            own = code if isinstance(code, Code) else None
            found = recordlines.recorded_lines(recorded(), kernel, project, whole, own)
        except (ToolchainError, ApplicationFailed) as error:
            if isinstance(code, Exception):
                raise SourceNotFound(f"{kernel.name}: {code}") from code
            reason = str(error).splitlines()[0]
            way = f"from the line table of its machine code, because no accesses were recorded: {reason}"
            accesses = lines.kernel_lines(code, kernel, project, seen, way)
        else:
            way = "from what instrumented code recorded"
            accesses = found.evidence
            for kind, reason in found.left_out.items():
                way += f", but {kind.value} from the line table ({reason})"
                if isinstance(code, Code):
                    known = lines.kernel_lines(code, kernel, project, seen, reason)
                    accesses += tuple(item for item in known if kind_of(item.access, item.space) is kind)
        notes = (f"lines of {kernel.name}: {way}; {times.describe()}",)
        beside = lines.beside_accesses(code, kernel, project, seen) if isinstance(code, Code) else ()
        return _Lines(whole, (*beside, *accesses), notes)

    def timeline(self, application: Application, deadline_s: float) -> Timeline | None:
        return None

    def line_notes(self) -> tuple[str, ...]:
        return self._line_notes

    def _line_times(self, application: Application, kernel: Kernel, deadline_s: float) -> LineTimes:
        """By the best way that works here; see linetimes.py for their order."""
        try:
            rocprof = find_rocprof()
        except BackendUnavailable as error:
            return linetimes.none(str(error))
        device = self.probe()
        words, architecture = application.launcher.words, device.architecture
        whole = self._whole.get((*_identity(application), kernel.symbol), {})
        taking = whole[Metric.DEVICE_TIME_NS].value if Metric.DEVICE_TIME_NS in whole else None

        def sampled(method: str) -> Callable[[], LineTimes]:
            def by_samples() -> LineTimes:
                run_ns = self._run_ns.get(_identity(application), 0.0)
                interval = interval_for(method, taking, run_ns, device.limits)
                key = (*_identity(application), method, interval)
                if key not in self._samples:  # one run tells of all kernels of such a duration
                    logs = self._logs("samples")
                    self._samples[key] = take(rocprof, application, method, interval, device, deadline_s, logs, words)
                return sampled_lines(self._samples[key], kernel, application.project)

            return by_samples

        def traced() -> LineTimes:
            logs = self._logs("threadtrace")
            return threadtrace.trace_lines(
                rocprof, application, kernel, application.project, architecture, deadline_s, logs, words
            )

        return linetimes.best(
            {
                f"{NAMES['stochastic']} samples": sampled("stochastic"),
                "thread trace": traced,
                f"{NAMES['host_trap']} samples": sampled("host_trap"),
            }
        )

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        native.refuse_other_tools(os.environ)
        exported = native.export_environment(socket, kernel, interception)
        handles = ipc.reachable_handles(os.environ, self._sandbox.available)
        return {**exported, **handles, **_scratch(socket.parent)}

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory:
        if self._reader is None:
            logs = self._logs("ipc")
            self._reader = ipc.IpcReader(self._launcher.words, logs, confined=self._sandbox.available)
        return ipc.open_memory(hello, descriptors, self._reader)

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float, by_chance: bool = True
    ) -> tuple[Check, ...]:
        """ROCm has no tool that finds these in a program as it is."""
        return tuple(
            Check(name, CheckStatus.NOT_RUN, "not checked: ROCm has no tool for it; --backend emulator checks it")
            for name in _UNCHECKED
        )

    def strictness(self, application: Application, candidate: Application) -> Check:
        """The build itself is the real target's."""
        architecture = self.probe().architecture
        detail = f"built by {compilers.find_compiler(architecture).describe()} for {architecture}"
        return Check("real-target compile", CheckStatus.PASSED, detail)

    def run_seconds(self, application: Application) -> float | None:
        return None

    def is_long(self, application: Application) -> bool:
        return False

    def replayed(self, application: Application, plan: Path) -> Application:
        raise NotReplayable("recorded dispatches are not replayed on AMD hardware yet")

    def homes(self, recorded: Iterable[tuple[int, int, BufferKey]]) -> Mapping[BufferKey, BufferKey]:
        return {}

    def time_replayed(
        self, reference: Application, candidate: Application, plans: Plans, kernel: Kernel, deadline_s: float
    ) -> Timing:
        raise NotReplayable("recorded dispatches are not replayed on AMD hardware yet")

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        """Traced runs, interleaved; a kernel that the candidate adds counts with the kernel."""
        known: set[str] = set()

        def sample(seen: Trace, symbols: Callable[[set[str]], set[str]]) -> pairs.Sample:
            own = symbols({plain(done.symbol) for done in seen.dispatches})
            spent = sum(done.duration_ns for done in seen.dispatches if plain(done.symbol) in own)
            if spent <= 0:
                raise ApplicationFailed(f"{kernel.name} was not launched, so that there is no time to compare")
            return pairs.Sample(float(spent), float(seen.device_time_ns))

        def original(ran: set[str]) -> set[str]:
            known.update(ran)
            return {kernel.symbol}

        def changed(ran: set[str]) -> set[str]:
            return {kernel.symbol} | (ran - known)

        # The original confined like the candidate, so that both are treated alike.
        def before() -> pairs.Sample:
            return sample(self._traced(reference, deadline_s, self._sandbox), original)

        def after() -> pairs.Sample:
            return sample(self._traced(candidate, deadline_s, self._sandbox), changed)

        if not self.probe().emulated:
            compared = pairs.compare(before, after, deadline_s)
            return Timing(compared.measurements, None, compared.notes)
        note = f"times are those of {self.probe().runs_on}: a model, in which nothing was measured"
        twice = [sample(seen, original) for seen in self._modelled_twice(reference, deadline_s)]
        again = [sample(seen, changed) for seen in self._modelled_twice(candidate, deadline_s)]
        exact = pairs.without_noise(twice, again)
        if exact:
            return Timing(exact, None, (note,))
        compared = replace(pairs.compare(before, after, deadline_s), provenance=Provenance.MODELLED)
        return Timing(compared.measurements, None, (note, *compared.notes))

    def _modelled_twice(self, application: Application, deadline_s: float) -> Sequence[Trace]:
        """Two runs, those that there were included: where both agree, a model's clock tells nothing new in a third."""
        known = self._modelled.setdefault((application, _identity(application)), [])
        while len(known) < 2:
            known.append(self._traced(application, deadline_s, self._sandbox))
        return known[:2]

    def _traced(self, application: Application, deadline_s: float, sandbox: Sandbox) -> Trace:
        logs = self._logs("trace")
        # Everything that is started, the profiler too, runs in the sandbox.
        environment = tuple({**dict(application.environment), **_scratch(logs)}.items())
        names = [name for name, _ in environment]
        writable = (application.project, logs)
        launcher = sandbox.wrap(application.launcher.words, writable=writable, names=names, traces=True)
        return trace(find_rocprof(), replace(application, environment=environment), deadline_s, logs, launcher)

    def _logs(self, purpose: str) -> Path:
        self._runs += 1
        logs = self._directory / purpose / f"{self._runs:04d}"
        logs.mkdir(parents=True, exist_ok=True)
        return logs


def _scratch(directory: Path) -> dict[str, str]:
    """HIP compiles kernels of its own when it starts, and in a sandbox only named directories can be written."""
    return {"TMPDIR": str(directory)}


def _plainly(profile: KernelProfile) -> KernelProfile:
    return replace(profile, kernel=replace(profile.kernel, symbol=plain(profile.kernel.symbol)))


def _program(application: Application) -> Path:
    name = application.command[0]
    return application.directory / name if os.sep in name else Path(shutil.which(name) or name)


def _identity(application: Application) -> tuple[Path, int]:
    program = _program(application)
    return program, program.stat().st_mtime_ns if program.exists() else 0
