"""PC samples and thread traces from the software gfx90a's counts per instruction.

Samples come at the true rate: at every interval of a dispatch's own duration, one of each wave that is resident then.
ROCPROFV3_STANDIN_LONGER=N is a program that runs N times as long. Traces are as if all waves ran on the traced compute
unit.

An instruction is as likely in a sample as its executions' cycles are of all. What a load, or an atomic that returns,
costs is found at the next s_waitcnt, where a wave waits for it; any other access is waited for at itself, where the
queue is full. Lines are those of the program's line table.
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from shutil import which
from typing import Any

from standin_counters import ATOMIC_CYCLES, CLOCK_GHZ, COMPUTE_UNITS, Executed, Ran

_RESIDENT = COMPUTE_UNITS * 32  # waves: 4 SIMDs with 8 each
_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_NO_LINES = "kernel.hip:7"  # of a program that is none, which only brings counts
_KIND = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_"
HEADER = ("Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id")
THREADS = ("CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source")
STALLS = ("Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count")


def rows(ran: Ran, method: str, interval: int, application: Sequence[str], scratch: Path) -> list[list[Any]]:
    """Of one dispatch, in the columns of `HEADER` and, for stochastic sampling, `STALLS`."""
    every_ns = interval * 1000 if method == "host_trap" else interval / CLOCK_GHZ
    duration_ns = (ran.end_ns - ran.start_ns) * float(os.environ.get("ROCPROFV3_STANDIN_LONGER", "1"))
    # The first interrupt falls anywhere in the first interval.
    moments = [ran.start_ns + round(every_ns * (n + 0.5)) for n in range(round(duration_ns / every_ns))]
    if not moments:
        return []
    comments = _comments(ran, application, scratch)
    known = _cycles(ran.instructions)
    chance = random.Random(ran.number)
    waves = min(ran.waves, _RESIDENT)
    found = []
    for moment in moments:
        for one, _ in chance.choices(known, [cycles for _, cycles in known], k=waves):
            mask = (1 << round(one.lanes / one.executions)) - 1 if one.executions else 0
            found.append([moment, mask, ran.number + 1, one.text, comments.get(one.address, ""), ran.number + 1])
            if method == "stochastic":
                found[-1] += _stall(one)
    return found


def thread_rows(ran: Ran, application: Sequence[str], scratch: Path) -> list[list[Any]]:
    """Of one dispatch: the kernel's label, then its instructions, in the columns of `THREADS`."""
    comments = _comments(ran, application, scratch)
    found: list[list[Any]] = [[1, ran.instructions[0].address or 0, f"; {ran.kernel}", 0, 0, 0, 0, f"{ran.kernel}"]]
    for number, (one, cycles) in enumerate(_cycles(ran.instructions)):
        issue = 4 * one.executions
        address = one.address if one.address is not None else 4 * number
        text = comments.get(one.address, "")
        found.append([1, address, one.text, one.executions, round(cycles), round(cycles) - issue, 0, text])
    return found


def _stall(one: Executed) -> list[Any]:
    if one.text.startswith("s_waitcnt"):
        return [0, f"{_KIND}TYPE_NO_INST", f"{_KIND}NOT_ISSUED_REASON_WAITCNT", 4]
    if one.space:
        return [0, f"{_KIND}TYPE_TEX", f"{_KIND}NOT_ISSUED_REASON_ARBITER_NOT_WIN", 4]
    return [1, f"{_KIND}TYPE_VALU", f"{_KIND}NOT_ISSUED_REASON_OTHER_WAIT", 4]


def _cycles(instructions: Sequence[Executed]) -> list[tuple[Executed, float]]:
    own = [4.0 * one.executions for one in instructions]
    for position, one in enumerate(instructions):
        if not one.space:
            continue
        cost = float(one.lines + one.lds_cycles + ATOMIC_CYCLES * one.atomic_same_address)
        later = range(position + 1, len(instructions))
        wait = next((n for n in later if instructions[n].text.startswith("s_waitcnt")), position)
        returns = one.kind == "load" or "_rtn" in one.text or " glc" in one.text
        own[wait if returns else position] += cost
    return list(zip(instructions, own, strict=True))


def _comments(ran: Ran, application: Sequence[str], scratch: Path) -> dict[int | None, str]:
    addresses = [one.address for one in ran.instructions if one.address is not None]
    for code in _code_objects(tuple(application), scratch):
        names = subprocess.run(
            [_tool("llvm-nm"), "--defined-only", str(code)], capture_output=True, text=True, check=True
        )
        if ran.kernel is not None and ran.kernel in names.stdout.split():
            argv = [_tool("llvm-symbolizer"), f"--obj={code}", "--inlining", "--output-style=JSON"]
            done = subprocess.run([*argv, *map(hex, addresses)], capture_output=True, text=True, check=True)
            return {int(entry["Address"], 16): _comment(entry["Symbol"]) for entry in json.loads(done.stdout)}
    return dict.fromkeys(addresses, _NO_LINES)


def _comment(frames: Sequence[dict[str, Any]]) -> str:
    return " -> ".join(
        f"{frame['FileName']}:{frame['Line']}" for frame in frames if frame["FileName"] and frame["Line"]
    )


@lru_cache(maxsize=1)
def _code_objects(application: tuple[str, ...], scratch: Path) -> list[Path]:
    """Those for gfx90a in the first word that is a HIP program."""
    section = scratch / "fatbin"
    for word in application:
        path = Path(which(word) or word)
        if not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        argv = [_tool("llvm-objcopy"), f"--dump-section=.hip_fatbin={section}", str(path), "/dev/null"]
        if subprocess.run(argv, capture_output=True, check=False).returncode == 0:
            return [_kept(image, scratch, n) for n, image in enumerate(_images(section.read_bytes()))]
    return []


def _kept(image: bytes, scratch: Path, number: int) -> Path:
    path = scratch / f"{number}.co"
    path.write_bytes(image)
    return path


def _images(section: bytes) -> list[bytes]:
    found, at = [], section.find(_MAGIC)
    while at >= 0:
        (entries,) = struct.unpack_from("<Q", section, at + len(_MAGIC))
        place = at + len(_MAGIC) + 8
        for _ in range(entries):
            offset, size, length = struct.unpack_from("<QQQ", section, place)
            if section[place + 24 : place + 24 + length].decode().endswith("gfx90a"):
                found.append(section[at + offset : at + offset + size])
            place += 24 + length
        at = section.find(_MAGIC, place)
    return found


def _tool(name: str) -> str:
    return which(f"{name}-19") or which(name) or name
