"""Recordings of dispatches as files: what is kept once, and what is refused in one line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from intelliperf.cli import replay
from intelliperf.cli.options import ReplayOptions
from intelliperf.errors import ProtocolError
from intelliperf.recordings.contents import CHUNK_BYTES, RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile, RecordingFull, RecordingWriter, digests_of
from intelliperf.recordings.image import changes_of, make_ready

_BASE = 0x100000010000


def numbers(count: int, seed: int = 1) -> bytes:
    """Without a pattern that deflates."""
    state, out = seed, bytearray()
    while len(out) < count:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        out += (state >> 24).to_bytes(5, "little")
    return bytes(out[:count])


def write(path: Path, contents: dict[str, tuple[bytes, bytes]], limit: int = 1 << 24) -> Recording:
    with RecordingWriter(path, limit) as writer:
        buffers = tuple(
            RecordedBuffer(
                _BASE + 0x1000000 * i,
                len(before),
                "device",
                i + 1,
                i + 1,
                None,
                writer.keep(before),
                writer.keep(after),
            )
            for i, (before, after) in enumerate(contents.values())
        )
        dispatch = RecordedDispatch(3, "_Z1kv", (4, 1, 1), (64, 1, 1), 0, False, ("0a00000000000000",), buffers)
        made = Recording("0", "emulator", "chip", "", "x86_64", "_Z1kv", "k", 9, (dispatch,), ("./app",), ())
        writer.finish(made)
    return made


def test_a_recording_reads_back_as_it_was_written(tmp_path: Path) -> None:
    before, after = numbers(3 * CHUNK_BYTES + 17), numbers(3 * CHUNK_BYTES + 17, 2)
    made = write(tmp_path / "one.recording", {"a": (before, after)})
    with RecordingFile(tmp_path / "one.recording") as read:
        assert read.recording == made
        (buffer,) = read.recording.dispatches[0].buffers
        assert read.content(buffer.before, buffer.size) == before
        assert read.content(buffer.after, buffer.size) == after
        assert digests_of(memoryview(after)) == buffer.after
    assert read.recording.describe() == "1 of 9 dispatches"


def test_zeros_take_no_room_and_equal_content_is_kept_once(tmp_path: Path) -> None:
    content = numbers(8 * CHUNK_BYTES)
    write(
        tmp_path / "one", {"a": (content, content), "zeros": (bytes(1 << 26), bytes(1 << 26)), "b": (content, content)}
    )
    assert 8 * CHUNK_BYTES < (tmp_path / "one").stat().st_size < 9 * CHUNK_BYTES


def test_a_recording_beyond_its_limit_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(RecordingFull):
        write(tmp_path / "one", {"a": (numbers(4 * CHUNK_BYTES), b"")}, limit=3 * CHUNK_BYTES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda content: content[:-1], "cut off"),
        (lambda content: content[: len(content) // 2], "cut off"),
        (lambda content: b"#!/bin/sh\n" + content, "not a recording"),
        (lambda content: content[:-100] + b"\0" + content[-99:], "edited"),
    ],
)
def test_a_spoilt_recording_is_refused_in_one_line(tmp_path: Path, spoil, said: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "one"
    write(path, {"a": (numbers(CHUNK_BYTES), numbers(CHUNK_BYTES, 2))})
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ProtocolError, match=said) as refused:
        RecordingFile(path)
    assert "\n" not in str(refused.value)


def test_an_edited_content_is_noticed_where_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one"
    write(path, {"a": (numbers(CHUNK_BYTES), numbers(CHUNK_BYTES, 2))})
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with RecordingFile(path) as read, pytest.raises(ProtocolError, match="edited"):
        make_ready(read, tmp_path / "image")


def test_the_image_holds_each_content_where_the_plan_says(tmp_path: Path) -> None:
    a, b = numbers(2 * CHUNK_BYTES + 5), bytes(CHUNK_BYTES) + numbers(CHUNK_BYTES, 7)
    write(tmp_path / "one", {"a": (a, a), "b": (b, b), "again": (a, a)})
    with RecordingFile(tmp_path / "one") as read:
        plan = json.loads(make_ready(read, tmp_path / "image").read_text())
    image = Path(plan["image"]).read_bytes()
    (dispatch,) = plan["dispatches"]
    found = {}
    for memory in dispatch["memory"]:
        content = bytearray(memory["bytes"])
        for start, length, place in memory["parts"]:
            content[start : start + length] = image[place : place + length]
        found[memory["address"]] = bytes(content)
    assert found == {_BASE: a, _BASE + 0x1000000: b, _BASE + 0x2000000: a}
    assert len(image) == len(a) + CHUNK_BYTES
    assert all(memory["changes"] == [] for memory in dispatch["memory"])
    assert [memory["address"] for memory in dispatch["memory"]] == sorted(found, reverse=True)


def test_only_the_chunks_that_a_dispatch_changes_are_restored(tmp_path: Path) -> None:
    content = numbers(5 * CHUNK_BYTES + 9)
    changed = bytearray(content)
    for place in (CHUNK_BYTES + 3, 2 * CHUNK_BYTES, 5 * CHUNK_BYTES + 8):
        changed[place] ^= 1
    write(tmp_path / "one", {"a": (content, bytes(changed)), "b": (content, content)})
    with RecordingFile(tmp_path / "one") as read:
        assert changes_of(read.recording) == {
            _BASE: [[CHUNK_BYTES, 2 * CHUNK_BYTES], [5 * CHUNK_BYTES, 9]],
            _BASE + 0x1000000: [],
        }


def test_a_recording_is_timed_for_the_chip_that_it_was_made_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.recording"
    made = write(path, {"a": (numbers(16), numbers(16))})
    with RecordingWriter(path, 1 << 20) as writer:
        writer.finish(dataclasses.replace(made, device="NVIDIA H100 80GB HBM3"))

    def opened(_name: str, _directory: Path, target: str | None, *_: object) -> None:
        raise LookupError(target)

    monkeypatch.setattr(replay, "_refuse_foreign", lambda *_: None)
    monkeypatch.setattr(replay, "_original", lambda *_: None)
    monkeypatch.setattr(replay, "open_backend", opened)
    with pytest.raises(LookupError, match="h100"):
        replay.replay_run(ReplayOptions(run=path))
