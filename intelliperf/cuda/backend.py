"""A real NVIDIA GPU as a `Backend`."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.cuda import (
    activity,
    counters,
    driver_api,
    lines,
    native,
    refetching,
    replaying,
    roofline,
    rounding,
    sass,
    toolchain,
)
from intelliperf.cuda.clocks import Gpu, open_gpu, watching
from intelliperf.cuda.comparing import DeviceComparer, open_memory
from intelliperf.cuda.inlining import Located, chains_of
from intelliperf.cuda.probe import device_record
from intelliperf.cuda.sanitizer import Sanitizer
from intelliperf.cuda.symbols import pattern
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.errors import ApplicationFailed, BackendUnavailable, UsageError
from intelliperf.processes.endings import check_ended_well
from intelliperf.processes.process import Completed, run
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.profiling import pairs as timing
from intelliperf.profiling.ncu import ProfiledKernel, find_ncu
from intelliperf.profiling.ncu import profile as profile_kernel
from intelliperf.protocols import ApplicationProfile, BufferKey, Memory, Plans, Timing
from intelliperf.records import (
    Application,
    Check,
    CheckStatus,
    Device,
    Interception,
    Kernel,
    KernelProfile,
    Metric,
    Provenance,
    SourceEvidence,
)
from intelliperf.records.timeline import Timeline

_PLACE = "on the GPU"


class CudaBackend:
    """Runs CUDA programs as they are and measures them. See `protocols.Backend`.

    `directory` is the run's own and takes the records. Hardware decides the order of
    lanes and blocks, and its clock cannot be skewed: what an interception asks of these is left out.
    """

    name = "cuda"
    honours = native.HONOURED

    def __init__(
        self, directory: Path, target: str | None = None, sandbox: Sandbox = UNCONFINED, flush_l2: bool = False
    ) -> None:
        if target is not None:
            raise UsageError("--target names a chip to emulate; on real hardware the chip is what is there")
        self._directory = directory
        self._sandbox = sandbox
        self._flush_l2 = flush_l2  # before every dispatch of the kernel that is timed
        self._device: Device | None = None
        self._sanitizer: Sanitizer | None = None
        self._runs = 0
        self._comparer: DeviceComparer | None = None
        self._profiled: dict[tuple[Application, int, str], tuple[ProfiledKernel, ...]] = {}
        self._reached: dict[tuple[Application, int, str], tuple[int | None, str]] = {}
        self._long: dict[Application, tuple[activity.Activity, Completed]] = {}  # profiled runs of what takes long …
        self._once: dict[Application, tuple[activity.Activity, Completed]] = {}  # … and those of candidates

    def probe(self) -> Device:
        """The first GPU that the driver shows. Raises `BackendUnavailable`."""
        if self._device is None:
            self._device = device_record(driver_api.device_name(), driver_api.attributes())
        return self._device

    def build_environment(self) -> Mapping[str, str]:
        """Raises `ToolchainError` where there is no nvcc."""
        return toolchain.build_environment(self.probe().architecture)

    def other_wave_build(self) -> Mapping[str, str]:
        return {}

    def rounded_build(self, way: str) -> Mapping[str, str]:
        return rounding.rounding_environment(find_toolkit(), way, toolchain.REAL_NVCC)

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile:
        """One run under CUPTI activity records."""
        seen, completed = self._traced(application, deadline_s, UNCONFINED)
        if completed.seconds >= _LONG_S:
            self._long[application] = seen, completed
        return activity.application_profile(seen, completed.exit_status or 0)

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        """Where no counters are available, the profiles say why, and what the machine code shows by itself."""
        try:
            return tuple(self._with_counts(application, kernel, deadline_s) for kernel in kernels)
        except BackendUnavailable as error:
            why = f"no hardware counters: {error}"
            return tuple(
                replace(kernel, notes=(*kernel.notes, why, *self._observed(application, kernel.kernel)))
                for kernel in kernels
            )

    def _with_counts(self, application: Application, profile: KernelProfile, deadline_s: float) -> KernelProfile:
        launches = self._counted(application, profile.kernel, deadline_s)
        seen = counters.with_quantities(profile, launches)
        if not launches or not refetching.worth_a_run(seen, launches[0]):
            return seen
        key = (*_identity(application), profile.kernel.symbol)
        if key not in self._reached:
            logs = self._logs("reach")
            self._reached[key] = refetching.reached(self, application, profile.kernel, deadline_s, logs)
        return refetching.bounded(seen, launches[0].metrics, *self._reached[key])

    def _observed(self, application: Application, kernel: Kernel) -> tuple[str, ...]:
        seen = sass.observations(self._chains(application, kernel.symbol), application.project)
        if not seen and self._disassembler() is None:
            return ("its machine code was not looked at: the toolkit has no cuobjdump or no nvdisasm",)
        return seen or ("its machine code was not found in the program",)

    def _counted(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[ProfiledKernel, ...]:
        """ncu's report of the kernel's first dispatch, made once per build."""
        key = (*_identity(application), kernel.symbol)
        if key not in self._profiled:
            logs = self._logs("counters")
            self._profiled[key] = profile_kernel(
                find_ncu(), application, pattern(kernel.symbol), counters.METRICS, deadline_s, logs
            )
        return self._profiled[key]

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        (profiled, *_) = self._counted(application, kernel, deadline_s)
        serialization = counters.with_quantities(_EMPTY, (profiled,)).quantities.get(Metric.ATOMIC_SERIALIZATION)
        return lines.kernel_lines(
            profiled,
            self._chains(application, profiled.symbol),
            kernel,
            application,
            serialization.value if serialization is not None else None,
        )

    def _chains(self, application: Application, symbol: str) -> Mapping[int, Located]:
        """Inline chains by offset; empty where the toolkit lacks the disassembler."""
        tools = self._disassembler()
        if tools is None:
            return {}
        scratch = self._logs("disassembly")
        found = chains_of(_with_device_code(application), self.probe().architecture, *tools, scratch)
        return found.get(symbol, {})

    def _disassembler(self) -> tuple[Path, Path] | None:
        """cuobjdump and nvdisasm."""
        toolkit = find_toolkit()
        cuobjdump, nvdisasm = toolkit.tool("cuobjdump"), toolkit.tool("nvdisasm")
        return None if cuobjdump is None or nvdisasm is None else (cuobjdump, nvdisasm)

    def timeline(self, application: Application, deadline_s: float) -> Timeline | None:
        return None

    def line_notes(self) -> tuple[str, ...]:
        return ()

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        return native.export_environment(socket, kernel, interception)

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory:
        return open_memory(hello, descriptors, self._comparing())

    def _comparing(self) -> DeviceComparer:
        if self._comparer is None:
            self._comparer = DeviceComparer(self.probe().architecture)
        return self._comparer

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float, by_chance: bool = True
    ) -> tuple[Check, ...]:
        if self._sanitizer is None:
            self._sanitizer = Sanitizer(find_toolkit(), self._logs("sanitizer"), self._sandbox)
        replayed = replaying.played(reference) is not None
        return self._sanitizer.checks(reference, candidate, kernel, deadline_s, replayed)

    def strictness(self, application: Application, candidate: Application) -> Check:
        """The build itself is the real target's."""
        detail = f"built by the real nvcc {find_toolkit().version} and run on {self.probe().architecture}"
        return Check("real-target compile", CheckStatus.PASSED, detail)

    def run_seconds(self, application: Application) -> float | None:
        return None

    def is_long(self, application: Application) -> bool:
        return application in self._long

    def replayed(self, application: Application, plan: Path) -> Application:
        """Our own process, which has no host code of the application in it; see `player`."""
        return replaying.launching(application, _program(application), plan)

    def homes(self, recorded: Iterable[tuple[int, int, BufferKey]]) -> Mapping[BufferKey, BufferKey]:
        return replaying.homes(recorded)

    def time_replayed(
        self, reference: Application, candidate: Application, plans: Plans, kernel: Kernel, deadline_s: float
    ) -> Timing:
        """Both kernels in one process, in turn by the toss of a coin, by CUPTI's records."""
        if self._comparer is not None:
            self._comparer.close()
        logs = self._logs("replayed")
        flush = native.Flush.of(kernel.symbol) if self._flush_l2 else None
        programs = _program(reference), _program(candidate)
        gpu = _watched_gpu()
        with gpu if gpu is not None else contextlib.nullcontext(), watching(gpu) as watch:
            compared = replaying.timed(candidate, programs, plans, logs, self._sandbox, flush, deadline_s)
        return replaying.timing_of(compared, watch.conditions, flush is not None, plans[0])

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        """Runs under activity records, interleaved; a kernel that the candidate adds counts with the kernel."""
        if self._comparer is not None:
            self._comparer.close()  # leave nothing on the device while others are timed
        if self.is_long(reference):
            return self._timed_once(reference, candidate, kernel, deadline_s)
        known: set[str] = set()
        gpu = _watched_gpu()
        flush = native.Flush.of(kernel.symbol) if self._flush_l2 else None
        flushed = [0, 0]  # dispatches after a flush, and all

        def sample(application: Application, symbols: Callable[[set[str]], set[str]]) -> timing.Sample:
            with watching(gpu) as watch:
                # The original confined like the candidate: starting the sandbox takes wall time, too.
                seen, completed = self._traced(application, deadline_s, self._sandbox, flush)
            own = symbols({done.symbol for done in seen.kernels})
            dispatches = [done for done in seen.kernels if done.symbol in own]
            flushed[0] += sum(done.after_flush for done in dispatches)
            flushed[1] += len(dispatches)
            spent = sum(done.duration_ns for done in dispatches)
            if spent <= 0:
                raise ApplicationFailed(f"{kernel.name} was not launched, so that there is no time to compare")
            return timing.Sample(float(spent), float(seen.total_ns), completed.seconds * 1e9, watch.conditions)

        def original(ran: set[str]) -> set[str]:
            known.update(ran)
            return {kernel.symbol}

        with gpu if gpu is not None else contextlib.nullcontext():
            compared = timing.compare(
                lambda: sample(reference, original),
                lambda: sample(candidate, lambda ran: {kernel.symbol} | (ran - known)),
                deadline_s,
            )
        floor_ns, told = self._under_the_roof(candidate, kernel, deadline_s)
        notes = (*compared.notes, told) if flush is None else (*compared.notes, told_of_flush(*flushed), told)
        return Timing(compared.measurements, floor_ns, notes)

    def _timed_once(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        """One run of each, that of the original being the profiled one; one pair leaves a wide interval."""
        if candidate not in self._once:
            self._once[candidate] = self._traced(candidate, deadline_s, self._sandbox)
        before, after = self._long[reference], self._once[candidate]
        known = {done.symbol for done in before[0].kernels}
        added = {done.symbol for done in after[0].kernels} - known
        pair = timing.Pair(_sample(*before, {kernel.symbol}), _sample(*after, {kernel.symbol} | added))
        if min(pair.baseline.kernel_ns, pair.candidate.kernel_ns) <= 0:
            raise ApplicationFailed(f"{kernel.name} was not launched, so that there is no time to compare")
        told = f"one run of each version was timed, as one takes {before[1].seconds:.0f} s"
        return Timing(timing.Comparison((pair,)).measurements, None, (told, "not held against the roofline, for time"))

    def _under_the_roof(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[float | None, str]:
        """The kernel's floor from its first dispatch, those of the others being unknown; and how near it comes."""
        try:
            (first, *_) = self._counted(application, kernel, deadline_s)
        except (ApplicationFailed, BackendUnavailable) as error:
            return None, f"not held against the roofline: {error}"
        counted = roofline.counted(first)
        limits = self.probe().limits
        return roofline.floor_ns([counted], limits), roofline.told(counted, limits)

    def _traced(
        self, application: Application, deadline_s: float, sandbox: Sandbox, flush: native.Flush | None = None
    ) -> tuple[activity.Activity, Completed]:
        """One run under CUPTI activity records. Raises `ApplicationFailed`."""
        logs = self._logs("activity")
        records = logs / "records"
        environment = {**dict(application.environment), **native.trace_environment(records, flush)}
        argv = sandbox.wrap(application.argv, writable=(application.project, logs), names=[*environment])
        completed = run(argv, application.directory, deadline_s, logs, "run", environment)
        check_ended_well(completed, application, _PLACE)
        found = sorted(logs.glob("records.*"))
        if not found:
            raise ApplicationFailed(
                f"{application.command[0]} ran to its end but never called the CUDA driver: it has no GPU part"
            )
        return activity.read(found, flush.name if flush is not None else ""), completed

    def _logs(self, purpose: str) -> Path:
        self._runs += 1
        logs = self._directory / purpose / f"{self._runs:04d}"
        logs.mkdir(parents=True, exist_ok=True)
        return logs


_LONG_S = 5.0  # of a run: judged by whole runs, a patch costs thirty of them
_EMPTY = KernelProfile(Kernel("", ""), 1, (), (), Provenance.MEASURED, 0.0)


def told_of_flush(flushed: int, dispatches: int) -> str:
    """For the report."""
    if flushed == 0:
        return f"the L2 was emptied before none of the {dispatches} timed dispatches of the kernel: are they in graphs?"
    some = f"{flushed} of the {dispatches}" if flushed < dispatches else f"each of the {dispatches}"
    return (
        f"the L2 was emptied before {some} timed dispatches of the kernel, by writing twice its size; the times of "
        "whole processes include that, and other kernels find less in the L2"
    )


def _watched_gpu() -> Gpu | None:
    """For clocks and throttling; times are taken without, where NVML is missing."""
    try:
        return open_gpu()
    except BackendUnavailable:
        return None


def _program(application: Application) -> Path:
    name = application.command[0]
    return application.directory / name if os.sep in name else Path(shutil.which(name) or name)


def _with_device_code(application: Application) -> Path:
    return replaying.played(application) or _program(application)


def _identity(application: Application) -> tuple[Application, int]:
    program = _with_device_code(application)
    return application, program.stat().st_mtime_ns if program.exists() else 0


def _sample(seen: activity.Activity, completed: Completed, symbols: Collection[str]) -> timing.Sample:
    spent = sum(done.duration_ns for done in seen.kernels if done.symbol in symbols)
    return timing.Sample(float(spent), float(seen.total_ns), completed.seconds * 1e9)
