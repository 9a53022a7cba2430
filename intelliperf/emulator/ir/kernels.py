"""Kernels: adapters from `void** args` to the IR signature, and what their metadata says.

IR arguments are not source arguments: small structs are split into registers (`s.coerce0`,
`s.coerce1`), large ones are `byval`, those with a non-trivial copy are passed by address, empty
ones vanish, `bool` is an `i1`. The source side comes from the debug metadata, in order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from intelliperf.emulator.ir.calls import called_functions
from intelliperf.emulator.ir.compensation import compensations
from intelliperf.emulator.ir.copies import copied
from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.functions import TRACE_SUFFIX
from intelliperf.emulator.ir.module import Function, Module
from intelliperf.emulator.ir.quantities import (
    ParameterPlace,
    Users,
    constants,
    limits,
    named,
    of_parameters,
    reads_grid,
)
from intelliperf.emulator.ir.shadow.calls import SHADOW_SUFFIX
from intelliperf.emulator.ir.text import DEBUG_LOCATION, NAME, suffixed, type_of, unquoted
from intelliperf.emulator.ir.variables import Variables
from intelliperf.emulator.ir.widths import widths
from intelliperf.errors import ToolchainError

_KERNEL_ATTRIBUTE = '"uniform-work-group-size"'
_GROUP_REFERENCE = re.compile(r"#(\d+)")
_REGISTERS_OF_A_STRUCT = re.compile(r"\.coerce[01]?\d*$")
_BYVAL = re.compile(r"byval\(.*?\)(?: align \d+)?")
_ONLY_READ = re.compile(r"^ptr\b.* read(?:only|none)\b")
_ONLY_WRITTEN = re.compile(r"^ptr\b.* writeonly\b")
_EIGHTBYTE = 8
_LEAST_OF_AN_ARRAY = 8  # elements


@dataclass(frozen=True)
class Argument:
    """One IR argument: which source parameter it belongs to and where in it."""

    text: str
    source: int
    offset: int  # bytes within the source parameter
    by_address: bool  # the IR wants the address of the source parameter


def kernel_names(module: Module) -> list[str]:
    """Names (as written) of the functions that the front end marked as kernels."""
    groups = {
        found[1]
        for line in module.attributes
        if _KERNEL_ATTRIBUTE in line and (found := re.match(r"attributes #(\d+) =", line))
    }
    names = []
    for function in module.functions:
        tail = function.header[function.header.rindex(")") :]
        if _GROUP_REFERENCE.search(tail) and groups & set(_GROUP_REFERENCE.findall(tail)):
            names.append(function.name)
    return names


def map_arguments(function: Function, debug: DebugInfo) -> list[Argument]:
    """Pair IR arguments with source parameters. Raises `ToolchainError` if they do not match up."""
    if function.subprogram is None:
        raise ToolchainError(f"kernel {unquoted(function.name)} has no debug information")
    types = debug.parameter_types(function.subprogram)
    arguments: list[Argument] = []
    pending = list(function.parameters)
    for source, kind in enumerate(types):
        if debug.is_empty(kind) and debug.size(kind) <= 2 * _EIGHTBYTE:
            continue
        if not pending:
            raise ToolchainError(f"kernel {unquoted(function.name)} has fewer IR arguments than parameters")
        first = pending.pop(0)
        by_address = " byval(" in first or (type_of(first) == "ptr" and _is_indirect(first, kind, debug))
        # A first half without data takes no register.
        offset = _EIGHTBYTE if not by_address and debug.begin(kind) >= _EIGHTBYTE else 0
        arguments.append(Argument(first, source, offset, by_address))
        if not by_address and not offset and pending and _is_second_half(first, pending[0], kind, debug):
            arguments.append(Argument(pending.pop(0), source, _EIGHTBYTE, False))
    if pending:
        raise ToolchainError(f"kernel {unquoted(function.name)} has more IR arguments than parameters: {pending[0]}")
    return arguments


def _is_indirect(parameter: str, kind: int | None, debug: DebugInfo) -> bool:
    """An aggregate passed as a plain pointer that is not one of its own registers."""
    return debug.is_aggregate(kind) and not _REGISTERS_OF_A_STRUCT.search(_argument_name(parameter))


def _is_second_half(first: str, second: str, kind: int | None, debug: DebugInfo) -> bool:
    one, two = _argument_name(first), _argument_name(second)
    found = re.fullmatch(r"(.*\.coerce)0(\d*)", one)
    if found:
        return bool(re.fullmatch(re.escape(found[1]) + r"1\d*", two))
    return False


def _argument_name(parameter: str) -> str:
    return unquoted(_written_name(parameter))


def _written_name(parameter: str) -> str:
    found = re.search(rf"%({NAME})$", parameter)
    return found[1] if found else ""


def adapters(function: Function, arguments: list[Argument], shadows: bool = False) -> list[str]:
    """`void K$fast(ptr)`, `K$trace` and, if there is one, `K$shadow`, which unpack the array of argument addresses."""
    setup: list[str] = []
    values: list[str] = []
    for number, argument in enumerate(arguments):
        setup.append(f"  %slot{number} = getelementptr ptr, ptr %arguments, i64 {argument.source}")
        setup.append(f"  %source{number} = load ptr, ptr %slot{number}")
        values.append(_unpack(argument, number, setup))
    lines: list[str] = []
    targets = [("$fast", function.name), ("$trace", _traced_body(function.name))]
    if shadows:
        targets.append(("$shadow", suffixed(function.name, SHADOW_SUFFIX)))
    for suffix, target in targets:
        lines.append(f"define void @{suffixed(function.name, suffix)}(ptr %arguments) {{")
        lines += setup
        lines.append(f"  tail call void @{target}({', '.join(values)})")
        lines += ["  ret void", "}"]
    return lines


def _traced_body(name: str) -> str:
    return suffixed(name, TRACE_SUFFIX)


def _unpack(argument: Argument, number: int, setup: list[str]) -> str:
    kind = type_of(argument.text)
    if argument.by_address:
        byval = _BYVAL.search(argument.text)
        return f"ptr {byval[0]} %source{number}" if byval else f"ptr %source{number}"
    address = f"%source{number}"
    if argument.offset:
        setup.append(f"  %part{number} = getelementptr i8, ptr %source{number}, i64 {argument.offset}")
        address = f"%part{number}"
    if kind == "i1":
        setup.append(f"  %byte{number} = load i8, ptr {address}, align 1")
        setup.append(f"  %value{number} = trunc i8 %byte{number} to i1")
    else:
        setup.append(f"  %value{number} = load {kind}, ptr {address}, align 1")
    extension = next((f" {word}" for word in ("zeroext", "signext") if f" {word}" in argument.text), "")
    return f"{kind}{extension} %value{number}"


def describe_kernel(
    function: Function, module: Module, variables: Variables, debug: DebugInfo, reach: set[str], helping: Counter[int]
) -> dict[str, Any]:
    """The kernel's entry in the container's metadata, its static facts still unknown.

    `helping`: how often the functions that it may call narrow integers, see `widths`.
    """
    subprogram = function.subprogram
    node = debug.node(subprogram)
    names = debug.parameter_names(subprogram) if subprogram is not None else {}
    types = debug.parameter_types(subprogram) if subprogram is not None else []
    return {
        "name": debug.qualified_name(subprogram) or unquoted(function.name),
        "file": debug.file(node.reference("file")),
        "line": node.number("line"),
        "end_line": _last_line(function, debug),
        "parameters": [
            {
                "index": index,
                **debug.describe(kind, names.get(index, "")),
                "fields": debug.pointer_fields(kind),
            }
            for index, kind in enumerate(types)
        ],
        "quantities": of_parameters(Users(function), _places(map_arguments(function, debug)), types, debug),
        "constants": sorted({*constants(function), *_too_many(variables.shared[name] for name in reach)}),
        "limits": limits(function),
        "named": named(function, _places(map_arguments(function, debug)), types, debug),
        "reads_grid": reads_grid(function),
        "widths": {str(bits): count for bits, count in sorted((widths(function) + helping).items())},
        "compensations": compensations(function),
        "only_read": _pointers_with(_ONLY_READ, map_arguments(function, debug)),
        "only_written": _pointers_with(_ONLY_WRITTEN, map_arguments(function, debug)),
        "copies": copied(function, _pointers(map_arguments(function, debug))),
        "by_wave": bool(reach) or bool(variables.dynamic) or "__simt_collective" in module.declarations,
        "static_lds": sum(variables.shared[name] for name in reach),
        "static": None,
    }


def _too_many(shared: Iterable[int]) -> set[int]:
    """The least numbers of elements, or of rows of a square, that arrays of so many bytes have no room for."""
    counts = {size // each for size in shared for each in (4, 8)}
    return {most + 1 for count in counts for most in (count, math.isqrt(count)) if most >= _LEAST_OF_AN_ARRAY}


def _pointers(arguments: list[Argument]) -> dict[str, int]:
    return {
        f"%{_written_name(one.text)}": one.source
        for one in arguments
        if not one.by_address and type_of(one.text) == "ptr"
    }


def _pointers_with(attribute: re.Pattern[str], arguments: list[Argument]) -> list[int]:
    """Parameters that are pointers of which the optimiser has inferred this."""
    return [one.source for one in arguments if not one.by_address and attribute.search(one.text)]


def _places(arguments: list[Argument]) -> dict[int, list[ParameterPlace]]:
    places: dict[int, list[ParameterPlace]] = {}
    for one in arguments:
        place = ParameterPlace(type_of(one.text), f"%{_written_name(one.text)}", one.offset, one.by_address)
        places.setdefault(one.source, []).append(place)
    return places


def _last_line(function: Function, debug: DebugInfo) -> int:
    """The greatest line of the kernel's own code: the closing brace, where `return` happens."""
    own = debug.node(function.subprogram)
    file, last = debug.file(own.reference("file")), own.number("line")
    numbers = {
        int(found[1])
        for block in function.blocks
        for instruction in block.instructions
        if (found := DEBUG_LOCATION.search(instruction.text))
    }
    for number in numbers:
        place, line = debug.outermost_line(number)
        if place == file:
            last = max(last, line)
    return last


def shared_reach(module: Module, shared: dict[str, int]) -> dict[str, set[str]]:
    """For every function the shared variables that it or anything it calls mentions."""
    direct: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    everything: set[str] = set()
    for function in module.functions:
        own: set[str] = set()
        if shared:
            for block in function.blocks:
                for instruction in block.instructions:
                    if "@" in instruction.text:
                        own.update(n for n in re.findall(rf"@({NAME})", instruction.text) if n in shared)
        direct[function.name] = own
        names, indirect = called_functions(function)
        calls[function.name] = names | ({"*"} if indirect else set())
        everything |= own
    return {function.name: _reach(function.name, direct, calls, everything) for function in module.functions}


def _reach(name: str, direct: dict[str, set[str]], calls: dict[str, set[str]], everything: set[str]) -> set[str]:
    seen: set[str] = set()
    found: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current == "*":
            return everything
        found |= direct.get(current, set())
        pending.extend(calls.get(current, ()))
    return found
