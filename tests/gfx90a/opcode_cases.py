"""Single instructions on given registers: assembled by LLVM, run by the device's interpreter without ROCr."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import device
import numpy as np
import numpy.typing as npt

WAVE = 64
ALL_LANES = (1 << WAVE) - 1
DEFAULT_MODE = 0x2F0  # round to nearest, denormals kept, IEEE: what HIP's kernels run with
VCC, EXEC, ACCUMULATORS = 106, 126, 256
Row = npt.NDArray[np.uint32]
_ENCODING = re.compile(r"encoding: \[([0-9a-fx,]+)\]")
_DEADLINE_S = 120


@dataclass(frozen=True)
class Case:
    """`scalars` and `rows` by register number; accumulators follow the 256 vector registers."""

    text: str
    scalars: dict[int, int] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    scalars_out: tuple[int, ...] = ()
    rows_out: tuple[int, ...] = ()
    exec_mask: int = ALL_LANES
    scc: bool = False
    mode: int = DEFAULT_MODE
    memory: bytes = b""
    lds: bytes = b""


@dataclass(frozen=True)
class Outcome:
    stopped: str
    scc: bool
    scalars: dict[int, int]
    rows: dict[int, Row]
    memory: bytes
    lds: bytes

    def pair(self, index: int) -> int:
        return self.scalars[index] | self.scalars[index + 1] << 32


def assemble(texts: Sequence[str]) -> list[bytes]:
    """The machine code of each text, which may be several lines."""
    lines = [line for text in texts for line in text.splitlines()]
    done = subprocess.run(
        ["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-show-encoding"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    found = [bytes(int(byte, 16) for byte in match.split(",")) for match in _ENCODING.findall(done.stdout)]
    assert len(found) == len(lines), f"{len(lines)} instructions, {len(found)} encodings"
    codes = iter(found)
    return [b"".join(next(codes) for _ in text.splitlines()) for text in texts]


def run(cases: Sequence[Case]) -> list[Outcome]:
    codes = assemble([case.text for case in cases])
    request = struct.pack("<I", len(cases)) + b"".join(map(_packed, cases, codes))
    environment = device.environment()
    done = subprocess.run(
        [str(device.probe())], input=request, capture_output=True, timeout=_DEADLINE_S, env=environment
    )
    assert done.returncode == 0, done.stderr.decode()
    reader = _Reader(done.stdout)
    outcomes = [_unpacked(case, reader) for case in cases]
    assert reader.at == len(done.stdout)
    return outcomes


def _packed(case: Case, code: bytes) -> bytes:
    scalars = {**case.scalars, EXEC: case.exec_mask & 0xFFFFFFFF, EXEC + 1: case.exec_mask >> 32}
    parts = [_blob(code), struct.pack("<II", case.mode, case.scc), _blob(case.memory), _blob(case.lds)]
    parts.append(struct.pack("<I", len(scalars)))
    parts += [struct.pack("<II", index, value & 0xFFFFFFFF) for index, value in scalars.items()]
    parts.append(struct.pack("<I", len(case.rows)))
    parts += [struct.pack("<I", index) + np.asarray(row, np.uint32).tobytes() for index, row in case.rows.items()]
    for numbers in (case.scalars_out, case.rows_out):
        parts.append(struct.pack(f"<I{len(numbers)}I", len(numbers), *numbers))
    return b"".join(parts)


def _blob(payload: bytes) -> bytes:
    return struct.pack("<I", len(payload)) + payload


class _Reader:
    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self.at = 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self._payload[self.at - count : self.at]

    def word(self) -> int:
        (word,) = struct.unpack("<I", self.take(4))
        return int(word)


def _unpacked(case: Case, reader: _Reader) -> Outcome:
    stopped = reader.take(reader.word()).decode()
    scc = bool(reader.word())
    scalars = {index: reader.word() for index in case.scalars_out}
    rows = {index: np.frombuffer(reader.take(4 * WAVE), np.uint32) for index in case.rows_out}
    return Outcome(stopped, scc, scalars, rows, reader.take(len(case.memory)), reader.take(len(case.lds)))


def rows_of(values: npt.NDArray[Any], first: int) -> dict[int, Row]:
    """The registers that hold one number of 16, 32 or 64 bits per lane."""
    if values.dtype.itemsize == 8:
        bits = values.view(np.uint64)
        return {first: (bits & 0xFFFFFFFF).astype(np.uint32), first + 1: (bits >> 32).astype(np.uint32)}
    if values.dtype.itemsize == 2:
        return {first: values.view(np.uint16).astype(np.uint32)}
    return {first: values.view(np.uint32)}


def values_of(rows: dict[int, Row], first: int, dtype: Any) -> npt.NDArray[Any]:
    kind = np.dtype(dtype)
    if kind.itemsize == 8:
        return (rows[first].astype(np.uint64) | rows[first + 1].astype(np.uint64) << 32).view(kind)
    if kind.itemsize == 2:
        return rows[first].astype(np.uint16).view(kind)
    return rows[first].view(kind)


def pair(index: int, value: int) -> dict[int, int]:
    """The two scalar registers that hold a long value."""
    return {index: value & 0xFFFFFFFF, index + 1: value >> 32}
