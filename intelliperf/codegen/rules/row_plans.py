"""What the lanes of a group that share a row have to agree on: memory that one of them wrote and another one reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem
from intelliperf.codegen.rules.row_loops import RowAlgebra, RowLoop, lds_variables, same_lane
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Metric

_LOOPS = ("ForStmt", "WhileStmt", "DoStmt")
_WAVES_OF_A_UNIT = 3  # more than one hide each other's waiting; many lanes read one column at a time, not neighbours
_LEAST_TURNS = 2


@dataclass
class RowPlan:
    """What is known of one function that the lanes of a group run together."""

    function: Node
    region: tuple[Node, ...]  # what of it the lanes run together
    columns: bool = False  # do the lanes of a group share a column, side by side with others, and not a row?
    alone: bool = False  # did one thread run it alone, so that any loop is worth sharing?
    loops: list[RowLoop] = field(default_factory=list)
    single: list[Node] = field(default_factory=list)  # statements for the first lane
    called: list[Node] = field(default_factory=list)  # calls of functions that the group runs together, too
    refused: list[str] = field(default_factory=list)

    def accesses(self, *statements: Node) -> list[Access]:
        """Of memory, in the region or in some statements of it."""
        shared = lds_variables(self.function)
        return [item for top in statements or self.region for item in accesses(top, shared)]


def carries_scan(plans: Sequence[RowPlan]) -> bool:
    return any(item.scanned for plan in plans for row in plan.loops for item in row.carried)


def sharing_of_rows(problem: Problem, plans: Sequence[RowPlan]) -> groups.Sharing:
    """As many lanes as the rows are long: by numbers in the source, or how often each wave ran the blamed accesses."""
    lengths = [_turns(row) for plan in plans for row in plan.loops]
    written_there = max((length for length in lengths if length is not None), default=0)
    if carries_scan(plans):
        return groups.ROW
    if written_there and None not in lengths:
        return groups.of_turns(written_there)
    turns = _turns_of_waves(problem)
    return groups.of_turns(turns) if turns else groups.ROW


def sharing_of_columns(problem: Problem) -> groups.Sharing:
    """As many lanes as give each compute unit a few waves, but each lane two turns or more."""
    waves, turns = _waves(problem), _turns_of_waves(problem)
    wanted = float(_WAVES_OF_A_UNIT * problem.task.device.limits.compute_units)
    if turns:
        wanted = min(wanted, waves * turns / _LEAST_TURNS)
    return groups.of_columns(waves, wanted) if waves else groups.of_columns(1, 1)


def _waves(problem: Problem) -> int:
    """Of the smallest launch."""
    shapes, wave = problem.task.finding.profile.geometries, problem.task.device.wave_size
    return min((math.prod(shape.grid) * -(-math.prod(shape.block) // wave) for shape in shapes), default=0)


def _turns_of_waves(problem: Problem) -> float:
    """How often each wave made the blamed accesses; 0 where that is not known."""
    waves = _waves(problem)
    requests = [
        item.quantities[Metric.REQUESTS].value
        for item in problem.task.evidence
        if item.access in (AccessKind.LOAD, AccessKind.STORE) and Metric.REQUESTS in item.quantities
    ]
    return max(requests) / waves if requests and waves else 0.0


def _turns(row: RowLoop) -> int | None:
    """Of `for (i = 2; i < 10; ++i)`; None where the source does not tell."""
    test = row.loop.children[2].bare() if row.loop.kind == "ForStmt" else row.loop
    if test.kind != "BinaryOperator" or test.opcode not in ("<", "<=", "!="):
        return None
    counter, initial = test.children[0].bare().reference, initializer(row.counter)
    first = initial.bare() if initial is not None else row.counter
    last = test.children[1].bare()
    if counter is None or counter.id != row.counter.id or {first.kind, last.kind} != {"IntegerLiteral"}:
        return None
    return int(last.value) - int(first.value) + (test.opcode == "<=")


def _check_unknown(place: Place, plan: RowPlan, addresses: Addresses) -> None:
    """Raise `NotApplicable` where a pointer that is not followed may lead to what a lane has stored before."""
    found = plan.accesses()
    for item in found:
        if addresses.element(item.place).root:
            continue
        around = {id(up) for up in item.place.ancestors() if up.kind in _LOOPS}
        for other in found:
            together = any(id(up) in around for up in other.place.ancestors())
            if other is not item and other.stores and (together or other.place.start_offset < item.place.start_offset):
                raise NotApplicable(
                    f"{place}: line {item.place.line} goes through a pointer that may lead to what line "
                    f"{other.place.line} stores"
                )


def reads_that_wait(place: Place, plan: RowPlan, troubled: set[str]) -> list[Node]:
    """Statements, outside of shared loops and stores, that read what another lane may have stored.

    Raises `NotApplicable` where the lanes cannot meet right before such a read.
    """
    addresses = Addresses(RowAlgebra(plan.function))
    _check_unknown(place, plan, addresses)
    known = [row.loop for row in plan.loops] + plan.single
    inside = {id(node) for statement in known for node in statement.everything()}
    stores = [item for item in plan.accesses() if item.stores]
    found: dict[int, Node] = {}
    for item in plan.accesses():
        root = addresses.element(item.place).root
        if id(item.place) in inside or root not in troubled:
            continue
        repeated = any(parent.kind in _LOOPS for parent in item.place.ancestors())
        before = [other for other in stores if addresses.element(other.place).root == root]
        if repeated or any(other.place.start_offset < item.place.start_offset for other in before):
            statement = _own_statement(item.place)
            if statement is None or statement.in_macro:
                raise NotApplicable(f"{place}: line {item.place.line} reads what another lane may have stored")
            found[id(statement)] = statement
    return list(found.values())


def _own_statement(access: Node) -> Node | None:
    """The statement of a block that an access belongs to; None where it is in the header of a loop."""
    node = access
    for parent in access.ancestors():
        if parent.kind in _LOOPS:
            return None
        if parent.kind == "CompoundStmt":
            return node
        node = parent
    return None


def troubled_arrays(plan: RowPlan) -> set[str]:
    """Arrays of which a lane may read or write what another one has written before."""
    addresses = Addresses(RowAlgebra(plan.function))
    everywhere = plan.accesses()
    shared = {id(item.place) for row in plan.loops for item in plan.accesses(row.loop.children[-1])}
    summed = {id(item.place) for row in plan.loops for item in row.sums}
    singles = {id(item.place) for statement in plan.single for item in plan.accesses(statement)}
    found = set()
    for root in {addresses.element(item.place).root for item in everywhere if item.stores}:
        mine = [item for item in everywhere if addresses.element(item.place).root == root]
        by_first = all(id(item.place) in singles | summed for item in mine)
        in_loops = all(id(item.place) in shared - summed for item in mine)
        if not by_first and not (in_loops and same_lane(plan.loops, plan.function, root) is not None):
            found.add(root)
    return found


def needs_meeting(plan: RowPlan, statement: Node, troubled: set[str]) -> bool:
    """Does it touch what lanes have to agree on, after something else that did, one of them storing?"""
    addresses = Addresses(RowAlgebra(plan.function))
    repeated = any(parent.kind in _LOOPS for parent in statement.ancestors())
    inside = {id(node) for node in statement.everything()}
    for root in troubled:
        mine = [item for item in plan.accesses(statement) if addresses.element(item.place).root == root]
        others = [
            item
            for item in plan.accesses()
            if addresses.element(item.place).root == root
            and (repeated or (id(item.place) not in inside and item.place.start_offset < statement.start_offset))
        ]
        if mine and others and any(item.stores for item in (*mine, *others)):
            return True
    return False
