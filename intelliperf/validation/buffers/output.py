"""Does the application print what it printed before? Numbers that vary by themselves are not answers.

A number of the output is left out where it differed between runs of the unmodified application, or
where it is a time or a rate by the unit beside it (those of a modelled clock do not vary by
themselves, and are what a faster kernel changes).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intelliperf.processes.process import Completed
from intelliperf.sentences import counted

_LIMIT_BYTES = 8 * 1024 * 1024
_TOKEN = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|[A-Za-z_]+|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d|\.\d)")
_TIME = re.compile(
    r"\b(?:time|times|timing|elapsed|duration|took|takes|seconds?|secs?|milliseconds?|microseconds?|nanoseconds?|"
    r"bandwidth|throughput|speed ?up|latency|performance|perf|rate|fps|cycles|clock)\b"
    r"|\b[munµ]?s\b|\b[kmgt]?i?b(?:ytes)?/s(?:ec)?\b|\bflops?/?s?\b|\b[kmgt]flops?(?:/s)?\b|/\s*s(?:ec(?:ond)?)?\b|\bhz\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class OutputModel:
    """The reference's stdout and exit status, and which of its tokens vary."""

    exit_status: int | None
    lines: tuple[tuple[str, ...], ...]
    varying: frozenset[tuple[int, int]]  # line, token other than white space
    steady: bool  # False: even the shape of the output varies from run to run

    @classmethod
    def learn(cls, base: Completed, others: Sequence[Completed]) -> OutputModel:
        lines = _lines(base)
        varying: set[tuple[int, int]] = set()
        steady = True
        for other in others:
            found = _lines(other)
            pairs = [(_words(left), _words(right)) for left, right in zip(lines, found, strict=False)]
            if len(found) != len(lines) or any(len(left) != len(right) for left, right in pairs):
                steady = False
                continue
            for number, (left, right) in enumerate(pairs):
                varying |= {(number, place) for place, token in enumerate(left) if token != right[place]}
        return cls(base.exit_status, lines, frozenset(varying), steady)

    def rounded(self, others: Sequence[Completed], rtol: float) -> OutputModel:
        """With the numbers left out that other rounding of the device's arithmetic changes by more than `rtol`.

        A program's own estimate of its error is one: it is made of nothing else.
        """
        varying = set(self.varying)
        for other in others:
            found = _lines(other)
            if len(found) != len(self.lines):
                continue
            for number, (left, right) in enumerate(zip(self.lines, found, strict=True)):
                mine, theirs = _words(left), _words(right)
                if len(mine) != len(theirs):
                    continue
                pairs = zip(mine, theirs, strict=True)
                moved = {place for place, (a, b) in enumerate(pairs) if _float_moved(a, b, rtol)}
                varying |= {(number, place) for place in moved}
        return replace(self, varying=frozenset(varying))

    def compared(self) -> str:
        """What `difference` holds a candidate to, in words."""
        lines, left_out = len(self.lines), len(self.varying)
        text = f"exit status {self.exit_status} and " + (
            counted(lines, "line") + " of output" if lines else "no output"
        )
        themselves = "varies by itself" if left_out == 1 else "vary by themselves"
        return text + (f", without {counted(left_out, 'word')} that {themselves}" if left_out else "")

    def difference(self, ended: Completed, rtol: float) -> str | None:
        """How a candidate's end differs, for people; None if it does not. `rtol` is for printed floats."""
        if ended.exit_status != self.exit_status:
            return f"{ended.describe()}, expected exit status {self.exit_status}"
        if not self.steady:
            return None
        found = _lines(ended)
        for number, (left, right) in enumerate(zip(self.lines, found, strict=False)):
            if not self._same(number, left, right, rtol):
                return f"line {number + 1} of the output is {_show(right)}, expected {_show(left)}"
        if len(found) != len(self.lines):
            return f"{len(found)} lines of output, expected {len(self.lines)}"
        return None

    def _same(self, number: int, left: tuple[str, ...], right: tuple[str, ...], rtol: float) -> bool:
        left, right = _words(left), _words(right)
        if left == right:
            return True
        if len(left) != len(right):
            return False
        timed = _TIME.search(" ".join(left)) is not None
        for place, (mine, theirs) in enumerate(zip(left, right, strict=True)):
            if mine == theirs:
                continue
            if not (_NUMBER.match(mine) and _NUMBER.match(theirs)):
                return False
            if not timed and (number, place) not in self.varying and not _near(mine, theirs, rtol):
                return False
        return True


def _float_moved(left: str, right: str, rtol: float) -> bool:
    numbers = left != right and _NUMBER.match(left) and _NUMBER.match(right)
    return bool(numbers) and any(c in left + right for c in ".eE") and not _near(left, right, rtol)


def _near(left: str, right: str, rtol: float) -> bool:
    """Floats may differ by the tolerance of the buffers, or in the last digit printed."""
    if rtol <= 0 or not any(c in left + right for c in ".eE") or "x" in (left + right).lower():
        return False
    mine, theirs = float(left), float(right)
    digits = len(left.partition(".")[2].partition("e")[0]) if "e" not in left.lower() else None
    last_place = 1.01 * 10.0**-digits if digits is not None else 0.0
    return math.isclose(mine, theirs, rel_tol=rtol, abs_tol=last_place if rtol > 0 else 0.0)


def _lines(ended: Completed) -> tuple[tuple[str, ...], ...]:
    text = ended.tail("stdout", _LIMIT_BYTES)
    return tuple(tuple(_TOKEN.findall(line)) for line in text.splitlines())


def _words(line: tuple[str, ...]) -> tuple[str, ...]:
    """Without white space: the width of a padded column says nothing."""
    return tuple(token for token in line if not token.isspace())


def _show(tokens: tuple[str, ...]) -> str:
    text = "".join(tokens)
    return repr(text if len(text) <= 120 else text[:117] + "…")
