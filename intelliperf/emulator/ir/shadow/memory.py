"""Loads and stores of shadows: a record per 4 bytes of memory (per 2 for narrow formats), found by address alone.

A record is good only while its word holds the bits that are in memory, and what kind of number they are. One that is
not is made good by the runtime, with the number itself, before it is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.emulator.ir.shadow.values import NO_BITS, NOTHING, TYPES, ZERO, Emitter, Shadow

FLOATS = {"float": 4, "double": 8, "half": 2, "bfloat": 2}
INTEGERS = {"i32": 4, "i64": 8, "i16": 2}
_TAGS = {"float": 1, "double": 2, "second": 3, "half": 4, "bfloat": 5}
_WITHOUT_B = 8
_LOW = (1 << 38) - 1  # of an address: what the arena's offsets need; runtime/shadow.cpp has the same
_HIGH = 1 << 38
_MARKED = 12  # the logarithm of the bytes of memory that one mark of a store stands for
_SECOND = 32  # bytes from the record of a double's first word to that of its second


@dataclass(frozen=True)
class Words:
    """What the records of a number hold beside its shadow: the bits and their kind."""

    first: str
    second: str | None = None


class Records:
    """Emits what reads and writes records. Calls that may split the block are the caller's: see `split`."""

    def __init__(self, emitter: Emitter) -> None:
        self._emit = emitter
        self._index: dict[str, str] = {}  # by record, of the memory that it belongs to

    def tag(self, kind: str) -> int:
        without = 0 if self._emit.needs.exponents or kind == "second" else _WITHOUT_B
        return (_TAGS[kind] | without) << 32

    def place(self, pointer: str, size: int) -> str:
        """The record of what lies at a pointer."""
        make = self._emit.make
        address = make(f"ptrtoint ptr {pointer} to i64")
        unit = min(size, 4)
        low = make(f"and i64 {address}, {_LOW & ~(unit - 1)}")
        outside = make(f"and i64 {make(f'lshr i64 {address}, 8')}, {_HIGH}")
        index = make(f"or i64 {low}, {outside}")
        offset = make(f"shl i64 {index}, {3 if unit == 4 else 4}")
        base = self._emit.state("records" if unit == 4 else "halves")
        record = make(f"getelementptr i8, ptr {base}, i64 {offset}")
        self._index[record] = index
        return record

    def words(self, kind: str, value: str, number: str) -> Words:
        """For a value of type `kind` that is (the bits of) a number of type `number`."""
        make = self._emit.make
        if FLOATS[number] == 8:
            bits = value if kind == "i64" else make(f"bitcast double {value} to i64")
            low, high = make(f"and i64 {bits}, 4294967295"), make(f"lshr i64 {bits}, 32")
            return Words(make(f"or i64 {low}, {self.tag('double')}"), make(f"or i64 {high}, {self.tag('second')}"))
        width = 8 * FLOATS[number]
        bits = value if kind in INTEGERS else make(f"bitcast {kind} {value} to i{width}")
        return Words(make(f"or i64 {make(f'zext i{width} {bits} to i64')}, {self.tag(number)}"))

    def hit(self, record: str, words: Words) -> str:
        """Whether the record is that of these bits."""
        make = self._emit.make
        found = make(f"load i64, ptr {make(f'getelementptr i8, ptr {record}, i64 24')}, align 8")
        same = make(f"icmp eq i64 {found}, {words.first}")
        if words.second is None:
            return same
        at = make(f"getelementptr i8, ptr {record}, i64 {24 + _SECOND}")
        other = make(f"icmp eq i64 {make(f'load i64, ptr {at}, align 8')}, {words.second}")
        return make(f"and i1 {same}, {other}")

    def read(self, record: str, number: str) -> Shadow:
        make = self._emit.make
        parts = list(ZERO)
        for index, (needed, kind) in enumerate(zip(self._emit.needs.parts(), TYPES, strict=True)):
            if not needed or (index == 3 and number != "double"):
                continue
            offset = _SECOND if index == 3 else 8 * index
            at = make(f"getelementptr i8, ptr {record}, i64 {offset}") if offset else record
            parts[index] = make(f"load {kind}, ptr {at}, align 8")
        return Shadow(*parts)

    def write(self, record: str, words: Words, number: str, shadow: Shadow) -> None:
        emit = self._emit
        page = emit.make(f"lshr i64 {self._index[record]}, {_MARKED}")
        mark = emit.make(f"getelementptr i8, ptr {emit.state('marks')}, i64 {page}")
        emit.line(f"store i8 1, ptr {mark}, align 1")
        good = "0" if shadow.a == NO_BITS else words.first
        for index, (needed, kind) in enumerate(zip(emit.needs.parts(), TYPES, strict=True)):
            if index == 3 and number == "double":
                at = emit.make(f"getelementptr i8, ptr {record}, i64 {_SECOND}")
                emit.line(f"store double {shadow.e}, ptr {at}, align 8")
            elif needed and index < 3:
                at = emit.make(f"getelementptr i8, ptr {record}, i64 {8 * index}") if index else record
                emit.line(f"store {kind} {shadow[index]}, ptr {at}, align 8")
        emit.line(f"store i64 {good}, ptr {emit.make(f'getelementptr i8, ptr {record}, i64 24')}, align 8")
        if words.second is not None:
            at = emit.make(f"getelementptr i8, ptr {record}, i64 {24 + _SECOND}")
            emit.line(f"store i64 {words.second}, ptr {at}, align 8")

    def write_bits(self, record: str, words: Words, number: str, shadow: Shadow) -> None:
        """Of an integer that may be a number's bits: where it is none, the record becomes void."""
        if shadow.a == NO_BITS:
            return self.write(record, words, number, NOTHING)
        return self.write(record, Words(self._unless_nothing(shadow, words.first), words.second), number, shadow)

    def _unless_nothing(self, shadow: Shadow, word: str) -> str:
        none = self._emit.make(f"icmp eq i64 {shadow.a}, -1")
        return self._emit.make(f"select i1 {none}, i64 0, i64 {word}")

    def read_bits(self, record: str, words: Words, number: str) -> Shadow:
        """Of an integer: nothing where the record is not that of these bits."""
        found = self.read(record, number)
        a = self._emit.make(f"select i1 {self.hit(record, words)}, i64 {found.a}, i64 {NO_BITS}")
        return found._replace(a=a)
