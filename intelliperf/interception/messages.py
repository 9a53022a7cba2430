"""The messages of the interception protocol as frozen records, parsed strictly.

Required keys must be there and of the right type; unknown keys are ignored. Integers are bounded,
collections are as long as the (bounded) message. Addresses and sizes are in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from intelliperf.errors import ProtocolError
from intelliperf.protocols import SharedBuffer

PROTOCOL_VERSION = 1
_UNSIGNED_LIMIT = 1 << 64
_NAME_LIMIT = 1 << 16
_MOST_ROWS, _ROW = 1024, 5  # of named numbers
_HANDLE_LIMIT = 64  # CUDA's have as many bytes, HSA's 32

Object = Mapping[str, object]
T = TypeVar("T")
Extent = tuple[int, int, int]
ReachTable = tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]  # files, and the rows of `emulator/ir/reach`


@dataclass(frozen=True)
class Element:
    """What a buffer holds, as the kernel's signature says. `encoding` is "unknown" where nothing does."""

    name: str
    size: int
    encoding: str  # float, signed, unsigned, boolean, char, struct, unknown
    of: Element | None = None  # the one kind of number that a structure consists of


@dataclass(frozen=True)
class Parameter:
    index: int
    name: str
    type: str
    size: int
    pointer: bool
    const: bool
    restrict: bool
    element: Element | None
    fields: tuple[tuple[int, Element | None], ...]  # pointers inside a struct by value: offset, element


@dataclass(frozen=True)
class Hello:
    backend: str
    device: str
    wave_size: int
    memory: str
    kernels: Mapping[str, tuple[Parameter, ...]]
    raw: Object  # for Backend.open_memory
    formats: tuple[str, ...] = ()  # floating-point formats of the kernels, where that is told
    constants: Mapping[str, frozenset[int]] = field(default_factory=dict)  # that a kernel compares with or divides by
    limits: Mapping[str, frozenset[float]] = field(default_factory=dict)  # that a kernel compares floats with
    # What a kernel compares its plain numbers and data with, as `emulator.ir.quantities` has it.
    named: Mapping[str, frozenset[tuple[float, ...]]] = field(default_factory=dict)
    widths: Mapping[str, Mapping[int, int]] = field(
        default_factory=dict
    )  # how often a kernel keeps numbers in so many bits
    # How often a kernel calculates its own rounding error, of those that do.
    compensations: Mapping[str, int] = field(default_factory=dict)
    copies: Mapping[str, frozenset[int]] = field(default_factory=dict)  # parameters that a kernel only copies floats to
    by_wave: frozenset[str] = frozenset()  # kernels whose lanes exchange values or share memory, where that is told
    lost_shadows: tuple[tuple[str, ...], ...] = ()  # by module: what its shadows cannot follow, by `ShadowState.why`
    reach: Mapping[int, ReachTable] = field(default_factory=dict)  # by module: what may be reached, where that is told


@dataclass(frozen=True)
class Pointer:
    """A pointer inside an argument's bytes: at `offset`, it points `at` bytes into an allocation."""

    offset: int
    allocation: int
    at: int


@dataclass(frozen=True)
class Argument:
    index: int
    value: bytes
    pointers: tuple[Pointer, ...]


@dataclass(frozen=True)
class Allocation:
    """`base` lies in the memory that `hello` announced, unless the buffer is `shared` by a handle instead.

    `address` is where the kernel sees it, and so what pointers to it hold.
    """

    id: int
    base: int
    size: int
    kind: str
    sequence: int
    name: str | None
    address: int
    shared: SharedBuffer | None = None
    unshared: str = ""  # where handles are used, why this buffer has none


@dataclass(frozen=True)
class Dispatch:
    index: int
    nth: int
    kernel: str
    grid: Extent
    block: Extent
    dynamic_lds: int
    target: bool  # the child waits, and the two lists below are complete
    status: int
    arguments: tuple[Argument, ...]
    allocations: tuple[Allocation, ...]
    parameters: tuple[Parameter, ...] = ()  # where the hello does not know the kernel yet
    uncovered: int | None = None  # kinds of memory that the run used so far and that are not among the allocations
    alteration: str = ""  # how its data differ from the application's, where that is told
    way: int = 0  # to alter launches, where several were asked for
    altered: int | None = None  # buffers and arguments that hold other numbers than the application's, if that is told
    tile: Extent | None = None  # in a language of tiles: what a block has of each dimension, 1 where nobody knows
    held: frozenset[tuple[int, ...]] = field(default=frozenset(), compare=False)  # see Interception.other_held
    covered: frozenset[tuple[int, ...]] = field(default=frozenset(), compare=False)  # likewise: what its code is for
    before: bool = False  # the kernel has not run yet, see the option "before"
    cooperative: bool = False  # told with `before`
    unrepeatable: str = ""  # told with it: why a replay could not make this launch
    code: str = ""  # the digest of what a just-in-time compiler made, where that was kept for replays
    # By module: a bit for each byte of its table, set once that code was executed. Of modules where something is new.
    reached: Mapping[int, bytes] = field(default_factory=dict, compare=False)

    def describe(self) -> str:
        shape = "×".join(map(str, self.grid)), "×".join(map(str, self.block))
        return f"{self.kernel} with {shape[0]} blocks of {shape[1]} threads, {self.dynamic_lds} bytes of dynamic LDS"


@dataclass(frozen=True)
class Transfer:
    """`source`: of a copy to the host where that is told, sequence number of the allocation and offset in it.

    `caller`: the program's code that asked for it, innermost first, as a file and an offset in what is loaded of it.
    """

    operation: str
    size: int
    source: tuple[int, int] | None = field(default=None, compare=False)
    caller: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def describe(self) -> str:
        return f"{self.operation} of {self.size} bytes"


@dataclass(frozen=True)
class Copied:
    """The answer to a request for a copy of a buffer: where it lies in the shared memory."""

    allocation: int
    base: int


@dataclass(frozen=True)
class End:
    dispatches: int
    uncovered: tuple[str, ...] = ()  # what the run did that cannot be compared, in words


Message = Dispatch | Transfer | End


def parse_hello(message: Object) -> Hello:
    """Raises `ProtocolError`, for another version by its number."""
    if _text(message, "type") != "hello":
        raise ProtocolError("the first message is not a hello")
    version = _natural(message, "protocol")
    if version != PROTOCOL_VERSION:
        raise ProtocolError(
            f"the child speaks version {version} of the interception protocol, this is version {PROTOCOL_VERSION}; "
            "rebuild the application with this release"
        )
    kernels = message.get("kernels", {})
    if not isinstance(kernels, dict):
        raise ProtocolError("hello: kernels is not an object")
    return Hello(
        backend=_text(message, "backend"),
        device=_text(message, "device"),
        wave_size=_natural(message, "wave_size"),
        memory=_text(message, "memory"),
        kernels={str(symbol): _list(_object(entry), "parameters", _parameter) for symbol, entry in kernels.items()},
        raw=message,
        formats=_list(message, "formats", _words) if "formats" in message else (),
        by_wave=frozenset(str(symbol) for symbol, entry in kernels.items() if _object(entry).get("by_wave") is True),
        lost_shadows=_list(message, "lost_shadows", _reasons) if "lost_shadows" in message else (),
        reach=dict(_list(message, "reach", _reach_table)) if "reach" in message else {},
        constants={str(symbol): frozenset(map(int, _reals(entry, "constants"))) for symbol, entry in kernels.items()},
        named={str(symbol): _rows(_object(entry).get("named", [])) for symbol, entry in kernels.items()},
        limits={str(symbol): _reals(entry, "limits") for symbol, entry in kernels.items()},
        copies={str(symbol): _naturals(_object(entry), "copies") for symbol, entry in kernels.items()},
        compensations={
            str(symbol): _natural(entry, "compensations")
            for symbol, entry in kernels.items()
            if isinstance(entry, dict) and entry.get("compensations")
        },
        widths={str(symbol): _counts(_object(entry).get("widths", {})) for symbol, entry in kernels.items()},
    )


def parse_message(message: Object, allocations: tuple[Allocation, ...] | None = None) -> Message | Copied | Hello:
    """`allocations`: those of a dispatch where they are known already, whatever the message says.

    A hello is said again once the program has loaded more code.
    """
    kind = _text(message, "type")
    if kind == "dispatch":
        return _dispatch(message, allocations)
    if kind == "hello":
        return parse_hello(message)
    if kind == "transfer":
        return _transfer(message)
    if kind == "copied":
        return Copied(_natural(message, "allocation"), _natural(message, "base"))
    if kind == "end":
        uncovered = _list(message, "uncovered", _words) if "uncovered" in message else ()
        return End(_natural(message, "dispatches"), uncovered)
    raise ProtocolError(f"a message of unknown type {kind[:40]!r}")


def _reasons(entry: Object) -> tuple[str, ...]:
    reasons = entry.get("reasons")
    return tuple(map(str, reasons)) if isinstance(reasons, list) else ()


def _reached_bits(entry: Object) -> tuple[int, bytes]:
    return _natural(entry, "module"), _hexadecimal(entry, "bits")


def _reach_table(entry: Object) -> tuple[int, ReachTable]:
    table = _object(entry.get("table"))
    files, entries = table.get("files"), table.get("entries")
    if not isinstance(files, list) or not isinstance(entries, list):
        raise ProtocolError("hello: a table of reached code without files or entries")
    rows = tuple(tuple(n for n in row if isinstance(n, int) and n >= 0) for row in entries if isinstance(row, list))
    return _natural(entry, "module"), (tuple(map(str, files)), rows)


def _words(entry: Object) -> str:
    return _text(entry, "what")


def _dispatch(message: Object, allocations: tuple[Allocation, ...] | None) -> Dispatch:
    target = _flag(message, "target")
    if not target:
        allocations = ()
    elif allocations is None:
        allocations = tuple(sorted(_list(message, "allocations", _allocation), key=lambda a: a.sequence))
    known = {allocation.id for allocation in allocations}
    if len(known) != len(allocations):
        raise ProtocolError("dispatch: two allocations with one id")
    arguments = _list(message, "arguments", _argument) if target else ()
    for argument in arguments:
        for pointer in argument.pointers:
            if pointer.allocation not in known or pointer.offset + 8 > len(argument.value):
                raise ProtocolError(f"dispatch: argument {argument.index} points to no allocation of this message")
    return Dispatch(
        index=_natural(message, "index"),
        nth=_natural(message, "nth"),
        kernel=_text(message, "kernel"),
        grid=_extent(message, "grid"),
        block=_extent(message, "block"),
        dynamic_lds=_natural(message, "dynamic_lds"),
        target=target,
        status=_natural(message, "status"),
        arguments=arguments,
        allocations=allocations,
        parameters=_list(message, "parameters", _parameter) if target and "parameters" in message else (),
        uncovered=_natural(message, "uncovered") if "uncovered" in message else None,
        alteration=_text(message, "alteration") if "alteration" in message else "",
        way=_natural(message, "way") if "way" in message else 0,
        altered=_natural(message, "altered") if "altered" in message else None,
        tile=_extent(message, "tile") if "tile" in message else None,
        held=_ranges(message, "held"),
        covered=_ranges(message, "covered"),
        before=message.get("before") is True,
        cooperative=message.get("cooperative") is True,
        unrepeatable=_text(message, "unrepeatable") if "unrepeatable" in message else "",
        code=_text(message, "code") if "code" in message else "",
        reached=dict(_list(message, "reached", _reached_bits)) if "reached" in message else {},
    )


def _transfer(message: Object) -> Transfer:
    operation, size = _text(message, "operation"), _natural(message, "bytes")
    if "source" not in message:
        return Transfer(operation, size)
    source = _natural(message, "source"), _natural(message, "at")
    return Transfer(operation, size, source, _list(message, "frames", _frame))


def _frame(entry: Object) -> tuple[str, int]:
    return _text(entry, "file"), _natural(entry, "offset")


def _ranges(message: Object, name: str) -> frozenset[tuple[int, ...]]:
    told = message.get(name, [])
    if not isinstance(told, list) or not all(isinstance(one, list) for one in told):
        raise ProtocolError("dispatch: ranges must be lists")
    if not all(type(number) is int for one in told for number in one):
        raise ProtocolError("dispatch: ranges must hold integers")
    return frozenset(map(tuple, told))


def _allocation(entry: Object) -> Allocation:
    name = entry.get("name")
    return Allocation(
        id=_natural(entry, "id"),
        base=_natural(entry, "base"),
        size=_natural(entry, "size"),
        kind=_text(entry, "kind"),
        sequence=_natural(entry, "sequence"),
        name=None if name is None else _text(entry, "name"),
        address=_natural(entry, "address" if "address" in entry else "base"),
        shared=_shared(_object(entry["shared"])) if "shared" in entry else None,
        unshared=_text(entry, "unshared") if "unshared" in entry else "",
    )


def _shared(entry: Object) -> SharedBuffer:
    handle = _hexadecimal(entry, "handle")
    if not 0 < len(handle) <= _HANDLE_LIMIT:
        raise ProtocolError(f"dispatch: a handle of {len(handle)} bytes")
    return SharedBuffer(handle, _natural(entry, "bytes"), _natural(entry, "at"), _text(entry, "style"))


def _argument(entry: Object) -> Argument:
    return Argument(_natural(entry, "index"), _hexadecimal(entry, "hex"), _list(entry, "pointers", _pointer))


def _hexadecimal(entry: Object, key: str) -> bytes:
    try:
        return bytes.fromhex(_text(entry, key))
    except ValueError as error:
        raise ProtocolError(f"dispatch: {key!r} is not hexadecimal") from error


def _pointer(entry: Object) -> Pointer:
    return Pointer(_natural(entry, "offset"), _natural(entry, "allocation"), _natural(entry, "at"))


def _parameter(entry: Object) -> Parameter:
    return Parameter(
        index=_natural(entry, "index"),
        name=_text(entry, "name"),
        type=_text(entry, "type"),
        size=_natural(entry, "size"),
        pointer=entry.get("pointer") is True,
        const=entry.get("const") is True,
        restrict=entry.get("restrict") is True,
        element=_element(entry.get("element"), entry.get("number")),
        fields=_list(entry, "fields", _field) if entry.get("fields") else (),
    )


def _field(entry: Object) -> tuple[int, Element | None]:
    return _natural(entry, "offset"), _element(entry.get("element"), entry.get("number"))


def _element(value: object, number: object) -> Element | None:
    if value is None:
        return None
    entry, alone = _object(value), _object(number) if number is not None else None
    encoding = _text(entry, "encoding")
    of = None
    if encoding == "struct" and alone is not None:
        of = Element(_text(alone, "encoding"), _natural(alone, "bytes"), _text(alone, "encoding"))
    return Element(_text(entry, "name"), _natural(entry, "bytes"), encoding, of)


def _object(value: object) -> Object:
    if not isinstance(value, dict):
        raise ProtocolError("a message holds something else where an object belongs")
    return value


def _list(message: Object, key: str, parse: Callable[[Object], T]) -> tuple[T, ...]:
    value = message.get(key)
    if not isinstance(value, list):
        raise ProtocolError(f"a message lacks the list {key!r}")
    return tuple(parse(_object(entry)) for entry in value)


def _text(message: Object, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str) or len(value) > _NAME_LIMIT:
        raise ProtocolError(f"a message lacks the text {key!r}")
    return value


def _natural(message: Object, key: str) -> int:
    value = message.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _UNSIGNED_LIMIT:
        raise ProtocolError(f"a message lacks the natural number {key!r}")
    return value


def _rows(rows: object) -> frozenset[tuple[float, ...]]:
    if not isinstance(rows, list) or len(rows) > _MOST_ROWS:
        raise ProtocolError("hello: no list of named numbers")
    found = set()
    for row in rows:
        if not isinstance(row, list) or len(row) != _ROW or not all(isinstance(one, (int, float)) for one in row):
            raise ProtocolError("hello: a named number is not five numbers")
        found.add(tuple(row))
    return frozenset(found)


def _reals(message: object, key: str) -> frozenset[float]:
    value = _object(message).get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, (int, float)) for one in value):
        raise ProtocolError(f"{key!r} of a message is not a list of numbers")
    return frozenset(value)


def _naturals(message: Object, key: str) -> frozenset[int]:
    value = message.get(key, [])
    if not isinstance(value, list):
        raise ProtocolError(f"a message lacks the list {key!r}")
    return frozenset(_natural({key: entry}, key) for entry in value)


def _counts(value: object) -> Mapping[int, int]:
    counted = _object(value)
    return {int(bits): _natural(counted, bits) for bits in counted if bits.isdecimal()}


def _flag(message: Object, key: str) -> bool:
    value = message.get(key)
    if not isinstance(value, bool):
        raise ProtocolError(f"a message lacks the flag {key!r}")
    return value


def _extent(message: Object, key: str) -> Extent:
    value = message.get(key)
    if not isinstance(value, list) or len(value) != 3:
        raise ProtocolError(f"a message lacks the extent {key!r}")
    entries = [_natural({key: entry}, key) for entry in value]
    return entries[0], entries[1], entries[2]
