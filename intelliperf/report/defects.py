"""Defects for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intelliperf.records import Defect, DefectLevel, SourcePoint
from intelliperf.sentences import counted

FORMAT_VERSION = 1
_SHOWN = 4  # instances of a template


def defect_lines(defects: Sequence[Defect]) -> Iterator[str]:
    for defect in defects:
        yield f"{defect.level.value}: {defect.what} [{defect.rule}]"
        yield from _point(defect.point, defect.thread)
        yield from _point(defect.other, defect.other_thread, "against ")
        if defect.memory:
            yield f"    {defect.memory}"
        yield f"    in {_launch(defect)}; {_times(defect.count)}; seen {defect.schedule}"
        if defect.pairs > 1:
            yield f"    stands for {defect.pairs} pairs of accesses of the same lines"
        if defect.also:
            yield f"    also in {_listed(defect.also)}"
        if defect.remedy:
            yield f"    remedy: {defect.remedy}"
        yield ""


def summary_line(defects: Sequence[Defect]) -> str:
    """`2 errors, 1 note`, or that nothing was found."""
    counts = {level: sum(defect.level is level for defect in defects) for level in DefectLevel}
    parts = [f"{count} {level.value}{'s' * (count > 1)}" for level, count in counts.items() if count]
    return ", ".join(parts) or "nothing found"


def defects_json(defects: Sequence[Defect], checked: Sequence[str], not_checked: Sequence[str]) -> dict[str, Any]:
    return {
        "format": FORMAT_VERSION,
        "summary": summary_line(defects),
        "checked": list(checked),
        "not_checked": list(not_checked),
        "defects": [_object(defect) for defect in defects],
    }


def _object(defect: Defect) -> dict[str, Any]:
    geometry = defect.geometry
    return {
        "rule": defect.rule,
        "level": defect.level.value,
        "what": defect.what,
        "remedy": defect.remedy,
        "kernel": defect.kernel,
        "point": _point_object(defect.point, defect.thread),
        "other": _point_object(defect.other, defect.other_thread),
        "memory": defect.memory,
        "launch": defect.launch,
        "grid": list(geometry.grid) if geometry else None,
        "block": list(geometry.block) if geometry else None,
        "schedule": defect.schedule,
        "count": defect.count,
        "also": list(defect.also),
        "pairs": defect.pairs,
    }


def _point_object(point: SourcePoint | None, thread: str | None) -> dict[str, Any] | None:
    if point is None:
        return None
    return {
        "file": point.file, "line": point.line, "column": point.column, "text": point.text, "does": point.does,
        "thread": thread,
    }  # fmt: skip


def _point(point: SourcePoint | None, thread: str | None, before: str = "") -> Iterator[str]:
    if point is None:
        return
    who = f"  ({thread}, {point.does})" if thread else f"  ({point.does})"
    yield f"    {before}{point}: {point.text}{who}"


def _launch(defect: Defect) -> str:
    if defect.geometry is None or defect.launch is None:
        return defect.kernel
    grid, block = ("×".join(map(str, size)) for size in (defect.geometry.grid, defect.geometry.block))
    return f"{defect.kernel}, launch {defect.launch} of {grid} blocks of {block} threads"


def _listed(kernels: Sequence[str]) -> str:
    more = len(kernels) - _SHOWN
    return ", ".join(kernels[:_SHOWN]) + (f" and {counted(more, 'further instance')}" if more > 0 else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
