"""What is known of a function while its shadow version is written, and what all instructions need."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.shadow.constants import LiteralTable, Number, double_text, meant, parse
from intelliperf.emulator.ir.shadow.memory import FLOATS, INTEGERS, Records
from intelliperf.emulator.ir.shadow.values import NOTHING, ZERO, Emitter, Needs, Shadow
from intelliperf.emulator.ir.text import split_top

VECTOR = re.compile(r"<(\d+) x (half|bfloat|float|double)>$")
NUMBER_OF_BITS = {"i16": "half", "i32": "float", "i64": "double"}
_INFINITIES = {math.inf: "13", -math.inf: "17"}
_NAN = "11"
Lanes = list[Shadow]  # of one value: one, or as many as a vector has elements


@dataclass(frozen=True)
class Surroundings:
    """What a function's shadow needs to know of its module."""

    needs: Needs
    literals: LiteralTable
    defined: frozenset[str]
    layout: Layout
    reasons: dict[str, int] = field(default_factory=dict)  # why a shadow was lost → its number
    narrow: str = "half"  # what the bits of 16 are that are copied as integers


class State:
    """The function at hand: what has a shadow, and where text goes."""

    def __init__(self, around: Surroundings, carriers: set[str]) -> None:
        self.around = around
        self.emit = Emitter(around.needs)
        self.records = Records(self.emit)
        self.carriers = carriers
        self.has: dict[str, Lanes] = {}
        self.label = ""  # of the block at hand, or of the part of it that is being written
        self.loaded: dict[str, str] = {}  # values that are copied through registers → from where
        self._places: set[str] = set()
        self._literals: dict[Number, Shadow] = {}
        self._hoisted: list[str] = []

    def prologue(self) -> list[str]:
        """What stands at the start of the function."""
        places = [f"  {name} = alloca [4 x i64], align 16" for name in sorted(self._places)]
        return [*places, *self.emit.prologue(), *self._hoisted]

    def place(self, name: str) -> str:
        """Room for a shadow in memory, for what the runtime takes and gives."""
        self._places.add(f"%sh.place.{name}")
        return f"%sh.place.{name}"

    def double(self, kind: str, value: str) -> str:
        """An operand as a double."""
        if not value.startswith("%"):
            return double_text(parse(value)) if value not in ("undef", "poison") else "0.0"
        return value if kind == "double" else self.emit.make(f"fpext {kind} {value} to double")

    def lose(self, why: str) -> None:
        """What follows is not known to be followed."""
        number = self.around.reasons.setdefault(why, len(self.around.reasons))
        self.emit.line(f"call void @__simt_shadow_lose(i32 {number})")

    def call(self, function: str, arguments: str) -> Shadow:
        """A function of the runtime that gives a shadow."""
        out = self.place("out")
        self.emit.line(f"call void @__simt_shadow_{function}(ptr {out}{', ' + arguments if arguments else ''})")
        return self.emit.filled(out)

    def parts(self, shadow: Shadow) -> str:
        return f"i64 {shadow.a}, i64 {shadow.b}, double {shadow.d}, double {shadow.e}"

    @property
    def wide(self) -> str:
        return f"i32 {int(self.around.needs.wide)}"

    def spilled(self, name: str, shadow: Shadow) -> str:
        place = self.place(name)
        self.emit.spilled(place, shadow)
        return f"ptr {place}"

    # -- operands ---------------------------------------------------------------------------------

    def embedded(self, kind: str, value: str) -> Shadow:
        return self.call("embed", f"double {self.double(kind, value)}")

    def literal(self, kind: str, text: str) -> Shadow:
        if text in ("undef", "poison", "zeroinitializer"):
            return ZERO
        value = parse(text)
        if not math.isfinite(value):
            named = _INFINITIES.get(value, _NAN)
            return Shadow(named, "0", double_text(value), "0.0")
        return self.number(meant(value, kind))

    def number(self, number: Number) -> Shadow:
        """Read at the start of the function, so that phis can name it, too."""
        if number not in self._literals:
            self._literals[number] = self._read(number)
        return self._literals[number]

    def _read(self, number: Number) -> Shadow:
        needs, literals = self.around.needs, self.around.literals
        high, low = number.doubles()
        d, e = double_text(high), double_text(low) if needs.wide else "0.0"
        small = literals.small(number)
        if small is not None:
            return Shadow(str(small), str(small) if needs.exponents else "0", d, e)
        index, parts = literals.index(number), ["0", "0"]
        for part in range(1 + needs.exponents):
            parts[part] = self.emit.name("literal")
            at = f"getelementptr (i8, ptr @__simt_shadow_images, i64 {16 * index + 8 * part})"
            self._hoisted.append(f"  {parts[part]} = load i64, ptr {at}, align 8")
        return Shadow(parts[0], parts[1], d, e)

    def shadow(self, kind: str, value: str) -> Shadow:
        """Of an operand; numbers of unknown origin stand for themselves."""
        if value in self.has:
            return self.has[value][0]
        if kind not in FLOATS:
            return NOTHING
        return self.embedded(kind, value) if value.startswith("%") else self.literal(kind, value)

    def lanes(self, kind: str, value: str) -> Lanes:
        """Of an operand that may be a vector."""
        vector = VECTOR.match(kind)
        if vector is None:
            return [self.shadow(kind, value)]
        if value in self.has:
            return self.has[value]
        if value.startswith("%"):
            return [self.embedded(vector[2], self.element(kind, value, n)) for n in range(int(vector[1]))]
        return self.literal_lanes(kind, value)

    def literal_lanes(self, kind: str, value: str) -> Lanes:
        """Of a constant operand; nothing is written into the block at hand."""
        vector = VECTOR.match(kind)
        if vector is None:
            return [NOTHING if kind not in FLOATS else self.literal(kind, value)]
        if value.startswith("<"):
            return [self.literal(vector[2], part.split(None, 1)[1]) for part in split_top(value[1:-1])]
        splat = re.match(r"splat \(\w+ (.+)\)$", value)
        return [self.literal(vector[2], splat[1]) if splat else ZERO] * int(vector[1])

    def element(self, kind: str, value: str, number: int) -> str:
        return self.emit.make(f"extractelement {kind} {value}, i64 {number}")

    def branch_unless(self, condition: str, otherwise: Callable[[], None]) -> None:
        """Run some code only where a condition does not hold; what follows is a new part of the block."""
        missed, joined = self.emit.name("miss")[1:], self.emit.name("join")[1:]
        self.emit.line(f"br i1 {condition}, label %{joined}, label %{missed}")
        self.emit.out.append(f"{missed}:")
        otherwise()
        self.emit.line(f"br label %{joined}")
        self.emit.out.append(f"{joined}:")
        self.label = joined

    # -- memory -----------------------------------------------------------------------------------

    def load(self, pointer: str, kind: str, value: str) -> Shadow:
        """Of a number that was just loaded."""
        record = self.records.place(pointer, FLOATS[kind])
        words = self.records.words(kind, value, kind)

        def miss() -> None:
            if kind == "float":
                self.emit.line(f"call void @__simt_shadow_miss_float(ptr {record}, i64 {words.first})")
            elif kind == "double":
                self.emit.line(f"call void @__simt_shadow_miss_double(ptr {record}, double {value}, i64 {words.first})")
            else:
                wide = self.double(kind, value)
                self.emit.line(f"call void @__simt_shadow_miss_narrow(ptr {record}, i64 {words.first}, double {wide})")

        self.branch_unless(self.records.hit(record, words), miss)
        return self.records.read(record, kind)

    def store(self, pointer: str, kind: str, value: str, shadow: Shadow) -> None:
        """Of a number, or of an integer that may be the bits of one, that was just stored."""
        number = self.of_bits(kind) if kind in NUMBER_OF_BITS else kind
        if FLOATS[number] == 2:
            self.emit.line("store i64 1, ptr getelementptr (i8, ptr @__simt_shadow, i64 88), align 8")
        record = self.records.place(pointer, FLOATS[number])
        words = self.records.words(kind, value, number)
        if kind in INTEGERS:
            self.records.write_bits(record, words, number, shadow)
        else:
            self.records.write(record, words, number, shadow)

    def of_bits(self, kind: str) -> str:
        """The kind of number whose bits an integer of this width may hold."""
        return self.around.narrow if kind == "i16" else NUMBER_OF_BITS[kind]

    def load_bits(self, pointer: str, kind: str, value: str) -> Shadow:
        number = self.of_bits(kind)
        record = self.records.place(pointer, FLOATS[number])
        return self.records.read_bits(record, self.records.words(kind, value, number), number)

    # -- what rounding decides ----------------------------------------------------------------------

    def chosen(self, differs: str | None) -> None:
        """A number decided something; `differs` (i1): its exact value would have decided otherwise."""
        self.emit.line(f"store i64 1, ptr {self.emit.state('choices')}, align 8")
        if differs is None:
            return
        counter = self.emit.state("undecided")
        before = self.emit.make(f"load i64, ptr {counter}, align 8")
        after = self.emit.make(f"add i64 {before}, {self.emit.make(f'zext i1 {differs} to i64')}")
        self.emit.line(f"store i64 {after}, ptr {counter}, align 8")

    def compared(self, predicate: str, x: Shadow, y: Shadow) -> str:
        """The comparison of the exact values, as an i1."""
        plain = self.emit.make(f"fcmp {predicate} double {x.d}, {y.d}")
        if not self.around.needs.wide:
            return plain
        close = self.emit.make(f"fcmp oeq double {x.d}, {y.d}")
        rest = self.emit.make(f"fcmp {predicate} double {x.e}, {y.e}")
        return self.emit.make(f"select i1 {close}, i1 {rest}, i1 {plain}")
