"""What a just-in-time compiler made of a kernel: its variants, the layouts of their values, and what hot lines became.

For a model that is to rewrite the kernel: Triton's decisions are not in the source.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from intelliperf.project.versions import JIT_LOG, Version
from intelliperf.records import Kernel, SourceEvidence

_VARIANTS, _LINES, _MNEMONICS = 3, 6, 8
_LAYOUT = re.compile(r"^(#\w+) = (#ttg\.\w+<.*>)$", re.MULTILINE)
_PLACE = re.compile(r"^\s*\.loc\s[^;]*;\s*(.*)$")
_INSTRUCTION = re.compile(r"^\s+([a-z]\w*)")


def facts(version: Version, kernel: Kernel, evidence: Sequence[SourceEvidence]) -> tuple[str, ...]:
    """Sentences, one per variant of the kernel and per blamed line; none where nothing was compiled at run time."""
    log = version.workspace.tree / JIT_LOG
    if not log.is_file():
        return ()
    rows = [json.loads(line) for line in log.read_text("utf-8", "surrogateescape").splitlines()]
    mine = [row for row in rows if row["kernel"] == kernel.symbol and not row["tuning"]]
    distinct = list({json.dumps([row["signature"], row["constants"], row["options"]]): row for row in mine}.values())
    told: list[str] = []
    for row in distinct[:_VARIANTS]:
        told.append(_variant(row))
        told += layouts(_text(log.parent, row, "ttgir"))
    if len(distinct) > _VARIANTS:
        told.append(f"and {len(distinct) - _VARIANTS} further variants")
    if distinct:
        code = _text(log.parent, distinct[0], "amdgcn")
        places = dict.fromkeys((item.file.name, item.line) for item in evidence)
        told += [
            f"{name}:{line} became {made}"
            for name, line in list(places)[:_LINES]
            if (made := mnemonics(code, name, line))
        ]
    return tuple(told)


def layouts(ttgir: str) -> list[str]:
    """How the values of a kernel lie in registers and LDS: the attributes at the head of its TTGIR."""
    return [f"layout {name}: {attribute}" for name, attribute in _LAYOUT.findall(ttgir)]


def mnemonics(code: str, file: str, line: int) -> str:
    """The commonest instructions of a source line, inlined or not, with their number in the code."""
    place = re.compile(rf"(?:^|[\s/]){re.escape(file)}:{line}:")
    found = Counter(_of_line(code.splitlines(), place))
    return ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in found.most_common(_MNEMONICS))


def _of_line(lines: Iterable[str], place: re.Pattern[str]) -> Iterable[str]:
    inside = False
    for text in lines:
        if located := _PLACE.match(text):
            inside = bool(place.search(located[1]))
        elif inside and (instruction := _INSTRUCTION.match(text)) and not instruction[1].startswith("s_nop"):
            yield instruction[1]


def _variant(row: Mapping[str, Any]) -> str:
    def listed(values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={value}" for name, value in values.items())

    types = ", ".join(f"{name}: {kind}" for name, kind in row["signature"].items() if kind != "constexpr")
    return f"compiled for {row['arch']} with {types}; constants {listed(row['constants'])}; {listed(row['options'])}"


def _text(directory: Path, row: Mapping[str, Any], kind: str) -> str:
    """Of a file that the JIT left in its cache; empty where there is none."""
    name = row.get("files", {}).get(kind)
    path = directory / str(name) if name else None
    return path.read_text("utf-8", "replace") if path is not None and path.is_file() else ""
