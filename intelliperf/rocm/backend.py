"""An AMD GPU under ROCm as a `Backend`: real, or an emulated one below the real runtime."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.arena import open_shared_arena
from intelliperf.errors import ApplicationFailed, BackendUnavailable, SourceNotFound, ToolchainError, UsageError
from intelliperf.profiling import pairs
from intelliperf.profiling.rocprofv3 import Trace, application_profile, collect, find_rocprof, trace
from intelliperf.protocols import ApplicationProfile, Memory, Timing
from intelliperf.records import (
    Application,
    Check,
    CheckStatus,
    Device,
    Kernel,
    KernelProfile,
    Launcher,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)
from intelliperf.rocm import codeobject, counters, lines, native, probe, recording, recordlines, toolchain
from intelliperf.rocm.codeobject import Accesses
from intelliperf.rocm.symbols import plain
from intelliperf.sandbox import UNCONFINED, Sandbox

_NO_LAUNCHER = Launcher()
_UNCHECKED = ("races", "accesses out of bounds", "uninitialised reads")


class RocmBackend:
    """Runs HIP programs as they are. See `protocols.Backend`.

    `directory` is the run's own and takes the records. There is no order of lanes and blocks to choose and no clock
    to skew: those interception options are left out.
    """

    name = "rocm"
    honours = frozenset({"kernels", "poison"})

    def __init__(
        self,
        directory: Path,
        target: str | None = None,
        sandbox: Sandbox = UNCONFINED,
        launcher: Launcher = _NO_LAUNCHER,
    ) -> None:
        if target is not None:
            raise UsageError("--target names a chip to emulate; on real hardware the chip is what is there")
        self._directory = directory
        self._sandbox = sandbox
        self._launcher = launcher
        self._device: Device | None = None
        self._runs = 0
        self._whole: dict[tuple[Path, int, str], Mapping[Metric, Quantity]] = {}

    def probe(self) -> Device:
        """The first GPU that the runtime shows, under the launcher. Raises `BackendUnavailable`."""
        if self._device is None:
            declared = f"what {Path(self._launcher.words[0]).name} emulates" if self._launcher.emulates else None
            told = probe.ask(self._launcher.words, {}, self._logs("probe"))
            self._device = probe.device_record(told, declared)
        return self._device

    @property
    def _timing(self) -> Provenance:
        return Provenance.MODELLED if self.probe().emulated else Provenance.MEASURED

    def build_environment(self) -> Mapping[str, str]:
        """Raises `ToolchainError` where nothing here builds HIP."""
        return toolchain.build_environment(self.probe().architecture)

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile:
        seen = application_profile(self._traced(application, deadline_s, UNCONFINED), timing=self._timing)
        return replace(seen, kernels=tuple(_plainly(kernel) for kernel in seen.kernels))

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        """Where there are no counters to be had, the profiles say why."""
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
        widths, note = self._accesses(application)
        done = []
        for profile in kernels:
            known = counters.with_quantities(profile, counted, widths.get(profile.kernel.symbol), device)
            done.append(replace(known, notes=(*known.notes, note)) if note else known)
            key = (*_identity(application), profile.kernel.symbol)
            self._whole[key] = known.quantities
        return tuple(done)

    def _accesses(self, application: Application) -> tuple[Mapping[str, Accesses], str]:
        """By symbol, and a note where they are not known."""
        scratch = self._logs("codeobjects")
        try:
            found = codeobject.from_program(_program(application), self.probe().architecture, scratch)
        except ToolchainError as error:
            return {}, f"how many bytes its lanes ask for is not known: {error}"
        return {plain(symbol): accesses for symbol, accesses in found.items()}, ""

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        """What instrumented code records of each access; where it cannot be had, the machine code's line table."""
        whole = self._whole.get((*_identity(application), kernel.symbol), {})
        try:
            return self._recorded_lines(application, kernel, deadline_s, whole)
        except (ToolchainError, ApplicationFailed) as error:
            way = f"the line table alone, because no accesses were recorded: {str(error).splitlines()[0]}"
        scratch = self._logs("lines")
        try:
            code = codeobject.code_objects(_program(application), self.probe().architecture, scratch)
            return lines.kernel_lines(code, kernel, application.project, whole, scratch, way)
        except ToolchainError as error:
            raise SourceNotFound(f"{kernel.name}: {error}") from error

    def _recorded_lines(
        self, application: Application, kernel: Kernel, deadline_s: float, whole: Mapping[Metric, Quantity]
    ) -> tuple[SourceEvidence, ...]:
        logs = self._logs("records")
        names: Sequence[str] | None = None
        try:
            code = codeobject.code_objects(_program(application), self.probe().architecture, logs)
            names = [item.text for item in lines.memory_instructions(code, kernel, logs)[1]]
        except (ToolchainError, SourceNotFound):
            pass  # its code is in a library, say
        with recording.record(application, kernel, self.probe(), deadline_s, logs) as recorded:
            return recordlines.recorded_lines(recorded, kernel, application.project, whole, names)

    def intercept_environment(self, socket: Path, kernel: Kernel, options: Mapping[str, str]) -> Mapping[str, str]:
        exported = native.export_environment(socket, options.get("kernels", kernel.symbol), options.get("poison"))
        return {**exported, **_scratch(socket.parent)}

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory:
        return open_shared_arena(hello, descriptors)

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float
    ) -> tuple[Check, ...]:
        """ROCm has no tool that finds these in a program as it is."""
        return tuple(
            Check(name, CheckStatus.NOT_RUN, "not checked: ROCm has no tool for it; --backend emulator checks it")
            for name in _UNCHECKED
        )

    def strictness(self, application: Application, candidate: Application) -> Check:
        """The build itself is the real target's."""
        detail = f"built by {toolchain.find_compiler().version} for {self.probe().architecture}"
        return Check("real-target compile", CheckStatus.PASSED, detail)

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        """Traced runs, interleaved; a kernel that the candidate adds counts with the kernel."""
        known: set[str] = set()

        def sample(application: Application, symbols: Callable[[set[str]], set[str]]) -> pairs.Sample:
            # The original confined like the candidate, so that both are treated alike.
            seen = self._traced(application, deadline_s, self._sandbox)
            own = symbols({plain(done.symbol) for done in seen.dispatches})
            spent = sum(done.duration_ns for done in seen.dispatches if plain(done.symbol) in own)
            if spent <= 0:
                raise ApplicationFailed(f"{kernel.name} was not launched, so that there is no time to compare")
            return pairs.Sample(float(spent), float(seen.device_time_ns))

        def original(ran: set[str]) -> set[str]:
            known.update(ran)
            return {kernel.symbol}

        def before() -> pairs.Sample:
            return sample(reference, original)

        def after() -> pairs.Sample:
            return sample(candidate, lambda ran: {kernel.symbol} | (ran - known))

        if not self.probe().emulated:
            compared = pairs.compare(before, after, deadline_s)
            return Timing(compared.measurements, None, compared.notes)
        note = f"times are those of {self.probe().runs_on}: a model, in which nothing was measured"
        exact = pairs.without_noise(before, after)
        if exact:
            return Timing(exact, None, (note,))
        compared = replace(pairs.compare(before, after, deadline_s), provenance=Provenance.MODELLED)
        return Timing(compared.measurements, None, (note, *compared.notes))

    def _traced(self, application: Application, deadline_s: float, sandbox: Sandbox) -> Trace:
        logs = self._logs("trace")
        # Everything that is started, the profiler too, runs in the sandbox.
        launcher = sandbox.wrap(application.launcher.words, writable=(application.project, logs))
        environment = tuple({**dict(application.environment), **_scratch(logs)}.items())
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
