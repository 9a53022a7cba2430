"""Other constants for a launch's compilation: a size that is one of them may be written into a candidate's text.

All that a kernel is compiled for is twice as large then, with what evidently goes along with it: tiles as large, the
next power of two, products, and logarithms. Other things than numbers, and those below two, may choose what is done:
they stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

_MOST = 3  # each of them is compiled
_LARGEST = 1 << 15
FILE = "constants.jsonl"  # beside the log of compilations


def numbers(source: Any) -> dict[str, int]:
    """Those that the kernel declares, by their names, in its own order; not what the JIT specialised by itself."""
    found = {}
    for parameter in source.fn.params:
        value = source.constants.get((parameter.num,))
        value = getattr(value, "value", value)
        if parameter.is_constexpr and type(value) is int and 2 <= value <= _LARGEST:
            found[parameter.name] = value
    return found


def alternatives(known: Mapping[str, int]) -> list[dict[str, int]]:
    """New values, for some of the constants in each."""
    found: list[dict[str, int]] = []
    for name, value in known.items():
        follows = any(1 << value == other for other in known.values())
        if not follows and not any(name in one for one in found) and len(found) < _MOST:
            found.append(_with_all_that_follows(name, known))
    return found


def _with_all_that_follows(name: str, known: Mapping[str, int]) -> dict[str, int]:
    changed = {name: 2 * known[name]}
    while more := _one_that_follows(changed, known):
        changed |= more
    return changed


def _one_that_follows(changed: Mapping[str, int], known: Mapping[str, int]) -> dict[str, int]:
    """One more, or nothing."""
    times = {name: value // known[name] for name, value in changed.items() if value % known[name] == 0}
    for name, value in known.items():
        if name in changed:
            continue
        for other in times:
            if _beside(known[other], value) or _is_factor(name, other, changed, known):
                return {name: value * times[other]}
            if known[other] == 1 << value:
                return {name: value + times[other].bit_length() - 1}
            for third in known:
                if third not in (name, other) and known[other] * known[third] == value:
                    return {name: value * times[other] * times.get(third, 1)}
    return {}


def _beside(one: int, other: int) -> bool:
    """Are they equal, or is the larger the smaller one's next power of two?"""
    return one == other or max(one, other) == 1 << (min(one, other) - 1).bit_length()


def _is_factor(name: str, product: str, changed: Mapping[str, int], known: Mapping[str, int]) -> bool:
    """Of a product whose other factor stays."""
    others = (third for third in known if third not in changed and third not in (name, product))
    return any(known[name] * known[third] == known[product] for third in others)


def told(others: Mapping[str, int], known: Mapping[str, int]) -> str:
    return " and ".join(f"{name} = {value} instead of {known[name]}" for name, value in others.items())


def replaced(source: Any, others: Mapping[str, int]) -> dict[tuple[int, ...], Any]:
    """The source's constants, with other values for these."""
    places = {parameter.name: (parameter.num,) for parameter in source.fn.params}
    return {**source.constants, **{places[name]: value for name, value in others.items()}}


def is_looked_at(symbol: str) -> bool:
    """Is the kernel among those whose launches the parent waits for?"""
    names = os.environ.get("INTELLIPERF_EXPORT_KERNEL", "")
    return names == "*" or symbol in names.split(",")


def asked() -> frozenset[str]:
    """How constants are to differ, in launches that are altered."""
    return frozenset(filter(None, os.environ.get("INTELLIPERF_OTHER_COMPILED", "").split(";")))


def log(symbol: str, made: Sequence[str], failed: Sequence[str]) -> None:
    """For the parent: of one specialisation of a kernel."""
    place = os.environ.get("INTELLIPERF_JIT_LOG")
    if not place or not (made or failed):
        return
    with open(os.path.join(os.path.dirname(place), FILE), "a", encoding="utf-8") as file:
        file.write(json.dumps({"kernel": symbol, "made": list(made), "failed": list(failed)}) + "\n")
