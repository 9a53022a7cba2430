"""The process that launches recorded dispatches of CUDA programs again, on a driver that needs no GPU."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.cuda import player
from intelliperf.cuda.devicecode import device_images
from intelliperf.recordings.contents import RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile, RecordingWriter
from intelliperf.recordings.image import make_ready
from intelliperf.recordings.places import Places

_TO, _OF = 0x7E1200000200, 0x7E1200200400  # not at the start of what is mapped, and in two granules
_COUNT = 1000


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    source = Path(__file__).with_name("cudadriver") / "driver.cpp"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    return made.parent


def program(path: Path, *kernels: str) -> Path:
    """An ELF file with a section of device code: containers, each with a name where its machine code would be."""
    code = b""
    for kernel in kernels:
        body = kernel.encode().ljust(29, b"\0")
        code += struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
        code = code.ljust(-(-len(code) // 8) * 8, b"\0")
    names = b"\0.nv_fatbin\0.shstrtab\0"
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0, 0, 64 + len(code) + len(names), 0, 64, 0, 0, 64, 3, 2
    )
    sections = [(0, 0, 0, 0), (1, 1, 64, len(code)), (12, 3, 64 + len(code), len(names))]
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, 0, 0, 1, 0) for name, kind, at, size in sections
    )
    path.write_bytes(header + code + names + table)
    return path


def floats(value: float) -> bytes:
    return struct.pack(f"<{_COUNT}f", *([value] * _COUNT))


def plan(
    root: Path,
    kind: str = "device",
    arguments: tuple[str, ...] = (),
    table: bytes = struct.pack("<4f", 0.5, 0, 0, 0),
    launched: int = 2,
) -> Path:
    given = arguments or tuple(
        struct.pack(code, value).hex() for code, value in (("<Q", _TO), ("<Q", _OF), ("<i", _COUNT))
    )
    with RecordingWriter(root / "one.recording", 1 << 20) as writer:
        contents = [
            (_TO, "device", None, [floats(10), floats(12)]),
            (_OF, kind, None, [floats(2), floats(2)]),
            (1, "symbol", "table", [table, struct.pack("<4f", 0.25, 0, 0, 0)]),
        ]
        dispatches = []
        for nth in range(2):
            buffers = [
                RecordedBuffer(
                    at, len(states[nth]), what, number, number, name, writer.keep(states[nth]), writer.keep(states[-1])
                )
                for number, (at, what, name, states) in enumerate(contents)
            ]
            dispatches.append(
                RecordedDispatch(nth, "_Z3addPfPKfi", (8, 1, 1), (128, 1, 1), 0, False, given, tuple(buffers))
            )
        writer.finish(
            Recording("0", "cuda", "", "", "", "_Z3addPfPKfi", "add", launched, tuple(dispatches), ("./app",), ())
        )
    with RecordingFile(root / "one.recording") as read:
        return make_ready(read, root / "image")


def play(driver: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(driver), **variables}
    argv = [sys.executable, "-m", player.__name__, *words]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60)


def test_device_code_is_found_container_by_container(tmp_path: Path) -> None:
    found = list(device_images(program(tmp_path / "app", "add1", "other", "add2")))
    assert [image[16:].rstrip(b"\0") for image in found] == [b"add1", b"other", b"add2"]
    assert list(device_images(Path(sys.executable))) == []


def test_each_dispatch_finds_the_memory_that_it_found_when_it_was_recorded(driver: Path, tmp_path: Path) -> None:
    done = play(driver, "launch", str(plan(tmp_path)), str(program(tmp_path / "app", "other", "add3")))
    assert done.stderr == "" and done.returncode == 0
    # 10 + 3 × 2 + 0.5, then 12 + 3 × 2 + 0.25, whatever the first one left
    assert done.stdout.splitlines() == ["add3 10 16.5 16.5", "add3 12 18.25 18.25"]


def test_memory_lies_elsewhere_where_its_addresses_are_taken(driver: Path, tmp_path: Path) -> None:
    words = "launch", str(plan(tmp_path)), str(program(tmp_path / "app", "add3"))
    done = play(driver, *words, ADDRESSES_TAKEN_UNTIL_START="99")
    assert done.stderr == "" and done.stdout.splitlines() == ["add3 10 16.5 16.5", "add3 12 18.25 18.25"]


@pytest.mark.slow
def test_pointers_inside_buffers_ask_for_a_process_that_has_their_addresses(driver: Path, tmp_path: Path) -> None:
    made = plan(tmp_path, table=struct.pack("<2Q", 1, _TO + 4))
    words = "launch", str(made), str(program(tmp_path / "app", "add3"))
    assert play(driver, *words).returncode == 0
    done = play(driver, *words, ADDRESSES_TAKEN_UNTIL_START="3")
    assert done.stderr == "" and done.stdout.splitlines()[0] == "add3 10 16 16"
    done = play(driver, *words, ADDRESSES_TAKEN_UNTIL_START="99")
    assert done.returncode == player.NOT_REPLAYABLE
    assert "buffers hold addresses of recorded memory" in done.stderr


def test_addresses_follow_the_span_that_they_lay_in() -> None:
    places = Places(((0x1000, 0x1000), (0x8000, 0x2000)), (0x50000, 0x51000), 0x1000)
    assert [places.of(address) for address in (0x1008, 0x2000, 0x8000, 0xA000, 0xA001, 0xFFF)] == [
        0x50008,
        0x51000,
        0x51000,
        0x53000,
        0xA001,
        0xFFF,
    ]
    assert places.moved and not Places(((0x1000, 16),), (0x1000,), 16).moved
    assert places.named_in(memoryview(struct.pack("<3Q", 0, 0x9000, 5)))
    assert not places.named_in(memoryview(struct.pack("<3Q", 0, 0x3000, 5)))


@pytest.mark.parametrize(("launched", "l2_bytes"), [(2, 1 << 20), (2, 1000), (3, 1 << 20)])
def test_two_versions_are_timed_in_turn_until_the_answer_is_clear(
    driver: Path, tmp_path: Path, launched: int, l2_bytes: int
) -> None:
    """As in first launches with all data uploaded before, with some of it, and as in launches among others."""
    records, out = str(tmp_path / "records"), tmp_path / "pairs.json"
    versions = [str(program(tmp_path / name, name)) for name in ("add3", "add1")]
    words = ["--records", records, "--cupti", str(driver / "libcuda.so.1"), "--out", str(out)]
    made = plan(tmp_path, launched=launched)
    done = play(driver, "time", str(made), *versions, *words, TOLD_TO=records, L2_BYTES=str(l2_bytes))
    assert done.stderr == "" and done.returncode == 0
    seen = {"add3 10 16.5 16.5", "add3 12 18.25 18.25", "add1 10 12.5 12.5", "add1 12 14.25 14.25"}
    assert set(done.stdout.splitlines()) == seen  # whatever launches before left
    (pairs,) = json.loads(out.read_text())
    assert set(map(tuple, pairs)) == {(600, 200)}  # of both dispatches together
    assert len(pairs) == player.PAIRS.looks[0]


@pytest.mark.parametrize(
    ("kernels", "changed", "why"),
    [
        (("other",), {}, "this version has no kernel _Z3addPfPKfi"),
        (("add1",), {"kind": "pinned"}, "the kernel works on pinned memory of the host"),
        (("add1",), {"arguments": ("00" * 8, "00" * 8)}, "the kernel takes other parameters than in the recording"),
    ],
)
def test_what_cannot_be_launched_again_is_named(driver: Path, tmp_path: Path, kernels, changed, why: str) -> None:  # type: ignore[no-untyped-def]
    done = play(driver, "launch", str(plan(tmp_path, **changed)), str(program(tmp_path / "app", *kernels)))
    assert done.returncode == player.NOT_REPLAYABLE
    assert done.stderr.startswith(f"intelliperf: cannot replay: {why}")
