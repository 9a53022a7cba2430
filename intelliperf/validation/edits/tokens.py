"""The compiler's own tokens of a text, and its directives: clang lexes, nothing here guesses.

What compilers read differently is refused by name before: control characters, unusual line ends, trigraphs, a
backslash before anything but the end of its line.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from intelliperf.validation.edits.units import Compiler, Unreadable

MOST_BYTES = 512 << 10
MOST_NESTING = 200
_LONGEST_LINE = 20_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_ODD_ENDS = {"\r": "a carriage return in a line", "\x85": "NEL", "\u2028": "U+2028", "\u2029": "U+2029"}
_HIDING = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_SPLICE = re.compile(r"\\[ \t]+(?=\n|\Z)")
_DUMPED = r"^(?P<kind>\w+) '(?P<text>.*?)'\t(?P<flags>(?: \[(?:\w+|UnClean='.*?')\])*)\tLoc=<{name}:(?P<line>\d+):\d+>$"


@dataclass(frozen=True)
class Token:
    """`first`: the first of its line."""

    kind: str  # clang's: raw_identifier, numeric_constant, string_literal, l_paren …
    text: str
    line: int
    first: bool


@dataclass(frozen=True)
class Directive:
    """A line of the preprocessor: its name, the tokens behind it."""

    name: str
    words: tuple[str, ...]
    line: int

    def __str__(self) -> str:
        return f"#{self.name} {' '.join(self.words)}".rstrip()


def oddity(before: str, after: str) -> str:
    """What in the new text, and not in the old one, compilers may read differently; "" if nothing."""
    if len(after) > max(MOST_BYTES, 2 * len(before)):
        return f"the text has {len(after):,} characters; at most {MOST_BYTES:,} are read"
    old, new = (text.replace("\r\n", "\n") for text in (before, after))
    for number, line in enumerate(new.split("\n"), 1):
        told = _odd_line(line)
        if told and told != _odd_line_among(line, old):
            return f"line {number}: {told}"
    if max(map(len, new.split("\n"))) > max(_LONGEST_LINE, *map(len, old.split("\n"))):
        return f"a line of more than {_LONGEST_LINE:,} characters"
    return ""


def _odd_line_among(line: str, old: str) -> str:
    """The same complaint, if the original has the very line."""
    return _odd_line(line) if f"\n{line}\n" in f"\n{old}\n" else ""


def _odd_line(line: str) -> str:
    if (found := _CONTROL.search(line)) is not None:
        return f"a control character (U+{ord(found[0]):04X})"
    if (found := _HIDING.search(line)) is not None:
        return f"an invisible character (U+{ord(found[0]):04X})"
    for character, told in _ODD_ENDS.items():
        if character in line:
            return f"an unusual line end ({told})"
    if (found := _TRIGRAPH.search(line)) is not None:
        return f"a trigraph ({found[0]})"
    return "a backslash with spaces behind it at a line's end" if _SPLICE.search(line) else ""


def tokens(compiler: Compiler, text: str) -> list[Token]:
    """Without comments and white space. Raises `Unreadable`, also where brackets are nested too deeply."""
    name = f"{secrets.token_hex(12)}.cpp"  # a name that no text can imitate
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as directory:
        file = Path(directory) / name
        file.write_bytes(text.replace("\r\n", "\n").encode("utf-8", "surrogateescape"))
        dumped = compiler.errors_of(
            ("-x", "c++", "-std=gnu++20", "-w", "-fsyntax-only", "-Xclang", "-dump-raw-tokens", name), Path(directory)
        )
    found = []
    first = True
    for match in re.finditer(_DUMPED.format(name=re.escape(name)), dumped, re.MULTILINE | re.DOTALL):
        first = first or match["flags"].startswith(" [StartOfLine]")
        if match["kind"] in ("unknown", "comment"):
            continue
        found.append(Token(match["kind"], match["text"], int(match["line"]), first))
        first = False
    _refuse_depth(found)
    return found


def _refuse_depth(row: list[Token]) -> None:
    depth = 0
    for token in row:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth > MOST_NESTING:
            raise Unreadable(f"line {token.line}: brackets nested more than {MOST_NESTING} deep")


def directives(row: list[Token]) -> list[Directive]:
    """A directive lasts to the end of its spliced line."""
    found: list[Directive] = []
    at = 0
    while at < len(row):
        if not (row[at].first and row[at].text in ("#", "%:", "??=")):
            at += 1
            continue
        end = at + 1
        while end < len(row) and not row[end].first:
            end += 1
        words = [token.text for token in row[at + 1 : end]]
        found.append(Directive(words[0] if words else "", tuple(words[1:]), row[at].line))
        at = end
    return found
