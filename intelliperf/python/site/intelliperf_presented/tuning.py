"""Few of an autotuner's many configurations, so that a program ends in bounded time.

Each of them is compiled, which takes a second; libraries list dozens for each of a dozen kernels. Which are tried is
drawn by their place in the list, equally in every run and version.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Sequence
from typing import Any, TypeVar

_AMPLE = 64  # so many configurations in all are tried first, then fewer of each kernel
_MOST, _FEWER = 16, 4
_GOLDEN = 0.6180339887498949  # its multiples fill an interval evenly, in step with no list's own order
_One = TypeVar("_One")


class Tried:
    """Of one process: how many so far, and of which kernels some were left out."""

    def __init__(self) -> None:
        self.count = 0
        self.left_out: dict[str, tuple[int, int]] = {}  # by kernel: tried, of so many

    def some(self, kernel: str, configurations: Sequence[_One]) -> Sequence[_One]:
        most = _MOST if self.count < _AMPLE else _FEWER
        chosen = spread(configurations, most)
        self.count += len(chosen)
        if len(chosen) < len(configurations):
            self.left_out[kernel] = len(chosen), len(configurations)
        return chosen


def spread(listed: Sequence[_One], most: int) -> Sequence[_One]:
    """At most so many, in their own order, the first among them."""
    if len(listed) <= most:
        return listed
    places: dict[int, None] = {}
    turn = 0
    while len(places) < most:
        places[int(turn * _GOLDEN % 1 * len(listed))] = None
        turn += 1
    return [listed[place] for place in sorted(places)]


def limit(tuner: Any) -> None:
    """`tuner`: the class whose `prune_configs` says what is tried."""
    prune = tuner.prune_configs

    def pruned(self: Any, kwargs: dict[str, Any]) -> Any:
        name = str(getattr(self.base_fn, "__name__", "a kernel"))
        return _tried.some(name, list(prune(self, kwargs)))

    tuner.prune_configs = pruned
    atexit.register(_tell)


def _tell() -> None:
    directory = os.environ.get("INTELLIPERF_TRACE_DIR", "")
    if _tried.left_out and os.path.isdir(directory):
        with open(os.path.join(directory, f"tuned-{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump(_tried.left_out, file)


_tried = Tried()
