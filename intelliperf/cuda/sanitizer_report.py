"""What compute-sanitizer wrote, as findings that can be told apart from run to run. Text in, records out.

The layout was recorded with compute-sanitizer 2025.3.1, run with `--demangle no --strip-paths no`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.cuda.symbols import canonical
from intelliperf.sentences import counted

_PREFIX = "========="
_ACCESS = (
    r"(?P<function>\S.*?)(?:\+0x[0-9a-f]+)?(?: in (?P<file>.+?):(?P<line>\d+))?(?: \[(?P<count>[\d,]+) hazards?\])?"
)
_AT = re.compile(rf"^ +at {_ACCESS}$")
_DEVICE_FRAME = re.compile(rf"^ +Device Frame: ?{_ACCESS}$")
_RACE = re.compile(rf"^(?:Error|Warning): Race reported between (?P<how>\w+) access at {_ACCESS}$")
_AGAINST = re.compile(rf"^ +and (?P<how>\w+) access at {_ACCESS}$")
_THREAD = re.compile(r"^ +by thread (?P<thread>\([\d,]+\)) in block (?P<block>\([\d,]+\))")
_API = re.compile(r"^Program hit (?P<error>\w+) .*?(?:on CUDA API call to (?P<call>\w+))?\.?$")
_TOTAL = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (?P<count>[\d,]+) (?:errors?|hazards?)")
_UNPRINTED = re.compile(r"SUMMARY: (?P<count>[\d,]+) (?:errors?|hazards?) (?:was|were) not printed")
_VARIES = (
    (re.compile(r"\s*\bof size [\d,]+ bytes?"), ""),
    (re.compile(r"0x[0-9a-f]+"), "…"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True)
class Spot:
    """One instruction's line. `line` is 0 where the build has no line information."""

    function: str  # mangled, canonical
    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}" if self.line else self.function


@dataclass(frozen=True)
class SanitizerFinding:
    """One kind of misbehaviour at one place; `count` is how often it was seen there, `thread` who did it first."""

    kind: str  # in the tool's words, without sizes and addresses
    kernel: str  # mangled, canonical; empty for calls of the host
    spot: Spot | None
    other: Spot | None  # of a race
    thread: str
    count: int

    def __str__(self) -> str:
        place = f" at {self.spot}" if self.spot else ""
        against = f" against {self.other}" if self.other and self.other != self.spot else ""
        kernel = f" in {self.kernel}" if self.kernel else ""
        by = f", first by {self.thread}" if self.thread else ""
        return f"{self.kind}{place}{against}{kernel}{by}, {counted(self.count, 'time')}"


@dataclass(frozen=True)
class SanitizerReport:
    """`complete`: the tool came to its summary. `unprinted`: how many errors its limit kept back."""

    findings: tuple[SanitizerFinding, ...]
    complete: bool
    unprinted: int
    messages: tuple[str, ...]  # of the tool about itself


def parse(text: str) -> SanitizerReport:
    """Findings in the order of their first appearance."""
    merged: dict[tuple[object, ...], SanitizerFinding] = {}
    complete, total, unprinted = False, 0, 0
    messages: list[str] = []
    for block in _blocks(text):
        if counted := _UNPRINTED.search(block[0]):
            unprinted += _integer(counted["count"])
        elif counted := _TOTAL.search(block[0]):
            complete, total = True, total + _integer(counted["count"])
        elif (found := _finding(block)) is not None:
            key = found.kind, found.kernel, found.spot, found.other
            before = merged.get(key)
            count = found.count + (before.count if before else 0)
            merged[key] = SanitizerFinding(*key, before.thread if before else found.thread, count)
        elif block[0] != "COMPUTE-SANITIZER":
            messages.append(" ".join(line.strip() for line in block))
    if total and not merged:  # errors of a kind whose layout is not known are still errors
        merged[()] = SanitizerFinding(messages[0] if messages else "an error", "", None, None, "", total)
    return SanitizerReport(tuple(merged.values()), complete, unprinted, tuple(messages))


def _blocks(text: str) -> Iterator[list[str]]:
    """Lines without the prefix; a heading starts at once, its details are indented."""
    block: list[str] = []
    for line in text.splitlines():
        if not line.startswith(_PREFIX):
            continue
        content = line[len(_PREFIX) :].removeprefix(" ").rstrip()
        if block and not content.startswith(" "):
            yield block
            block = []
        if content:
            block.append(content)
    if block:
        yield block


def _finding(block: Sequence[str]) -> SanitizerFinding | None:
    heading, details = block[0], block[1:]
    if race := _RACE.match(heading):
        return _race(race, details)
    if api := _API.match(heading):
        return SanitizerFinding(f"{api['error']} from {api['call'] or 'a call'}", "", None, None, "", 1)
    places = [match for line in details if (match := _AT.match(line) or _DEVICE_FRAME.match(line))]
    if not places:
        return None
    threads = (match for line in details if (match := _THREAD.match(line)))
    first = next(threads, None)
    by = f"thread {first['thread']} of block {first['block']}" if first else ""
    kernel = canonical(places[-1]["function"])
    return SanitizerFinding(_steady(heading), kernel, _spot(places[0]), None, by, 1)


def _race(race: re.Match[str], details: Sequence[str]) -> SanitizerFinding:
    others = [match for line in details if (match := _AGAINST.match(line))]
    frames = [match for line in details if (match := _DEVICE_FRAME.match(line))]
    ways = sorted({race["how"].lower(), *(other["how"].lower() for other in others)})
    kernel = canonical((frames or [race])[-1]["function"])
    count = sum(_integer(match["count"]) for match in (race, *others) if match["count"])
    kind = f"race between {' and '.join(ways)}" if len(ways) > 1 else f"race between two {ways[0]}s"
    return SanitizerFinding(kind, kernel, _spot(race), _spot(others[0]) if others else None, "", count or 1)


def _spot(match: re.Match[str]) -> Spot:
    return Spot(canonical(match["function"]), match["file"] or "", int(match["line"] or 0))


def _steady(heading: str) -> str:
    for pattern, replacement in _VARIES:
        heading = pattern.sub(replacement, heading)
    return heading.strip().rstrip(".")


def _integer(text: str) -> int:
    return int(text.replace(",", ""))
