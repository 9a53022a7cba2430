"""Launches of a version whose host code chooses other shapes than the original's: one run of it tells them.

Only shapes may differ. What a kernel is handed has to be what was recorded, for the recorded memory goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from intelliperf.errors import NotReplayable, ProtocolError
from intelliperf.interception.messages import Argument, Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.recordings.contents import RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.image import Shape
from intelliperf.records import Application, Bounds, Interception
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.side import Side, SideFailed, SideRun

_MEMORY: Bounds = "slack"  # whether its accesses are right is judged on the replay
Relaunched = Mapping[str, tuple[Shape, ...] | NotReplayable]  # by symbol; shapes of the recorded dispatches, in order


@dataclass
class _Watch:
    recording: Recording
    shapes: list[Shape] = field(default_factory=list)
    launched: int = 0
    wrong: str = ""

    def see(self, dispatch: Dispatch) -> None:
        if not dispatch.before:
            self.launched += 1
            if dispatch.status:
                self.wrong = self.wrong or f"dispatch {dispatch.nth} fails with error {dispatch.status}"
            return
        recorded = next((one for one in self.recording.dispatches if one.nth == dispatch.nth), None)
        if recorded is None:
            return
        self.wrong = self.wrong or dispatch.unrepeatable or _otherwise(dispatch, recorded)
        self.shapes.append(Shape(dispatch.grid, dispatch.block, dispatch.dynamic_lds, dispatch.code))

    def found(self) -> tuple[Shape, ...] | NotReplayable:
        if not self.wrong and self.launched != self.recording.launched:
            self.wrong = f"{self.launched} dispatches instead of {self.recording.launched}"
        return NotReplayable(f"the candidate's launches: {self.wrong}") if self.wrong else tuple(self.shapes)


def relaunched(setting: Setting, application: Application, recordings: Sequence[Recording]) -> Relaunched:
    """One run of the application, for all recorded kernels. Raises `NotReplayable` where it does not run so."""
    watches = {recording.symbol: _Watch(recording) for recording in recordings}
    asked = Interception(kernels=tuple(watches), memory=_MEMORY, before=True)
    deadline = Deadline.after(setting.deadline_s)
    try:
        with Side(
            SideRun("relaunched", application, asked),
            setting.backend,
            setting.kernel,
            setting.logs,
            setting.sandbox,
        ) as side:
            side.connect(deadline)
            while not isinstance(message := side.next(deadline), End):
                if isinstance(message, Dispatch) and message.target:
                    if message.kernel in watches:
                        watches[message.kernel].see(message)
                    side.proceed()
            side.finish(deadline)
    except (SideFailed, ProtocolError) as error:
        raise NotReplayable(f"the candidate's launches cannot be learnt: {error}") from error
    return {symbol: watch.found() for symbol, watch in watches.items()}


def _otherwise(dispatch: Dispatch, recorded: RecordedDispatch) -> str:
    """How it differs in more than its shape; empty where it does not."""
    if dispatch.cooperative != recorded.cooperative:
        return f"dispatch {dispatch.nth} is cooperative in one of the versions alone"
    homes = {(b.kind, b.sequence, b.name, b.size): b for b in recorded.buffers}
    places = {a.id: homes.get((a.kind, a.sequence, a.name, a.size)) for a in dispatch.allocations}
    values = tuple(_as_recorded(argument, places) for argument in dispatch.arguments)
    return "" if values == recorded.arguments else f"dispatch {dispatch.nth} is handed other arguments than recorded"


def _as_recorded(argument: Argument, places: Mapping[int, RecordedBuffer | None]) -> str:
    """Hexadecimal, with its pointers to where the recorded run had the same allocation."""
    value = bytearray(argument.value)
    for pointer in argument.pointers:
        home = places.get(pointer.allocation)
        if home is not None:
            value[pointer.offset : pointer.offset + 8] = (home.address + pointer.at).to_bytes(8, "little")
    return value.hex()
