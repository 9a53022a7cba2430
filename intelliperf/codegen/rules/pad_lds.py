"""LDS arrays whose row stride or access stride makes lanes collide on banks get another layout.

Two forms. An array of several dimensions gets a longer innermost dimension: right because every
use is a full subscript, so the compiler recomputes all addresses. A flat array gets one unused
element after every 2^k: every subscript goes through the same injective index function. Which
padding is best is found by counting the bank cycles of a wave for all accesses that can be
followed; that choice concerns speed only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.declarations import declare
from intelliperf.codegen.rules.guards import remove_statement
from intelliperf.codegen.rules.lanes import TYPICAL_EXTENT, Launch, initializer, phases, requests
from intelliperf.codegen.rules.lds_arrays import (
    Pointer,
    SharedArray,
    closing_bracket,
    is_shared,
    is_stored,
    opening_bracket,
    root_variable,
    shared_array,
    shared_variables,
)
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.statements import pointee
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Geometry, MemorySpace, Metric, SourceEvidence

Layout = Callable[[list[int], tuple[int, ...]], int]  # indices, dimensions → element number
# Of the bank cycles of all accesses to an array, at most this share may remain.
WORTH_IT = 0.9


@dataclass(frozen=True)
class Choice:
    """A padding and its price: `before` and `after` are bank cycles of one wave."""

    amount: int  # elements added to a row, or log2 of the elements per gap
    before: int
    after: int


# By the identity of the declarations, which stay alive with the arrays.
Choices = dict[tuple[int, ...], "tuple[list[SharedArray], Choice | None]"]


class PadLds:
    name = "pad_lds"

    def rewrite(self, problem: Problem) -> Rewrite:
        choices: Choices = {}
        return problem.rewrite_lines(
            "Spread the rows of LDS arrays over the banks", lambda evidence: self._line(problem, evidence, choices)
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, choices: Choices) -> list[str]:
        if evidence.space is MemorySpace.GLOBAL:
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} does not access LDS")
        place = problem.place(evidence)
        names = blamed_arrays(place)
        done: list[str] = []
        reasons: list[str] = []
        for name in sorted(names):
            arrays = [shared_array(function, node) for function, node in names[name]]
            try:
                with problem.all_or_nothing():
                    done.append(self._array(problem, place, arrays, choices))
            except NotApplicable as reason:
                reasons.append(str(reason))
        if not done:
            raise NotApplicable("; ".join(reasons))
        return done

    def _array(self, problem: Problem, place: Place, arrays: list[SharedArray], choices: Choices) -> str:
        """Change one array in all instantiations of its kernel alike; several lines ask for the same."""
        source = problem.source(place.path)
        functions = list(place.functions)
        flat = len(arrays[0].dimensions) == 1
        amounts = tuple(range(2, 10)) if flat else _row_paddings(arrays[0])
        layout = _skewed if flat else _padded
        key = tuple(id(array.declaration) for array in arrays)
        if key not in choices:
            choices[key] = arrays, _best(problem, functions, arrays, amounts, layout)
        choice = choices[key][1]
        if choice is None and flat:
            raise NotApplicable(f"the strides of {arrays[0].name} are not known before the run")
        if choice is None:
            choice = Choice(amounts[0], 0, 0)
        if choice.after > WORTH_IT * choice.before and choice.before:
            raise NotApplicable(
                f"padding {arrays[0].name} would leave {choice.after} of {choice.before} bank cycles per wave"
            )
        for function, array in zip(functions, arrays, strict=True):
            _check_size(problem, function, array, choice.amount, flat)
        if flat:
            _skew(problem, source, arrays, choice.amount)
            what = f"one unused element after every {1 << choice.amount}"
        else:
            _lengthen(source, arrays, choice.amount)
            what = f"rows of {arrays[0].dimensions[-1]} + {choice.amount} elements"
        gain = f", {choice.before} → {choice.after} bank cycles per wave" if choice.before else ""
        return f"{arrays[0].name} at {place} gets {what}{gain}"


def blamed_arrays(place: Place) -> dict[str, list[tuple[Node, Node]]]:
    """The LDS arrays on the blamed line: name → (function, declaration) per instantiation."""
    found: dict[str, list[tuple[Node, Node]]] = {}
    for function in place.functions:
        for node in _blamed_subscripts(function, place.evidence):
            name = root_variable(node)
            if name is None or name.reference is None:
                continue
            declared = _declared(function, name)
            made_from = initializer(declared) if declared is not None and not is_shared(declared) else None
            if made_from is not None and pointee(declared.canonical if declared is not None else "") is not None:
                roots = [node for node in made_from.walk() if node.kind == "DeclRefExpr" and "[" in node.canonical]
                declared = _declared(function, roots[0]) if len(roots) == 1 else None
            if declared is not None and is_shared(declared):
                pair = (function, declared)
                if pair not in found.setdefault(declared.name, []):
                    found[declared.name].append(pair)
    if not found:
        raise NotApplicable(f"{place} subscripts no LDS array that its own function declares")
    for array, pairs in found.items():
        if len(pairs) != len(place.functions):
            raise NotApplicable(f"{place}: {array} is not the same array in all instantiations")
    return found


def _declared(function: Node, name: Node) -> Node | None:
    identity = name.reference.id if name.reference is not None else ""
    return next((node for node in function.walk() if node.kind == "VarDecl" and node.id == identity), None)


def _blamed_subscripts(function: Node, evidence: SourceEvidence) -> list[Node]:
    """Element expressions of the line; of these the ones in the blamed column, or of the blamed kind."""
    whole = [
        node
        for node in function.walk()
        if node.kind == "ArraySubscriptExpr" and node.line == evidence.line and not _inner(node)
    ]
    exact = [node for node in whole if node.begin is not None and node.begin.column == evidence.column]
    if exact:
        return exact
    stores = evidence.access is AccessKind.STORE
    kind = [node for node in whole if is_stored(node) == stores]
    return kind or whole


def _inner(node: Node) -> bool:
    user = node.user()
    return user is not None and user.kind == "ArraySubscriptExpr" and user.children[0].bare() is node


def _padded(indices: list[int], dimensions: tuple[int, ...], amount: int) -> int:
    number = 0
    for index, size in zip(indices, (*dimensions[:-1], dimensions[-1] + amount), strict=True):
        number = number * size + index
    return number


def _skewed(indices: list[int], dimensions: tuple[int, ...], amount: int) -> int:
    del dimensions
    return indices[0] + (indices[0] >> amount if amount else 0)


def _row_paddings(array: SharedArray) -> tuple[int, ...]:
    """Paddings to try: the one that makes the row an odd number of access units first."""
    size = array.element_bytes
    unit = max(size, 4)
    row = array.dimensions[-1]
    odd = next(p for p in range(1, 17) if (row + p) * size % unit == 0 and (row + p) * size // unit % 2)
    step = max(1, 4 // size)
    return tuple(dict.fromkeys((odd, *range(step, 9 * step, step))))


def _best(
    problem: Problem,
    functions: list[Node],
    arrays: list[SharedArray],
    amounts: tuple[int, ...],
    layout: Callable[[list[int], tuple[int, ...], int], int],
) -> Choice | None:
    """The padding with the fewest bank cycles, the smaller one on a tie; None if nothing can be followed."""
    traces = [
        trace
        for function, array in zip(functions, arrays, strict=True)
        for geometry in problem.task.finding.profile.geometries[:2]
        for trace in _traces(problem, function, array, geometry)
    ]
    if not traces:
        return None
    banks = problem.task.device.limits.lds_banks

    def cost(amount: int) -> int:
        return sum(
            phases([None if lane is None else size * layout(lane, dimensions, amount) for lane in lanes], size, banks)
            for lanes, dimensions, size in traces
        )

    before = cost(0)
    scored = [(cost(amount), order, amount) for order, amount in enumerate(amounts)]
    after, _, amount = min(scored)
    return Choice(amount, before, after)


Trace = tuple[list["list[int] | None"], tuple[int, ...], int]


def _traces(problem: Problem, function: Node, array: SharedArray, geometry: Geometry) -> list[Trace]:
    """The indices of a wave's lanes for every access to the array that can be followed."""
    launch = Launch(geometry.block, geometry.grid, outside_constant(problem), TYPICAL_EXTENT)
    accesses = {id(access) for access in array.subscripts}
    accesses |= {id(access) for pointer in array.pointers for access in pointer.subscripts}
    return [
        ([None if lane is None else list(lane) for lane in request.indices], array.dimensions, array.element_bytes)
        for request in requests(body(function), launch, problem.task.device.wave_size)
        if id(request.access) in accesses
        and all(lane is None or len(lane) == len(array.dimensions) for lane in request.indices)
    ]


def _check_size(problem: Problem, function: Node, array: SharedArray, amount: int, flat: bool) -> None:
    elements = 1
    for bound in array.dimensions[:-1]:
        elements *= bound
    last = array.dimensions[-1]
    extra = (last >> amount if flat else elements * amount) * array.element_bytes
    profile = problem.task.finding.profile
    if profile.has(Metric.LDS_BYTES):
        now = int(profile.quantity(Metric.LDS_BYTES).value)
    else:
        now = sum(_bytes(node) for node in shared_variables(body(function)))
    now += max((geometry.dynamic_lds_bytes for geometry in profile.geometries), default=0)
    limit = problem.task.device.limits.lds_bytes_per_block
    if now + extra > limit:
        raise NotApplicable(f"padding {array.name} would need {now + extra} of {limit} bytes of LDS")


def _bytes(declaration: Node) -> int:
    match = re.fullmatch(r"([\w :]+?)\s*((?:\[\d+\])*)", declaration.canonical)
    if match is None:
        return 0
    total = 1
    for bound in re.findall(r"\[(\d+)\]", match.group(2)):
        total *= int(bound)
    sizes = {"char": 1, "bool": 1, "short": 2, "double": 8, "long": 8, "float4": 16, "float2": 8}
    return total * next((size for name, size in sizes.items() if name in match.group(1)), 4)


def _lengthen(source: Source, arrays: list[SharedArray], amount: int) -> None:
    for array in arrays:
        for access in array.subscripts:
            _constant_bounds(array, access)
        closing = closing_bracket(source, array.declaration)
        opening = opening_bracket(source, closing)
        bound = source.slice(opening + 1, closing)
        simple = re.fullmatch(r"[\w\s*+:.]+", bound) is not None
        source.replace(opening, closing + 1, f"[{bound} + {amount}]" if simple else f"[({bound}) + {amount}]")


def _constant_bounds(array: SharedArray, access: Node) -> None:
    """A constant index beyond its row walks over several rows, which a longer row would change."""
    for index, bound in zip(array.indices(access), array.dimensions, strict=True):
        literal = index.bare()
        if literal.kind == "IntegerLiteral" and int(literal.value) >= bound:
            raise NotApplicable(f"line {access.line} subscripts {array.name} beyond a row")


def _skew(problem: Problem, source: Source, arrays: list[SharedArray], shift: int) -> None:
    name = declare(
        problem,
        source,
        arrays[0].declaration.start_offset,
        f"lds_skewed_{1 << shift}",
        lambda name: (
            f"// Index into an LDS array that has one unused element after every {1 << shift}, so that strided lanes\n"
            f"// fall into different banks.\n"
            f"static __device__ inline int {name}(int index) {{ return index + (index >> {shift}); }}\n"
        ),
    )
    for array in arrays:
        closing = closing_bracket(source, array.declaration)
        opening = opening_bracket(source, closing)
        bound = source.slice(opening + 1, closing)
        size = bound if re.fullmatch(r"\w+", bound) else f"({bound})"
        source.replace(opening, closing + 1, f"[{size} + {size} / {1 << shift}]")
        for access in array.subscripts:
            end = closing_bracket(source, access)
            start = opening_bracket(source, end)
            before = root_variable(access)
            if before is None or before.in_macro or source.slice(before.end_offset, start).strip():
                raise NotApplicable(f"line {access.line}: a subscript of {array.name} comes from a macro")
            source.insert(start + 1, f"{name}(")
            source.insert(end, ")")
        for pointer in array.pointers:
            _without(source, array, pointer, name)


def _offset_text(source: Source, array: SharedArray, offset: Node) -> str:
    user = offset.user()
    if user is not None and user.kind == "ArraySubscriptExpr":
        closing = closing_bracket(source, user)
        return source.slice(opening_bracket(source, closing) + 1, closing)
    if offset.in_macro:
        raise NotApplicable(f"line {offset.line}: a pointer into {array.name} is made by a macro")
    return source.slice(offset.start_offset, offset.end_offset)


def _without(source: Source, array: SharedArray, pointer: Pointer, skewed: str) -> None:
    """Subscripts of a pointer as those of the array that it points into."""
    declared, offset = pointer.declaration, pointer.offset
    statement = declared.parent
    alone = statement is not None and statement.kind == "DeclStmt" and len(statement.children) == 1
    if offset is None or statement is None or statement.in_macro or not alone:
        raise NotApplicable(f"line {declared.line}: {declared.name} points into {array.name}")
    base = _offset_text(source, array, offset)
    for access in pointer.subscripts:
        name, end = root_variable(access), closing_bracket(source, access)
        start = opening_bracket(source, end)
        if name is None or name.in_macro or source.slice(name.end_offset, start).strip():
            raise NotApplicable(f"line {access.line}: a subscript of {declared.name} comes from a macro")
        source.replace(name.start_offset, name.end_offset, array.name)
        simple = access.children[1].bare().kind in ("DeclRefExpr", "IntegerLiteral", "Coordinate", "BinaryOperator")
        opened, closed = ("", "") if simple else ("(", ")")
        source.insert(start + 1, f"{skewed}({base} + {opened}")
        source.insert(end, f"{closed})")
    remove_statement(source, statement)
