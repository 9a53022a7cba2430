"""Blocks that each add up one value of every thread, and then add the sum to memory, become fewer.

`x[t] = i < n ? v(i) : 0; …; if (t == 0) atomicAdd(total, x[0])` pays for its rounds, its barriers and its atomic once
for each block. Threads that bring along the sum of several elements' values leave the same total. Proof obligations:
the block's number serves for the element's alone; an element's value is a function of it and of memory that the kernel
leaves alone; the rest of the kernel adds the values up and adds the sums to memory, in a way that hangs on the threads'
numbers alone; every launch covers the elements with one thread each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.fewer_blocks import BLOCKS_PER_UNIT, covers, is_larger
from intelliperf.codegen.rules.grid_edits import capped_grid
from intelliperf.codegen.rules.guards import remove_statement, statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import array_of, is_shared
from intelliperf.codegen.rules.linear_sums import LinearSums, is_zero
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.readers import check_call
from intelliperf.codegen.rules.relabel import kernel_of, kernel_place
from intelliperf.codegen.rules.trees import same
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration


@dataclass(frozen=True)
class _Brought:
    """The statement by which a thread gets its element's value, and where it keeps it; 0 where there is no element."""

    statement: Node
    kept: Node  # a variable's declaration, or the place that is assigned to
    test: Node
    value: Node
    root: str  # id of the variable or LDS array


class FewerSums:
    name = "fewer_sums"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        if len(place.functions) != 1:
            raise NotApplicable(f"{place}: the kernel has several instantiations")
        brought = _brought(place, kernel)
        counter, limit = _numbered(place, kernel, brought)
        _check_value(problem, place, kernel, brought, counter)
        LinearSums(place, kernel, {brought.root}).check(
            [each for each in body(kernel).children if each is not brought.statement and each is not counter.parent]
        )
        with problem.all_or_nothing():
            most = _cap(problem, place, kernel, limit)
            _write(problem, place, brought, counter, limit)
        return Rewrite(
            tuple(problem.source(path) for path in sorted(problem.task.sources)),
            f"Bring more elements along into each block's sum: {most} blocks of {kernel.name} walk over them",
            Declaration(geometry=True, reason=f"{most} blocks walk over the elements"),
        )


def _brought(place: Place, kernel: Node) -> _Brought:
    found = [each for statement in body(kernel).children if (each := _of_statement(kernel, statement)) is not None]
    if len(found) != 1:
        told = f"{len(found)} statements give" if found else "no statement gives"
        raise NotApplicable(f"{place}: {told} a thread its element's value or 0" + (", not one" if found else ""))
    for jump in exits(kernel):
        if jump.start_offset < found[0].statement.start_offset:
            raise NotApplicable(f"{place}: threads leave on line {jump.line}, before they have their element's value")
    return found[0]


def _of_statement(kernel: Node, statement: Node) -> _Brought | None:
    """`T v = test ? value : 0`, `x = test ? value : 0`, and `if (test) x = value; else x = 0;`."""
    node = statement.bare()
    if node.kind == "DeclStmt" and len(node.children) == 1 and node.children[0].kind == "VarDecl":
        declared = node.children[0]
        initial = initializer(declared)
        chosen = initial.bare() if initial is not None else node
        if chosen.kind == "ConditionalOperator" and is_zero(chosen.children[2]) and _asks(chosen.children[0]):
            return _Brought(statement, declared, chosen.children[0], chosen.children[1], declared.id)
        return None
    test, value, target = None, None, None
    first = _assignment(statement)
    if statement.kind == "IfStmt" and len(statement.children) == 3:
        first, second = (_assignment(child) for child in statement.children[1:])
        if first is not None and second is not None and is_zero(second.children[1]):
            alike = _same_place(first.children[0], second.children[0])
            test, value, target = statement.children[0] if alike else None, first.children[1], first.children[0]
    elif first is not None and first.children[1].bare().kind == "ConditionalOperator":
        test, value, other = first.children[1].bare().children
        test, target = test if is_zero(other) else None, first.children[0]
    if test is None or value is None or target is None or not _asks(test):
        return None
    kept = target.bare()
    root = array_of(kept)
    declared_ = next((one for one in kernel.walk() if root.reference and one.id == root.reference.id), None)
    own = declared_ is not None and declared_.kind == "VarDecl" and (is_shared(declared_) or kept is root)
    return _Brought(statement, kept, test, value, declared_.id) if own and declared_ is not None else None


def _asks(test: Node) -> bool:
    return test.bare().kind == "BinaryOperator" and test.bare().opcode == "<"


def _assignment(statement: Node) -> Node | None:
    node = statement.bare()
    if node.kind == "CompoundStmt" and len(node.children) == 1:
        return _assignment(node.children[0])
    return node if node.kind == "BinaryOperator" and node.opcode == "=" else None


def _same_place(left: Node, right: Node) -> bool:
    one, other = left.bare(), right.bare()
    if one.kind != other.kind or len(one.children) != len(other.children) or one.name != other.name:
        return False
    if one.kind == "DeclRefExpr":
        return one.reference is not None and other.reference is not None and one.reference.id == other.reference.id
    return one.kind in ("ArraySubscriptExpr", "Coordinate") and all(map(_same_place, one.children, other.children))


def _numbered(place: Place, kernel: Node, brought: _Brought) -> tuple[Node, Node]:
    """The variable with the element's number, and the parameter that limits it."""
    algebra = Algebra(kernel)
    number, bound = (child.bare() for child in brought.test.bare().children)
    declared = {node.id: node for node in kernel.walk() if node.kind in ("VarDecl", "ParmVarDecl")}
    counter, limit = (declared.get(one.reference.id) if one.reference is not None else None for one in (number, bound))
    if counter is None or counter.kind != "VarDecl" or not same(algebra.polynomial(number), GRID_THREAD):
        raise NotApplicable(f"{place}: line {brought.test.line} does not compare the thread's number in the grid")
    if limit is None or limit.kind != "ParmVarDecl":
        raise NotApplicable(f"{place}: the limit of the elements on line {brought.test.line} is not a parameter")
    statement, initial = counter.parent, initializer(counter)
    alone = statement is not None and statement.kind == "DeclStmt" and len(statement.children) == 1
    if not alone or statement is None or statement.parent is not body(kernel) or initial is None:
        raise NotApplicable(f"{place}: {counter.name} is not declared by itself")
    inside = {id(node) for part in (brought.test, brought.value) for node in part.walk()}
    own = {id(node) for node in initial.walk()}
    names = {
        node.id
        for node in kernel.walk()
        if node.kind == "VarDecl" and (first := initializer(node)) is not None and first.bare().kind == "Coordinate"
        and first.bare().name.startswith("blockIdx")
    }  # fmt: skip
    for node in kernel.everything():
        blocks = node.kind == "Coordinate" and node.name.startswith(("blockIdx", "gridDim"))
        holder = node.user()
        if blocks and id(node) not in own and not (holder is not None and holder.id in names):
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the element's number")
        if node.reference is not None and node.reference.id in names and id(node) not in own:
            raise NotApplicable(f"{place}: line {node.line} uses the block's number other than for the element's")
        if node.reference is not None and node.reference.id == counter.id and id(node) not in inside:
            raise NotApplicable(f"{place}: line {node.line} uses {counter.name} outside of the element's value")
        if written(node) in (counter.id, limit.id, *names):
            raise NotApplicable(f"{place}: line {node.line} changes the element's number, or its limit")
    return counter, limit


def _check_value(problem: Problem, place: Place, kernel: Node, brought: _Brought, counter: Node) -> None:
    """Raise `NotApplicable` unless another thread would get the same value for the element."""
    known = Independence(problem, place, kernel, brought.statement, counter.id)
    addresses = Addresses(Algebra(kernel))
    read = {addresses.element(item.place).root for item in accesses(brought.value)}
    changed = {addresses.element(item.place).root for item in accesses(body(kernel)) if item.stores}
    if read & changed or "" in read | changed:
        raise NotApplicable(f"{place}: line {brought.value.line} may read what the kernel writes")
    for node in brought.value.everything():
        if node.kind == "Coordinate" or node.kind in ("LambdaExpr", "CXXNewExpr") or "Asm" in node.kind:
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
        if written(node) is not None:
            raise NotApplicable(f"{place}: line {node.line} changes a variable on the way to the element's value")
        own = node.reference is not None and node.reference.kind == "VarDecl" and node.reference.id != counter.id
        if own and node.kind == "DeclRefExpr" and not node.canonical.startswith("const "):
            raise NotApplicable(f"{place}: line {node.line} uses a variable of the thread for the element's value")
        if node.kind in METHOD_CALLS:
            known.check_method(node)
        if node.kind == "CallExpr":
            check_call(known, problem, place, kernel, node)


def _cap(problem: Problem, place: Place, kernel: Node, limit: Node) -> int:
    """The most blocks that a launch has afterwards."""
    parameter = [child.id for child in kernel.children if child.kind == "ParmVarDecl"].index(limit.id)
    for most in _limits(problem):
        if is_larger(problem, most):
            break
    else:
        raise NotApplicable(f"{place}: the grid is not several times as large as what the device holds at once")
    for launch in Program(problem.task.sources).launches(kernel.name):
        covers(launch, parameter)
        capped_grid(problem.source(launch.path), launch, most)
    return most


def _limits(problem: Problem) -> Iterator[int]:
    for per_unit in (BLOCKS_PER_UNIT, BLOCKS_PER_UNIT // 2, BLOCKS_PER_UNIT // 4):
        yield problem.task.device.limits.compute_units * per_unit


def _write(problem: Problem, place: Place, brought: _Brought, counter: Node, limit: Node) -> None:
    source, statement, initial = problem.source(place.path), brought.statement, initializer(counter)
    parts = (brought.kept, brought.value, statement, initial)
    if initial is None or counter.parent is None or any(part is None or part.in_macro for part in parts):
        raise NotApplicable(f"{place}: the element's number or its value is written by a macro")
    kind = brought.kept.canonical.replace("const ", "").replace("volatile ", "")
    if kind not in INTEGERS | FLOATS:
        raise NotApplicable(f"{place}: a thread brings along a {kind}")
    part, at = unused_name(problem, "thread_part"), unused_name(problem, "element")
    number = source.slice(counter.parent.start_offset, initial.start_offset)
    number += f"static_cast<{initial.bare().canonical.removeprefix('const ')}>({at})"
    number += source.slice(initial.end_offset, statement_end(source, counter.parent))
    indent = source.indentation(statement.start_offset)
    inner = indent + ("\t" if "\t" in indent else "  " if len(indent) <= 2 else "    ")
    declares = brought.kept.kind == "VarDecl"
    kept = source.slice(brought.kept.start_offset, brought.kept.end_offset)
    if declares:
        first = initializer(brought.kept)
        assert first is not None  # `_of_statement` has read it
        end = f"{source.slice(statement.start_offset, first.start_offset)}{part};"
    else:
        end = f"{kept} = {part};"
    lines = [
        f"{kind} {part} = 0;  // of all elements that fall to this thread",
        f"for (long long {at} = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; "
        f"{at} < {limit.name}; {at} += static_cast<long long>(gridDim.x) * blockDim.x) {{",
    ]
    value = source.slice(brought.value.start_offset, brought.value.end_offset)
    text = f"\n{indent}".join(lines) + f"\n{inner}{number}\n{inner}{part} += {value};\n{indent}}}\n{indent}{end}"
    remove_statement(source, counter.parent)
    source.replace(statement.start_offset, statement_end(source, statement), text)
