"""The embedded emulator as a `Backend`. What reads records is imported once there are some, after the build."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from intelliperf.devices import models as devices
from intelliperf.emulator.buildenvironment import build_environment, shim_directory
from intelliperf.emulator.decisive import decisive_gain
from intelliperf.emulator.schedules import seeded
from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.protocols import ApplicationProfile, BufferKey, Memory, Plans, Timing
from intelliperf.recordings.transplant import Space
from intelliperf.records import (
    ANY_KERNEL,
    Application,
    Check,
    CheckStatus,
    Device,
    Executor,
    Feature,
    Interception,
    Kernel,
    KernelProfile,
    Scope,
    SourceEvidence,
)

if TYPE_CHECKING:
    from intelliperf.emulator.altering import Seen
    from intelliperf.emulator.safety import LocatedFault
    from intelliperf.emulator.strict import StrictBuild
    from intelliperf.emulator.tracefiles import Trace
    from intelliperf.emulator.tracing import Tracer
    from intelliperf.records.timeline import Timeline

_DEVICE_FILE = "device"
_SEEN_FILE = "seen.json"
_OTHER_WAVE = {32: "mi300x", 64: "rx7900xtx"}  # by a HIP program's wave size: a chip of the other one

_VARIABLES = {
    Feature.KERNELS: "INTELLIPERF_EXPORT_KERNEL",
    Feature.BEFORE: "INTELLIPERF_EXPORT_BEFORE",
    Feature.LANE_ORDER: "INTELLIPERF_LANE_ORDER",
    Feature.BLOCK_ORDER: "INTELLIPERF_BLOCK_ORDER",
    Feature.PREEMPTION: "INTELLIPERF_PREEMPT",
    Feature.RESIDENT_BLOCKS: "INTELLIPERF_RESIDENT",
    Feature.POISON: "INTELLIPERF_POISON",
    Feature.LDS_POISON: "INTELLIPERF_LDS_POISON",
    Feature.NAN_RANK: "INTELLIPERF_NAN_RANK",
    Feature.MEMORY: "INTELLIPERF_MEMORY",
    Feature.OTHER_NUMBERS: "INTELLIPERF_OTHER_NUMBERS",
    Feature.OTHER_KEPT: "INTELLIPERF_OTHER_KEPT",
    Feature.OTHER_SHAPES: "INTELLIPERF_OTHER_SHAPES",
    Feature.OTHER_GRIDS: "INTELLIPERF_OTHER_GRIDS",
    Feature.OTHER_HELD: "INTELLIPERF_OTHER_HELD",
    Feature.OTHER_CONSTANTS: "INTELLIPERF_OTHER_CONSTANTS",
    Feature.OTHER_COMPILED: "INTELLIPERF_OTHER_COMPILED",
    Feature.OTHER_LIMITS: "INTELLIPERF_OTHER_LIMITS",
    Feature.OTHER_NAMED: "INTELLIPERF_OTHER_NAMED",
    Feature.OTHER_WIDTHS: "INTELLIPERF_OTHER_WIDTHS",
    Feature.OTHER_SECONDS: "INTELLIPERF_OTHER_SECONDS",
    Feature.OTHER_ALIKE: "INTELLIPERF_OTHER_ALIKE",
    Feature.OTHER_CANCELLING: "INTELLIPERF_OTHER_CANCELLING",
    Feature.OTHER_RACES: "INTELLIPERF_OTHER_RACES",
    Feature.OTHER_LAST: "INTELLIPERF_OTHER_LAST",
    Feature.APART: "INTELLIPERF_APART",
    Feature.ROUNDING: "INTELLIPERF_ROUNDING",
    Feature.CLOCK_SCALE: "INTELLIPERF_CLOCK_SCALE",
    Feature.SHADOW: "INTELLIPERF_SHADOW",
    Feature.TRACE: "INTELLIPERF_TRACE_DIR",
}


# Within the arena, whose base, granules and least room are the runtime's (memory.cpp, memory.h).
REPLAYED = Space(base=0x100000000000 + (64 << 20), page=4096, alignment=256, gap=3 << 20)


class EmulatorBackend:
    """Runs HIP and CUDA programs on the CPU and counts what they do. See `protocols.Backend`.

    `directory` is the run's own and takes the records. Without `target` each program runs on the
    default chip of its language, which is known once a program has run. `tell` gets lines about runs that take long.
    """

    name = "emulator"
    honours = frozenset({*_VARIABLES, Feature.LIVE_MEMORY, Feature.ROOMY_MEMORY, Feature.CHEAP_TRACES})

    def __init__(
        self,
        directory: Path,
        target: str | None = None,
        sandbox: Sandbox = UNCONFINED,
        executor: Executor = Executor.COMPILED,
        tell: Callable[[str], None] = lambda text: None,
        flush_l2: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._target = devices.resolve(target) if target is not None else None
        self._sandbox = sandbox
        self._executor = executor
        self._tell = tell
        self._flush_l2 = flush_l2  # before every launch
        self._began = int(clock())  # what `time` returns to each run at first
        self._line_notes: tuple[str, ...] = ()
        self._seen: Seen | None = None  # in this process

    @cached_property
    def _tracer(self) -> Tracer:
        from intelliperf.emulator.tracing import Tracer

        return Tracer(self._directory / "traces", self._run_environment, self._tell)

    def _run_environment(self) -> dict[str, str]:
        """How launches are timed, and the second in which the program believes to begin, as its seed may depend on it.

        For programs that compile at run time: where the compiler is, and for which chip.
        """
        target = {"INTELLIPERF_TARGET": self._target} if self._target else {}
        flush = {"INTELLIPERF_EMPTY_L2": "1"} if self._flush_l2 else {}
        own = {"INTELLIPERF_BEGAN": str(self._began), "INTELLIPERF_INSTALLATION": str(shim_directory().parent)}
        return {**target, **flush, **own}

    def probe(self) -> Device:
        """The chosen chip, else the one that the program was built for, else HIP's default."""
        target = self._target or self._built_for() or devices.DEFAULT_TARGETS["hip"]
        return replace(devices.record(target), least_gain=decisive_gain(target))

    def build_environment(self) -> Mapping[str, str]:
        """Raises `ToolchainError` where the drop-ins cannot be written to the cache."""
        target = {"INTELLIPERF_TARGET": self._target} if self._target else {}
        if self._executor is Executor.MACHINE:
            return {**build_environment(), **target, "INTELLIPERF_EXECUTOR": "machine"}
        return {**build_environment(), **target, "INTELLIPERF_SHADOWS": "1"}

    def lines_of(self, caller: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        from intelliperf.emulator.hostcalls import lines_of

        return lines_of(caller)

    def other_wave_build(self) -> Mapping[str, str]:
        wave = self._first_seen().hip_wave
        if self._target is not None or wave is None:
            return {}
        return {"INTELLIPERF_TARGET": _OTHER_WAVE[wave], "INTELLIPERF_FACTS": "0"}

    def rounded_build(self, way: str) -> Mapping[str, str]:
        return {}

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile:
        from intelliperf.emulator import collect

        run = self._tracer.trace(application, deadline_s)
        self._remember(run.trace)
        project, tolerates = application.project, application.tolerates
        return collect.application_profile(run.trace, run.exit_status, project, tolerates, run.said)

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        counted = {profile.kernel.symbol: profile for profile in self.profile(application, deadline_s).kernels}
        return tuple(
            replace(profile, quantities={**profile.quantities, **counted[profile.kernel.symbol].quantities})
            for profile in kernels
            if profile.kernel.symbol in counted
        )

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        from intelliperf.emulator.lines import kernel_lines, outside_note, unplaced_note

        run = self._tracer.trace(application, deadline_s)
        self._remember(run.trace)
        unplaced = unplaced_note(run.trace, kernel.symbol, application.project)
        self._line_notes = (unplaced,) if unplaced else ()
        found = kernel_lines(run.trace, kernel.symbol, application.project)
        if outside := outside_note(found, application.project):
            self._line_notes += (outside,)
        return found

    def timeline(self, application: Application, deadline_s: float) -> Timeline | None:
        from intelliperf.emulator.hostcalls import timeline_of

        run = self._tracer.trace(application, deadline_s)
        return timeline_of(run.trace, application.project)

    def line_notes(self) -> tuple[str, ...]:
        return self._line_notes

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        from intelliperf.emulator.tracing import blas_environment

        chosen = interception.variables(_VARIABLES)
        plan = self._first_seen().plans.get(kernel.symbol)
        if interception.preemption and plan is not None and plan.watched:  # lanes can be interrupted anywhere there
            chosen["INTELLIPERF_LOCKSTEP"] = "always"
        return {
            "INTELLIPERF_TRACE_DIR": "",
            "INTELLIPERF_EXPORT_KERNEL": kernel.symbol,
            **chosen,
            **blas_environment(),
            **self._run_environment(),
            **(plan.environment() if plan is not None else {}),
            **self._other_plans(kernel, interception),
            "INTELLIPERF_EXPORT_SOCKET": str(socket),
        }

    def _other_plans(self, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        """Where launches of other kernels are altered as well."""
        if interception.other_numbers is None or ANY_KERNEL not in (interception.kernels or ()):
            return {}
        from intelliperf.emulator.altering import lines_of

        plans = {name: plan for name, plan in self._first_seen().plans.items() if name != kernel.symbol}
        return {"INTELLIPERF_OTHER_PLANS": lines_of(plans)}

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory:
        from intelliperf.interception.arena import open_shared_arena

        return open_shared_arena(hello, descriptors)

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float, by_chance: bool = True
    ) -> tuple[Check, ...]:
        from intelliperf.emulator import safety
        from intelliperf.emulator.sourcelines import Project

        known = self._tracer.trace(reference, deadline_s).trace
        try:
            seen = self._tracer.trace(candidate, deadline_s, self._sandbox).trace
        except (ApplicationFailed, ProtocolError) as error:
            unseen = [Check(name, CheckStatus.NOT_RUN, "the traced run failed") for name in safety.CHECKS]
            return (Check("traced run", CheckStatus.FAILED, str(error)), *unseen)
        before = [*safety.located(known, Project(reference.project))]
        after = [*safety.located(seen, Project(candidate.project))]
        shown = self._interrupted(candidate, deadline_s, self._sandbox) if by_chance else ()
        if shown:
            before += self._interrupted(reference, deadline_s)
        racing = {(fault.kind, fault.kernel) for fault in before}  # what chance shows of these proves nothing new
        after += [fault for fault in shown if (fault.kind, fault.kernel) not in racing]
        return safety.compare(before, after, self.probe().vendor, safety.coverage_of(seen))

    def _interrupted(
        self, application: Application, deadline_s: float, sandbox: Sandbox = UNCONFINED
    ) -> Sequence[LocatedFault]:
        """What shows where blocks and lanes get on by chance; nothing where the run fails, which is for other gates."""
        from intelliperf.emulator import safety
        from intelliperf.emulator.sourcelines import Project

        try:
            trace = self._tracer.trace(application, deadline_s, sandbox, seeded(1)).trace
        except (ApplicationFailed, ProtocolError):
            return ()
        return safety.located(trace, Project(application.project))

    def strictness(self, application: Application, candidate: Application) -> Check:
        """The traced runs tell which kernels the real target's compiler took; see `strict`."""
        from intelliperf.emulator import strict

        return strict.check(self._built(application, UNCONFINED), self._built(candidate, self._sandbox))

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing:
        from intelliperf.emulator import timing

        before = self._tracer.trace(reference, deadline_s)
        after = self._tracer.trace(candidate, deadline_s, self._sandbox)
        measurements = timing.measurements(before.trace, after.trace, kernel)
        ended = (before.ended, after.ended) if before.ended is not None and after.ended is not None else None
        return Timing(measurements, notes=timing.notes(before.trace), ended=ended)

    def run_seconds(self, application: Application) -> float | None:
        return self._tracer.seconds(application)

    def is_long(self, application: Application) -> bool:
        return False

    def replayed(self, application: Application, plan: Path) -> Application:
        """The program itself: its runtime makes the launches where its main would begin."""
        environment = (*application.environment, ("INTELLIPERF_REPLAY", str(plan)))
        return replace(application, environment=environment, exit_status=0)

    def homes(self, recorded: Iterable[tuple[int, int, BufferKey]]) -> Mapping[BufferKey, BufferKey]:
        return {}

    def time_replayed(
        self, reference: Application, candidate: Application, plans: Plans, kernel: Kernel, deadline_s: float
    ) -> Timing:
        before, after = self.replayed(reference, plans[0]), self.replayed(candidate, plans[1])
        timed = self.time(before, after, kernel, deadline_s)
        return replace(timed, measurements=tuple(m for m in timed.measurements if m.scope is Scope.KERNEL))

    def adopt(self, application: Application, records: Path, exit_status: int, seconds: float) -> None:
        """See `protocols.KeepsTraces`."""
        self._tracer.adopt(application, records, exit_status, seconds)

    def forget(self) -> None:
        """Drop all records, so that the next question runs the program again."""
        self._tracer.forget()

    def _built(self, application: Application, sandbox: Sandbox) -> StrictBuild:
        from intelliperf.emulator.strict import StrictBuild

        trace = self._tracer.trace(application, _STRICTNESS_DEADLINE_S, sandbox).trace
        return StrictBuild(trace, application.project)

    def _remember(self, trace: Trace) -> None:
        """Keep the program's chip for `probe`, also in a resumed run that reads its profile from the journal.

        And of its kernels, as they were first seen, which numbers they are handed.
        """
        before = self._first_seen()
        self._seen = before.and_of(trace)
        if self._seen != before:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._seen.write(self._directory / _SEEN_FILE)
        targets = sorted({module.target for module in trace.modules.values()})
        if self._target is None and len(targets) == 1 and self._built_for() != targets[0]:
            self._directory.mkdir(parents=True, exist_ok=True)
            (self._directory / _DEVICE_FILE).write_text(targets[0] + "\n")

    def _first_seen(self) -> Seen:
        from intelliperf.emulator.altering import seen_before

        if self._seen is None:
            self._seen = seen_before(self._directory / _SEEN_FILE)
        return self._seen

    def _built_for(self) -> str | None:
        path = self._directory / _DEVICE_FILE
        return path.read_text().strip() if path.is_file() else None


_STRICTNESS_DEADLINE_S = 600.0
