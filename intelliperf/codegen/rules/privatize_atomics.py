"""Atomics on a small table in global memory go to a copy per block in LDS, added up at the end.

For operations in which order and grouping do not matter, floating-point sums up to rounding. Where the index has no
small limit that is known when the kernel is compiled, the copy holds the beginning of the table, and atomics on what
lies behind it go to the table as before. Several atomics on one table share its copy. Proof obligations: nothing else
in the kernel uses the table; the beginning and the end of the kernel are reached by all threads. Entries that are
still neutral are not written back, so no memory is touched that the original leaves alone.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from intelliperf.codegen.rules.block_plans import guard_of, written_element
from intelliperf.codegen.rules.bounds import Bounds
from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.fewer_blocks import BLOCKS_PER_UNIT, cap_launches, walk_elements, walk_of
from intelliperf.codegen.rules.guards import enclose_rest
from intelliperf.codegen.rules.inlined_functions import inlined
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.statements import callee_name, pointee, value_used
from intelliperf.codegen.rules.uniformity import Uniformity, exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, element_type
from intelliperf.codegen.rules.wrappers import Atomic, atomics, is_kernel, is_wrapper, own_text
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Declaration, MemorySpace, Metric, SourceEvidence

MAX_BYTES = 16 * 1024  # of LDS for one copy: more would cost the occupancy that hides its latency
# Operations of a block for each that it still sends to global memory; below, the copies do not pay.
MIN_OPERATIONS_PER_ENTRY = 2.0
# How a block's share joins the rest, where it is not by the same operation: a sum of -x is added.
JOINED_BY = {"atomicSub": "atomicAdd"}
_FROM_ZERO = ("atomicAdd", "unsafeAtomicAdd", "atomicSub", "atomicOr", "atomicXor")
_LEAST = {
    "int": "(-2147483647 - 1)",
    "unsigned int": "0u",
    "long long": "(-9223372036854775807ll - 1)",
    "unsigned long long": "0ull",
}
_GREATEST = {
    "int": "2147483647",
    "unsigned int": "4294967295u",
    "long long": "9223372036854775807ll",
    "unsigned long long": "18446744073709551615ull",
}
_SAMPLE = 1024  # entries of a copy of what is not known to be small, where the addresses were not counted
_ROOM = 4  # entries for each address that was counted: they need not be the first ones of the table
_ELEMENT_BYTES = {"long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8}
OBSERVERS = re.compile(r"fence|volatile|grid\.sync|this_grid|\batomic_ref|asm\b")


class PrivatizeAtomics:
    name = "privatize_atomics"

    def rewrite(self, problem: Problem) -> Rewrite:
        capped: list[int] = []
        taken: list[int] = []
        known: dict[tuple[str, int], str | NotApplicable] = {}
        done: dict[tuple[str, int], str] = {}
        made = problem.rewrite_lines(
            "Collect atomics in a copy per block in LDS, and add it up at the end",
            lambda evidence: [
                self._function(problem, evidence, (capped, taken), known)
                or self._line(problem, evidence, (capped, taken), done)
            ],
        )
        if not capped:
            return made
        return replace(made, declares=Declaration(geometry=True, reason=f"{capped[0]} blocks walk over the elements"))

    def _line(
        self,
        problem: Problem,
        evidence: SourceEvidence,
        counts: tuple[list[int], list[int]],
        done: dict[tuple[str, int], str],
    ) -> str:
        """`done`: what was told of the atomics of one table that were rewritten together, by their places."""
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION) or evidence.space is MemorySpace.SHARED:
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic in global memory")
        seen = atomics(problem, evidence)
        here = seen[0].place.path, seen[0].call.start_offset
        if here not in done:
            group: list[Atomic] = []
            with contextlib.suppress(NotApplicable):
                group = _group(problem, seen[0]) if len(seen) == 1 else []
            told = self._atomics(problem, group or seen, *counts, one_table=bool(group))
            done |= {(one.place.path, one.call.start_offset): told for one in (*group, seen[0])}
        return done[here]

    def _function(
        self,
        problem: Problem,
        evidence: SourceEvidence,
        counts: tuple[list[int], list[int]],
        known: dict[tuple[str, int], str | NotApplicable],
    ) -> str:
        """All atomics of a device function that does more than one thing; empty where it does not, or a kernel."""
        inner = problem.place(evidence)
        if is_kernel(inner.functions[0]) or is_wrapper(inner.functions[0]) or evidence.space is MemorySpace.SHARED:
            return ""
        key = (inner.path, inner.functions[0].start_offset)
        if key not in known:
            try:
                known[key] = self._inlined(problem, evidence, counts)
            except NotApplicable as reason:
                known[key] = reason
        made = known[key]
        if isinstance(made, NotApplicable):
            raise made
        return made

    def _inlined(self, problem: Problem, evidence: SourceEvidence, counts: tuple[list[int], list[int]]) -> str:
        function = inlined(problem, evidence)
        assert function is not None
        blamed = {item.line for item in problem.task.evidence if item.file == evidence.file}
        changes: dict[Node, list[tuple[int, int, str]]] = {}
        told = [
            self._atomics(problem, [replace(atomic, own=own, changes=changes)], *counts)
            for atomic, own in function.atomics
            if own.line in blamed
        ]
        function.write(problem, [change for own in changes.values() for change in own])
        return "; ".join(told)

    def _atomics(
        self,
        problem: Problem,
        seen: Sequence[Atomic],
        capped: list[int],
        taken: list[int],
        one_table: bool = False,
    ) -> str:
        """One of each instantiation, or with `one_table` several of one kernel; `taken`: bytes of the copies so far."""
        place, calls = seen[0].place, [one.call for one in seen]
        function = callee_name(calls[0])
        types = {element_type(call) for call in calls}
        if any(value_used(call) for call in calls):
            raise NotApplicable(f"{place}: the old value that {function} returns is used")
        neutral = neutral_of(function, types)
        if not neutral:
            raise NotApplicable(f"{place}: {function} has no neutral value that fits all types")
        kernel = kernel_of(place)
        tables = [_entry(place, call)[0] for call in calls]
        _check_alone(problem, place, kernel, tables[0], len(seen) if one_table else 1)
        size = max(_ELEMENT_BYTES.get(kind, 4) for kind in types)
        limits = [_limit(problem, _entry(place, call)[1]) for call in calls]
        known = max((limit for limit in limits if limit is not None), default=0) if None not in limits else 0
        closed = 0 < known * size <= MAX_BYTES
        entries = (
            known
            if closed
            else entries_of_sample(problem, place, min(MAX_BYTES // size, tables[0].length or MAX_BYTES))
        )
        check_size(problem, place, entries * size + sum(taken))
        rounding = " (floating-point additions in another order: results differ by rounding)" if types & FLOATS else ""
        others = f" and on line {', '.join(sorted({str(call.line) for call in calls[1:]}))}" if one_table else ""
        told = f"{function} at {place}{others} on {'' if closed else 'the first '}{entries} entries of {tables[0].text}"
        copy = _Copy(entries, closed, neutral)
        walks = f"blocks that walk over the elements{rounding}"
        if len(seen) == 1:
            with contextlib.suppress(NotApplicable), problem.all_or_nothing():
                capped.append(_apply_walking(problem, seen[0], kernel, copy, BLOCKS_PER_UNIT))
                return f"{told}, by {capped[0]} {walks}"
        try:
            pays(problem, place, entries, blocks_of_grid(problem))
        except NotApplicable as reason:
            if len(seen) != 1:
                raise
            capped.append(_fewer(problem, seen[0], kernel, copy, reason))
            return f"{told}, by {capped[0]} {walks}"
        _apply(problem, seen if one_table else seen[:1], kernel, copy)
        taken.append(entries * size)
        return f"{told}{rounding}"


@dataclass(frozen=True)
class _Copy:
    """`closed`: no atomic goes to what lies behind its entries."""

    entries: int
    closed: bool
    neutral: str


def neutral_of(function: str, types: set[str]) -> str:
    """What leaves every value as it is; empty where there is none, or another one for each type."""
    if types & FLOATS:
        return "0" if function.endswith("Add") else ""
    if function in _FROM_ZERO:
        return "0"
    if function == "atomicAnd":
        return "-1"
    (kind,) = types if len(types) == 1 else ("",)
    return {"atomicMax": _LEAST, "atomicMin": _GREATEST}.get(function, {}).get(kind, "")


def entries_of_sample(problem: Problem, place: Place, most: int) -> int:
    """How many entries a copy of a table of unknown length gets. Raises `NotApplicable` where too many are used."""
    profile = problem.task.finding.profile
    if not profile.has(Metric.ATOMIC_ADDRESSES):
        return min(_SAMPLE, most)
    used = max(1, math.ceil(profile.quantity(Metric.ATOMIC_ADDRESSES).value))
    if used > most:
        raise NotApplicable(f"{place}: the kernel's atomics go to {used} addresses, too many for a copy per block")
    return int(min(1 << (_ROOM * used - 1).bit_length(), most))


@dataclass(frozen=True)
class _Table:
    """What an atomic's address lies in: an array that the kernel is given, or an array member of such a structure."""

    place: Node  # of its name in the address
    parameter: Node  # the reference in it to the kernel's parameter
    member: str = ""
    length: int | None = None  # of a member

    @property
    def text(self) -> str:
        root = self.parameter.reference.name if self.parameter.reference is not None else ""
        return f"{root}->{self.member}" if self.member else root


def _table(node: Node) -> _Table | None:
    if node.kind == "DeclRefExpr" and pointee(node.canonical) is not None:
        return _Table(node, node)
    owner = node.children[0].bare() if node.kind == "MemberExpr" and node.children else node
    extent = re.fullmatch(r"[\w ]+\[(\d+)\]", node.canonical)
    if node is owner or "isArrow" not in node.flags or owner.kind != "DeclRefExpr" or extent is None:
        return None
    return _Table(node, owner, node.name.removeprefix("->"), int(extent[1]))


def _entry(place: Place, call: Node) -> tuple[_Table, Node | None]:
    """Table and index in `&table[index]` or `table + index`; of `table + index + more` the table alone."""
    address = call.children[1].bare()
    parts: list[Node] = []
    if address.kind == "UnaryOperator" and address.opcode == "&":
        element = address.children[0].bare()
        parts = element.children if element.kind == "ArraySubscriptExpr" else []
    elif address.kind == "BinaryOperator" and address.opcode == "+":
        parts = address.children
    while parts and (first := parts[0].bare()).kind == "BinaryOperator" and first.opcode == "+":
        parts = [first.children[0]]
    if not parts:
        raise NotApplicable(f"{place}: the atomic's address is not written as an element of an array")
    table = _table(parts[0].bare())
    if table is None:
        raise NotApplicable(f"{place}: the address is not an element of an array that the kernel is given")
    return table, parts[1] if len(parts) == 2 else None


def _group(problem: Problem, atomic: Atomic) -> list[Atomic]:
    """All atomics on the table of this one in the order of the text, where they alone use it; empty for others."""
    place, kernel = atomic.place, kernel_of(atomic.place)
    table, function = _entry(place, atomic.call)[0], callee_name(atomic.call)
    used = [node for node in kernel.walk() if node.kind == "DeclRefExpr" and _same(node, table.parameter)]
    calls = [node for node in kernel.walk() if node.kind == "CallExpr" and callee_name(node) == function]
    mine = [call for call in calls if any(_same(node, table.parameter) for node in call.children[1].walk())]
    inside = {id(node) for call in mine for node in call.children[1].walk()}
    alike = not any(value_used(call) or element_type(call) != element_type(atomic.call) for call in mine)
    plain = atomic.own is None and not table.member and any(call is atomic.call for call in mine)
    if len(mine) < 2 or not plain or not alike or len(used) != len(mine) or any(id(n) not in inside for n in used):
        return []
    mine.sort(key=lambda call: call.start_offset)
    source = problem.source(place.path)
    return [
        replace(atomic, call=call, address=own[0], operand=own[1])
        for call in mine
        if (own := own_text(source, place, call))
    ]


def _same(node: Node, parameter: Node) -> bool:
    known = node.reference is not None and parameter.reference is not None
    return known and node.reference.id == parameter.reference.id  # type: ignore[union-attr]


def _check_alone(problem: Problem, place: Place, kernel: Node, table: _Table, together: int) -> None:
    """Raise `NotApplicable` unless the table is a parameter, or a member of one, that only these atomics use."""
    reference = table.parameter.reference
    if reference is None or not any(child.id == reference.id for child in kernel.children):
        raise NotApplicable(f"{place}: the address is not an element of an array that the kernel is given")
    used = [
        node
        for node in kernel.walk()
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == reference.id
    ]
    if table.member:
        others = [node for node in used if _member_of(node) not in ("", table.member)]
        if others and any(re.search(r"\bunion\b", text) for text in problem.task.sources.values()):
            raise NotApplicable(f"{place}: the project declares a union, whose members may lie in one place")
        used = [node for node in used if _member_of(node) in ("", table.member)]
    if len(used) > together:
        lines = sorted({node.line for node in used} - {table.place.line}) or [table.place.line]
        raise NotApplicable(f"{place}: {table.text} is also used on line {', '.join(map(str, lines))}")


def _member_of(pointer: Node) -> str:
    """The member that `pointer->member` names; empty where the pointer is used in another way."""
    node = pointer.parent
    while node is not None and node.kind in ("ParenExpr", "ImplicitCastExpr"):
        node = node.parent
    return node.name.removeprefix("->") if node is not None and node.kind == "MemberExpr" else ""


def _limit(problem: Problem, index: Node | None) -> int | None:
    if index is None:
        return None
    function = next(parent for parent in index.ancestors() if parent.kind in ("FunctionDecl", "CXXMethodDecl"))
    return Bounds(problem, function).limit(index)


def blocks_of_grid(problem: Problem) -> int:
    geometries = problem.task.finding.profile.geometries
    return math.prod(geometries[0].grid) if geometries else 1


def pays(problem: Problem, place: Place, entries: int, blocks: int) -> None:
    profile = problem.task.finding.profile
    if not profile.has(Metric.ATOMIC_LANES):
        return
    used: float = entries
    if profile.has(Metric.ATOMIC_ADDRESSES):
        used = min(used, profile.quantity(Metric.ATOMIC_ADDRESSES).value)
    operations = profile.quantity(Metric.ATOMIC_LANES).value / blocks
    if operations < MIN_OPERATIONS_PER_ENTRY * used:
        raise NotApplicable(
            f"{place}: a block has {operations:.0f} atomic operations, on up to {used:.0f} entries, "
            "so that a copy per block may save little"
        )


def check_size(problem: Problem, place: Place, extra: int) -> None:
    profile = problem.task.finding.profile
    now = int(profile.quantity(Metric.LDS_BYTES).value) if profile.has(Metric.LDS_BYTES) else 0
    now += max((geometry.dynamic_lds_bytes for geometry in profile.geometries), default=0)
    limit = problem.task.device.limits.lds_bytes_per_block
    if now + extra > limit:
        raise NotApplicable(f"{place}: a copy would need {now + extra} of {limit} bytes of LDS")


def _fewer(problem: Problem, atomic: Atomic, kernel: Node, kept: _Copy, reason: NotApplicable) -> int:
    """With fewer blocks than the device holds, where the copies do not pay in more. Raises `NotApplicable`."""
    for per_unit in (BLOCKS_PER_UNIT // 2, BLOCKS_PER_UNIT // 4):
        try:
            with problem.all_or_nothing():
                return _apply_walking(problem, atomic, kernel, kept, per_unit)
        except NotApplicable as other:
            last = str(other).removeprefix(f"{atomic.place}: ")
    raise NotApplicable(f"{reason}; fewer blocks cannot walk over the elements: {last}")


def _apply_walking(problem: Problem, atomic: Atomic, kernel: Node, kept: _Copy, per_unit: int) -> int:
    """With a grid of so many blocks for each unit; returns how many that is. Raises `NotApplicable`."""
    place = atomic.place
    if sum(node.kind == "CallExpr" and "tomic" in callee_name(node) for node in kernel.walk()) != 1:
        raise NotApplicable(f"{place}: the kernel has other atomics, too")
    walk = walk_of(problem, place, kernel)
    most = cap_launches(problem, place, kernel, per_unit)
    pays(problem, place, kept.entries, most)
    opening, closing, indent = _collect(problem, [atomic], kernel, kept)
    around = "".join(f"{line}\n{indent}" for line in opening).removesuffix(indent), f"\n{indent}".join(closing)
    walk_elements(problem, problem.source(place.path), place, kernel, walk, around)
    return most


def _apply(problem: Problem, group: Sequence[Atomic], kernel: Node, kept: _Copy) -> None:
    """`group`: all atomics on one table, the first of the text first."""
    surround(problem, group[0].place, kernel, group[0].call, lambda: _collect(problem, group, kernel, kept))


def surround(
    problem: Problem, place: Place, kernel: Node, call: Node, collect: Callable[[], tuple[list[str], list[str], str]]
) -> None:
    """Lines before all of the kernel's work and after it, as `_collect` returns them. Raises `NotApplicable`."""
    top = body(kernel)
    source = problem.source(place.path)
    guard = guard_of(problem, place, Uniformity(kernel), top, call)
    others = [jump for jump in exits(top) if jump.kind == "ReturnStmt"]
    if len(others) > (guard is not None) or any("Goto" in jump.kind for jump in exits(top)):
        raise NotApplicable(f"{place}: threads leave the kernel on line {others[-1].line if others else kernel.line}")
    opening, closing, indent = collect()
    source.insert(top.start_offset + 1, "".join(f"\n{indent}{line}" for line in opening))
    end = top.end_offset - 1
    added = f"\n{indent}".join(closing)
    if guard is not None and not any(splice.start == guard.start_offset for splice in source.splices):
        enclose_rest(source, str(place), guard, end, ("", added))
        return
    start = source.data.rfind(b"\n", 0, end) + 1
    alone = not source.data[start:end].strip()
    source.insert(start if alone else end, f"{'' if alone else chr(10)}{indent}{added}\n")


def _collect(problem: Problem, group: Sequence[Atomic], kernel: Node, kept: _Copy) -> tuple[list[str], list[str], str]:
    """The atomics on the copy; what stands before all of the kernel's work and after it, and its indentation."""
    place, call, top = group[0].place, group[0].call, body(kernel)
    table, _ = _entry(place, call)
    root = table.text
    source = problem.source(place.path)
    if match := OBSERVERS.search(source.code(top.start_offset, top.end_offset)):
        raise NotApplicable(f"{place}: other blocks may look at {root} while the kernel runs ({match.group()})")
    if top.in_macro or any(one.call.in_macro or (one.own is not None and one.own.in_macro) for one in group):
        raise NotApplicable(f"{place}: the atomic is written by a macro")
    element = table.place.canonical.split("[")[0].strip() if table.member else written_element(place, kernel, root)
    copy = unused_name(problem, f"block_{table.member or root}")
    operation = callee_name(call)
    for atomic in group:
        _on_copy(problem, atomic, kernel, kept, table, copy)
    indent = source.indentation(top.children[0].start_offset)
    opening = [
        f"// This block's share of {root}{'' if kept.closed else ', as far as it has room'}, in LDS.",
        f"__shared__ {element} {copy}[{kept.entries}];",
    ]
    joined = joining(problem, kept.entries, kept.neutral, operation, [(copy, f"{root}[entry]")])
    return opening + joined[0], joined[1], indent


def _on_copy(problem: Problem, atomic: Atomic, kernel: Node, kept: _Copy, table: _Table, copy: str) -> None:
    source, root, call = problem.source(atomic.place.path), table.text, atomic.call
    operation = callee_name(call)
    if atomic.own is not None and kept.closed:
        named = _entry(atomic.place, atomic.own)[0].place
        changed = [(named.start_offset, named.end_offset, copy)]
    elif kept.closed:
        name = re.escape(root).replace("\\->", "->").replace("->", r"\s*->\s*")
        address = re.sub(rf"\b{name}\b", copy, atomic.address, count=1)
        changed = [(call.start_offset, call.end_offset, f"{operation}({address}, {atomic.operand})")]
    else:
        by_copy = declare(
            problem, source, body(kernel).start_offset, "block_or_table", partial(_helper, operation, kept.entries)
        )
        text = f"{by_copy}({copy}, {root}, "
        changed = [(call.start_offset, call.end_offset, f"{text}{atomic.address}, {atomic.operand})")]
        if atomic.own is not None:
            changed = [(atomic.own.start_offset, atomic.own.children[1].start_offset, text)]
    if atomic.own is not None and atomic.changes is not None:
        atomic.changes[atomic.own] = changed
    else:
        for start, end, new in changed:
            source.replace(start, end, new)


def joining(
    problem: Problem, entries: int, neutral: str, operation: str, copies: Sequence[tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """What clears the copies, each with the memory that its `entry` stands for, and what puts them there at last."""
    rank, threads = unused_name(problem, "block_thread"), unused_name(problem, "block_threads")
    step = f"for (unsigned int entry = {rank}; entry < {entries}; entry += {threads}) "
    joined = JOINED_BY.get(operation, operation)
    clear = [f"{copy}[entry] = {neutral};" for copy, _ in copies]
    opening = [
        f"const unsigned int {rank} = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);",
        f"const unsigned int {threads} = blockDim.x * blockDim.y * blockDim.z;",
        *([step + clear[0]] if len(clear) == 1 else [f"{step}{{", *(f"  {line}" for line in clear), "}"]),
        "__syncthreads();",
    ]
    put = [f"  if ({copy}[entry] != {neutral}) {joined}(&{target}, {copy}[entry]);" for copy, target in copies]
    return opening, ["__syncthreads();", f"{step}{{", *put, "}"]


def _helper(operation: str, entries: int, name: str) -> str:
    return (
        f"// On the copy of the first entries of the table, or on the table itself where the entry lies behind them.\n"
        f"template <typename Entry, typename Value>\n"
        f"__device__ inline void {name}(Entry* copy, Entry* table, Entry* address, Value value) {{\n"
        f"  const auto entry = address - table;\n"
        f"  if (entry >= 0 && entry < {entries})\n"
        f"    {operation}(copy + entry, static_cast<Entry>(value));\n"
        f"  else\n"
        f"    {operation}(address, static_cast<Entry>(value));\n"
        f"}}\n"
    )
