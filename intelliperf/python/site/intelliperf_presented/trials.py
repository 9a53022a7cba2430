"""Launches that only find out which configuration is fastest: neither recorded nor compared."""

from __future__ import annotations

from typing import Any

from .runtime import runtime

_under_way = [0]


def under_way() -> bool:
    return bool(_under_way[0])


def mark(tuner: Any) -> None:
    """`tuner`: the class whose `_bench` tries one configuration."""
    bench = tuner._bench

    def marked(self: Any, *args: Any, **kwargs: Any) -> Any:
        _under_way[0] += 1
        runtime().trial(True)
        try:
            return bench(self, *args, **kwargs)
        finally:
            _under_way[0] -= 1
            if not _under_way[0]:
                runtime().trial(False)

    tuner._bench = marked
