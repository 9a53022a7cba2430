"""From a model's reply to its parts: strict, without I/O, and precise about what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.disclosure import printable
from intelliperf.records import Declaration, Tunable

NO_CHANGE = "NO CHANGE"
_SECTIONS = ("rationale", "different", "base", "edits", "tunables", "declares")
_TUNABLE = re.compile(r"^[-*]?\s*[`*]*([A-Za-z_]\w*)[`*]*\s*:\s*(\d+(?:\s*,\s*\d+)*)\.?$")
_LARGEST = 1 << 20
_BASE = re.compile(r"^[`*\s]*(?:attempt\s+(\d+)|(best|none|source|nothing))[`*.\s]*$", re.IGNORECASE)
_HEADER = re.compile(r"^\s*\[\[ *## *(\w+) *## *\]\]\s*$")
_SEARCH = re.compile(r"^<{5,9} ?SEARCH$")
_FUNCTION = re.compile(r"^<{5,9} ?FUNCTION:? +`?([\w:~]+)`?(?:\(\))?$")
_DIVIDER = "======="
_REPLACE = re.compile(r"^>{5,9} ?REPLACE$")
_FENCE = re.compile(r"^\s*(```|~~~)[\w+.-]*$")
_FILE = re.compile(r"^(?:(?i:file|path):\s*|#{1,6}\s+)?[`*\"']*(?P<path>[^`*\"'<>=]+?)[`*\"']*:?$")
_DECLARED = re.compile(r"^[-*]?\s*[`*]*(geometry|kernels)[`*]*\s*:\s*(.*)$", re.IGNORECASE)
_NOTHING = re.compile(r"^[-*]?\s*[`*]*(nothing|none)[`*]*\.?$", re.IGNORECASE)


class MalformedReply(Exception):
    """The reply cannot be used as it is; the message tells the model precisely why."""


@dataclass(frozen=True)
class Block:
    """One edit as written: either `search` lines or the name of a `function`, and the new lines."""

    path: str
    replacement: tuple[str, ...]
    search: tuple[str, ...] = ()
    function: str | None = None


@dataclass(frozen=True)
class ParsedReply:
    """`blocks` is empty where the model declines with NO CHANGE."""

    rationale: str
    blocks: tuple[Block, ...]
    declares: Declaration
    different: str = ""  # from earlier attempts
    tunables: tuple[Tunable, ...] = ()
    base: int | None = None  # the attempt whose text the blocks refer to; None: the source as shown


def parse_reply(text: str) -> ParsedReply:
    """The reply's sections. Words before the first heading are not ours to judge."""
    sections = _sections(text)
    missing = [name for name in ("rationale", "edits") if name not in sections]
    if missing:
        raise MalformedReply(f"the section [[ ## {missing[0]} ## ]] is missing")
    rationale = printable("\n".join(sections["rationale"])).strip()
    if not rationale:
        raise MalformedReply("the rationale is empty")
    return ParsedReply(
        rationale,
        parse_blocks(sections["edits"]),
        _declares(sections.get("declares", [])),
        printable("\n".join(sections.get("different", []))).strip(),
        _tunables(sections.get("tunables", [])),
        _base(sections.get("base", [])),
    )


def _filled(lines: list[str]) -> Iterator[str]:
    """The lines that say something, stripped: neither empty nor a fence nor `nothing`."""
    for line in (line.strip() for line in lines):
        if line and not _FENCE.match(line) and not _NOTHING.match(line):
            yield line


def _tunables(lines: list[str]) -> tuple[Tunable, ...]:
    found: dict[str, Tunable] = {}
    for line in _filled(lines):
        match = _TUNABLE.match(line)
        if match is None:
            raise MalformedReply(f"tunables: {line[:80]!r} is not `NAME: 32, 64, 128`")
        values = tuple(dict.fromkeys(int(value) for value in match[2].split(",")))
        if match[1] in found or not 0 < max(values) <= _LARGEST:
            raise MalformedReply(f"tunables: {match[1]}: each once, with values from 1 to {_LARGEST}")
        found[match[1]] = Tunable(match[1], values)
    return tuple(found.values())


def _base(lines: list[str]) -> int | None:
    told = " ".join(line.strip() for line in lines if line.strip() and not _FENCE.match(line))
    match = _BASE.match(told) if told else None
    if told and match is None:
        raise MalformedReply(f"base: {told[:80]!r} is neither `best` nor `attempt N`")
    return int(match[1]) if match and match[1] else None


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        header = _HEADER.match(line)
        if header is None:
            lines.append(line)
            continue
        name = header[1].lower()
        if name in sections:
            raise MalformedReply(f"the section [[ ## {name} ## ]] comes twice")
        lines = []
        if name in _SECTIONS:
            sections[name] = lines
        elif name != "completed":
            raise MalformedReply(f"there is no section [[ ## {name} ## ]]; use {', '.join(_SECTIONS)}")
    return sections


def _declares(lines: list[str]) -> Declaration:
    given: dict[str, str] = {}
    for line in _filled(lines):
        declared = _DECLARED.match(line)
        if declared is None:
            raise MalformedReply(f"declares: {line[:80]!r} is neither `nothing`, `geometry: why` nor `kernels: why`")
        given[declared[1].lower()] = printable(declared[2].strip())
    return Declaration("geometry" in given, "kernels" in given, "; ".join(filter(None, given.values())))


def parse_blocks(lines: list[str]) -> tuple[Block, ...]:
    """All blocks of the edits section. Anything that is neither a block nor a file's name is an error."""
    if [line.strip(" `*.") for line in lines if line.strip() and not _FENCE.match(line)] == [NO_CHANGE]:
        return ()
    blocks: list[Block] = []
    path: str | None = None
    position = 0
    while position < len(lines):
        line = lines[position].strip()
        position += 1
        if not line or _FENCE.match(line):
            continue
        if _SEARCH.match(line) or _FUNCTION.match(line):
            if path is None:
                raise MalformedReply(f"block {len(blocks) + 1}: no `FILE: path` line before {line!r}")
            block, position = _block(path, line, lines, position, len(blocks) + 1)
            blocks.append(block)
            continue
        path = _path(line, lines, position)
    if not blocks:
        raise MalformedReply("the edits section holds no block; the two words NO CHANGE would decline")
    return tuple(blocks)


def _path(line: str, lines: list[str], position: int) -> str:
    """The file's name, if that is what the line is: the next words must open a block."""
    following = next((later.strip() for later in lines[position:] if later.strip() and not _FENCE.match(later)), "")
    named = _FILE.match(line)
    if named is None or not (_SEARCH.match(following) or _FUNCTION.match(following)):
        raise MalformedReply(f"edits: unexpected text outside a block: {line[:80]!r}")
    return named["path"].strip().removeprefix("./")


def _block(path: str, opening: str, lines: list[str], position: int, number: int) -> tuple[Block, int]:
    body: list[str] = []
    while True:
        if position >= len(lines):
            raise MalformedReply(f"block {number} ({path}): no `>>>>>>> REPLACE` line before the end of the section")
        line = lines[position]
        position += 1
        if _REPLACE.match(line.strip()):
            break
        if _SEARCH.match(line.strip()) or _FUNCTION.match(line.strip()):
            raise MalformedReply(f"block {number} ({path}): a new block begins before `>>>>>>> REPLACE`")
        body.append(line)
    function = _FUNCTION.match(opening)
    if function is not None:
        definition = _unfenced(body)
        if not any(line.strip() for line in definition):
            raise MalformedReply(f"block {number} ({path}): the new definition of {function[1]} is empty")
        return Block(path, definition, function=function[1]), position
    return _search_block(path, body, number), position


def _search_block(path: str, body: list[str], number: int) -> Block:
    dividers = [index for index, line in enumerate(body) if line.rstrip() == _DIVIDER]
    if len(dividers) != 1:
        raise MalformedReply(f"block {number} ({path}): {len(dividers)} lines of exactly `{_DIVIDER}` instead of one")
    search, replacement = _unfenced(body[: dividers[0]]), _unfenced(body[dividers[0] + 1 :])
    if not any(line.strip() for line in search):
        raise MalformedReply(f"block {number} ({path}): the SEARCH half is empty; repeat a neighbouring line instead")
    if search == replacement:
        raise MalformedReply(f"block {number} ({path}): both halves are the same")
    return Block(path, replacement, search=search)


def _unfenced(lines: list[str]) -> tuple[str, ...]:
    """Without a Markdown fence directly around the lines."""
    if len(lines) >= 2 and _FENCE.match(lines[0]) and lines[-1].strip() in ("```", "~~~"):
        lines = lines[1:-1]
    return tuple(lines)
