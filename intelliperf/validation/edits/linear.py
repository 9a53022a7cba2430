"""How many bytes or elements the host's code speaks of: sums of its values, each times a constant."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction

from intelliperf.validation.edits.functionbody import VALUE, FunctionBody

_TWO = re.compile(
    rf"(add|sub|mul|shl|[la]shr|sdiv|udiv|and) (?:nuw |nsw |exact |disjoint )*i\d+ "
    rf"({VALUE}|-?\d+), ({VALUE}|-?\d+)(?:,|$)"
)
_CAST = re.compile(rf"(?:[zs]ext|trunc) (?:nneg |nuw |nsw )*i(\d+) ({VALUE}) to i(\d+)")
_AT_LEAST = re.compile(
    rf"(?:tail )?call (?:range\(.*?\) )?i\d+ @llvm\.smax\.i\d+\(i\d+ (?:noundef )?({VALUE}), i\d+ [01]\)"
)
_NEW_ARRAY = re.compile(rf"select i1 {VALUE}, i64 -1, i64 ({VALUE})(?:,|$)")
_CHECKED = re.compile(rf"extractvalue \{{ i64, i1 \}} ({VALUE}), 0")
_PRODUCT = re.compile(rf"(?:tail )?call \{{ i64, i1 \}} @llvm\.umul\.with\.overflow\.i64\(i64 ({VALUE}), i64 (\d+)\)")
_ADDRESS = re.compile(rf"ptrtoint ptr ({VALUE}) to i64")
_NARROWEST = 32  # bits; what is cut to fewer is another number
_DEEPEST = 12


@dataclass(frozen=True)
class Linear:
    """`constant` + the sum of each value times its factor."""

    constant: Fraction = Fraction(0)
    terms: tuple[tuple[str, Fraction], ...] = ()

    def plus(self, other: Linear, times: int = 1) -> Linear:
        factors = dict(self.terms)
        for name, factor in other.terms:
            factors[name] = factors.get(name, Fraction(0)) + times * factor
        terms = tuple(sorted((name, factor) for name, factor in factors.items() if factor))
        return Linear(self.constant + times * other.constant, terms)

    def times(self, factor: Fraction | int) -> Linear:
        return Linear(self.constant * factor, tuple((name, one * factor) for name, one in self.terms if factor))


@dataclass(frozen=True)
class Sizes:
    """Reads sizes in a function. The distance from `begins` to `ends` is `between`, where that is known.

    Numbers are taken for what they are as long as nothing overflows and none is negative: a launch and a copy of such a
    size fail.
    """

    body: FunctionBody
    begins: Collection[str] = ()
    ends: Collection[str] = ()
    between: Linear | None = field(default=None)

    def of(self, value: str, depth: int = 0) -> Linear:
        if re.fullmatch(r"-?\d+", value):
            return Linear(Fraction(int(value)))
        text = self.body.text(value)
        alone = Linear(terms=((value, Fraction(1)),))
        if depth > _DEEPEST or not text:
            return alone
        if (two := _TWO.match(text)) is not None:
            return self._of_two(two[1], two[2], two[3], depth) or alone
        if (cast := _CAST.match(text)) is not None:
            return self.of(cast[2], depth + 1) if min(int(cast[1]), int(cast[3])) >= _NARROWEST else alone
        for same in (_AT_LEAST, _NEW_ARRAY):
            if (found := same.match(text)) is not None:
                return self.of(found[1], depth + 1)
        if (checked := _CHECKED.match(text)) is not None:
            product = _PRODUCT.match(self.body.text(checked[1]))
            if product is not None:
                return self.of(product[1], depth + 1).times(int(product[2]))
        return alone

    def product(self, left: str, right: str) -> Linear:
        """Of two values of which one is a constant; a size of its own where none is."""
        mine, its = self.of(left), self.of(right)
        if not its.terms:
            return mine.times(its.constant)
        return its.times(mine.constant) if not mine.terms else Linear(terms=((f"{left} * {right}", Fraction(1)),))

    def _of_two(self, operation: str, left: str, right: str, depth: int) -> Linear | None:
        if operation == "sub" and self.between is not None:
            addresses = [_ADDRESS.match(self.body.text(one)) for one in (left, right)]
            if addresses[0] and addresses[1] and addresses[0][1] in self.ends and addresses[1][1] in self.begins:
                return self.between
        if operation in ("add", "sub"):
            times = 1 if operation == "add" else -1
            return self.of(left, depth + 1).plus(self.of(right, depth + 1), times)
        if not right.isdecimal():
            return None
        number = int(right)
        if operation == "and":
            return self._masked(left, number, depth)
        factor = Fraction(number) if operation in ("mul", "sdiv", "udiv") else Fraction(1 << number)
        if operation in ("mul", "shl"):
            return self.of(left, depth + 1).times(factor)
        inner = self.of(left, depth + 1)  # a division, of what is a multiple
        parts = [inner.constant, *(one for _, one in inner.terms)]
        return inner.times(1 / factor) if all((part / factor).denominator == 1 for part in parts) else None

    def _masked(self, value: str, mask: int, depth: int) -> Linear | None:
        """Of a number of 32 bits that was scaled by a power of two: the bits that are left are all that it has."""
        inner = self.of(value, depth + 1)
        for low in range(4):
            if mask in ((1 << _NARROWEST) - (1 << low), ((1 << _NARROWEST) - 1) << low):
                parts = [inner.constant, *(one for _, one in inner.terms)]
                return inner if all((part / (1 << low)).denominator == 1 for part in parts) else None
        return None
