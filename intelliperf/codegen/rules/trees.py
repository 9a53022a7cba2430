"""What rules about reductions over the threads of a block ask: who the threads are, and how elements are joined."""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.lanes import Lane, Launch, initializer
from intelliperf.codegen.rules.lds_arrays import is_shared, root_variable
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem
from intelliperf.codegen.rules.reductions import alike
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import LOOPS, Uniformity
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node

THREAD = atom("threadIdx.x")
WIDTH = atom("blockDim.x")
_OPERATORS = ("+", "*", "&", "|", "^")
_CALLS = ("fmaxf", "fmax", "fminf", "fmin", "max", "min")


def same(left: Polynomial | None, right: Polynomial) -> bool:
    return left is not None and not (left - right).terms


def block_width(problem: Problem, place: Place, kernel: Node) -> int:
    """Threads of a block at every launch, where blocks have one dimension. Raises `NotApplicable`."""
    program = Program(problem.task.sources)
    widths = set()
    for launch in program.launches(kernel.name):
        width, *others = program.extents(launch)
        if any(other != 1 for other in others):
            raise NotApplicable(f"{launch}: the blocks have more than one dimension")
        widths.add(width)
    for geometry in problem.task.finding.profile.geometries:
        if geometry.block[0] not in widths or geometry.block[1:] != (1, 1):
            raise NotApplicable(f"{place}: {kernel.name} ran with blocks of {geometry.block}, unlike its launches")
    if len(widths) != 1:
        raise NotApplicable(f"{place}: {kernel.name} is launched with blocks of different sizes")
    return widths.pop()


def check_whole_block(place: Place, kernel: Node, statement: Node, before: bool = False) -> None:
    """Raise `NotApplicable` unless all threads of a block come by the statement, or the place before it, once."""
    uniform = Uniformity(kernel)
    leaving = uniform.divergent_exits(statement.start_offset if before else statement.end_offset)
    if leaving:
        raise NotApplicable(f"{place}: some threads leave the kernel on line {leaving[0].line}")
    if uniform.divergent(statement):
        raise NotApplicable(f"{place}: not all threads of a block come to line {statement.line}")
    if any(parent.kind in (*LOOPS, "LambdaExpr") for parent in statement.ancestors()):
        raise NotApplicable(f"{place}: what line {statement.line} does is repeated by a loop around it")


def is_width(problem: Problem, algebra: Algebra, limit: Node, width: int) -> bool:
    """Is an upper limit the number of threads of a block?"""
    if same(algebra.polynomial(limit), WIDTH):
        return True
    fixed = not any(
        node.kind == "Coordinate" or (node.kind == "DeclRefExpr" and not node.canonical.startswith("const "))
        for node in limit.walk()
    )
    launch = Launch((1, 1, 1), (1, 1, 1), outside_constant(problem))
    return fixed and Lane(launch, (0, 0, 0), frozenset()).value(limit) == width


def is_barrier(statement: Node) -> bool:
    return statement.kind == "CallExpr" and callee_name(statement) == "__syncthreads"


def lds_element(kernel: Node, expression: Node) -> tuple[Node, Node] | None:
    """Declaration and index of an element of a flat array in LDS of plain numbers."""
    node = expression.bare()
    if node.kind != "ArraySubscriptExpr" or node.canonical.replace("volatile ", "") not in INTEGERS | FLOATS:
        return None
    root = root_variable(node)
    if root is None or root.reference is None or node.children[0].bare() is not root:
        return None
    for declared in kernel.walk():
        if declared.kind == "VarDecl" and declared.id == root.reference.id:
            return (declared, node.children[1]) if is_shared(declared) else None
    return None


def uses(kernel: Node, declaration: Node) -> Iterator[Node]:
    """Every name of a variable."""
    for node in kernel.everything():
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == declaration.id:
            yield node


def joined(statement: Node) -> tuple[Node, Node, str] | None:
    """Target, other operand and how they are joined, with {a} and {b}, of `t += o` and the other ways to write it.

    Only what may be joined in any order; sums of floating-point numbers are then rounded otherwise.
    """
    node = statement.bare()
    if node.kind == "CompoundStmt" and len(node.children) == 1:
        return joined(node.children[0])
    if node.kind == "CompoundAssignOperator" and node.opcode[:-1] in _OPERATORS:
        return node.children[0].bare(), node.children[1].bare(), f"{{a}} {node.opcode[:-1]} {{b}}"
    if node.kind == "IfStmt" and len(node.children) == 2:
        return _taken(node)
    if node.kind != "BinaryOperator" or node.opcode != "=":
        return None
    target, value = node.children[0].bare(), node.children[1].bare()
    if value.kind == "BinaryOperator" and value.opcode in _OPERATORS:
        return _of_two(target, value.children, f"{{a}} {value.opcode} {{b}}")
    if value.kind == "CallExpr" and callee_name(value) in _CALLS and len(value.children) == 3:
        return _of_two(target, value.children[1:], f"{callee_name(value)}({{a}}, {{b}})")
    if value.kind == "ConditionalOperator":
        return _chosen(target, value)
    return None


def _of_two(target: Node, operands: list[Node], combine: str) -> tuple[Node, Node, str] | None:
    mine = [alike(operand, target) for operand in operands]
    if mine.count(True) != 1:
        return None
    return target, operands[mine.index(False)].bare(), combine


def _taken(guard: Node) -> tuple[Node, Node, str] | None:
    """`if (o > t) t = o;`"""
    branch = guard.children[1]
    inner = branch.children if branch.kind == "CompoundStmt" else [branch]
    if len(inner) != 1 or inner[0].kind != "BinaryOperator" or inner[0].opcode != "=":
        return None
    target, other = (child.bare() for child in inner[0].children)
    better = _direction(guard.children[0].bare(), target, other)
    return None if better is None else (target, other, f"{{b}} {better} {{a}} ? {{b}} : {{a}}")


def _chosen(target: Node, value: Node) -> tuple[Node, Node, str] | None:
    """`t = o > t ? o : t`"""
    test, yes, no = (child.bare() for child in value.children)
    kept, taken = (no, yes) if alike(no, target) else (yes, no)
    better = _direction(test, target, taken) if alike(kept, target) else None
    if better is None:
        return None
    if taken is no:
        better = {">": "<", "<": ">"}[better]
    return target, taken, f"{{b}} {better} {{a}} ? {{b}} : {{a}}"


def _direction(test: Node, target: Node, other: Node) -> str | None:
    """How `other` compares with `target` where the test holds."""
    if test.kind != "BinaryOperator" or test.opcode not in ("<", ">", "<=", ">="):
        return None
    left, right = test.children
    if alike(left, other) and alike(right, target):
        return test.opcode[0]
    if alike(left, target) and alike(right, other):
        return {">": "<", "<": ">"}[test.opcode[0]]
    return None


def counter(loop: Node) -> tuple[Node, Node] | None:
    """The one variable that a `for` declares, and what it begins with."""
    first = loop.children[0]
    if loop.kind != "ForStmt" or first.kind != "DeclStmt" or len(first.children) != 1:
        return None
    initial = initializer(first.children[0])
    return (first.children[0], initial) if initial is not None else None
