"""Threads of a grid of several dimensions trade places across blocks, so that neighbours touch neighbouring memory.

Where a kernel knows its threads by two or three numbers alone, one in each dimension of the grid, it does not matter
which thread has which of them. All pairs or triples are given out anew, the one that walks through neighbouring
elements running fastest, by divisions of the number of the thread in the whole grid: a bijection for every shape of
block and grid. Proof obligations: no coordinate is used but for these numbers; nothing depends on which threads form a
block or a wave.
"""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.polynomials import Algebra, Blocks, Polynomial, atom
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import check_relabelling, global_access
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

_AXES = "xyz"


def _number_of(axis: str) -> Polynomial:
    return atom(f"blockIdx.{axis}") * atom(f"blockDim.{axis}") + atom(f"threadIdx.{axis}")


@dataclass(frozen=True)
class Numbers:
    """The expressions that are a thread's number along an axis; `plain`: the block's number alone is meant."""

    along: dict[str, list[Node]]
    plain: frozenset[str]


class RenumberGrid:
    name = "renumber_grid"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[str] = set()
        return problem.rewrite_lines(
            "Give the pairs of numbers to the grid's threads so that neighbours have neighbouring elements",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[str]) -> str:
        place, kernel = global_access(problem, evidence)
        told = f"threads of {kernel.name} numbered anew over the whole grid"
        if kernel.name in done:
            return told
        check_relabelling(problem, place, kernel)
        for node in kernel.everything():
            if node.kind == "VarDecl" and is_shared(node):
                raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
            if node.kind == "CallExpr" and "sync" in callee_name(node):
                raise NotApplicable(f"{place}: the kernel has a barrier on line {node.line}")
        blocks = blocks_of(problem, kernel)
        numbers = _numbers(place, kernel, blocks)
        order = _order(problem, place, kernel, numbers)
        for function in place.functions[1:]:
            if set(_numbers(place, function, blocks_of(problem, function)).along) != set(numbers.along):
                raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        _apply(problem, place, kernel, numbers, order)
        done.add(kernel.name)
        return told


def _numbers(place: Place, kernel: Node, blocks: Blocks) -> Numbers:
    """Raises `NotApplicable` where a coordinate is used other than for the number along its axis."""
    algebra = Algebra(kernel, blocks)
    along: dict[str, list[Node]] = {}
    plain: set[str] = set()
    seen: set[int] = set()
    coordinates = [node for node in kernel.everything() if node.kind == "Coordinate"]
    axes = {node.name[-1] for node in coordinates if node.name.startswith("threadIdx")}
    for node in coordinates:
        axis = node.name[-1]
        if id(node) in seen:
            continue
        if node.name == f"blockIdx.{axis}" and axis not in axes:
            along.setdefault(axis, []).append(node)
            plain.add(axis)
            continue
        whole = next(
            (
                up
                for up in node.ancestors()
                if up.category
                and (found := algebra.polynomial(up)) is not None
                and not (found - _number_of(axis)).terms
            ),
            None,
        )
        if whole is None:
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the thread's number")
        seen |= {id(part) for part in whole.walk()}
        along.setdefault(axis, []).append(whole)
    if len(along) < 2:
        raise NotApplicable(f"{place}: the kernel does not know its threads by a number in each of several dimensions")
    if len(plain) == len(along):
        raise NotApplicable(f"{place}: all threads of a block have the same numbers")
    for nodes in along.values():
        for whole in nodes:
            edges = [part for part in whole.walk() if part.kind == "Coordinate"]
            if any(part.in_macro and not part.is_whole_macro for part in edges):
                raise NotApplicable(f"{place}: the thread's number on line {whole.line} is written by a macro")
    return Numbers(along, frozenset(plain))


def _order(problem: Problem, place: Place, kernel: Node, numbers: Numbers) -> tuple[str, ...]:
    """The axes after the change, the slowest first. Raises `NotApplicable` where neighbours would be no nearer."""
    algebra = _ByAxis(kernel, numbers)
    addresses = Addresses(algebra)
    votes = dict.fromkeys(numbers.along, 0)
    apart = dict.fromkeys(numbers.along, 0)  # how many factors the distance of neighbouring numbers' elements has
    for item in accesses(body(kernel)):
        index = addresses.element(item.place).index
        if index is None:
            continue
        steps = {axis: index.factor_of(axis) for axis in votes}
        near = [axis for axis, step in steps.items() if set(step.terms) == {()} and abs(step.terms[()]) <= 2]
        far = [axis for axis, step in steps.items() if step.terms and axis not in near]
        for axis in far:
            apart[axis] = max(apart[axis], *map(len, steps[axis].terms))
        if len(near) == 1 and far:
            votes[near[0]] += 1
    first, second, *_ = sorted(votes, key=lambda axis: (-votes[axis], axis))
    if not votes[first]:
        raise NotApplicable(
            f"{place}: no access that the kernel makes itself is contiguous in one of its numbers alone"
        )
    if votes[first] <= votes[second]:
        raise NotApplicable(f"{place}: as many accesses of the kernel are contiguous in one number as in the other")
    blocks = [geometry.block for geometry in problem.task.finding.profile.geometries]
    if first == "x" and all(block[0] > 1 for block in blocks):
        raise NotApplicable(f"{place}: neighbouring threads have neighbouring elements already")
    return (*sorted(set(votes) - {first}, key=lambda axis: (-apart[axis], axis)), first)


class _ByAxis(Algebra):
    """Polynomials over the numbers, each an atom named by its axis."""

    def __init__(self, kernel: Node, numbers: Numbers) -> None:
        super().__init__(kernel)
        self._axis = {id(node): axis for axis, nodes in numbers.along.items() for node in nodes}

    def polynomial(self, expression: Node) -> Polynomial | None:
        for node in (expression, expression.bare()):
            if id(node) in self._axis:
                return atom(self._axis[id(node)])
        return super().polynomial(expression)

    def _variable(self, node: Node) -> Polynomial | None:
        reference = node.reference
        declared = self.declared.get(reference.id) if reference is not None else None
        if declared is not None and reference is not None and reference.id not in self.modified:
            values = [child for child in declared.children if child.category]
            found = self.polynomial(values[-1]) if values else None
            if found is not None:
                return found
        if reference is not None and reference.id in self.modified:
            return atom(reference.id)  # a loop's counter: the same for all threads, as far as nearness goes
        return super()._variable(node)


def _apply(problem: Problem, place: Place, kernel: Node, numbers: Numbers, order: tuple[str, ...]) -> None:
    """`order`: the axes, the slowest first."""
    source = problem.source(place.path)
    thread = unused_name(problem, "grid_thread")
    names = {axis: unused_name(problem, f"number_{axis}") for axis in order}
    for axis, nodes in numbers.along.items():
        for node in nodes:
            source.replace(node.start_offset, node.end_offset, names[axis])
    first = next((child for child in body(kernel).children if child.begin is not None), body(kernel))
    indent = source.indentation(first.start_offset)
    own = [axis for axis in sorted(order) if axis not in numbers.plain]
    part, block = _place_in_block(own), f"static_cast<unsigned long long>(blockIdx.{max(order)})"
    for axis in sorted(order)[-2::-1]:
        block = f"({block} * gridDim.{axis} + blockIdx.{axis})"
    lines = [
        "// All numbers of the grid, given out anew: neighbours have neighbouring elements.",
        f"const unsigned long long {thread} = {block} * ({' * '.join(f'blockDim.{axis}' for axis in own)}) + {part};",
    ]
    left = thread
    for turn, axis in enumerate(order[:0:-1]):
        across = unused_name(problem, f"grid_across_{axis}")
        lines.append(f"const unsigned int {across} = gridDim.{axis}{f' * blockDim.{axis}' if axis in own else ''};")
        lines.append(f"const unsigned int {names[axis]} = {left} % {across};")
        rest = names[order[0]] if turn == len(order) - 2 else unused_name(problem, f"grid_rest_{axis}")
        lines.append(f"const unsigned {'int' if rest in names.values() else 'long long'} {rest} = {left} / {across};")
        left = rest
    source.insert(body(kernel).start_offset + 1, "".join(f"\n{indent}{line}" for line in lines))


def _place_in_block(axes: list[str]) -> str:
    """The thread's number in its block, the first of the axes running fastest."""
    text = f"threadIdx.{axes[-1]}"
    for axis in axes[-2::-1]:
        text = f"{f'({text})' if ' ' in text else text} * blockDim.{axis} + threadIdx.{axis}"
    return text
