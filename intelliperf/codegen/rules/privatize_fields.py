"""Atomics on fields of a small table of records go to copies per block in LDS, one for each field.

`Cell* c = &cells[i]; atomicAdd(&c->energy, e); atomicAdd(&c->hits, 1);` adds to `energy[c - cells]` and
`hits[c - cells]` of the block, and the block adds these up at the end; records behind the copies' room are reached as
before. Proof obligations: those of `privatize_atomics`; the kernel touches the table by these atomics alone, and
pointers to its records by them alone and never moves them; no union in the project, so that fields lie apart.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.fewer_blocks import BLOCKS_PER_UNIT, cap_launches, walk_elements, walk_of
from intelliperf.codegen.rules.inlined_functions import Inlined, inlined
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.privatize_atomics import (
    MAX_BYTES,
    OBSERVERS,
    blocks_of_grid,
    check_size,
    entries_of_sample,
    joining,
    neutral_of,
    pays,
    surround,
)
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.statements import callee_name, pointee, value_used
from intelliperf.codegen.rules.wave import OPERATIONS
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, atomic_calls, element_type
from intelliperf.codegen.rules.wrappers import EFFECTS, own_text
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Declaration, MemorySpace, SourceEvidence

_BYTES = {"double": 8, "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8}


@dataclass(frozen=True)
class _Deposit:
    """One atomic of the kernel on a field of a record. `entry`: the record's number, as text."""

    call: Node
    table: Node  # the reference to the kernel's parameter
    pointer: Node | None  # the variable that leads to the record
    field: str
    entry: str
    own: Node | None = None  # its call in the text of a device function


class PrivatizeFields:
    name = "privatize_fields"

    def rewrite(self, problem: Problem) -> Rewrite:
        capped: list[int] = []
        done: dict[int, str] = {}
        made = problem.rewrite_lines(
            "Collect atomics on fields of records in copies per block in LDS, and add them up at the end",
            lambda evidence: [self._line(problem, evidence, done, capped)],
        )
        if not capped:
            return made
        return replace(made, declares=Declaration(geometry=True, reason=f"{capped[0]} blocks walk over the elements"))

    def _line(self, problem: Problem, evidence: SourceEvidence, done: dict[int, str], capped: list[int]) -> str:
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION) or evidence.space is MemorySpace.SHARED:
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic in global memory")
        place = problem.place(evidence)
        if len(place.functions) != 1:
            raise NotApplicable(f"{place}: the atomic is in several instantiations of a function")
        function = inlined(problem, evidence)
        blamed = atomic_calls(problem, place)[0]
        kernel = place.functions[0]
        owns: dict[Node, Node] = {}
        if function is not None:
            place, kernel, owns = function.place, function.kernel, dict(function.atomics_in_place())
            blamed = next((call for call, own in owns.items() if own is blamed or own.begin == blamed.begin), blamed)
        if kernel.start_offset not in done:
            deposits = [replace(one, own=owns.get(one.call)) for one in _deposits(problem, place, kernel, blamed)]
            if any((one.own is None) != (function is None) for one in deposits):
                raise NotApplicable(f"{place}: atomics of the kernel and of a function of it meet one table")
            done[kernel.start_offset] = _write(problem, place, (kernel, function), deposits, capped)
        return done[kernel.start_offset]


def _deposits(problem: Problem, place: Place, kernel: Node, blamed: Node) -> list[_Deposit]:
    """All atomics on the table of the blamed one. Raises `NotApplicable` where it is used otherwise, too."""
    first = _deposit(problem, place, kernel, blamed)
    reference = first.table.reference
    assert reference is not None
    calls = [node for node in body(kernel).everything() if callee_name(node) in OPERATIONS and node.children[1:]]
    found = [first]
    for call in calls:
        if call is blamed:
            continue
        with contextlib.suppress(NotApplicable):
            other = _deposit(problem, place, kernel, call)
            if other.table.reference is not None and other.table.reference.id == reference.id:
                found.append(other)
    if len({(callee_name(one.call)) for one in found}) != 1 or any(value_used(one.call) for one in found):
        raise NotApplicable(f"{place}: the old value of an atomic is used, or they are not all of one kind")
    meant = {id(node) for one in found for node in one.call.children[1].walk()}
    pointers = {one.pointer.id: one.pointer for one in found if one.pointer is not None}
    meant |= {id(node) for pointer in pointers.values() for node in pointer.walk()}
    for node in body(kernel).everything():
        if node.reference is not None and node.reference.id in {reference.id, *pointers} and id(node) not in meant:
            raise NotApplicable(f"{place}: {node.reference.name} is also used on line {node.line}")
        if written(node) in pointers:
            raise NotApplicable(f"{place}: line {node.line} moves a pointer to a record")
    return found


def _deposit(problem: Problem, place: Place, kernel: Node, call: Node) -> _Deposit:
    address = call.children[1].bare()
    member = address.children[0].bare() if address.kind == "UnaryOperator" and address.opcode == "&" else address
    if member.kind != "MemberExpr" or not member.children:
        raise NotApplicable(f"{place}: the atomic's address is not a field of a record")
    if "[" in member.canonical or call.in_macro or any(node.in_macro for node in address.walk()):
        raise NotApplicable(f"{place}: the field is an array, or written by a macro")
    owner = member.children[0].bare()
    name = re.sub(r"^(?:->|\.)", "", member.name)
    pointer = None
    if "isArrow" in member.flags and owner.kind == "DeclRefExpr" and owner.reference is not None:
        identity = owner.reference.id
        pointer = next((n for n in body(kernel).everything() if n.kind == "VarDecl" and n.id == identity), None)
        initial = initializer(pointer) if pointer is not None else None
        if pointer is None or initial is None:
            raise NotApplicable(f"{place}: where {owner.reference.name} leads to cannot be told")
        owner = initial.bare()
    table, index = _record(owner)
    parameter = table.reference if table is not None else None
    if table is None or parameter is None or not any(child.id == parameter.id for child in kernel.children):
        raise NotApplicable(f"{place}: the field is not of an array of records that the kernel is given")
    if pointee(table.canonical) is None or any(node.kind in EFFECTS for node in (index or table).walk()):
        raise NotApplicable(f"{place}: the record's number is computed by a call")
    source = problem.source(place.path)
    text = source.slice(index.start_offset, index.end_offset) if index is not None else "0"
    if pointer is not None:
        text = f"{pointer.name} - {parameter.name}"
    return _Deposit(call, table, pointer, name, text)


def _record(node: Node) -> tuple[Node | None, Node | None]:
    """Array and number of `a[i]`, `&a[i]`, `a + i`, `*(a + i)`."""
    while node.kind == "UnaryOperator" and node.opcode in ("&", "*"):
        node = node.children[0].bare()
    sums = node.kind == "BinaryOperator" and node.opcode == "+"
    if node.kind != "ArraySubscriptExpr" and not sums:
        return (node, None) if node.kind == "DeclRefExpr" else (None, None)
    array, index = node.children[0].bare(), node.children[1].bare()
    return (array, index) if array.kind == "DeclRefExpr" else (None, None)


def _write(
    problem: Problem,
    place: Place,
    where: tuple[Node, Inlined | None],
    deposits: Sequence[_Deposit],
    capped: list[int],
) -> str:
    kernel, function = where
    types = {element_type(one.call) for one in deposits}
    operation, fields = callee_name(deposits[0].call), {one.field: element_type(one.call) for one in deposits}
    neutral = neutral_of(operation, types)
    if not neutral:
        raise NotApplicable(f"{place}: {operation} has no neutral value that fits all types")
    if any(re.search(r"\bunion\b", text) for text in problem.task.sources.values()):
        raise NotApplicable(f"{place}: the project declares a union, whose members may lie in one place")
    size = sum(_BYTES.get(kind, 4) for kind in fields.values())
    entries = entries_of_sample(problem, place, MAX_BYTES // size)
    check_size(problem, place, entries * size)
    root = deposits[0].table.reference.name if deposits[0].table.reference is not None else ""

    def collect() -> tuple[list[str], list[str], str]:
        lines, changes = _collect(problem, place, kernel, deposits, (root, neutral, entries))
        if function is not None:
            function.write(problem, changes)
        return lines

    rounding = " (floating-point additions in another order: results differ by rounding)" if types & FLOATS else ""
    told = f"{operation} at {place} on {', '.join(sorted(fields))} of the first {entries} entries of {root}{rounding}"
    with contextlib.suppress(NotApplicable), problem.all_or_nothing():
        capped.append(_walk(problem, place, kernel, deposits, entries, collect()))
        return f"{told}, by {capped[0]} blocks that walk over the elements"
    pays(problem, place, entries * len(fields), blocks_of_grid(problem))
    surround(problem, place, kernel, deposits[0].call, collect)
    return told


def _walk(
    problem: Problem,
    place: Place,
    kernel: Node,
    deposits: Sequence[_Deposit],
    entries: int,
    lines: tuple[list[str], list[str], str],
) -> int:
    """With a grid that fills the device; returns how many blocks that is. Raises `NotApplicable`."""
    atomics = [node for node in body(kernel).everything() if node.kind == "CallExpr" and "tomic" in callee_name(node)]
    if len(atomics) != len(deposits):
        raise NotApplicable(f"{place}: the kernel has other atomics, too")
    walk = walk_of(problem, place, kernel)
    most = cap_launches(problem, place, kernel, BLOCKS_PER_UNIT)
    pays(problem, place, entries * len({one.field for one in deposits}), most)
    opening, closing, indent = lines
    around = "".join(f"{line}\n{indent}" for line in opening).removesuffix(indent), f"\n{indent}".join(closing)
    walk_elements(problem, problem.source(place.path), place, kernel, walk, around)
    return most


def _collect(
    problem: Problem, place: Place, kernel: Node, deposits: Sequence[_Deposit], what: tuple[str, str, int]
) -> tuple[tuple[list[str], list[str], str], list[tuple[int, int, str]]]:
    """Rewrites the atomics, or returns changes of those in a function's text.

    With what stands before all of the kernel's work and after it, and how far it is indented.
    """
    (root, neutral, entries), top = what, body(kernel)
    source, operation = problem.source(place.path), callee_name(deposits[0].call)
    if match := OBSERVERS.search(source.code(top.start_offset, top.end_offset)):
        raise NotApplicable(f"{place}: other blocks may look at {root} while the kernel runs ({match.group()})")
    if top.in_macro:
        raise NotApplicable(f"{place}: the kernel is written by a macro")
    helper = declare(problem, source, top.start_offset, "block_or_record", partial(_helper, operation, entries))
    copies = {one.field: unused_name(problem, f"block_{root}_{one.field}") for one in deposits}
    changes = []
    for one in deposits:
        if one.own is not None:
            head = f"{helper}({copies[one.field]}, {one.entry}, "
            changes.append((one.own.start_offset, one.own.children[1].start_offset, head))
            continue
        address, operand = own_text(source, place, one.call)
        text = f"{helper}({copies[one.field]}, {one.entry}, {address}, {operand})"
        source.replace(one.call.start_offset, one.call.end_offset, text)
    kinds = {one.field: element_type(one.call) for one in deposits}
    opening, closing = joining(
        problem, entries, neutral, operation, [(name, f"{root}[entry].{field}") for field, name in copies.items()]
    )
    shared = [f"__shared__ {kinds[field]} {name}[{entries}];" for field, name in copies.items()]
    comment = f"// This block's shares of {root}, as far as they have room, in LDS."
    return ([comment, *shared, *opening], closing, source.indentation(top.children[0].start_offset)), changes


def _helper(operation: str, entries: int, name: str) -> str:
    return (
        f"// On the block's share of a record's field, or on the field itself where the record has none.\n"
        f"template <typename Field, typename Value>\n"
        f"__device__ inline void {name}(Field* share, long long entry, Field* field, Value value) {{\n"
        f"  if (entry >= 0 && entry < {entries})\n"
        f"    {operation}(share + entry, static_cast<Field>(value));\n"
        f"  else\n"
        f"    {operation}(field, static_cast<Field>(value));\n"
        f"}}\n"
    )
