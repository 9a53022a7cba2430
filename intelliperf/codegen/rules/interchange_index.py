"""Threads of a two-dimensional block trade places so that neighbours touch neighbouring memory.

The renumbering is a bijection of the block for every block shape, so each piece of work is
still done once; it is proposed where the wave then touches fewer memory sectors.
"""

from __future__ import annotations

from functools import partial

from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.lanes import Thread
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import (
    Traffic,
    blocks_to_follow,
    check_relabelling,
    coordinate_reads,
    global_access,
    renumbering,
    spelling,
)
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Geometry, SourceEvidence

# Of the sectors of all accesses, at most this share may remain.
WORTH_IT = 0.75


class InterchangeIndex:
    name = "interchange_index"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Let neighbouring threads walk along contiguous memory", lambda evidence: [self._line(problem, evidence)]
        )

    def _line(self, problem: Problem, evidence: SourceEvidence) -> str:
        place, kernel = global_access(problem, evidence)
        check_relabelling(problem, place, kernel)
        reads = coordinate_reads(place, "threadIdx")
        axes = {node.name[-1] for node in reads}
        if not {"x", "y"} <= axes:
            raise NotApplicable(f"{place}: the kernel does not use two thread coordinates that could trade places")
        before, after = _traffic(problem, place, kernel)
        if after > WORTH_IT * before:
            raise NotApplicable(
                f"{place}: with x and y interchanged a wave would touch {after} memory sectors instead of {before}, "
                "which is not worth a change"
            )
        _renumber(problem, place, kernel, [node for node in reads if node.name[-1] in "xy"])
        return f"threads of {kernel.name} renumbered, {before} → {after} sectors per wave over its global accesses"


def interchanged(thread: Thread, block: Thread) -> Thread:
    """The place that a thread takes: y runs fastest."""
    x, y, z = thread
    number = y * block[0] + x
    return number // block[1], number % block[1], z


def _traffic(problem: Problem, place: Place, kernel: Node) -> tuple[int, int]:
    traffic = Traffic(problem, kernel, outside_constant(problem))
    before = after = 0
    followed = False
    for geometry in geometries(problem, place):
        for number in blocks_to_follow(geometry):
            now = traffic.sectors(geometry, lambda thread: thread, number)
            then = traffic.sectors(geometry, partial(interchanged, block=geometry.block), number)
            if place.evidence.line in now:
                followed = True
                break
        before, after = before + sum(now.values()), after + sum(then.values())
    if not followed:
        raise NotApplicable(f"{place}: which elements the threads of a wave access is not told by the source alone")
    return before, after


def geometries(problem: Problem, place: Place) -> list[Geometry]:
    wide = [geometry for geometry in problem.task.finding.profile.geometries if geometry.block[1] > 1]
    if not wide:
        raise NotApplicable(f"{place}: the kernel is launched with one-dimensional blocks")
    return wide[:2]


def _renumber(problem: Problem, place: Place, kernel: Node, reads: list[Node]) -> None:
    source = problem.source(place.path)
    names = {axis: unused_name(problem, f"thread_{axis}") for axis in "xy"}
    number = unused_name(problem, "thread_number")
    for node in reads:
        spelling(source, place, node)
        source.replace(node.start_offset, node.end_offset, names[node.name[-1]])
    start = body(kernel).start_offset + 1
    first = next((child for child in body(kernel).children if child.begin is not None), None)
    indent = source.indentation(first.start_offset) if first is not None else "  "
    source.insert(
        start,
        f"\n{indent}// The block's threads renumbered with y running fastest, so that neighbours touch"
        f"\n{indent}// neighbouring memory."
        + "".join(f"\n{indent}{line}" for line in renumbering(number, names["x"], names["y"])),
    )
