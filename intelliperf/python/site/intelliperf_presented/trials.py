"""Launches that only find out which configuration is fastest: neither recorded nor compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .runtime import runtime

_under_way = [0]


def under_way() -> bool:
    return bool(_under_way[0])


@contextmanager
def of_time() -> Iterator[None]:
    """Launches meanwhile are tried."""
    _under_way[0] += 1
    runtime().trial(True)
    try:
        yield
    finally:
        _under_way[0] -= 1
        if not _under_way[0]:
            runtime().trial(False)


def mark(tuner: Any) -> None:
    """`tuner`: the class whose `_bench` tries one configuration."""
    bench = tuner._bench

    def marked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with of_time():
            return bench(self, *args, **kwargs)

    tuner._bench = marked
