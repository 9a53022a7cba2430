"""A process and all below it, how much of the processor they have used, and how long they waited for one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
_TICKS = slice(11, 15)  # of `stat`, behind the name: of the process itself, and of its children that have ended


def below(process: int, proc: Path = PROC) -> Iterator[tuple[int, list[str]]]:
    """The process and its descendants, each with the fields of its `stat` from the state on."""
    fields: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir(proc)):  # noqa: PTH208 - names, and often
        try:
            with open(f"{proc}/{name}/stat", encoding="utf-8", errors="replace") as status:  # noqa: PTH123
                after_name = status.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        number = int(name)
        fields[number] = after_name
        children.setdefault(int(after_name[1]), []).append(number)
    waiting = [process]
    while waiting:
        number = waiting.pop()
        waiting += children.get(number, [])
        if number in fields:
            yield number, fields[number]


def processor_seconds() -> float:
    """Of this process and all below it, those that have ended included; never less than it was."""
    ticks = sum(sum(map(int, fields[_TICKS])) for _, fields in below(os.getpid()))
    return ticks / os.sysconf("SC_CLK_TCK")


def starved_seconds(process: int, proc: Path = PROC) -> float:
    """How long it and all below it were ready to run without a processor; those that have ended are not included."""
    waited_ns = 0
    for number, _ in below(process, proc):
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended, or the kernel does not tell
            waited_ns += int((proc / str(number) / "schedstat").read_text().split()[1])
    return waited_ns / 1e9
