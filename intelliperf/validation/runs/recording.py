"""Keeps dispatches as an application makes them: what each was given, what it left, in a recording per kernel."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from intelliperf import __version__
from intelliperf.errors import NotReplayable, ProtocolError
from intelliperf.interception.messages import Allocation, Dispatch, End, Hello
from intelliperf.interception.wire import Deadline
from intelliperf.processes.process import Completed
from intelliperf.project.versions import KEPT_CODE
from intelliperf.recordings.contents import (
    HOST_KINDS,
    Chunks,
    RecordedBuffer,
    RecordedDispatch,
    Recording,
    StoredFile,
)
from intelliperf.recordings.export import store
from intelliperf.recordings.file import RecordingFile, RecordingFull, RecordingWriter, digests_of
from intelliperf.recordings.image import shapes_of
from intelliperf.recordings.latecode import kept_files
from intelliperf.records import Application, Bounds, Interception, Kernel
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.pairing import describe
from intelliperf.validation.runs.side import Side, SideFailed, SideRun

_SHAPES = 8  # of launches; the first of each is kept
_MEMORY: Bounds = "slack"  # what the original does wrong already is no matter here
_CLOCK_SCALE = 1.37  # another clock than other runs have: printed times can be told from answers
MACHINE = platform.machine()


@dataclass
class _Choice:
    """Which dispatches are kept: the first, the middle and the last one, and the first of each shape."""

    expected: int  # dispatches of the kernel in the application
    shapes: set[tuple[object, ...]] = field(default_factory=set)

    def wants(self, dispatch: Dispatch) -> bool:
        shape = dispatch.grid, dispatch.block, dispatch.dynamic_lds
        fresh = shape not in self.shapes and len(self.shapes) < _SHAPES
        self.shapes.add(shape)
        return fresh or dispatch.nth in (0, self.expected // 2, self.expected - 1)


@dataclass
class _Recorder:
    writer: RecordingWriter
    choice: _Choice
    kept: list[RecordedDispatch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    launched: int = 0
    full: bool = False
    _before: tuple[Dispatch, dict[int, Chunks]] | None = None

    def see(self, side: Side, dispatch: Dispatch) -> None:
        if dispatch.before:
            self._before = self._look(side, dispatch) if not self.full and self.choice.wants(dispatch) else None
            if self._before and dispatch.unrepeatable:
                self.notes.append(f"dispatch {dispatch.nth} cannot be launched again: {dispatch.unrepeatable}")
                self._before = None
            return
        self.launched += 1
        if self._before is None:
            return
        begun, before = self._before
        self._before = None
        if dispatch.status != 0:
            self.notes.append(f"dispatch {dispatch.nth} fails in the original, too, and is not kept")
            return
        after = self._contents(side, dispatch)
        if after is not None:
            self.kept.append(_recorded(begun, before, dispatch.allocations, after))

    def _look(self, side: Side, dispatch: Dispatch) -> tuple[Dispatch, dict[int, Chunks]] | None:
        contents = self._contents(side, dispatch)
        return None if contents is None else (dispatch, contents)

    def _contents(self, side: Side, dispatch: Dispatch) -> dict[int, Chunks] | None:
        try:
            return {a.id: self.writer.keep(side.read(a)) for a in dispatch.allocations if a.size}
        except RecordingFull:
            self.full = True
            return None


@dataclass(frozen=True)
class Wanted:
    """A kernel to record, with the dispatches of it that the application makes, into a file."""

    kernel: Kernel
    expected: int
    path: Path


@dataclass(frozen=True)
class Recorded:
    """What came of one recorded run: by the kernels' symbols why one has no recording, and how the run ended."""

    failed: Mapping[str, NotReplayable]
    ended: Completed


def record_dispatches(
    setting: Setting, application: Application, wanted: Sequence[Wanted], limit_bytes: int
) -> Recorded:
    """One run of the application, for all wanted kernels; `limit_bytes` is for each.

    Raises `NotReplayable` where it cannot be run so, `StorageFull`.
    """
    symbols = tuple(one.kernel.symbol for one in wanted)
    interception = Interception(kernels=symbols, memory=_MEMORY, before=True, clock_scale=_CLOCK_SCALE)
    deadline = Deadline.after(setting.deadline_s)
    failed: dict[str, NotReplayable] = {}
    with ExitStack() as stack:
        writers = [stack.enter_context(RecordingWriter(one.path, limit_bytes)) for one in wanted]
        recorders = {
            one.kernel.symbol: _Recorder(writer, _Choice(one.expected))
            for one, writer in zip(wanted, writers, strict=True)
        }
        try:
            with Side(
                SideRun("recorded", application, interception),
                setting.backend,
                setting.kernel,
                setting.logs,
                setting.sandbox,
            ) as side:
                side.connect(deadline)
                hello = side.hello
                while not isinstance(message := side.next(deadline), End):
                    if isinstance(message, Dispatch) and message.target:
                        named = recorders.get(message.kernel, recorders[wanted[0].kernel.symbol])
                        named.see(side, message)
                        side.proceed()
                ended = side.finish(deadline)
        except (SideFailed, ProtocolError) as error:
            raise NotReplayable(f"the application cannot be recorded: {error}") from error
        for one in wanted:
            recorder = recorders[one.kernel.symbol]
            try:
                _finish(replace(setting, kernel=one.kernel), application, recorder, hello, limit_bytes)
            except NotReplayable as error:
                failed[one.kernel.symbol] = error
    return Recorded(failed, ended)


def _finish(
    setting: Setting, application: Application, recorder: _Recorder, hello: Hello | None, limit_bytes: int
) -> None:
    """Raises `NotReplayable` where nothing was kept."""
    if not recorder.kept:
        raise NotReplayable(_why_nothing(recorder, limit_bytes))
    recording = _recording(setting, application, recorder, hello)
    recording = replace(recording, code=_program(application, recording, recorder.writer, limit_bytes))
    recorder.writer.finish(recording)


def _why_nothing(recorder: _Recorder, limit_bytes: int) -> str:
    if recorder.full:
        return f"one dispatch needs more than the --record-limit of {limit_bytes} bytes"
    if recorder.launched:
        return recorder.notes[0] if recorder.notes else "the application launches the kernel in graphs alone"
    return "the application launches the kernel no more"


def _recording(setting: Setting, application: Application, recorder: _Recorder, hello: Hello | None) -> Recording:
    notes = list(recorder.notes)
    if recorder.full:
        notes.append(f"only {len(recorder.kept)} dispatches fit the --record-limit")
    return Recording(
        tool=__version__,
        backend=setting.backend.name,
        device=hello.device if hello else "",
        driver="",
        machine=MACHINE,
        symbol=setting.kernel.symbol,
        kernel=setting.kernel.name,
        launched=recorder.launched,
        dispatches=tuple(recorder.kept),
        command=application.argv,
        code=(),
        notes=tuple(notes),
    )


def _recorded(
    begun: Dispatch, before: dict[int, Chunks], allocations: Sequence[Allocation], after: dict[int, Chunks]
) -> RecordedDispatch:
    return RecordedDispatch(
        nth=begun.nth,
        kernel=begun.kernel,
        grid=begun.grid,
        block=begun.block,
        dynamic_lds=begun.dynamic_lds,
        cooperative=begun.cooperative,
        arguments=tuple(argument.value.hex() for argument in begun.arguments),
        buffers=tuple(
            RecordedBuffer(a.address, a.size, a.kind, a.id, a.sequence, a.name, before[a.id], after[a.id])
            for a in allocations
            if a.id in before and a.id in after
        ),
        code=begun.code,
    )


def _program(
    application: Application, recording: Recording, writer: RecordingWriter, limit_bytes: int
) -> tuple[StoredFile, ...]:
    """The program's file, or the code that it compiled, so that the recording can be launched without the project."""
    files = [application.directory / application.command[0]]
    if recording.compiled_late:
        files = kept_files(shapes_of(recording), application.project / KEPT_CODE)
    if not all(path.is_file() for path in files):
        return ()
    try:
        return tuple(store(path, writer) for path in files)
    except RecordingFull as error:
        raise NotReplayable(f"the program itself needs more than the --record-limit of {limit_bytes} bytes") from error


def deviations(setting: Setting, replayed: Application, source: RecordingFile) -> tuple[str, ...]:
    """The positive control: buffers that the original leaves otherwise each time, in words.

    Raises `NotReplayable` where it leaves something else than was recorded, and the same each time, or does not run.
    """
    first = left_otherwise(setting, replayed, source)
    if not first:
        return ()
    again = left_otherwise(setting, replayed, source)
    for where, content in first.items():
        if again.get(where) == content:
            raise NotReplayable(f"the original, replayed, leaves something else than was recorded in {where}")
    return tuple(first)


def left_otherwise(
    setting: Setting, replayed: Application, source: RecordingFile, who: str = "the original"
) -> dict[str, Chunks]:
    """What is not as recorded after a replay, by words that say where. Raises `NotReplayable`."""
    deadline = Deadline.after(setting.deadline_s)
    found: dict[str, Chunks] = {}
    interception = Interception(kernels=(setting.kernel.symbol,), memory=_MEMORY)
    waiting = list(source.recording.dispatches)
    try:
        with Side(
            SideRun("replayed", replayed, interception), setting.backend, setting.kernel, setting.logs, setting.sandbox
        ) as side:
            side.connect(deadline)
            while not isinstance(message := side.next(deadline), End):
                if not isinstance(message, Dispatch) or not message.target:
                    continue
                if not waiting:
                    raise NotReplayable(f"{who}, replayed, launches more than was recorded")
                found |= _deviating(side, message, waiting.pop(0), source.recording)
                side.proceed()
            side.finish(deadline)
    except (SideFailed, ProtocolError) as error:
        raise NotReplayable(f"{who} cannot be replayed: {error}") from error
    if waiting:
        raise NotReplayable(f"{who}, replayed, launches {len(waiting)} dispatches less than were recorded")
    return found


def _deviating(side: Side, dispatch: Dispatch, recorded: RecordedDispatch, recording: Recording) -> dict[str, Chunks]:
    if dispatch.status != 0:
        raise NotReplayable(f"dispatch {recorded.nth} fails with error {dispatch.status} when replayed")
    now: dict[tuple[object, ...], list[Allocation]] = {}
    moved = _moved(dispatch, recording)
    for allocation in dispatch.allocations:
        home = moved.get(allocation.id, allocation.address)
        now.setdefault(_identity(replace(allocation, address=home)), []).append(allocation)
    found: dict[str, Chunks] = {}
    for buffer in recorded.buffers:
        same = now.get(_identity(buffer))
        if not same:
            what = buffer.name or f"{buffer.kind} memory"
            raise NotReplayable(f"dispatch {recorded.nth}, replayed, lacks the recording's {what}")
        allocation = same.pop(0)
        content = digests_of(side.read(allocation))
        if content != buffer.after:
            found[f"{describe(allocation, {})} after dispatch {recorded.nth}"] = content
    return found


def _moved(dispatch: Dispatch, recording: Recording) -> dict[int, int]:
    """By id, the recorded addresses of buffers that a replay had to map elsewhere: all of them, in their order."""
    mapped = sorted((one.address, one.size, one.id) for one in dispatch.allocations if one.kind == "mapped")
    recorded = sorted(
        {
            (buffer.address, buffer.size)
            for one in recording.dispatches
            for buffer in one.buffers
            if buffer.name is None and buffer.size and buffer.kind not in HOST_KINDS
        }
    )
    if [size for _, size, _ in mapped] != [size for _, size in recorded]:
        return {}
    return {one: home for (_, _, one), (home, _) in zip(mapped, recorded, strict=True)}


def _identity(buffer: Allocation | RecordedBuffer) -> tuple[object, ...]:
    """Variables come in the order of loading, which a replay does not keep."""
    return (buffer.name,) if buffer.name is not None else (buffer.address, buffer.size)
