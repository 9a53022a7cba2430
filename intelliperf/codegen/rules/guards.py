"""Early returns turned into guards, so that all threads reach what is added at the end of a kernel."""

from __future__ import annotations

from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node


def statement_end(source: Source, statement: Node) -> int:
    """End of a statement, its semicolon included."""
    end = statement.end_offset
    rest = source.data[end:]
    gap = len(rest) - len(rest.lstrip())
    return end + gap + 1 if rest[gap : gap + 1] == b";" else end


def remove_statement(source: Source, statement: Node) -> None:
    """With its line, where it stands alone on it."""
    end = statement_end(source, statement)
    lead = source.data.rfind(b"\n", 0, statement.start_offset) + 1
    after = source.data.find(b"\n", end) + 1
    if after and not source.data[lead : statement.start_offset].strip() and not source.data[end:after].strip():
        source.replace(lead, after, "")
    else:
        source.replace(statement.start_offset, end, "")


def condition_text(source: Source, place: str, guard: Node) -> str:
    """What stands between the parentheses of an `if`. Raises `NotApplicable` where a macro wrote them."""
    condition, branch = guard.children[0], guard.children[1]
    opening = source.data.find(b"(", guard.start_offset)
    closing = source.data.rfind(b")", opening, branch.start_offset)
    if condition.start_offset < opening or closing < condition.start_offset:
        raise NotApplicable(f"{place}: the condition on line {guard.line} is written by a macro")
    return source.slice(opening + 1, closing)


def enclose_rest(source: Source, place: str, guard: Node, end: int, around: tuple[str, str]) -> None:
    """`if (leave) return; rest }` becomes `first if (!(leave)) { rest } last }`.

    `around` holds the first and the last text, `end` is the offset of the closing brace.
    """
    first, last = around
    condition = condition_text(source, place, guard)
    indent = source.indentation(guard.start_offset)
    start = statement_end(source, guard)
    if any(splice.start == guard.start_offset and splice.end == start for splice in source.splices):
        raise NotApplicable(f"{place}: what follows line {guard.line} has just been enclosed for another access")
    lead = f"{first}{indent}" if first else ""
    source.replace(guard.start_offset, start, f"{lead}if (!({condition})) {{")
    line = source.data.rfind(b"\n", 0, end) + 1
    alone = not source.data[line:end].strip()
    step = "\t" if "\t" in indent else "  " if len(indent) <= 2 else indent
    for offset in line_starts(source, start, line if alone else end):
        source.insert(offset, step)
    source.insert(line if alone else end, f"{'' if alone else chr(10)}{indent}}}\n{indent}{last}\n")


def line_starts(source: Source, start: int, end: int) -> list[int]:
    """First bytes of the non-empty lines that begin in [start, end), preprocessor lines left out."""
    found = []
    at = source.data.find(b"\n", start, end)
    while 0 <= at < end - 1:
        stop = source.data.find(b"\n", at + 1)
        text = source.data[at + 1 : stop if stop >= 0 else end].strip()
        if text and not text.startswith(b"#"):
            found.append(at + 1)
        at = source.data.find(b"\n", at + 1, end)
    return found
