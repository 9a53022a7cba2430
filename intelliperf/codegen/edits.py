"""Blocks applied to the sources as shown: each must fit exactly once, or the model is told why not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.codegen.disclosure import REPLACEMENT, bare, shown_lines, split_lines
from intelliperf.codegen.reply import Block, MalformedReply
from intelliperf.processes.secrets import REDACTED
from intelliperf.records import FileEdit, content_hash, relative_path

# (path, text, function's name) → (first line, last line), 1-based and inclusive, of each definition.
FunctionFinder = Callable[[str, str, str], Sequence[tuple[int, int]]]
_LISTED = 8
# What a reviewer would not see, or a terminal would obey: control characters and those that reorder text.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class _Span:
    """Lines [start, end) of a file, 0-based, and what comes in their place."""

    start: int
    end: int
    replacement: tuple[str, ...]
    label: str


def apply_blocks(
    blocks: Sequence[Block], sources: Mapping[str, str], find_function: FunctionFinder
) -> tuple[FileEdit, ...]:
    """Whole new texts of the files that the blocks change. Line endings are kept.

    Raises `MalformedReply` for a path that is not one of `sources`, a block that fits nowhere or in
    several places, overlapping blocks, and edits that change nothing.
    """
    by_path: dict[str, list[_Span]] = {}
    for number, block in enumerate(blocks, start=1):
        path = _known_path(block.path, sources, number)
        by_path.setdefault(path, []).append(_span(block, path, sources[path], number, find_function))
    edits = []
    for path, spans in by_path.items():
        text = _replaced(path, sources[path], spans)
        if text != sources[path]:
            edits.append(FileEdit(path, content_hash(sources[path]), text))
    if not edits:
        raise MalformedReply("the edits change nothing")
    return tuple(edits)


def _known_path(path: str, sources: Mapping[str, str], number: int) -> str:
    try:
        relative_path(path)
    except ValueError:
        raise MalformedReply(f"block {number}: {path!r} is not a path inside the project") from None
    if path in sources:
        return path
    near = difflib.get_close_matches(path, sources, n=1, cutoff=0.5)
    known = ", ".join(sorted(sources)[:_LISTED])
    hint = f"did you mean {near[0]}?" if near else f"the files are: {known}"
    raise MalformedReply(f"block {number}: {path} is not a file that may be edited; {hint}")


def _span(block: Block, path: str, text: str, number: int, find_function: FunctionFinder) -> _Span:
    label = f"block {number} ({path})"
    if block.function is not None:
        return _function_span(block, path, text, label, find_function)
    shown = shown_lines(text)
    size = len(block.search)
    places = [i for i in range(len(shown) - size + 1) if tuple(shown[i : i + size]) == block.search]
    if not places:
        raise MalformedReply(f"{label}: the SEARCH half is nowhere in the file; {_nearest(block.search, shown)}")
    if len(places) > 1:
        lines = ", ".join(str(place + 1) for place in places[:_LISTED])
        raise MalformedReply(
            f"{label}: the SEARCH half is found {len(places)} times, at lines {lines}; "
            "add neighbouring lines until it is unique"
        )
    return _Span(places[0], places[0] + size, block.replacement, label)


def _function_span(block: Block, path: str, text: str, label: str, find_function: FunctionFinder) -> _Span:
    assert block.function is not None
    found = find_function(path, text, block.function)
    if not found:
        raise MalformedReply(f"{label}: no definition of a function {block.function} in the file")
    if len(found) > 1:
        lines = ", ".join(str(first) for first, _ in found[:_LISTED])
        raise MalformedReply(
            f"{label}: {len(found)} definitions of {block.function}, at lines {lines}; use a SEARCH block"
        )
    ((first, last),) = found
    return _Span(first - 1, last, block.replacement, label)


def _nearest(search: Sequence[str], shown: Sequence[str]) -> str:
    """Where it nearly fits, and the first line that differs there."""
    if not shown:
        return "the file is empty"
    wanted = [line.strip() for line in search]
    present = [line.strip() for line in shown]
    best, score = 0, -1.0
    for start in range(max(1, len(present) - len(wanted) + 1)):
        window = present[start : start + len(wanted)]
        equal = float(sum(a == b and a != "" for a, b in zip(wanted, window, strict=False)))
        if equal > score:
            best, score = start, equal
    if score == 0:
        near = difflib.get_close_matches(next(line for line in wanted if line), present, n=1, cutoff=0.6)
        if not near:
            return "no line of it is in the file"
        best = present.index(near[0])
    for offset, line in enumerate(search):
        if best + offset >= len(shown):
            return f"nearest is line {best + 1}, but the file ends at line {len(shown)}"
        there = shown[best + offset]
        if line != there:
            only = " (only white space differs)" if line.split() == there.split() else ""
            return f"nearest is line {best + 1}, where line {best + offset + 1} reads {there!r}, not {line!r}{only}"
    return f"nearest is line {best + 1}"


def _replaced(path: str, text: str, spans: Sequence[_Span]) -> str:
    ordered = sorted(spans, key=lambda span: span.start)
    for before, after in zip(ordered, ordered[1:], strict=False):
        if after.start < before.end:
            raise MalformedReply(f"{before.label} and {after.label} overlap at line {after.start + 1} of {path}")
    lines = split_lines(text)
    shown = shown_lines(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    for span in reversed(ordered):
        old = lines[span.start : span.end]
        lines[span.start : span.end] = _real_lines(span, old, shown[span.start : span.end], newline)
    return "".join(lines)


def _real_lines(span: _Span, old: Sequence[str], shown: Sequence[str], newline: str) -> list[str]:
    """The new lines with the file's endings, and with what was hidden from the model put back."""
    hidden = {seen: bare(line) for seen, line in zip(shown, old, strict=True) if seen != bare(line)}
    ending = old[0][len(bare(old[0])) :] or newline  # files of mixed endings keep those of the place
    new = []
    for line in span.replacement:
        real = hidden.get(line, line)
        if real is line and (REDACTED in line or REPLACEMENT in line):
            raise MalformedReply(
                f"{span.label}: the line {line.strip()[:60]!r} was shown incompletely; "
                "keep it unchanged or leave it out"
            )
        if real is line and (hidden_character := _INVISIBLE.search(line)) and line not in shown:
            raise MalformedReply(f"{span.label}: U+{ord(hidden_character[0]):04X} in the line {line.strip()[:60]!r}")
        new.append(real + ending)
    if new and not old[-1].endswith("\n"):
        new[-1] = bare(new[-1])
    return new
