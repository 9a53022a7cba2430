"""`__launch_bounds__` with the size of the blocks that a kernel is really launched with.

AMD's compiler shares a SIMD's registers out among the waves of the largest block that there may be, 1024 threads if
it is not told: 128 registers for each. A bound that no launch exceeds gives a thread more, and changes nothing that
it computes. Proof obligations: every launch in the sources has a constant block size, and the kernel's name is used
for nothing else.
"""

from __future__ import annotations

import math

from intelliperf.codegen.rules.blocks import launched_threads
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, bounds_its_blocks
from intelliperf.codegen.rules.relabel import kernel_of, kernel_place
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Metric

ASSUMED_THREADS = 1024  # of a block, where the compiler is told nothing


class BoundBlockSize:
    name = "bound_block_size"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = _definition(problem)
        kernel = kernel_of(place)
        threads = _bound(problem, kernel)
        with problem.all_or_nothing():
            for function in place.functions:
                _write(problem, place, function, threads)
        return Rewrite(
            (problem.source(place.path),),
            f"Tell the compiler that blocks of {kernel.name} have no more than {threads} threads, "
            "so that it gives each more registers",
        )


def _definition(problem: Problem) -> Place:
    if problem.task.device.vendor != "amd":
        raise NotApplicable(
            "this compiler gives a thread all registers that there are without being told the block size"
        )
    return kernel_place(problem)


def _bound(problem: Problem, kernel: Node) -> int:
    profile = problem.task.finding.profile
    spilled = profile.quantities.get(Metric.SPILLED_REGISTERS)
    if spilled is not None and spilled.value == 0:
        raise NotApplicable(f"no register of {kernel.name} is spilled: its array's indices are not constants")
    threads = max(launched_threads(problem.task.sources, kernel.name))
    seen = max((math.prod(geometry.block) for geometry in profile.geometries), default=0)
    if seen > threads:
        raise NotApplicable(f"{kernel.name} ran with blocks of {seen} threads, of which no launch is in the sources")
    if threads >= ASSUMED_THREADS:
        raise NotApplicable(f"blocks of {kernel.name} have {threads} threads, which the compiler reckons with anyway")
    return threads


def _write(problem: Problem, place: Place, function: Node, threads: int) -> None:
    name = function.place
    if name is None or name.macro:
        raise NotApplicable(f"{place}: the kernel is written by a macro")
    if bounds_its_blocks(problem, place, function):
        raise NotApplicable(f"{place}: the kernel has bounds already")
    problem.source(place.path).insert(name.offset, f"__launch_bounds__({threads}) ")
