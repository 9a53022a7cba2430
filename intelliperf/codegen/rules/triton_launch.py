"""Warps, stages and block sizes of a Triton launch, one step at a time: the judge's time decides whether it stays.

Every accepted step makes new sources, for which the rules are asked again: together they climb.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton_launches import DEFAULT_WARPS, Launch, launch_of, launches_of
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import Declaration, Metric, SourceEvidence

_FILLED = 0.9  # of the lanes: fewer warps would have to do more, not the same
_DEFAULT_STAGES = 2  # for AMD
_MOST_LANES = 1024  # of a block, on all supported chips
_ELEMENTS_OF_A_LANE = 16  # more of a tensor than this in every lane leaves few registers for others
_LARGER = 8
_MOST_ELEMENTS = 8192
_LARGEST_TILE = 128


class TritonWarps:
    """As many warps as have work: a lane without an element repeats another's, one with many spills."""

    name = "triton_warps"

    def rewrite(self, problem: Problem) -> Rewrite:
        return _rewritten(problem, "The launch has as many warps as the tensors ask for", self._edit, launches_of)

    def _edit(self, problem: Problem, launch: Launch) -> str:
        wave = problem.task.device.wave_size
        warps, elements = launch.number("num_warps", DEFAULT_WARPS), launch.elements()
        if not elements:
            return self._bound(problem, launch)
        wanted = warps
        if elements < warps * wave:
            wanted = max(1, elements // wave)
        elif elements > warps * wave * _ELEMENTS_OF_A_LANE:
            wanted = min(_MOST_LANES // wave, elements // (wave * _ELEMENTS_OF_A_LANE))
        wanted = 1 << max(0, wanted.bit_length() - 1)
        if wanted == warps:
            each = elements / (warps * wave)
            raise NotApplicable(f"{launch.kernel.function.name} has {each:.3g} elements per lane, which fits")
        launch.set("num_warps", wanted)
        return f"{warps} -> {wanted} warps for {elements} elements"

    def _bound(self, problem: Problem, launch: Launch) -> str:
        """Where only the launch knows the sizes, it counts the warps."""
        wave, elements = problem.task.device.wave_size, launch.computed_elements()
        filled = problem.task.finding.profile.quantities.get(Metric.LANE_FILL_RATIO)
        if filled is not None and filled.value > _FILLED:
            raise NotApplicable(f"{launch.kernel.function.name} has work for all lanes of its warps")
        if elements is None:
            raise NotApplicable(f"{launch.kernel.source.path}: the sizes of the kernel's tensors cannot be told")
        grouped = elements if " * " not in elements or elements.startswith("max(") else f"({elements})"
        launch.bound("num_warps", DEFAULT_WARPS, f"{grouped} // {wave}")
        return f"at most one warp for {wave} of {elements} elements"


class TritonLargerBlock:
    """More elements per program, where programs are many and small."""

    name = "triton_larger_block"

    def rewrite(self, problem: Problem) -> Rewrite:
        return _rewritten(problem, "Each program takes more elements", self._edit)

    def _edit(self, problem: Problem, launch: Launch) -> str:
        kernel, units = launch.kernel, problem.task.device.limits.compute_units
        if _has_product(launch):
            raise NotApplicable(f"{kernel.function.name} has a product, whose tiles grow by other steps")
        programs = max((_count(g.grid) for g in problem.task.finding.profile.geometries), default=0)
        if programs < 2 * units * _LARGER:
            raise NotApplicable(f"{programs} programs are too few to be made fewer")
        for name in sorted(kernel.function.constants):
            found = launch.constant(name)
            value = launch.number(name, 0)
            if found is None or value <= 0 or value & (value - 1) or value * _LARGER > _MOST_ELEMENTS:
                continue
            if not launch.sizes_in_grid(name):
                continue
            larger = value * _LARGER
            scale(launch, name, larger)
            return f"{name} {value} -> {larger}"
        raise NotApplicable(f"{kernel.function.name}: no constant sizes both its blocks and its grid")


class TritonTiles:
    """Larger tiles of a product, which reads each factor less often, or longer steps along its inner dimension."""

    name = "triton_tiles"

    def rewrite(self, problem: Problem) -> Rewrite:
        return _rewritten(problem, "Each program takes a larger tile of the product", self._edit)

    def _edit(self, problem: Problem, launch: Launch) -> str:
        kernel = launch.kernel
        if not _has_product(launch):
            raise NotApplicable(f"{kernel.function.name} has no product")
        sizes = [
            (value, name)
            for name in sorted(kernel.function.constants)
            if (value := launch.number(name, 0)) > 0 and launch.sizes_in_grid(name) and self._sizes(launch, name)
        ]
        small = [(value, name) for value, name in sizes if value < _LARGEST_TILE]
        if not small:
            raise NotApplicable(f"{kernel.function.name}: no constant sizes both its tiles and its grid")
        programs = max((_count(g.grid) for g in problem.task.finding.profile.geometries), default=0)
        if programs < 2 * problem.task.device.limits.compute_units:
            raise NotApplicable(f"{programs} programs are too few to be made fewer")
        value, name = min(small)
        scale(launch, name, 2 * value)
        return f"{name} {value} -> {2 * value}"

    def _sizes(self, launch: Launch, name: str) -> bool:
        """Does the constant size a tile of its own accord, as in `tl.arange(0, BLOCK)`?"""
        kernel = launch.kernel
        ranges = [n for n in body_nodes(kernel.node) if isinstance(n, ast.Call) and kernel.called(n) == "arange"]
        return any(shape_of(kernel, call) == (name,) for call in ranges)


def _has_product(launch: Launch) -> bool:
    return any(launch.kernel.called(n) == "dot" for n in body_nodes(launch.kernel.node))


def scale(launch: Launch, name: str, larger: int) -> None:
    launch.set(name, larger)
    for size in launch.sizes_in_grid(name):
        if isinstance(size, ast.Constant):
            if launch.grid.shared:
                raise NotApplicable(f"{launch.site.where(size)}: other code reads this grid, too")
            launch.site.replace(size, str(larger))


class TritonStages:
    """Another depth of the pipeline that loads ahead of a product."""

    name = "triton_stages"

    def rewrite(self, problem: Problem) -> Rewrite:
        return _rewritten(problem, "The loop's loads are issued at another distance", self._edit)

    def _edit(self, problem: Problem, launch: Launch) -> str:
        if not _has_product(launch):
            raise NotApplicable(f"{launch.kernel.function.name} has no product whose loads Triton pipelines")
        stages = launch.number("num_stages", _DEFAULT_STAGES)
        wanted = 1 if stages > 1 else _DEFAULT_STAGES
        launch.set("num_stages", wanted)
        return f"{stages} -> {wanted} stages"


def _rewritten(
    problem: Problem,
    summary: str,
    edit: Callable[[Problem, Launch], str],
    which: Callable[[Problem, SourceEvidence], list[Launch]] = lambda problem, line: [launch_of(problem, line)],
) -> Rewrite:
    """The launches, whichever of their kernel's lines are blamed."""
    if not problem.task.evidence:
        raise NotApplicable("no line is blamed")
    launches = which(problem, problem.task.evidence[0])
    did = "; ".join(dict.fromkeys(edit(problem, launch) for launch in launches))
    sources = [source for launch in launches for source in (launch.site.source, launch.kernel.source)]
    changed = tuple({id(source): source for source in sources if source.splices}.values())
    return Rewrite(changed, f"{summary}: {did}", Declaration(geometry=True, reason=did))


def _count(grid: tuple[int, int, int]) -> int:
    return grid[0] * grid[1] * grid[2]
