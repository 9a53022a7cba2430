"""LLVM assembly as comparable parts: each function and variable in a form that only its meaning decides.

Values and blocks are numbered in the order in which control reaches them, constants without a name stand for
themselves, and what the optimiser merely inferred is left out. Two functions with equal text compile to equal code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from intelliperf.validation.edits.units import Unreadable

NAME = r'@(?:"[^"]*"|[-\w.$]+)'
_LOCAL = re.compile(r'%(?:"[^"]*"|[-\w.$]+)')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_DEFINE = re.compile(rf"^define .*?({NAME})\(")
_GLOBAL = re.compile(rf"^({NAME}) = (.*)$")
_TYPE = re.compile(r'^(%(?:"[^"]*"|[-\w.$]+)) = type (.*)$')
_DEBUG = re.compile(r", !dbg !(\d+)")
_METADATA = re.compile(r",? !\w[\w.]* !\d+|,? !(?:srcloc|range) !\d+")
_INFERRED = re.compile(
    r"\b(?:noundef|nonnull|noalias|nocapture|readonly|writeonly|readnone|returned|immarg|signext|zeroext|noreturn|"
    r"allocalign|allocptr|dead_on_unwind|writable|nuw|nsw|nneg|disjoint|samesign|exact|inbounds|tail|inrange|"
    r"local_unnamed_addr|unnamed_addr|dso_local|mustprogress|speculatable)\b ?|"
    r"\b(?:captures|dereferenceable|dereferenceable_or_null|range|initializes|nofpclass|memory)"
    r"\([^()]*(?:\([^()]*\))?[^()]*\) ?|"
    r"\balign \d+ (?=[%@\w])|#\d+\b ?"
)
_ASKED = re.compile(r'"(?!min-legal-vector-width")[^"]*"="[^"]*"')  # the width goes by what was inlined
_PHI_ENTRY = re.compile(r"\[ ([^\[\]]*?), (%[-\w.$\"]+) \]")
_TERMINATOR = re.compile(
    r"\s+(?:%\S+ = )?(?:ret|br|switch|indirectbr|resume|unreachable|invoke|callbr|cleanupret|catchret|catchswitch)\b"
)
_RESULT = re.compile(r'\s+(%(?:"[^"]*"|[-\w.$]+)) = ')
# What depends on its operands alone; where it is computed, and how often, makes no difference.
_PURE = re.compile(
    r"(?:f?add|f?sub|f?mul|[us]?div|fdiv|[usf]rem|shl|[la]shr|and|or|xor|[if]cmp|fneg|select|getelementptr|bitcast|[zs]ext|"
    r"trunc|fpext|fptrunc|fpto[us]i|[us]itofp|inttoptr|ptrtoint|addrspacecast|freeze|(?:extract|insert)(?:value|element)|"
    r"shufflevector)\b|"
    r"(?:tail )?call [^@]*@llvm\.(?:[us](?:min|max)|abs|fabs|sqrt|fma|floor|ceil|trunc|ct[lt]z|ctpop|bswap|fsh[lr])\."
)
_COMMUTES = re.compile(r"((?:f?add|f?mul|and|or|xor|icmp (?:eq|ne))(?: [\w<>]+)*) (\S+), (\S+)")
_UNNAMED = re.compile(r"\b(?:private|internal) .*\bunnamed_addr constant\b")
_DEEPEST = 8


@dataclass(frozen=True)
class Line:
    """One instruction in canonical form. `place` is the number of its !DILocation, "" where it has none."""

    text: str
    place: str


@dataclass(frozen=True)
class Function:
    name: str
    header: str
    body: tuple[str, ...]  # joined raw lines: labels and instructions

    @cached_property
    def raw(self) -> str:
        return "\n".join(self.body)


@dataclass(frozen=True)
class Module:
    functions: Mapping[str, Function]
    variables: Mapping[str, str]  # what stands behind the "="
    types: Mapping[str, str]
    extras: tuple[str, ...]  # module assembly, libraries that a pragma asks for
    attributes: Mapping[str, str]  # by group: those that are not inferred, as "target-features"="…"
    notes: Mapping[str, str] = field(repr=False)  # metadata by number

    def names_in(self, name: str) -> set[str]:
        """Names of functions and variables that this one refers to."""
        text = self.functions[name].raw + self.functions[name].header if name in self.functions else ""
        return set(re.findall(NAME, text or self.variables.get(name, ""))) - {name}

    def is_unnamed(self, name: str) -> bool:
        """A constant that stands for its value: every use of it is compared by that."""
        return _UNNAMED.search(self.variables.get(name, "")) is not None

    def reached(self, roots: set[str], without: Collection[str] = ()) -> set[str]:
        """The roots and all that they refer to, not through names of `without`."""
        found: set[str] = set()
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            if name not in found and name not in without:
                found.add(name)
                waiting += self.names_in(name)
        return found

    def line_of(self, place: str) -> tuple[str, int]:
        """File name and line of a !DILocation, at the outermost call that it was inlined into."""
        note = self.notes.get(place, "")
        while (outer := re.search(r"inlinedAt: !(\d+)", note)) is not None:
            note = self.notes.get(outer[1], "")
        line = re.search(r"line: (\d+)", note)
        scope = re.search(r"scope: !(\d+)", note)
        scoped = self.notes.get(scope[1], "") if scope else ""
        file = re.search(r"file: !(\d+)", scoped)
        named = re.search(r'filename: "([^"]*)"', self.notes.get(file[1], "") if file else "")
        return named[1] if named else "", int(line[1]) if line else 0

    def lines(self, name: str) -> list[Line]:
        """The canonical form of a function or variable."""
        if name in self.functions:
            return _canonical(self, self.functions[name])
        return [Line(self._spelled(self.variables.get(name, "declared")), "")]

    def _spelled(self, text: str, depth: int = 0) -> str:
        """With types written out and constants without a name in place of their numbers."""
        text = _LOCAL.sub(lambda m: f"{m[0]}={self.types[m[0]]}" if m[0] in self.types else m[0], text)
        if depth >= _DEEPEST:
            return text

        def constant(match: re.Match[str]) -> str:
            value = self.variables.get(match[0], "")
            return f"@<{self._spelled(value, depth + 1)}>" if _UNNAMED.search(value) else match[0]

        return _METADATA.sub("", re.sub(NAME, constant, text))


def parse(text: str) -> Module:
    """The module that the assembly text describes."""
    functions: dict[str, Function] = {}
    variables: dict[str, str] = {}
    types: dict[str, str] = {}
    extras: list[str] = []
    attributes: dict[str, str] = {}
    notes: dict[str, str] = {}
    rows = iter(text.split("\n"))
    for row in rows:
        if (match := _DEFINE.match(row)) is not None:
            body = _joined(iter(lambda rows=rows: next(rows), "}"))  # type: ignore[misc]
            functions[match[1]] = Function(match[1], row, tuple(body))
        elif (match := _GLOBAL.match(row)) is not None:
            variables[match[1]] = match[2]
        elif (match := _TYPE.match(row)) is not None:
            types[match[1]] = match[2]
        elif (match := re.match(r"attributes (#\d+) = \{(.*)\}", row)) is not None:
            attributes[match[1]] = " ".join(_ASKED.findall(match[2]))
        elif row.startswith(("module asm", "!llvm.linker.options", "!llvm.dependent-libraries")):
            extras.append(row)
        elif (match := re.match(r"^!(\d+) = (.*)$", row)) is not None:
            notes[match[1]] = match[2]
    return Module(functions, variables, types, tuple(extras), attributes, notes)


def _joined(rows: Iterator[str]) -> Iterator[str]:
    """One row for each label and instruction; comments and empty rows are gone."""
    held = ""
    for row in rows:
        plain = row.split(" ; ")[0].rstrip() if '"' not in row else row.rstrip()
        plain = re.sub(r"\s*; preds = .*$", "", plain)
        if not plain or plain.lstrip().startswith(";"):
            continue
        if held and plain.startswith(("    ", "  ]")):
            held += " " + plain.strip()
            continue
        if held:
            yield held
        held = plain
    if held:
        yield held


def _canonical(module: Module, function: Function) -> list[Line]:
    blocks = _blocks(function)
    order = _reached_blocks(blocks)
    names: dict[str, str] = {}
    for place, found in enumerate(_LOCAL.findall(_arguments(function.header))):
        if found not in module.types:
            names.setdefault(found, f"%a{place}")
    for number, label in enumerate(order):
        names["%" + label] = f"%b{number}"
    if order[0] == "":  # a first block without a label has the number after the arguments'
        names[f"%{len(set(re.findall(r'%[0-9]+', _arguments(function.header))))}"] = "%b0"
    count = 0
    for label in order:
        for row in blocks[label]:
            result = _RESULT.match(row)
            if result is not None and _PURE.match(row, result.end()):
                names[result[1]] = _expression(module, row[result.end() :], names)
            elif result is not None:
                names[result[1]] = f"%v{count}"
                count += 1
    group = re.search(r" (#\d+)", function.header)
    asked = module.attributes.get(group[1], "") if group else ""
    lines = [Line(f"{_without_inferred(module._spelled(function.header))} {asked}", "")]
    for label in order:
        lines.append(Line(names["%" + label], ""))
        for row in blocks[label]:
            result = _RESULT.match(row)
            if result is None or not _PURE.match(row, result.end()):
                lines.append(_line(module, row, names))
    return lines


def _expression(module: Module, row: str, names: Mapping[str, str]) -> str:
    """A name for a value: the same for the same operation on the same operands, wherever it stands."""
    text = _without_inferred(module._spelled(_METADATA.sub("", row.strip())))
    text = _LOCAL.sub(lambda m: names.get(m[0], m[0]), text)
    if (found := _COMMUTES.fullmatch(text)) is not None:
        text = f"{found[1]} {', '.join(sorted((found[2], found[3])))}"
    return f"%e{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:20]}"


def _arguments(header: str) -> str:
    return header[header.index("(") :]


def _blocks(function: Function) -> dict[str, list[str]]:
    """Instructions by label, which is empty where the first block has none. Raises `Unreadable`."""
    blocks: dict[str, list[str]] = {}
    current: list[str] = []
    for number, row in enumerate(function.body):
        label = _LABEL.match(row)
        if number == 0 and label is None:
            blocks[""] = current
        if label is not None:
            current = blocks[label[1]] = []
        elif "@llvm.lifetime." not in row and "@llvm.experimental.noalias" not in row and "@llvm.assume" not in row:
            current.append(row)
    if not blocks or not all(rows and _TERMINATOR.match(rows[-1]) for rows in blocks.values()):
        raise Unreadable(f"the compiled form of {function.name} is not understood")
    return blocks


def _reached_blocks(blocks: Mapping[str, list[str]]) -> list[str]:
    """Labels in the order of a depth-first walk along the branches as they are written."""
    order: list[str] = []
    seen: set[str] = set()
    waiting = [next(iter(blocks))]
    while waiting:
        label = waiting.pop()
        if label in seen:
            continue
        seen.add(label)
        order.append(label)
        last = blocks[label][-1] if blocks[label] else ""
        waiting += [found[1:] for found in reversed(re.findall(r'label (%(?:"[^"]*"|[-\w.$]+))', last))]
    return order


def _line(module: Module, row: str, names: Mapping[str, str]) -> Line:
    place = _DEBUG.search(row)
    text = _without_inferred(module._spelled(_METADATA.sub("", row.strip())))
    text = _LOCAL.sub(lambda m: names.get(m[0], m[0]), text)
    if " = phi " in text:
        head = text[: text.index("[")]
        entries = sorted(_PHI_ENTRY.findall(text[text.index("[") :]), key=lambda entry: entry[1])
        text = head + ", ".join(f"[ {value}, {block} ]" for value, block in entries)
    return Line(text, place[1] if place else "")


def _without_inferred(text: str) -> str:
    """String constants stay as they are."""
    parts = re.split(r'("[^"]*")', text)
    return "".join(part if at % 2 else _INFERRED.sub("", part) for at, part in enumerate(parts)).rstrip()
