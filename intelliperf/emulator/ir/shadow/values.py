"""Shadows as values of the IR, and their arithmetic, written out where it happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NO_BITS = "-1"  # `a` of an integer that is not a number's bits
_MASK_P = (1 << 61) - 1
_MASK_Q = (1 << 60) - 1
# __simt_shadow, in the order of runtime/shadow_functions.h
STATE = {"c": 0, "p": 8, "cq": 16, "q": 24, "records": 32, "halves": 40, "half": 48, "bfloat": 56}
STATE |= {"undecided": 64, "choices": 72, "single": 80, "narrow": 88, "marks": 104}
POINTERS = ("records", "halves", "undecided", "choices", "marks")


class Shadow(NamedTuple):
    """Of one number: operands of type i64, i64, double, double. `b` and `e` are 0 where the module needs none."""

    a: str
    b: str
    d: str
    e: str


NOTHING = Shadow(NO_BITS, "0", "0.0", "0.0")
ZERO = Shadow("0", "0", "0.0", "0.0")
TYPES = ("i64", "i64", "double", "double")


@dataclass(frozen=True)
class Needs:
    """What a module's numbers need beside `a` and `d`."""

    exponents: bool = False  # it has functions that need `b`
    wide: bool = False  # it calculates in double: `d` alone is too short

    def parts(self) -> tuple[bool, bool, bool, bool]:
        return True, self.exponents, True, self.wide


class Emitter:
    """Writes instructions into the block at hand; names are fresh within a function."""

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.out: list[str] = []
        self.used: set[str] = set()  # fields of the state
        self._serial = 0

    def line(self, text: str) -> None:
        self.out.append(f"  {text}")

    def name(self, hint: str = "t") -> str:
        self._serial += 1
        return f"%sh.{hint}{self._serial}"

    def make(self, expression: str) -> str:
        made = self.name()
        self.line(f"{made} = {expression}")
        return made

    def state(self, field: str) -> str:
        """A field of the runtime's state, loaded in the function's first block."""
        self.used.add(field)
        return f"%sh.state.{field}"

    def prologue(self) -> list[str]:
        lines = []
        for field in sorted(self.used):
            kind = "ptr" if field in POINTERS else "i64"
            place = f"getelementptr (i8, ptr @__simt_shadow, i64 {STATE[field]})"
            lines.append(f"  %sh.state.{field} = load {kind}, ptr {place}, align 8")
        return lines

    # -- the two fields ---------------------------------------------------------------------------

    def _reduced(self, total: str, modulus: str) -> str:
        less = self.make(f"sub i64 {total}, {modulus}")
        small = self.make(f"icmp ult i64 {total}, {modulus}")
        return self.make(f"select i1 {small}, i64 {total}, i64 {less}")

    def _sum(self, x: str, y: str, field: str) -> str:
        if "0" in (x, y):
            return y if x == "0" else x
        return self._reduced(self.make(f"add i64 {x}, {y}"), self.state(field))

    def _difference(self, x: str, y: str, field: str) -> str:
        if y == "0":
            return x
        less = self.make(f"sub i64 {x}, {y}")
        below = self.make(f"icmp ult i64 {x}, {y}")
        wrapped = self.make(f"add i64 {less}, {self.state(field)}")
        return self.make(f"select i1 {below}, i64 {wrapped}, i64 {less}")

    def _product(self, x: str, y: str, field: str) -> str:
        if "0" in (x, y):
            return "0"
        if "1" in (x, y):
            return y if x == "1" else x
        fold, bits, mask = ("c", 61, _MASK_P) if field == "p" else ("cq", 60, _MASK_Q)
        times = self.state(fold)
        wide = [self.make(f"zext i64 {value} to i128") for value in (x, y)]
        product = self.make(f"mul nuw i128 {wide[0]}, {wide[1]}")
        low = self.make(f"and i64 {self.make(f'trunc i128 {product} to i64')}, {mask}")
        high = self.make(f"trunc i128 {self.make(f'lshr i128 {product}, {bits}')} to i64")
        folded = self.make(
            f"mul nuw i128 {self.make(f'zext i64 {high} to i128')}, {self.make(f'zext i64 {times} to i128')}"
        )
        once = self.make(f"add nuw i128 {folded}, {self.make(f'zext i64 {low} to i128')}")
        rest = self.make(f"and i64 {self.make(f'trunc i128 {once} to i64')}, {mask}")
        above = self.make(f"trunc i128 {self.make(f'lshr i128 {once}, {bits}')} to i64")
        total = self.make(f"add i64 {rest}, {self.make(f'mul i64 {above}, {times}')}")
        return self._reduced(total, self.state(field))

    # -- numbers ----------------------------------------------------------------------------------

    def add(self, x: Shadow, y: Shadow) -> Shadow:
        b = self._sum(x.b, y.b, "q") if self.needs.exponents else "0"
        return Shadow(self._sum(x.a, y.a, "p"), b, *self._add_doubles(x, y))

    def subtract(self, x: Shadow, y: Shadow) -> Shadow:
        b = self._difference(x.b, y.b, "q") if self.needs.exponents else "0"
        away = y._replace(d=self._negated(y.d), e=self._negated(y.e) if self.needs.wide else "0.0")
        return Shadow(self._difference(x.a, y.a, "p"), b, *self._add_doubles(x, away))

    def multiply(self, x: Shadow, y: Shadow) -> Shadow:
        b = self._product(x.b, y.b, "q") if self.needs.exponents else "0"
        return Shadow(self._product(x.a, y.a, "p"), b, *self._multiply_doubles(x, y))

    def negative(self, x: Shadow) -> Shadow:
        b = self._difference("0", x.b, "q") if self.needs.exponents else "0"
        e = self._negated(x.e) if self.needs.wide else "0.0"
        a = self._difference("0", x.a, "p")
        return Shadow(a, b, self._negated(x.d), e)

    def _negated(self, value: str) -> str:
        return self.make(f"fneg double {value}")

    def _add_doubles(self, x: Shadow, y: Shadow) -> tuple[str, str]:
        total = self.make(f"fadd double {x.d}, {y.d}")
        if not self.needs.wide:
            return total, "0.0"
        back = self.make(f"fsub double {total}, {x.d}")  # two-sum (D. E. Knuth, 4.2.2)
        left = self.make(f"fsub double {x.d}, {self.make(f'fsub double {total}, {back}')}")
        lost = self.make(f"fadd double {left}, {self.make(f'fsub double {y.d}, {back}')}")
        rest = self.make(f"fadd double {lost}, {self.make(f'fadd double {x.e}, {y.e}')}")
        return self._joined(total, rest)

    def _multiply_doubles(self, x: Shadow, y: Shadow) -> tuple[str, str]:
        product = self.make(f"fmul double {x.d}, {y.d}")
        if not self.needs.wide:
            return product, "0.0"
        lost = self.fma(x.d, y.d, self._negated(product))
        rest = self.fma(x.d, y.e, self.fma(x.e, y.d, lost))
        return self._joined(product, rest)

    def fma(self, x: str, y: str, z: str) -> str:
        return self.make(f"call double @llvm.fma.f64(double {x}, double {y}, double {z})")

    def _joined(self, high: str, low: str) -> tuple[str, str]:
        total = self.make(f"fadd double {high}, {low}")
        rest = self.make(f"fsub double {low}, {self.make(f'fsub double {total}, {high}')}")
        # Where the high part is no longer a number, the low one says nothing.
        zero = self.make(f"fsub double {total}, {total}")
        finite = self.make(f"fcmp oeq double {zero}, 0.0")
        return (
            self.make(f"select i1 {finite}, double {total}, double {high}"),
            self.make(f"select i1 {finite}, double {rest}, double 0.0"),
        )

    def choose(self, condition: str, x: Shadow, y: Shadow) -> Shadow:
        """By a condition of type i1."""
        made = NOTHING
        for part, needed, kind in zip(Shadow._fields, self.needs.parts(), TYPES, strict=True):
            left, right = getattr(x, part), getattr(y, part)
            if needed and left != right:
                left = self.make(f"select i1 {condition}, {kind} {left}, {kind} {right}")
            made = made._replace(**{part: left if needed else getattr(ZERO, part)})
        return made

    def spilled(self, place: str, value: Shadow) -> None:
        """Write a shadow to memory, for the runtime."""
        for number, (part, kind) in enumerate(zip(value, TYPES, strict=True)):
            at = self.make(f"getelementptr i8, ptr {place}, i64 {8 * number}") if number else place
            self.line(f"store {kind} {part}, ptr {at}, align 8")

    def filled(self, place: str) -> Shadow:
        """Read a shadow from memory."""
        parts = []
        for number, (needed, kind) in enumerate(zip(self.needs.parts(), TYPES, strict=True)):
            if not needed:
                parts.append(ZERO[number])
                continue
            at = self.make(f"getelementptr i8, ptr {place}, i64 {8 * number}") if number else place
            parts.append(self.make(f"load {kind}, ptr {at}, align 8"))
        return Shadow(*parts)
