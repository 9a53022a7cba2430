"""Candidates meet recorded dispatches before the whole application: what is refused there costs no run of it.

A replay of the original and one of the candidate are applications like any other (`Backend.replayed`), so the gates
that look at them are the judge's own: buffers in lock-step, then time, then orders, sanitizers and the rest. A model's
candidate meets other numbers before its time, and a given patch, of which its author wants to know whether it is right,
is timed last. A refusal there is final. What wins there
meets the whole application once, with all others that won, at the end of the run.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.errors import ApplicationFailed, NotReplayable, ProtocolError, StorageFull
from intelliperf.processes.process import Completed
from intelliperf.processes.sandbox import Sandbox
from intelliperf.project.versions import KEPT_CODE, compiles_late
from intelliperf.protocols import Backend, Plans
from intelliperf.recordings import latecode
from intelliperf.recordings.contents import HOST_KINDS, Recording
from intelliperf.recordings.file import SUFFIX, RecordingFile
from intelliperf.recordings.image import Shape, make_ready, reshaped, shapes_of
from intelliperf.recordings.trailers import with_shapes
from intelliperf.records import (
    Application,
    CheckStatus,
    Feature,
    Kernel,
    KernelProfile,
    OriginKind,
    Outcome,
    Scope,
)
from intelliperf.sentences import number
from intelliperf.validation.buffers.algebra import Account
from intelliperf.validation.calibration import Calibration
from intelliperf.validation.edits.hostcode import Host, Needs, compare
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.pairing import Key
from intelliperf.validation.runs.recording import Wanted, deviations, record_dispatches
from intelliperf.validation.runs.relaunching import Relaunched, relaunched
from intelliperf.validation.timing import time_refusal
from intelliperf.validation.trial import Case, Rejection, Trial

NAME = "recorded dispatches"
RECORDINGS = "recordings"  # a folder of the run directory
_CANNOT = "cannot replay: "  # what replaying processes say before they end
_LEAST_SECONDS = 2.0  # of a whole run: where it takes less, judging it costs no more than a replay
_SHARE_COMPILING_LATE = 0.2  # of that: a replay needs no interpreter, library or compiler to start

Gate = Callable[[Trial], Rejection | None]


@dataclass(frozen=True)
class Recorder:
    """Where recordings go, and how large one may become."""

    recordings: Path
    images: Path  # contents made ready; a scratch folder
    limit_bytes: int
    least_seconds: float = _LEAST_SECONDS


@dataclass(frozen=True)
class Ready:
    """A recording that the original has been replayed from."""

    recording: Recording
    plan: Path
    unsteady: tuple[str, ...]

    def describe(self) -> str:
        told = [self.recording.describe(), *self.recording.notes]
        told.append("the original reproduces what was recorded")
        if self.unsteady:
            told[-1] += f", but for what differs each time: {', '.join(self.unsteady)}"
        return "; ".join(told)


@dataclass(frozen=True)
class Won:
    """What candidates for one kernel were held to on its recorded dispatches, and what was proven of them."""

    calibration: Calibration
    proven: Mapping[Key, Account]


@dataclass(frozen=True)
class Launches:
    """Recorded dispatches as one version makes them: the recording's file, and the shape of each."""

    recording: Path
    shapes: tuple[Shape, ...]


class ReplayGate:
    """Keeps one recording per kernel of the original. `expect` names kernels that one run is to record together."""

    def __init__(self, backend: Backend, sandbox: Sandbox, recorder: Recorder, deadline_s: float) -> None:
        self._backend = backend
        self._sandbox = sandbox
        self._recorder = recorder
        self._deadline_s = deadline_s
        self._ready: dict[tuple[Application, str], Ready | NotReplayable] = {}
        self._expected: dict[str, KernelProfile] = {}
        self.ended: dict[Application, Completed] = {}  # how the recorded run of the original ended
        self.won: dict[str, Won] = {}  # by the kernel's symbol
        self._launches: dict[Application, Relaunched | NotReplayable | None] = {}  # None: those of the original
        self._hosts: list[
            tuple[Application, Host, Application]
        ] = []  # of baselines and candidates that reshape launches

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        """Kernels that candidates are likely to be for."""
        self._expected |= {profile.kernel.symbol: profile for profile in kernels}

    def stand_in(
        self, reference: Application, version: Application, kernel: Kernel, logs: Path, reshaped: bool
    ) -> Application | None:
        """A program that makes the kernel's recorded launches with the device code of `version`.

        `reshaped`: in shapes of its own, maybe. None where nothing of the kernel was recorded, or cannot be replayed.
        """
        key = reference, kernel.symbol
        setting = Setting(self._backend, kernel, self._sandbox, logs, self._deadline_s)
        if key not in self._ready and self._path(kernel).exists():
            self._ready[key] = self._or_why_not(lambda: self._made_ready(setting, reference))
        ready = self._ready.get(key)
        if not isinstance(ready, Ready):
            return None
        with contextlib.suppress(NotReplayable):
            return self._backend.replayed(version, self._plan_of(setting, version, ready, reshaped))
        return None

    def launches(self, reference: Application, version: Application, kernel: Kernel) -> Launches | None:
        """Of a version that was judged on them; None where the kernel's dispatches were not recorded."""
        ready = self._ready.get((reference, kernel.symbol))
        if not isinstance(ready, Ready):
            return None
        own = self._launches.get(version)
        shapes = own.get(kernel.symbol) if isinstance(own, Mapping) else None
        told = shapes if isinstance(shapes, tuple) else shapes_of(ready.recording)
        return Launches(self._path(kernel), told)

    def judge(self, trial: Trial, gates: Sequence[Gate]) -> Rejection | None:
        """`gates` are asked of the replays: the first one before their timing, others after it, see `_before_time`."""
        try:
            self._refuse_the_unfit(trial)
            ready = self._recording(trial.case)
            return self._judged(trial, ready, gates)
        except NotReplayable as reason:
            trial.on_recordings = False
            trial.note(NAME, CheckStatus.NOT_RUN, f"{reason}: judged by whole runs")
            return None

    def prepare(self, reference: Application, profile: KernelProfile, logs: Path) -> None:
        """Record the kernel, and those that are expected, where that is worth it and was not done."""
        key = reference, profile.kernel.symbol
        setting = Setting(self._backend, profile.kernel, self._sandbox, logs, self._deadline_s)
        with contextlib.suppress(NotReplayable):
            self._refuse_where_runs_do(reference)
            if key not in self._ready:
                self._ready[key] = self._or_why_not(lambda: self._record(setting, reference, profile))

    def _refuse_where_runs_do(self, reference: Application) -> None:
        if self._recorder.limit_bytes <= 0:
            raise NotReplayable("--record-limit 0")
        if Feature.BEFORE not in self._backend.honours:
            raise NotReplayable(f"launches are not recorded on the {self._backend.name} backend")
        seconds = self._backend.run_seconds(reference)
        share = _SHARE_COMPILING_LATE if compiles_late(reference) else 1.0
        if seconds is not None and seconds < self._recorder.least_seconds * share:
            raise NotReplayable(f"a run of the application takes {seconds:.1f} s")

    def _refuse_the_unfit(self, trial: Trial) -> None:
        self._refuse_where_runs_do(trial.case.reference)
        if trial.declared.kernels or trial.static.needs > Needs.GEOMETRY:
            raise NotReplayable("the candidate may launch other kernels than were recorded")

    def _recording(self, case: Case) -> Ready:
        key = case.reference, case.kernel.symbol
        if key not in self._ready:
            setting = Setting(self._backend, case.kernel, self._sandbox, case.logs, self._deadline_s, jit=case.jit)
            profile = case.finding.profile
            self._ready[key] = self._or_why_not(lambda: self._record(setting, case.reference, profile))
        found = self._ready[key]
        if isinstance(found, NotReplayable):
            raise found
        return found

    def _record(self, setting: Setting, reference: Application, profile: KernelProfile) -> Ready:
        if not self._path(profile.kernel).exists():
            self._record_all(setting, reference, profile)
        return self._made_ready(setting, reference)

    def _made_ready(self, setting: Setting, reference: Application) -> Ready:
        self._launches[reference] = None
        with RecordingFile(self._path(setting.kernel)) as source:
            plan = make_ready(source, self._recorder.images / file_name(setting.kernel))
            unsteady = deviations(setting, self._backend.replayed(reference, plan), source)
            return Ready(source.recording, plan, unsteady)

    def _or_why_not(self, prepare: Callable[[], Ready]) -> Ready | NotReplayable:
        try:
            return prepare()
        except (ApplicationFailed, ProtocolError, StorageFull) as error:
            return NotReplayable(str(error))
        except NotReplayable as error:
            return error

    def _plans_of(self, trial: Trial, ready: Ready) -> Plans:
        """Of the baseline and of the candidate. Raises `NotReplayable` as `_plan_of`."""
        case = trial.case
        setting = Setting(self._backend, case.kernel, self._sandbox, case.logs, self._deadline_s)
        before = self._plan_of(setting, case.baseline, ready, case.standing.geometry)
        same = case.baseline if trial.static.needs is Needs.NOTHING else self._of_same_host(trial)
        same = None if ready.recording.compiled_late else same
        launches = self._launches[same] if same is not None else self._learnt(setting, trial.application)
        self._launches[trial.application] = launches
        if same is None and trial.static.host is not None:
            self._hosts.append((case.baseline, trial.static.host, trial.application))
        return before, self._plan_of(setting, trial.application, ready)

    def _of_same_host(self, trial: Trial) -> Application | None:
        """An earlier candidate with this one's host code, whose launches are the same then."""
        host, reading = trial.static.host, trial.case.reading
        if host is None or reading is None:
            return None
        for baseline, other, application in self._hosts:
            if baseline != trial.case.baseline or other.raw.keys() != host.raw.keys():
                continue
            if compare(reading.compiler, other, host, reading.words_elsewhere).needs is Needs.NOTHING:
                return application
        return None

    def _plan_of(self, setting: Setting, version: Application, ready: Ready, may_reshape: bool = False) -> Path:
        """The recorded launches as the version makes them, which one run of it tells where it may reshape them.

        Raises `NotReplayable` where more than their shapes is its own.
        """
        if version not in self._launches:
            learns = may_reshape or ready.recording.compiled_late
            self._launches[version] = self._learnt(setting, version) if learns else None
        launches = self._launches[version]
        if launches is None:
            return ready.plan
        if not isinstance(launches, NotReplayable) and setting.kernel.symbol not in launches:  # recorded since
            launches = self._launches[version] = self._learnt(setting, version)
        shapes = launches if isinstance(launches, NotReplayable) else launches[setting.kernel.symbol]
        if isinstance(shapes, NotReplayable):
            raise shapes
        if shapes == shapes_of(ready.recording):
            return ready.plan
        return reshaped(ready.plan, shapes)

    def _learnt(self, setting: Setting, version: Application) -> Relaunched | NotReplayable:
        """Of every kernel that was recorded: candidates for others are made upon this one if it wins."""
        recordings = []
        for path in sorted(self._recorder.recordings.glob(f"*{SUFFIX}")):
            with RecordingFile(path) as source:
                recordings.append(source.recording)
        try:
            return relaunched(setting, version, recordings)
        except NotReplayable as error:
            return error

    def _path(self, kernel: Kernel) -> Path:
        return self._recorder.recordings / f"{file_name(kernel)}{SUFFIX}"

    def _record_all(self, setting: Setting, reference: Application, profile: KernelProfile) -> None:
        """The kernel and all that are expected, in one run. Raises `NotReplayable` for the kernel itself."""
        symbol = profile.kernel.symbol
        profiles = {symbol: profile, **{name: one for name, one in self._expected.items() if name != symbol}}
        paths = {name: self._path(one.kernel) for name, one in profiles.items()}
        wanted = [
            Wanted(one.kernel, one.dispatches, paths[name])
            for name, one in profiles.items()
            if not paths[name].exists() and (reference, name) not in self._ready
        ]
        made = record_dispatches(setting, reference, wanted, self._recorder.limit_bytes)
        self.ended[reference] = made.ended
        self._ready |= {(reference, name): reason for name, reason in made.failed.items()}
        if symbol in made.failed:
            raise made.failed[symbol]

    def _judged(self, trial: Trial, ready: Ready, gates: Sequence[Gate]) -> Rejection | None:
        plans = self._plans_of(trial, ready)
        mine = self._of_replays(trial, ready, plans)
        trial.on_recordings = True

        def timed(inner: Trial) -> Rejection | None:
            return self._time(trial, inner, plans)

        early = _before_time(trial.case.candidate.origin.kind, Feature.CHEAP_TRACES in self._backend.honours)
        for gate in (*gates[:early], timed, *gates[len(gates[:early]) :]):
            try:
                rejection = gate(mine)
            except ApplicationFailed as error:
                trial.on_recordings = False
                raise NotReplayable(f"the original, replayed, is not a reference: {error}") from error
            if rejection is None:
                continue
            if _CANNOT in rejection.detail:
                trial.on_recordings = False
                raise NotReplayable(rejection.detail[rejection.detail.index(_CANNOT) :])
            trial.replayed = mine
            return Rejection(rejection.outcome, f"on {ready.recording.describe()} recorded: {rejection.detail}")
        gain = next(m for m in mine.timing.measurements if m.scope is Scope.KERNEL)
        interval = f"95 %: {number(gain.low)} to {number(gain.high)}"
        shaped = ["as one run of the candidate launches them"] if plans[1] != ready.plan else []
        told = "; ".join(
            [
                ready.describe(),
                *shaped,
                f"{gain.provenance.value} {number(gain.ratio)}× ({interval})",
                *mine.timing.notes,
            ]
        )
        trial.note(NAME, CheckStatus.PASSED, told)
        trial.replayed = mine
        if mine.checker is not None:
            homes = self._backend.homes(_on_device(ready.recording))
            proven = {homes.get(key, key): account for key, account in mine.proven.items()}
            self.won[trial.case.kernel.symbol] = Won(mine.checker.calibration.moved(homes), proven)
        if ready.recording.compiled_late:
            self._keep_late_code(trial)
        else:
            self._keep(trial, plans[1] != ready.plan)
        return None

    def _keep_late_code(self, trial: Trial) -> None:
        shapes = self._shapes(trial)
        if shapes is not None:
            kept = self._recorder.recordings / program_name(trial.case.kernel, trial.case.logs.name)
            with contextlib.suppress(OSError):
                kept.write_bytes(latecode.pack(shapes, trial.application.project / KEPT_CODE))

    def _shapes(self, trial: Trial) -> tuple[Shape, ...] | None:
        """In which the candidate launches the recorded dispatches, where its own run has told them."""
        launches = self._launches[trial.application]
        shapes = launches.get(trial.case.kernel.symbol) if isinstance(launches, Mapping) else None
        return shapes if isinstance(shapes, tuple) else None

    def _keep(self, trial: Trial, reshaped: bool) -> None:
        """The program that won, for `intelliperf replay`; with the shapes of its launches where they are its own."""
        program = trial.application.directory / trial.application.command[0]
        kept = self._recorder.recordings / program_name(trial.case.kernel, trial.case.logs.name)
        shapes = self._shapes(trial) if reshaped else None
        if reshaped and shapes is None:
            return
        with contextlib.suppress(OSError):  # it can be built again
            shutil.copy(program, kept)
            if shapes is not None:
                kept.write_bytes(with_shapes(program.read_bytes(), shapes))

    def _of_replays(self, trial: Trial, ready: Ready, plans: Plans) -> Trial:
        case = trial.case
        reference = self._backend.replayed(case.reference, ready.plan)
        baseline = self._backend.replayed(case.baseline, plans[0])

        def other_wave() -> tuple[Application, Application] | None:
            sides = case.other_wave()
            if sides is None:
                return None
            setting = Setting(self._backend, case.kernel, self._sandbox, case.logs, self._deadline_s)
            plan = self._plan_of(setting, sides[1], ready, plans[1] != ready.plan)
            return self._backend.replayed(sides[0], ready.plan), self._backend.replayed(sides[1], plan)

        def rounded(way: str) -> Application | None:
            built = case.rounded(way)
            return self._backend.replayed(built, ready.plan) if built is not None else None

        inner = replace(case, reference=reference, baseline=baseline, rounded=rounded, other_wave=other_wave)
        mine = Trial(inner, trial.declared, trial.static)
        mine.built = self._backend.replayed(trial.application, plans[1])
        return mine

    def _time(self, trial: Trial, mine: Trial, plans: Plans) -> Rejection | None:
        case = trial.case
        try:
            mine.timing = self._backend.time_replayed(
                case.baseline, trial.application, plans, case.kernel, self._deadline_s
            )
        except (ApplicationFailed, ProtocolError) as error:
            return Rejection(Outcome.CRASHED, f"it cannot be timed: {error}")
        refusal = time_refusal(mine.timing.measurements, mine.timing.floor_ns)
        return Rejection(*refusal) if refusal is not None else None


def _before_time(origin: OriginKind, cheap: bool) -> int | None:
    """How many gates are asked before the time; None for all.

    A rule's candidate is hardly ever wrong; a model is better told what is wrong than that it is slow, where that costs
    little; and a given patch's author wants to know whether it is right.
    """
    if origin is OriginKind.USER:
        return None
    return 1 if origin is OriginKind.RULE or not cheap else 2


def _on_device(recording: Recording) -> Iterator[tuple[int, int, Key]]:
    for dispatch in recording.dispatches:
        for buffer in dispatch.buffers:
            if buffer.name is None and buffer.kind not in HOST_KINDS and buffer.size:
                yield buffer.address, buffer.size, (buffer.kind, buffer.sequence, "")


def file_name(kernel: Kernel) -> str:
    return hashlib.sha256(kernel.symbol.encode()).hexdigest()[:16]


def program_name(kernel: Kernel, attempt: str) -> str:
    """Of the program that an attempt at the kernel built."""
    return f"{file_name(kernel)}-{attempt}.program"
