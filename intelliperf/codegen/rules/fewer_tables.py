"""Blocks that each collect in LDS and then add to global memory become fewer, and walk over the elements.

Each block of `clear; barrier; if (i < n) atomicAdd(&mine[k(i)], v(i)); barrier; atomicAdd(&all[t], mine[t])` pays for
its table once, whatever number of elements it has. Proof obligations: the block's number serves for the element's
alone; what is done for an element changes nothing but sums, extremes and bits that atomics collect, and reads none of
them; what is collected in LDS begins neutral and joins global memory by the same operation, unchanged, and by nothing
else; every launch covers the elements with one thread each.
"""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import accesses
from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.fewer_blocks import BLOCKS_PER_UNIT, covers, is_larger
from intelliperf.codegen.rules.grid_edits import capped_grid
from intelliperf.codegen.rules.guards import condition_text, remove_statement, statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.readers import check_call
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import lds_variables
from intelliperf.codegen.rules.statements import callee_name, pointee, value_used
from intelliperf.codegen.rules.trees import is_barrier, same, uses
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration

# What an atomic in LDS collects → by what atomics it may join global memory. Of the first kind what is nothing counts
# as often as there are blocks, so that it has to be nothing.
_SUMS = {"atomicAdd": "+", "unsafeAtomicAdd": "+", "atomicSub": "+", "atomicXor": "^"}
_AGAIN = {"atomicMax": "max", "atomicMin": "min", "atomicOr": "|", "atomicAnd": "&"}
_KINDS = {**_SUMS, **_AGAIN}
_JOINED_BY = {**{name: kind for name, kind in _SUMS.items() if name != "atomicSub"}, **_AGAIN}
_JUMPS = ("ReturnStmt", "GotoStmt", "IndirectGotoStmt")


@dataclass(frozen=True)
class _Work:
    """`if (counter < limit)` around what is done for an element; `declared` numbers it."""

    declared: Node
    counter: Node
    guard: Node
    limit: Node  # the kernel's parameter


class FewerTables:
    name = "fewer_tables"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        if len(place.functions) != 1:
            raise NotApplicable(f"{place}: the kernel has several instantiations")
        check_relabelling(problem, place, kernel)
        work = _work(place, kernel)
        tables = _tables(problem, place, kernel, work)
        with problem.all_or_nothing():
            most = _cap(problem, place, kernel, work)
            _write(problem, place, work)
        names = ", ".join(table.name for table in tables)
        return Rewrite(
            tuple(problem.source(path) for path in sorted(problem.task.sources)),
            f"Collect in {names} what more elements add: {most} blocks of {kernel.name} walk over them",
            Declaration(geometry=True, reason=f"{most} blocks walk over the elements"),
        )


def _work(place: Place, kernel: Node) -> _Work:
    algebra = Algebra(kernel)
    for guard in body(kernel).children:
        test = guard.children[0].bare() if guard.kind == "IfStmt" and len(guard.children) == 2 else guard
        if test.kind != "BinaryOperator" or test.opcode != "<":
            continue
        number, limit = (child.bare() for child in test.children)
        if not same(algebra.polynomial(number), GRID_THREAD):
            continue
        declared = _declaration(kernel, number)
        parameter = _declaration(kernel, limit)
        if declared is None or declared.kind != "VarDecl" or declared.parent is None:
            raise NotApplicable(f"{place}: the element on line {guard.line} is not numbered by a variable")
        if parameter is None or parameter.kind != "ParmVarDecl":
            raise NotApplicable(f"{place}: the limit of the elements on line {guard.line} is not a parameter")
        found = _Work(declared.parent, declared, guard, parameter)
        _check_numbers(place, kernel, found)
        return found
    raise NotApplicable(f"{place}: the kernel does not compare the thread's element with a limit, alone, in an `if`")


def _declaration(kernel: Node, name: Node) -> Node | None:
    if name.kind != "DeclRefExpr" or name.reference is None:
        return None
    declared = (node for node in kernel.walk() if node.kind in ("VarDecl", "ParmVarDecl"))
    return next((node for node in declared if node.id == name.reference.id), None)


def _check_numbers(place: Place, kernel: Node, work: _Work) -> None:
    """Raise `NotApplicable` where the block's number, or the element's, serves for something else."""
    inside = {id(node) for node in work.guard.walk()}
    initial = initializer(work.counter)
    own = {id(node) for node in initial.walk()} if initial is not None else set()
    if work.declared.kind != "DeclStmt" or len(work.declared.children) != 1 or work.declared.parent is not body(kernel):
        raise NotApplicable(f"{place}: {work.counter.name} is not declared by itself")
    for node in kernel.walk():
        if node.kind == "Coordinate" and node.name.startswith(("blockIdx", "gridDim")) and id(node) not in own:
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the element's number")
        if node.reference is not None and node.reference.id == work.counter.id and id(node) not in inside:
            raise NotApplicable(f"{place}: line {node.line} uses {work.counter.name} outside of the element's work")
        if written(node) in (work.counter.id, work.limit.id):
            raise NotApplicable(f"{place}: line {node.line} changes the element's number, or its limit")


def _tables(problem: Problem, place: Place, kernel: Node, work: _Work) -> list[Node]:
    """What the work collects in LDS. Raises `NotApplicable` where fewer blocks would leave something else."""
    inside = {id(node) for node in work.guard.walk()}
    atomics = [node for node in kernel.walk() if _is_atomic(node)]
    for call in atomics:
        if value_used(call):
            raise NotApplicable(f"{place}: line {call.line} uses what {callee_name(call)} returns")
    mine = [call for call in atomics if id(call) in inside]
    roots = [_root(place, call) for call in mine]
    addressed = {id(root) for root in roots} | {id(call.children[1].bare()) for call in mine}
    _check_work(problem, place, kernel, work, addressed)
    changed = {root.reference.id for root in roots if root.reference is not None}
    for node in work.guard.everything():
        if node.reference is not None and node.reference.id in changed and id(node) not in addressed:
            raise NotApplicable(f"{place}: line {node.line} reads what atomics change")
    declared = {node.id: node for node in kernel.walk() if node.kind == "VarDecl" and is_shared(node)}
    tables: dict[str, Node] = {}
    joined: set[int] = set()
    for call, root in zip(mine, roots, strict=True):
        table = declared.get(root.reference.id) if root.reference is not None else None
        if table is not None:
            tables[table.id] = table
            joined |= _check_table(place, kernel, table, call, inside)
    if not tables:
        raise NotApplicable(f"{place}: the elements are not collected in LDS")
    for call in atomics:
        if id(call) not in inside and id(call) not in joined:
            raise NotApplicable(f"{place}: line {call.line} adds something for each block")
    return list(tables.values())


def _check_work(problem: Problem, place: Place, kernel: Node, work: _Work, addressed: set[int]) -> None:
    """Raise `NotApplicable` where an element's work leaves more than what its atomics collect."""
    part = work.guard.children[1]
    own = {node.id for node in part.everything() if node.kind == "VarDecl"}
    known = Independence(problem, place, kernel, work.guard, work.counter.id)
    for node in part.everything():
        if node.kind in _JUMPS or node.kind in ("LambdaExpr", "CXXNewExpr") or "Asm" in node.kind:
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
        if (changed := written(node)) is not None and changed not in own and id(node) not in addressed:
            raise NotApplicable(f"{place}: line {node.line} changes what is not the element's own")
        if node.kind in METHOD_CALLS:
            known.check_method(node)
        if node.kind == "CallExpr" and is_barrier(node):
            raise NotApplicable(f"{place}: there is a barrier on line {node.line}, among the elements")
        if node.kind == "CallExpr" and not _is_atomic(node):
            check_call(known, problem, place, kernel, node)
    for item in accesses(part, lds_variables(kernel)):
        if item.stores and not item.atomic:
            raise NotApplicable(f"{place}: line {item.place.line} stores to memory, other than by an atomic")


def _is_atomic(node: Node) -> bool:
    return node.kind == "CallExpr" and callee_name(node).startswith(("atomic", "unsafeAtomic"))


def _root(place: Place, call: Node) -> Node:
    """The name of the array or number that an atomic works on."""
    node = call.children[1].bare()
    while node.kind != "DeclRefExpr" or node.reference is None:
        steps = node.children[:1] if node.kind in ("ArraySubscriptExpr", "UnaryOperator") else []
        if node.kind == "BinaryOperator" and node.opcode == "+":
            steps = [child for child in node.children if pointee(child.canonical) is not None]
        if len(steps) != 1 or node.opcode not in ("", "&", "+"):
            raise NotApplicable(f"{place}: {callee_name(call)} on line {call.line} is not on an element of one array")
        node = steps[0].bare()
    if callee_name(call) not in _KINDS:
        raise NotApplicable(f"{place}: line {call.line} does {callee_name(call)}, which collects nothing")
    return node


def _check_table(place: Place, kernel: Node, table: Node, call: Node, inside: set[int]) -> set[int]:
    """The atomics that join the table with global memory. Raises `NotApplicable` for other uses of it."""
    operation = callee_name(call)
    kind = _KINDS[operation]
    joined: set[int] = set()
    for name in uses(kernel, table):
        if id(name) in inside:
            if not any(_is_atomic(up) and _KINDS.get(callee_name(up)) == kind for up in name.ancestors()):
                raise NotApplicable(f"{place}: line {name.line} uses {table.name} otherwise than line {call.line}")
            continue
        element, user = _element(name)
        if user is None:
            raise NotApplicable(f"{place}: line {name.line} uses {table.name} as a whole")
        if user.kind == "BinaryOperator" and user.opcode == "=" and user.children[0].bare() is element:
            if operation in _SUMS and not _is_zero(user.children[1]):
                raise NotApplicable(f"{place}: line {name.line} does not begin {table.name} with 0")
        elif _is_atomic(user) and user.children[2].bare() is element:
            same_type = user.children[1].bare().canonical.startswith(element.canonical)
            if _JOINED_BY.get(callee_name(user)) != kind or not same_type:
                joining = f"{callee_name(user)} on line {user.line}"
                raise NotApplicable(f"{place}: {joining} does not join what {operation} does")
            joined.add(id(user))
        elif not (operation in _SUMS and _asks_for_nothing(element, user)):
            raise NotApplicable(f"{place}: line {name.line} does not merely add {table.name} to global memory")
    if not joined:
        raise NotApplicable(f"{place}: no atomic adds {table.name} to global memory")
    return joined


def _element(name: Node) -> tuple[Node, Node | None]:
    """The whole subscript around the name of an array or number, and what uses it."""
    node: Node = name
    while (user := node.user()) is not None and user.kind == "ArraySubscriptExpr" and user.children[0].bare() is node:
        node = user
    return node, None if node.canonical.endswith("]") else user


def _is_zero(value: Node) -> bool:
    node = value.bare()
    if node.kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr") and node.children:
        return _is_zero(node.children[-1])
    if node.kind == "BinaryOperator" and node.opcode == "=":
        return _is_zero(node.children[1])
    return node.kind in ("IntegerLiteral", "FloatingLiteral") and float(node.value or "1") == 0


def _asks_for_nothing(element: Node, user: Node) -> bool:
    """`if (x != 0)` and its like around nothing but an atomic."""
    if user.kind == "BinaryOperator" and user.opcode == "!=":
        others = [child for child in user.children if child.bare() is not element]
        if len(others) != 1 or not _is_zero(others[0]):
            return False
        above = user.user()
        user = above if above is not None else user
    while user.kind == "BinaryOperator" and user.opcode == "&&":
        above = user.user()
        if above is None:
            return False
        user = above
    if user.kind != "IfStmt" or len(user.children) != 2:
        return False
    then = user.children[1]
    inner = then.children if then.kind == "CompoundStmt" else [then]
    return len(inner) == 1 and _is_atomic(inner[0].bare())


def _cap(problem: Problem, place: Place, kernel: Node, work: _Work) -> int:
    """The most blocks that a launch has afterwards."""
    parameters = [child.id for child in kernel.children if child.kind == "ParmVarDecl"]
    limit = parameters.index(work.limit.id)
    launches = Program(problem.task.sources).launches(kernel.name)
    for per_unit in (BLOCKS_PER_UNIT, BLOCKS_PER_UNIT // 2, BLOCKS_PER_UNIT // 4):
        most = problem.task.device.limits.compute_units * per_unit
        if is_larger(problem, most):
            break
    else:
        raise NotApplicable(f"{place}: the grid is not several times {most} blocks, {per_unit} for each unit")
    for launch in launches:
        covers(launch, limit)
        capped_grid(problem.source(launch.path), launch, most)
    return most


def _write(problem: Problem, place: Place, work: _Work) -> None:
    source, guard = problem.source(place.path), work.guard
    initial = initializer(work.counter)
    if initial is None or any(node.in_macro for node in (guard, work.declared, initial, guard.children[1])):
        raise NotApplicable(f"{place}: the element's number or its work is written by a macro")
    condition_text(source, str(place), guard)
    at = unused_name(problem, "element")
    number = source.slice(work.declared.start_offset, initial.start_offset)
    number += f"static_cast<{work.counter.canonical.removeprefix('const ')}>({at})"
    number += source.slice(initial.end_offset, statement_end(source, work.declared))
    indent, then = source.indentation(guard.start_offset), guard.children[1]
    inner = indent + ("\t" if "\t" in indent else "  " if len(indent) <= 2 else indent)
    head = (
        f"for (long long {at} = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; "
        f"{at} < {work.limit.name}; {at} += static_cast<long long>(gridDim.x) * blockDim.x) {{\n{inner}{number}"
    )
    remove_statement(source, work.declared)
    if then.kind == "CompoundStmt":
        source.replace(guard.start_offset, then.start_offset + 1, head)
        return
    source.replace(guard.start_offset, then.start_offset, f"{head}\n{inner}")
    source.insert(statement_end(source, then), f"\n{indent}}}")
