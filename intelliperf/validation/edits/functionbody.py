"""A function of LLVM assembly as blocks, definitions and uses, for rewriting it as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

VALUE = r'%(?:"[^"]*"|[-\w.$]+)'
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_TARGET = re.compile(r'label %("[^"]*"|[-\w.$]+)')
_RESULT = re.compile(rf"\s+({VALUE}) = ")
_NUMBERED = re.compile(r"%(\d+)\b")
_NUMBERED_LABEL = re.compile(r"^(\d+):")
_COMMENT = re.compile(r"\s+; preds = .*$")
_ENTRY = "entry.of.the.function"
# What depends on its operands alone and does nothing else.
_PURE = re.compile(
    r"(?:f?add|f?sub|f?mul|[us]div|[us]rem|shl|[la]shr|and|or|xor|[if]cmp|select|getelementptr|[zs]ext|trunc|fpext|fptrunc|"
    r"[us]itofp|ptrtoint|phi|extractvalue|freeze)\b|(?:tail )?call [^@]*@llvm\.(?:[us](?:min|max)|[us]mul\.with|abs)\."
)


def lines_of(ir: str) -> Iterator[list[str]]:
    """The module's lines: each function's together, header and closing brace included, all others one by one."""
    held: list[str] | None = None
    for line in ir.split("\n"):
        if line.startswith("define "):
            held = []
        if held is None:
            yield [line]
            continue
        held.append(line)
        if line == "}":
            yield held
            held = None


def with_named_values(function: list[str]) -> list[str]:
    """Values and blocks without a name get one, so that lines may come and go; each instruction stays a line."""
    header, *body = function
    renamed = [_NUMBERED.sub(r"%n\1", header)]
    if body and _LABEL.match(body[0]) is None:
        count = len(set(_NUMBERED.findall(header[header.index("(") :])))
        renamed.append(f"n{count}:" if f"%{count}" in "\n".join(body) else f"{_ENTRY}:")
    for line in _joined(body):
        plain = _NUMBERED_LABEL.sub(r"n\1:", _COMMENT.sub("", line))
        renamed.append(_NUMBERED.sub(r"%n\1", plain) if 'c"' not in plain else plain)
    return renamed


def _joined(body: list[str]) -> Iterator[str]:
    held = ""
    for line in body:
        if held and line.startswith(("    ", "  ]")):
            held += " " + line.strip()
            continue
        if held:
            yield held
        held = line
    yield held


def mentions(line: str, value: str) -> bool:
    return value in line and re.search(re.escape(value) + r"(?![-\w.$])", line) is not None


def replaced(line: str, value: str, by: str) -> str:
    return re.sub(re.escape(value) + r"(?![-\w.$])", lambda _: by, line) if value in line else line


class FunctionBody:
    """`lines` are a function's, with named values; they stay as they are."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.block_of: list[str] = []  # by line; "" for the header
        current = ""
        for line in lines:
            label = _LABEL.match(line)
            current = label[1] if label is not None else current
            self.block_of.append(current)

    @cached_property
    def definitions(self) -> dict[str, int]:
        return {match[1]: at for at, line in enumerate(self.lines) if (match := _RESULT.match(line)) is not None}

    @cached_property
    def blocks(self) -> dict[str, list[int]]:
        """The instructions of each block, by its label."""
        found: dict[str, list[int]] = {}
        for at, line in enumerate(self.lines):
            if self.block_of[at] and line.strip() not in ("", "}") and _LABEL.match(line) is None:
                found.setdefault(self.block_of[at], []).append(at)
        return found

    @cached_property
    def predecessors(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {label: set() for label in self.blocks}
        for label, places in self.blocks.items():
            for at in places:
                for target in _TARGET.findall(self.lines[at]):
                    found.setdefault(target, set()).add(label)
        return found

    @cached_property
    def _dominators(self) -> dict[str, set[str]]:
        labels = list(self.blocks)
        found = {label: set(labels) for label in labels}
        found[labels[0]] = {labels[0]}
        changed = True
        while changed:
            changed = False
            for label in labels[1:]:
                before = [found[one] for one in self.predecessors[label] if one in found]
                new = (set.intersection(*before) if before else set(labels)) | {label}
                changed |= new != found[label]
                found[label] = new
        return found

    def dominates(self, first: int, later: int) -> bool:
        """Has the line `first` been executed whenever `later` is?"""
        mine, its = self.block_of[first], self.block_of[later]
        return first < later if mine == its else mine in self._dominators[its]

    def uses(self, value: str) -> list[int]:
        return [
            at
            for at, line in enumerate(self.lines)
            if at != self.definitions.get(value) and at > 0 and mentions(line, value)
        ]

    def text(self, value: str) -> str:
        """The instruction that defines it, behind the "="; empty for arguments and constants."""
        at = self.definitions.get(value)
        return self.lines[at].partition(" = ")[2] if at is not None else ""


def without_unused(lines: list[str]) -> list[str]:
    """Without values that are computed for nothing."""
    while True:
        used = re.findall(VALUE, "\n".join(lines))
        counts: dict[str, int] = {}
        for name in used:
            counts[name] = counts.get(name, 0) + 1
        kept = [line for line in lines if not _is_unused(line, counts)]
        if len(kept) == len(lines):
            return lines
        lines = kept


def _is_unused(line: str, counts: dict[str, int]) -> bool:
    result = _RESULT.match(line)
    return result is not None and counts[result[1]] == 1 and _PURE.match(line, result.end()) is not None
