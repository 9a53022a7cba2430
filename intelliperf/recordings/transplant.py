"""A recording of one device, for replays on another one: its memory at addresses that the other one has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from intelliperf.errors import NotReplayable
from intelliperf.recordings.contents import RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile
from intelliperf.recordings.places import Places, following


@dataclass(frozen=True)
class Space:
    """Where a device's replays may put memory; sizes in bytes.

    Every buffer ends at a page, in steps of `alignment`; as much again and `gap` lie between it and the next one, where
    launches of larger sizes have room.
    """

    base: int
    page: int
    alignment: int
    gap: int

    def places(self, buffers: Iterable[RecordedBuffer]) -> Places:
        """For the memory of one dispatch, in its order; device variables have none."""
        spans = sorted((one.address, one.size) for one in buffers if one.name is None and one.size)
        bases, free = [], self.base
        for _, size in spans:
            whole = _rounded(size, self.alignment)
            end = _rounded(free + whole, self.page)
            bases.append(end - whole)
            free = end + whole + self.gap
        return Places(tuple(spans), tuple(bases), self.page)


def one_of_each_shape(recording: Recording) -> tuple[int, ...]:
    """The numbers of the recorded dispatches that are the first of their shape."""
    first: dict[tuple[object, ...], int] = {}
    for number, one in enumerate(recording.dispatches):
        first.setdefault((one.grid, one.block, one.dynamic_lds), number)
    return tuple(first.values())


def transplanted(source: RecordingFile, space: Space, chosen: Iterable[int]) -> Recording:
    """The chosen dispatches, as if they had been recorded in `space`. Contents are the source's.

    Raises `NotReplayable` where a buffer holds an address of recorded memory.
    """
    dispatches = [source.recording.dispatches[number] for number in chosen]
    return replace(source.recording, dispatches=tuple(_moved(source, one, space) for one in dispatches))


def _moved(source: RecordingFile, dispatch: RecordedDispatch, space: Space) -> RecordedDispatch:
    places = space.places(dispatch.buffers)
    for buffer in dispatch.buffers:
        if any(places.named_in(memoryview(source.chunk(digest))) for digest in {*buffer.before} if digest):
            what = buffer.name or f"{buffer.kind} memory"
            raise NotReplayable(f"{what} holds addresses of the device that it was recorded on")
    buffers = tuple(
        replace(one, address=places.of(one.address)) if one.name is None else one for one in dispatch.buffers
    )
    arguments = tuple(following(argument, places) for argument in dispatch.arguments)
    return replace(dispatch, buffers=buffers, arguments=arguments)


def _rounded(size: int, step: int) -> int:
    return -(-size // step) * step
