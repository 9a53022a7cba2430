"""Other constants of a compilation: which of them both versions of a kernel have been compiled for."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from intelliperf.project.versions import OTHER_CONSTANTS

_GRID = 3  # how many numbers of a launch's shape are its grid's
_WAS = re.compile(r" instead of (\d+)")


@dataclass(frozen=True)
class OtherConstants:
    """How constants may differ, each in words; and what of that cannot be looked at, in words."""

    ways: tuple[str, ...] = ()
    unseen: str = ""


def of_both(original: Path, candidate: Path, symbol: str, shapes: Collection[tuple[int, ...]]) -> OtherConstants:
    """Of the two versions' trees. `shapes`: grids and blocks of all launches.

    A constant that says how many blocks there are stays: a kernel that asks for their number itself does not follow.
    """
    mine, _ = _known(original, symbol)
    theirs, failed = _known(candidate, symbol)
    grids = {size for shape in shapes for size in shape[:_GRID]}
    free = [how for how in mine if grids.isdisjoint(map(int, _WAS.findall(how)))]
    ways = tuple(how for how in free if how in theirs and how not in failed)
    left = ", ".join(how for how in free if how not in ways)
    unseen = f"launches with {left}, for which the candidate is not compiled or has other constants" if left else ""
    return OtherConstants(ways, unseen)


def _known(tree: Path, symbol: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Of all specialisations: what could be compiled, and what could not."""
    log = tree / OTHER_CONSTANTS
    if not log.is_file():
        return (), frozenset()
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    mine = [row for row in rows if row["kernel"] == symbol]
    made = tuple(dict.fromkeys(how for row in mine for how in row["made"]))
    return made, frozenset(how for row in mine for how in row["failed"])
