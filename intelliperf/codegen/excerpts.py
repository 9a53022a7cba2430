"""Which parts of the sources a model sees: the kernel, what it calls, its launches, and what surrounds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.codegen.disclosure import fenced, shown_lines
from intelliperf.codegen.syntax.outline import Region
from intelliperf.codegen.syntax.pythonoutline import functions, launch_sites
from intelliperf.project.kernelnames import unqualified
from intelliperf.protocols import Task
from intelliperf.sentences import main_reading

_WHOLE_FILE_LINES = 400  # shorter files are shown as they are
_NAMED = 20  # files and ranges that are listed by name where they are not shown
_LONGEST_GAP = _WHOLE_FILE_LINES // 4  # a longer table of constants is left out
_MARGIN = 3  # lines around a function that is cut out of a long file
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>)?\s*\(")


def source_path(file: Path, sources: Iterable[str]) -> str | None:
    """The project-relative path among `sources` that `file` (absolute, in any copy) stands for."""
    whole = file.as_posix()
    fitting = [path for path in sources if whole == path or whole.endswith(f"/{path}")]
    return max(fitting, key=len, default=None)


@dataclass(frozen=True)
class HotLine:
    """One blamed line of one file, with the figure that blames it."""

    path: str
    line: int
    reading: str


def hot_lines(task: Task) -> list[HotLine]:
    """The blamed lines, worst first, each once."""
    found: dict[tuple[str, int], HotLine] = {}
    for item in task.evidence:
        path = source_path(item.file, task.sources)
        if path is not None and (path, item.line) not in found:
            reading = main_reading(task.finding, item, task.device)
            found[(path, item.line)] = HotLine(path, item.line, str(reading or item.operation))
    return list(found.values())


def annotated_source(task: Task, hot: Sequence[HotLine], limit: int) -> str:
    """All excerpts, fenced, each followed by its hot lines; at most about `limit` characters.

    Files with evidence come first. What does not fit is named, never silently left out.
    """
    parts: list[str] = []
    left_out: list[str] = []
    used = 0
    kernel = unqualified(task.finding.profile.kernel.name)
    for path in sorted(task.sources, key=lambda path: (path not in {line.path for line in hot}, path)):
        excerpts = _excerpts(path, task.sources[path], [line.line for line in hot if line.path == path], kernel)
        if not excerpts:
            left_out.append(path)
            continue
        lines = shown_lines(task.sources[path])
        for first, last in excerpts:
            body = "\n".join(lines[first - 1 : last])
            if used and used + len(body) > limit:
                left_out.append(f"{path} lines {first}-{last}")
                continue
            used += len(body)
            parts.append(_part(path, first, last, len(lines), body, hot))
    if left_out:
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        parts.append("Not shown: " + ", ".join(left_out[:_NAMED]) + more)
    return "\n\n".join(parts)


def _part(path: str, first: int, last: int, total: int, body: str, hot: Sequence[HotLine]) -> str:
    extent = f"the whole file, {total} lines" if (first, last) == (1, total) else f"lines {first}-{last} of {total}"
    text = f"FILE: {path} ({extent})\n" + fenced("source", body, file=path, first_line=first)
    shown = body.split("\n")
    marked = [line for line in hot if line.path == path and first <= line.line <= last]
    if marked:
        listed = [f"line {line.line}: `{shown[line.line - first].strip()}` <- {line.reading}" for line in marked]
        text += "\nHot lines, worst first:\n" + fenced("hot lines", "\n".join(listed))
    return text


def _excerpts(path: str, text: str, hot: Sequence[int], kernel: str) -> list[tuple[int, int]]:
    """Line ranges (1-based, inclusive, ascending) worth showing; none for a file that has no part in it."""
    regions = functions(path, text)
    total = len(shown_lines(text))
    launches = launch_sites(path, text, kernel)
    roots = [r for r in regions if r.name == kernel or any(r.first_line <= line <= r.last_line for line in hot)]
    if not roots and not launches and not hot:
        return []
    if total <= _WHOLE_FILE_LINES:
        return [(1, total)]
    wanted = [(region.first_line, region.last_line) for region in _with_callees(text, regions, roots)]
    wanted += [(line, line) for line in hot]
    wanted += [_around_launch(launch, regions) for launch in launches]
    wanted += _outside_functions(regions, shown_lines(text))
    return _merged([(max(1, first - _MARGIN), min(total, last + _MARGIN)) for first, last in wanted])


def _with_callees(text: str, regions: Sequence[Region], roots: Sequence[Region]) -> list[Region]:
    """The roots and every function of the file that they call, at any depth."""
    lines = text.split("\n")
    by_name: dict[str, list[Region]] = {}
    for region in regions:
        by_name.setdefault(region.name, []).append(region)
    found = list(roots)
    for region in found:  # grows while it is walked
        body = "\n".join(lines[region.first_line - 1 : region.last_line])
        for name in _CALL.findall(body):
            found += [callee for callee in by_name.get(name, []) if callee not in found]
    return found


def _around_launch(launch: Region, regions: Sequence[Region]) -> tuple[int, int]:
    """The function that launches, if it is short; else the launch with what leads up to it."""
    around = [r for r in regions if r.first_line <= launch.first_line <= r.last_line]
    host = min(around, key=lambda region: region.last_line - region.first_line, default=None)
    if host is not None and host.last_line - host.first_line <= _WHOLE_FILE_LINES // 4:
        return host.first_line, host.last_line
    first = max(host.first_line if host else 1, launch.first_line - _WHOLE_FILE_LINES // 10)
    return first, launch.last_line + _MARGIN


def _outside_functions(regions: Sequence[Region], lines: Sequence[str]) -> list[tuple[int, int]]:
    """Includes, macros, types and constants: the lines between functions, where they are not a long table."""
    gaps, line = [], 1
    for region in sorted(regions, key=lambda region: region.first_line):
        if region.first_line - line > 1:
            gaps.append((line, region.first_line - 1))
        line = max(line, region.last_line + 1)
    gaps.append((line, len(lines)))
    said = [any(line.strip() for line in lines[first - 1 : last]) for first, last in gaps]
    return [gap for gap, any_said in zip(gaps, said, strict=True) if any_said and 0 < gap[1] - gap[0] <= _LONGEST_GAP]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
