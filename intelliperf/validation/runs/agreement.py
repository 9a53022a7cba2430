"""The control of replays on another device than the one that was recorded: does the original do the same there?

Not bit by bit: two devices add, contract and round in their own ways. What the recorded device left has to be left
again up to rounding, or another device's launch is not what was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from intelliperf.errors import NotReplayable, ProtocolError
from intelliperf.interception.messages import Allocation, Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.recordings.contents import RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile, digests_of
from intelliperf.records import Application, Interception
from intelliperf.sentences import counted
from intelliperf.validation.buffers.compare import as_bytes
from intelliperf.validation.buffers.elements import BYTE, Bytes, Scalar
from intelliperf.validation.calibration import scalars
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.pairing import describe
from intelliperf.validation.runs.side import Side, SideFailed, SideRun

_ROUNDING = 2.0**-5  # of the norm; a sum of millions of floats in another order errs by a hundredth of itself


@dataclass
class Agreement:
    """Buffers that launches changed, in words that say where."""

    same: list[str] = field(default_factory=list)
    close: list[str] = field(default_factory=list)
    otherwise: list[str] = field(default_factory=list)

    def describe(self) -> str:
        told = [f"{counted(len(self.same), 'changed buffer')} bit by bit"] if self.same else []
        told += [f"{', '.join(self.close)} up to rounding"] if self.close else []
        left = f"the original leaves there what it left when it was recorded: {', '.join(told)}"
        return f"{left}; not {', '.join(self.otherwise)}, whose integers differ" if self.otherwise else left


def agreement(setting: Setting, replayed: Application, source: RecordingFile, recording: Recording) -> Agreement:
    """What one replay of the original leaves, beside what was recorded.

    Raises `NotReplayable` where it does not run, or leaves other numbers in a buffer of floats or in all that change.
    """
    found = Agreement()
    deadline = Deadline.after(setting.deadline_s)
    waiting = list(recording.dispatches)
    run = SideRun("replayed", replayed, Interception(kernels=(setting.kernel.symbol,)))
    try:
        with Side(run, setting.backend, setting.kernel, setting.logs, setting.sandbox) as side:
            side.connect(deadline)
            while not isinstance(message := side.next(deadline), End):
                if isinstance(message, Dispatch) and message.target and not message.before and waiting:
                    _compared(found, side, message, waiting.pop(0), source)
                    side.proceed()
            side.finish(deadline)
    except (SideFailed, ProtocolError) as error:
        raise NotReplayable(f"the original cannot be replayed: {error}") from error
    if waiting:
        raise NotReplayable(f"the original, replayed, launches {len(waiting)} dispatches less than were recorded")
    if not found.same and not found.close:
        told = ", ".join(found.otherwise) or "no buffer that the launches change"
        raise NotReplayable(f"the original, replayed, does not leave what was recorded: {told}")
    return found


def _compared(
    found: Agreement, side: Side, dispatch: Dispatch, recorded: RecordedDispatch, source: RecordingFile
) -> None:
    if dispatch.status != 0:
        raise NotReplayable(f"dispatch {recorded.nth} fails with error {dispatch.status}")
    known = scalars(dispatch, side.hello)
    names = {number: name for number, (name, _) in known.items()}
    now = {_identity(allocation): allocation for allocation in dispatch.allocations}
    for buffer in recorded.buffers:
        allocation = now.get(_identity(buffer))
        if allocation is None:
            raise NotReplayable(f"dispatch {recorded.nth} lacks the recording's {buffer.name or buffer.kind}")
        if buffer.before == buffer.after:
            continue
        told = f"{describe(allocation, names)} after dispatch {recorded.nth}"
        content = side.read(allocation)
        if digests_of(content) == buffer.after:
            found.same.append(told)
            continue
        _, scalar = known.get(allocation.id, ("", BYTE))
        expected = as_bytes(memoryview(source.content(buffer.after, buffer.size)))
        if not scalar.floating:
            found.otherwise.append(told)
        elif near(scalar, expected, as_bytes(content)):
            found.close.append(told)
        else:
            raise NotReplayable(f"the original, replayed, leaves other numbers than were recorded in {told}")


def near(scalar: Scalar, expected: Bytes, found: Bytes) -> bool:
    """Floats as a whole: the norm of their difference beside their own, and the same ones that are not finite."""
    whole = len(expected) // scalar.size * scalar.size
    left, right = scalar.floats(expected[:whole]), scalar.floats(found[:whole])
    finite = np.isfinite(left)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True) or not np.isfinite(right[finite]).all():
        return False
    apart = float(np.linalg.norm(left[finite] - right[finite]))
    return apart <= _ROUNDING * float(np.linalg.norm(left[finite]))


def _identity(buffer: Allocation | RecordedBuffer) -> tuple[object, ...]:
    return (buffer.name,) if buffer.name is not None else (buffer.address, buffer.size)
