"""Recorded memory at another device's addresses."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from intelliperf.errors import NotReplayable
from intelliperf.recordings.contents import RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile, RecordingWriter
from intelliperf.recordings.transplant import Space, one_of_each_shape, transplanted
from intelliperf.validation.buffers.elements import FLOAT32
from intelliperf.validation.runs.agreement import near

_SPACE = Space(base=0x100000, page=4096, alignment=256, gap=8192)
_FIRST, _SECOND = 0x7E0000000000, 0x7E0000000400


def recorded(path: Path, content: bytes) -> Path:
    """A launch that is handed the end of its second buffer, a number, and a struct with a place in the first one."""
    arguments = (
        struct.pack("<Q", _SECOND + 512).hex(),
        struct.pack("<i", 7).hex(),
        struct.pack("<qQ", 3, _FIRST + 16).hex(),
    )
    with RecordingWriter(path, 1 << 20) as writer:
        kept = writer.keep(content)
        buffers = (
            RecordedBuffer(_FIRST, len(content), "device", 1, 1, None, kept, kept),
            RecordedBuffer(_SECOND, 512, "device", 2, 2, None, ("",), ("",)),
            RecordedBuffer(0x7F0000000000, 4, "device", 3, 3, "table", ("",), ("",)),
        )
        dispatches = tuple(
            RecordedDispatch(nth, "k", (blocks, 1, 1), (64, 1, 1), 0, False, arguments, buffers)
            for nth, blocks in enumerate((4, 4, 8))
        )
        writer.finish(Recording("0", "cuda", "gpu", "", "x86_64", "k", "k", 3, dispatches, ("./app",), ()))
    return path


def test_memory_gets_places_of_the_other_device_and_arguments_follow(tmp_path: Path) -> None:
    with RecordingFile(recorded(tmp_path / "file", bytes(range(100)))) as source:
        assert one_of_each_shape(source.recording) == (0, 2)
        moved = transplanted(source, _SPACE, (0, 2))
    one, two = moved.dispatches
    assert (one.nth, two.nth) == (0, 2)
    first, second, variable = one.buffers
    ends = [-(-one.size // 256) * 256 + one.address for one in (first, second)]
    assert all(end % 4096 == 0 for end in ends) and first.address >= _SPACE.base
    assert second.address - ends[0] >= _SPACE.gap + 256, "beyond the first one's end are as much room and a gap"
    assert variable.address == 0x7F0000000000, "variables lie where the program has them"
    assert struct.unpack("<Q", bytes.fromhex(one.arguments[0])) == (second.address + 512,), "an end is an address"
    assert struct.unpack("<i", bytes.fromhex(one.arguments[1])) == (7,)
    assert struct.unpack("<qQ", bytes.fromhex(one.arguments[2])) == (3, first.address + 16)


def test_buffers_that_hold_addresses_are_refused(tmp_path: Path) -> None:
    linked = struct.pack("<QQ", 5, _SECOND + 8)
    with (
        RecordingFile(recorded(tmp_path / "file", linked)) as source,
        pytest.raises(NotReplayable, match="device memory holds addresses"),
    ):
        transplanted(source, _SPACE, (0,))


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([3.0, 4.0], [3.0, 4.1], True),
        ([3.0, 4.0], [3.0, 4.2], False),
        ([np.inf, 1.0], [np.inf, 1.0], True),
        ([np.inf, 1.0], [2.0, 1.0], False),
        ([0.0, 0.0], [0.0, 1e-30], False),
    ],
)
def test_two_devices_agree_up_to_rounding(left: list[float], right: list[float], wanted: bool) -> None:
    expected, found = (np.array(values, np.float32).view(np.uint8) for values in (left, right))
    assert near(FLOAT32, expected, found) is wanted
