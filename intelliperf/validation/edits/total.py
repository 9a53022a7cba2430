"""What the host makes of a copy from the device of which it needs the total alone."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = tuple[str, int]  # file name and line


@dataclass(frozen=True)
class Total:
    """What the host does with one copy. `places`: lines of the call, the innermost function's first.

    `how`: add or fadd; empty where the one element is read. `element` and `kept` are
    LLVM's types of the elements and of the total, `cast` is how one becomes the other, empty where they are one type.
    `room`: bytes of the array that takes a number of elements which the program computes; 0 for memory of their size.
    """

    element: str
    how: str
    cast: str
    kept: str
    room: int = 0
    places: tuple[Place, ...] = field(default=(), compare=False)


class NotTotalled(Exception):
    """Something else becomes of the copied elements."""
