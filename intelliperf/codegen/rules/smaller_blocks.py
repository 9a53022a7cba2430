"""More and smaller blocks of the same threads, where a grid leaves compute units without work.

Proof obligations: along the axes that change, the kernel uses its coordinates for nothing but the thread's number in
the grid and the number of all threads, which stay what they are; nothing that it calls sees more of a block; no LDS,
barrier or wave operation. The sizes of the blocks are constants at every launch. A kernel that uses its coordinates
along x otherwise gets those that it had: several blocks are parts of what was one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from intelliperf.codegen.rules.blocks import Launch, Program
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.grid_edits import scaled_grid
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import check_relabelling, coordinate_reads, kernel_of, kernel_place
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.whole_waves import without_other_kernels
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration

BLOCKS_PER_UNIT = 4  # with as many, the last ones to end keep few units from work
_AXES = "xyz"
_NARROWED = "zyx"  # neighbours along x touch neighbouring elements, so that x is narrowed last


class SmallerBlocks:
    name = "smaller_blocks"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel_of(place)
        program = Program(problem.task.sources)
        fixed: dict[str, NotApplicable] = {}
        for kernel in place.functions:
            _check_kernel(problem, place, kernel)
            for axis in _AXES:
                try:
                    _check_axis(place, kernel, axis)
                except NotApplicable as reason:
                    fixed.setdefault(axis, reason)
        sizes: dict[str, None] = {}
        launches = [(launch, _extents(program, launch)) for launch in program.launches(place.functions[0].name)]
        with problem.all_or_nothing():
            try:
                narrowed = [_narrowed(problem, launch, old, fixed) for launch, old in launches]
            except NotApplicable:
                if "x" not in fixed:
                    raise
                narrowed = [_narrowed(problem, launch, old, {**fixed, "x": None}) for launch, old in launches]
                parts = {old[0] // new[0] for (_, old), new in zip(launches, narrowed, strict=True)}
                _keep_coordinates(problem, place, parts)
            for (launch, old), new in zip(launches, narrowed, strict=True):
                source = problem.source(launch.path)
                scaled_grid(source, launch, *(before // after for before, after in zip(old, new, strict=True)))
                flat = all(extent == 1 for extent in new[1:])
                text = str(new[0]) if flat else f"dim3({', '.join(map(str, new if new[2] > 1 else new[:2]))})"
                source.replace(launch.block.start_byte, launch.block.end_byte, text)
                sizes[f"{math.prod(old)} to {math.prod(new)}"] = None
        paths = sorted({place.path, *(launch.path for launch, _ in launches)})
        return Rewrite(
            tuple(problem.source(path) for path in paths),
            f"Spread the threads of {place.functions[0].name} over more blocks: {', '.join(sizes)} threads each",
            Declaration(geometry=True, reason="the same threads in smaller blocks"),
        )


def _check_kernel(problem: Problem, place: Place, kernel: Node) -> None:
    check_relabelling(problem, place, kernel, of_blocks=True)
    source = problem.source(place.path)
    if kernel.place is not None and "work_group_size" in source.code(kernel.start_offset, kernel.place.offset):
        raise NotApplicable(f"{place}: the kernel has bounds for its blocks")
    for node in kernel.everything():
        if node.kind == "VarDecl" and is_shared(node):
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
        if node.kind == "CallExpr" and re.search("sync|barrier", callee_name(node)):
            raise NotApplicable(f"{place}: the kernel has a barrier on line {node.line}")
        if node.reference is not None and node.reference.name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            raise NotApplicable(f"{place}: {node.reference.name} is used as a whole on line {node.line}")
    texts = (without_other_kernels(text, kernel.name) for text in problem.task.sources.values())
    if any(re.search(r"extern\s+__shared__", text) for text in texts):
        raise NotApplicable(f"{place}: there is LDS of any size (extern __shared__) in the sources")


def _check_axis(place: Place, kernel: Node, axis: str) -> None:
    """Raise `NotApplicable` where the kernel may notice how its threads are cut into blocks along the axis."""
    algebra = Algebra(kernel)
    seen: set[int] = set()
    for node in kernel.everything():
        if node.kind != "Coordinate" or node.name[-1] != axis or id(node) in seen:
            continue
        for up in node.ancestors():
            found = algebra.polynomial(up) if up.category else None
            if found is not None and _is_of_numbers(found, axis):
                seen |= {id(part) for part in up.walk()}
                break
        else:
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the thread's number")


def _is_of_numbers(value: Polynomial, axis: str) -> bool:
    """Is it made of the thread's number along the axis, the count of threads along it, and what knows nothing of it?"""
    threads, number = f"threadIdx.{axis}", atom(f"blockIdx.{axis}") * atom(f"blockDim.{axis}")
    times = value.factor_of(threads)
    rest = value - times * (number + atom(threads))
    own = {f"{name}.{axis}" for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")}
    everything = sorted((f"blockDim.{axis}", f"gridDim.{axis}"))
    parts = [sorted(own.intersection(term)) for term in (*times.terms, *rest.terms)]
    once = all(term.count(name) <= 1 for term in (*times.terms, *rest.terms) for name in own)
    return once and all(part in ([], everything) for part in parts)


def _keep_coordinates(problem: Problem, place: Place, parts: set[int]) -> None:
    """Let the kernel see the blocks along x that it had, of which each is in so many parts now."""
    if len(parts) != 1:
        raise NotApplicable(f"{place}: the launches of the kernel have blocks of different sizes")
    (count,) = parts
    source, top = problem.source(place.path), body(place.functions[0])
    thread, block = unused_name(problem, "whole_thread"), unused_name(problem, "whole_block")
    words = {
        "threadIdx.x": thread,
        "blockIdx.x": block,
        "blockDim.x": f"(blockDim.x * {count})",
        "gridDim.x": f"(gridDim.x / {count})",
    }
    reads = [
        node for prefix in ("threadIdx", "blockIdx", "blockDim", "gridDim") for node in coordinate_reads(place, prefix)
    ]
    for start, end, name in sorted({(node.start_offset, node.end_offset, node.name) for node in reads}):
        if name in words:
            source.replace(start, end, words[name])
    named = {node.name for node in reads}
    first = next((child for child in top.children if child.begin is not None), top)
    indent = source.indentation(first.start_offset)
    declared = {
        "threadIdx.x": f"const unsigned int {thread} = blockIdx.x % {count} * blockDim.x + threadIdx.x;",
        "blockIdx.x": f"const unsigned int {block} = blockIdx.x / {count};",
    }
    lines = [
        f"// {count} blocks do what was one block's work.",
        *(declared[name] for name in declared if name in named),
    ]
    source.insert(top.start_offset + 1, "".join(f"\n{indent}{line}" for line in lines))


def _extents(program: Program, launch: Launch) -> tuple[int, int, int]:
    width, height, depth = (*program.extents(launch), 1, 1)[:3]
    return width, height, depth


def _narrowed(
    problem: Problem, launch: Launch, old: tuple[int, int, int], fixed: Mapping[str, NotApplicable | None]
) -> tuple[int, int, int]:
    """Halved until there are enough blocks, or a block is one wave. Raises `NotApplicable`."""
    device = problem.task.device
    blocks = min(math.prod(geometry.grid) for geometry in problem.task.finding.profile.geometries)
    sizes = list(old)
    if blocks >= BLOCKS_PER_UNIT * device.limits.compute_units:
        raise NotApplicable(f"{launch}: every compute unit has {BLOCKS_PER_UNIT} blocks or more already")
    if math.prod(old) < 2 * device.wave_size:
        raise NotApplicable(f"{launch}: blocks of {math.prod(old)} threads cannot be halved into whole waves")
    while blocks < BLOCKS_PER_UNIT * device.limits.compute_units and math.prod(sizes) >= 2 * device.wave_size:
        even = [at for at in map(_AXES.index, _NARROWED) if sizes[at] % 2 == 0 and fixed.get(_AXES[at]) is None]
        if not even:
            break
        sizes[even[0]], blocks = sizes[even[0]] // 2, blocks * 2
    if tuple(sizes) == old:
        reasons = [
            str(reason) for axis, size in zip(_AXES, old, strict=True) if size > 1 and (reason := fixed.get(axis))
        ]
        odd = f"{launch}: blocks of {math.prod(old)} threads cannot be halved"
        raise NotApplicable("; ".join(dict.fromkeys(reasons)) or odd)
    width, height, depth = sizes
    return width, height, depth
