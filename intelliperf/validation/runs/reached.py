"""What the runs of a candidate executed of its kernels, line by line: what none did was not checked.

The runtime tells after each dispatch which blocks and which ways of choices were taken so far, see `emulator/ir/reach`.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.interception.messages import Dispatch, Hello
from intelliperf.sentences import counted

_MOST_NAMED = 4
_MOST_ENTRIES = 1 << 20
_TEXT_WIDTH = 60

Line = tuple[str, int]  # of a file as the compiler names it


@dataclass(frozen=True)
class _Entry:
    choice: bool
    lines: tuple[Line, ...]


@dataclass
class Reached:
    """Over all runs of one program; of several builds of it, too."""

    lines: dict[Line, bool] = field(default_factory=dict)  # was any of the code there executed?
    launched: set[str] = field(default_factory=set)  # symbols of kernels
    choices: dict[tuple[Line, int], set[bool]] = field(default_factory=dict)  # ways taken, by place and its nth choice

    def listen(self, hello: Hello, dispatch: Dispatch) -> None:
        """Raises `ProtocolError` for what is not such a report."""
        self.launched.add(dispatch.kernel)
        for module, bits in dispatch.reached.items():
            self._add(_entries(hello, module), bits)

    def _add(self, entries: Sequence[_Entry], bits: bytes) -> None:
        at = 0
        seen: dict[Line, int] = {}
        for entry in entries:
            ways = [bool(bits[n // 8] >> n % 8 & 1) if n // 8 < len(bits) else False for n in (at, at + 1)]
            at += 2 if entry.choice else 1
            if not entry.choice:
                for line in entry.lines:
                    self.lines[line] = self.lines.get(line, False) or ways[0]
                continue
            place = entry.lines[0]
            seen[place] = seen.get(place, -1) + 1
            taken = self.choices.setdefault((place, seen[place]), set())
            taken |= {way for way, was in zip((False, True), ways, strict=True) if was}

    def unexecuted(self) -> list[Line]:
        return sorted(line for line, was in self.lines.items() if not was)

    def one_way(self) -> list[Line]:
        """Where choices were made, always in the same way."""
        return sorted({line for (line, _), taken in self.choices.items() if len(taken) == 1})


def _entries(hello: Hello, module: int) -> Sequence[_Entry]:
    files, rows = hello.reach.get(module, ((), ()))  # of what is loaded later, nothing is known
    if len(rows) > _MOST_ENTRIES:
        raise ProtocolError(f"hello: {len(rows)} places that may be reached")
    entries = []
    for row in rows:
        pairs = [(files[row[n]], row[n + 1]) for n in range(1, len(row) - 1, 2) if row[n] < len(files)]
        if not row or not pairs:
            raise ProtocolError("hello: a place that may be reached lies on no line")
        entries.append(_Entry(bool(row[0]), tuple(pairs)))
    return entries


def changed_lines(before: str, after: str) -> set[int]:
    """Numbers, from 1, of the lines of `after` that `before` does not have."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    changed = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    return {number + 1 for _, _, _, begin, end in changed for number in range(begin, end)}


@dataclass(frozen=True)
class Unreached:
    """For people: what was executed, and what was not."""

    told: str
    unseen: str


def unreached(reached: Reached, tree: Path, texts: Mapping[str, tuple[str, str]]) -> Unreached | None:
    """`texts`: before and after, of the edited files by path below `tree`. None where nothing was reported.

    The candidate's own lines come first.
    """
    if not reached.lines:
        return None
    own = {line for line in reached.lines if _below(tree, line[0]) is not None}
    done = sum(reached.lines[line] for line in own)
    new = {
        (path, number)
        for path, (before, after) in texts.items()
        for number in changed_lines(before, after)
        if _is_code(after, number)
    }
    code = _Code(tree, {path: after for path, (_, after) in texts.items()})
    named, others = _sorted_out(tree, reached.unexecuted(), new)
    parts = [_listed("no run executed", named, code)] if named else []
    of_way, _ = _sorted_out(tree, reached.one_way(), new)
    if of_way := [line for line in dict.fromkeys(of_way) if line not in named]:
        parts.append(_listed("a condition, or part of one, that came out the same in all runs", of_way, code))
    if others:
        told = f"no run executed {counted(len(others), 'line')} that the original has as well"
        parts.append(_listed(told, others, code))
    return Unreached(f"{done:,} of {len(own):,} lines of kernels were executed", "; ".join(parts))


def _below(tree: Path, file: str) -> str | None:
    path = Path(file) if Path(file).is_absolute() else tree / file
    try:
        return str(path.resolve().relative_to(tree.resolve()))
    except ValueError:
        return None


def _sorted_out(tree: Path, lines: Iterable[Line], new: Collection[Line]) -> tuple[list[Line], list[Line]]:
    """Those among `new` and the others, by path below the tree."""
    found = [(path, number) for file, number in lines if (path := _below(tree, file)) is not None]
    return [line for line in found if line in new], [line for line in found if line not in new]


def _is_code(text: str, number: int) -> bool:
    lines = text.splitlines()
    return number <= len(lines) and any(character.isalnum() for character in lines[number - 1])


class _Code:
    """Lines of the candidate's files, the edited ones as they were given."""

    def __init__(self, tree: Path, edited: Mapping[str, str]) -> None:
        self._tree = tree
        self._texts = dict(edited)

    def line(self, path: str, number: int) -> str:
        """Without its indentation, and not all of a long one; empty where there is no such line."""
        if path not in self._texts:
            file = self._tree / path
            self._texts[path] = file.read_text("utf-8", "replace") if file.is_file() else ""
        lines = self._texts[path].splitlines()
        code = lines[number - 1].strip() if number <= len(lines) else ""
        return code if len(code) <= _TEXT_WIDTH else f"{code[: _TEXT_WIDTH - 1]}…"


def _listed(what: str, lines: Sequence[Line], code: _Code) -> str:
    shown = [f"{path}:{number}: `{code.line(path, number)}`" for path, number in lines[:_MOST_NAMED]]
    more = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
    return f"{what}: {', '.join(shown)}{more}"
