"""The host's memory that a copy goes to: found in LLVM assembly, with all that allocates, fills and releases it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from intelliperf.validation.edits.functionbody import VALUE, FunctionBody
from intelliperf.validation.edits.launches import call_operands
from intelliperf.validation.edits.linear import Linear, Sizes
from intelliperf.validation.edits.total import NotTotalled

_HEAP = frozenset(("malloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t"))
_PINNED = frozenset(("hipHostMalloc", "hipHostAlloc", "hipMallocHost", "cudaMallocHost", "cudaHostAlloc"))
FREES = frozenset(("free", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "hipHostFree", "hipFreeHost", "cudaFreeHost"))
# std::vector of a number as libstdc++ and libc++ mangle it: (n) and (n, value), and the destructor.
VECTOR = r"_ZN(?:St6vectorI(?P<t>[fdijlmstxy])SaI(?P=t)EE|St3__16vectorI(?P<u>[fdijlmstxy])NS_9allocatorI(?P=u)EEEE)"
_MADE = re.compile(rf"{VECTOR}C[12](?:B\w+?)?Em(?:RK\w+)*$")
_DESTROYED = re.compile(rf"{VECTOR}D[12](?:B\w+?)?Ev$")
VECTOR_CODE = re.compile(
    rf"^define (?:internal|linkonce_odr) [^\n]*@{VECTOR}(?:C[12]\w*Em\w*|D[12]\w*)\([^\n]*$", re.MULTILINE
)
_OF_LETTER = {"f": 4, "d": 8, "i": 4, "j": 4, "l": 8, "m": 8, "s": 2, "t": 2, "x": 8, "y": 8}  # bytes
BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8}
ARRAY = re.compile(r"alloca (?:\[(\d+) x (\w+)\]|(\w+))(?:,|$)")
LOADED = re.compile(rf"\s+({VALUE}) = load (\w+), ptr ({VALUE})(?:,|$)")
_STORED = re.compile(rf"\s+store \w+ (?!%)\S+, ptr ({VALUE})(?:,|$)")
_NULL = re.compile(rf"\s+({VALUE}) = icmp (eq|ne) ptr ({VALUE}), null(?:,|$)")
_INVOKED = re.compile(rf"\s+(?:{VALUE} = )?invoke .*?(to label .*)$")
NOTHING = "@intelliperf.nothing"


@dataclass(frozen=True)
class Target:
    """The host's memory of one copy: values that point to its first element, and behind its last."""

    begins: frozenset[str]
    made: int  # the line that allocates it; of an array, its declaration
    bytes: Linear
    ends: frozenset[str] = frozenset()
    array: bool = False
    gone: Mapping[int, list[str]] = field(default_factory=dict)  # lines that go with it, and what stands for them


def target_of(body: FunctionBody, pointer: str, copy: int) -> Target:
    """Raises `NotTotalled`."""
    text = body.text(pointer)
    made = body.definitions.get(pointer, -1)
    array = ARRAY.match(text)
    if array is not None:
        element = array[2] or array[3]
        if element not in BYTES:
            raise NotTotalled
        size = Linear(Fraction(int(array[1] or 1) * BYTES[element]))
        return Target(frozenset((pointer,)), made, size, array=True)
    called, operands = call_operands(body.lines[made]) if made > 0 else ("", [])
    if called in _HEAP:
        size = Sizes(body).of(operands[0].split()[-1])
        return Target(frozenset((pointer,)), made, size, gone={made: _not_called(body.lines[made])})
    if called == "calloc":
        size = Sizes(body).product(*(one.split()[-1] for one in operands))
        return Target(frozenset((pointer,)), made, size, gone={made: _not_called(body.lines[made])})
    loaded = LOADED.match(body.lines[made]) if made > 0 else None
    if loaded is None:
        raise NotTotalled
    return _pinned(body, loaded[3], copy) or _vector(body, loaded[3], copy)


def _pinned(body: FunctionBody, variable: str, copy: int) -> Target | None:
    """Of a pointer that one call of the API sets and nothing else writes; None for other variables."""
    made: list[int] = []
    begins: dict[str, int] = {}
    for use in body.uses(variable):
        line = body.lines[use]
        loaded = LOADED.match(line)
        if call_operands(line)[0] in _PINNED and values_of(line)[0] == variable and values_of(line)[1] != variable:
            made.append(use)
        elif loaded is not None and loaded[2] == "ptr":
            begins[loaded[1]] = use
        elif not ("@llvm.lifetime." in line or re.match(rf"\s+store ptr null, ptr {re.escape(variable)}(?:,|$)", line)):
            return None
    if len(made) != 1 or not body.text(variable).startswith("alloca ptr") or not body.dominates(made[0], copy):
        return None
    result = re.match(rf"\s+({VALUE}) = call ", body.lines[made[0]])
    if result is None:
        return None
    gone = {made[0]: [f"  {result[1]} = add i32 0, 0"], **{at: [] for at in begins.values()}}
    size = Sizes(body).of(values_of(body.lines[made[0]])[1])
    return Target(frozenset(begins), made[0], size, gone=gone)


def _vector(body: FunctionBody, variable: str, copy: int) -> Target:
    """Raises `NotTotalled` where the object is anything but a vector that is made, read and destroyed."""
    made: list[int] = []
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    gone: dict[int, list[str]] = {}
    if not body.text(variable).startswith("alloca "):
        raise NotTotalled
    for use in body.uses(variable):
        line = body.lines[use]
        called = call_operands(line)[0]
        if _MADE.match(called) and values_of(line)[0] == variable:
            made.append(use)
        elif (loaded := LOADED.match(line)) is not None and loaded[2] == "ptr":
            begins[loaded[1]] = use
        elif member := re.match(
            rf"\s+({VALUE}) = getelementptr [a-z ]*i8, ptr {re.escape(variable)}, i64 8(?:,|$)", line
        ):
            for read in body.uses(member[1]):
                found = LOADED.match(body.lines[read])
                if found is None:
                    raise NotTotalled
                ends[found[1]] = read
        elif not (_DESTROYED.match(called) or "@llvm.lifetime." in line):
            raise NotTotalled
        if called:
            gone[use] = _not_called(line)
    if len(made) != 1 or not body.dominates(made[0], copy):
        raise NotTotalled
    name, operands = call_operands(body.lines[made[0]])
    letter = re.match(VECTOR, name)
    each = _OF_LETTER[letter["t"] or letter["u"]] if letter is not None else 0
    size = Sizes(body).of(operands[1].split()[-1]).times(each)
    gone |= {at: [] for at in (*begins.values(), *ends.values())}
    return Target(frozenset(begins), made[0], size, frozenset(ends), gone=gone)


def _not_called(line: str) -> list[str]:
    invoked = _INVOKED.match(line)
    return [f"  invoke void {NOTHING}() {invoked[1]}"] if invoked is not None else []


def stand_in(body: FunctionBody, use: int, pointer: str, copy: int) -> list[str] | None:
    """What stands for a use that reads nothing of what was copied; None for others."""
    line = body.lines[use]
    called = call_operands(line)[0]
    if called in FREES and values_of(line)[0] == pointer:
        freed = re.match(rf"\s+({VALUE}) = call i32 ", line)
        return [f"  {freed[1]} = add i32 0, 0"] if freed is not None else []
    if "@llvm.lifetime." in line:
        return []
    written = called.startswith("llvm.memset.") and values_of(line)[0] == pointer
    stored = _STORED.match(line)
    if written or stored is not None and stored[1] == pointer:
        return [] if body.dominates(use, copy) else None
    null = _NULL.match(line)
    return [f"  {null[1]} = icmp {'ne' if null[2] == 'eq' else 'eq'} i32 0, 0"] if null is not None else None


def values_of(line: str) -> list[str]:
    return [one.split()[-1] for one in call_operands(line)[1]]
