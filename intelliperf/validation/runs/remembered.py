"""What follows from the same objects follows from them again: a timing loop launches one thing thousands of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_LIMIT = 256


class Remembered(Generic[T]):
    """Values by the identity of the objects that they were made of, which are kept alive for it.

    The objects must not change. Begins anew when there are too many.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[tuple[object, ...], T]] = {}

    def get(self, objects: tuple[object, ...], make: Callable[[], T]) -> T:
        """What `make` made, or makes, of these objects."""
        key = tuple(map(id, objects))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _LIMIT:
                self._known.clear()
            found = self._known[key] = objects, make()
        return found[1]
