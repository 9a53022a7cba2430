"""Smaller blocks, so that there are programs for every compute unit.

A program that works on each element of its block alone does so in a smaller block, too: what the grid divides by is
changed with it. Where the launch computes the size, or hands it to other kernels as well, the kernel takes pieces of
it, and the grid counts these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, word_of
from intelliperf.codegen.rules.triton_launches import DEFAULT_WARPS, Launch, launches_of, only_computes
from intelliperf.codegen.rules.triton_shapes import Shape, shape_of, words
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import Declaration

_LEAST_OF_PRODUCT = 16  # of a factor of `tl.dot`
_UNKNOWN = 64  # of another dimension of a tile
_USUAL = 128  # of a block whose size cannot be told
_MIXING = words(
    "sum max min argmax argmin xor_sum reduce reduce_or cumsum cumprod associative_scan sort topk flip histogram "
    "gather join split"
)


@dataclass(frozen=True)
class _Size:
    """A constant that sizes blocks and divides the grid."""

    name: str
    value: int  # the largest of all launches; 0 where only the program knows it
    usual: int  # what a parameter of the launching function is by default; 0 where there is none
    least: int
    smaller: int = 0


class TritonSmallerBlock:
    name = "triton_smaller_block"

    def rewrite(self, problem: Problem) -> Rewrite:
        if not problem.task.evidence:
            raise NotApplicable("no line is blamed")
        launches = launches_of(problem, problem.task.evidence[0])
        kernel = launches[0].kernel
        sizes = _smaller(launches, _sizes(kernel, launches), _times(problem, kernel), problem.task.device.wave_size)
        did = "; ".join(f"{s.name} {s.value or 'as launched'} -> {s.smaller}" for s in sizes)
        within = [s for s in sizes if not all(_is_own(launch, s.name) for launch in launches)]
        for size in sizes:
            for launch in launches:
                _shrink(launch, size, size in within)
        if within:
            _cap(kernel, within)
        for launch in launches:
            _fit_warps(launch, sizes, problem.task.device.wave_size)
        sources = [source for launch in launches for source in (launch.site.source, kernel.source)]
        changed = tuple({id(source): source for source in sources if source.splices}.values())
        return Rewrite(changed, f"Each program takes fewer elements: {did}", Declaration(geometry=True, reason=did))


def _times(problem: Problem, kernel: Kernel) -> int:
    """How many times as many programs the device asks for."""
    units = problem.task.device.limits.compute_units
    programs = min((prod(g.grid) for g in problem.task.finding.profile.geometries), default=units)
    if programs >= units:
        raise NotApplicable(f"{kernel.function.name} has {programs} programs for {units} compute units")
    return -(-units // programs)


def _sizes(kernel: Kernel, launches: Sequence[Launch]) -> list[_Size]:
    """Constants that may be smaller, in the order of a tile's dimensions. Raises `NotApplicable`."""
    found, why = [], ""
    products = _products(kernel)
    for name in _dimensions(kernel, launches):
        refused = _mixed(kernel, name) or _numbered(kernel, name)
        if refused:
            why = why or refused
            continue
        values = [launch.number(name, 0) for launch in launches]
        value = max(values) if all(values) else 0
        least = _LEAST_OF_PRODUCT if any(name in shape for shape in products) else 1
        found.append(_Size(name, value, max(launch.usual(name) for launch in launches), least))
    if not found:
        raise NotApplicable(why or f"{kernel.function.name}: no constant sizes both its blocks and its grid")
    return found


def _products(kernel: Kernel) -> list[Shape]:
    dots = [n for n in body_nodes(kernel.node) if isinstance(n, ast.Call) and kernel.called(n) == "dot"]
    return [shape for dot in dots if (shape := shape_of(kernel, dot))]


def _dimensions(kernel: Kernel, launches: Sequence[Launch]) -> list[str]:
    """Constants that size the kernel's tensors and divide the grid, the outermost of a tile first."""
    names = {n for n in kernel.function.constants if all(launch.sizes_in_grid(n) for launch in launches)}
    known = sorted(launches[0].shapes, key=lambda shape: (-len(names.intersection(shape)), len(shape), shape))
    return list(dict.fromkeys(size for shape in known for size in shape if size in names))


def _smaller(launches: Sequence[Launch], sizes: list[_Size], times: int, wave: int) -> list[_Size]:
    """Halved until there are enough programs: of a product the longer side, else the outer one."""
    values = {size.name: size.value or size.usual or _USUAL for size in sizes}
    while times > 1:
        free = [s for s in sizes if values[s.name] >= 2 * s.least]
        if not free or min(_elements(launch, values, launch.shapes) for launch in launches) < 2 * wave:
            break
        product = any(s.least > 1 for s in free)
        chosen = max(free, key=lambda s: values[s.name]) if product else free[0]
        values[chosen.name] //= 2
        times = -(-times // 2)
    changed = [replace(s, smaller=values[s.name]) for s in sizes if values[s.name] != s.value]
    if not changed:
        raise NotApplicable(f"blocks of {', '.join(s.name for s in sizes)} cannot be smaller than they are")
    return changed


def _elements(launch: Launch, values: Mapping[str, int], shapes: Iterable[Shape]) -> int:
    """Of the largest tensor with these sizes."""
    sizes = [[values.get(size) or launch.size(size) or _UNKNOWN for size in shape] for shape in shapes]
    return max(map(prod, sizes), default=1)


# ---- whether it may be done -----------------------------------------------------------------------------


def _mixed(kernel: Kernel, name: str) -> str:
    """Why elements along this dimension are not worked on alone; "" where they are."""
    for node in body_nodes(kernel.node):
        word = kernel.called(node) or (word_of(node) if isinstance(node, ast.Call) else "")
        if not isinstance(node, ast.Call) or word not in (*_MIXING, "dot"):
            continue
        if word == "dot":
            one = shape_of(kernel, node.args[0]) if node.args else None
            if one is not None and len(one) == 2 and one[1] != name:
                continue
            if one is None or len(one) != 2:
                return f"{kernel.where(node)}: along which size the product sums up cannot be told"
            return f"{kernel.where(node)}: a product sums up along {name}"
        method = kernel.function.module.dotted(node.func) is None and isinstance(node.func, ast.Attribute)
        operands = [node.func.value] if method and isinstance(node.func, ast.Attribute) else node.args[:1]
        shape: Shape | None = shape_of(kernel, operands[0]) if operands else None
        if shape is None or name in shape and not _along_another(node, shape, name, method):
            return f"{kernel.where(node)}: `{word}` may mix elements along {name}"
    return ""


def _along_another(call: ast.Call, shape: Shape, name: str, method: bool) -> bool:
    axis = argument(call, 0 if method else 1, "axis", "dim")
    if isinstance(axis, ast.UnaryOp) and isinstance(axis.op, ast.USub) and isinstance(axis.operand, ast.Constant):
        at = -int(str(axis.operand.value))
    elif isinstance(axis, ast.Constant) and isinstance(axis.value, int):
        at = axis.value
    else:
        return False
    return -len(shape) <= at < len(shape) and shape[at] != name


def _numbered(kernel: Kernel, name: str) -> str:
    """A place that is numbered by the program, not by its elements; "" where there is none."""
    for node in body_nodes(kernel.node):
        if not isinstance(node, ast.Call) or kernel.called(node) != "store" or len(node.args) < 2:
            continue
        shapes = [shape_of(kernel, part) for part in node.args[:2]]
        if all(shape is not None and name not in shape for shape in shapes):
            return f"{kernel.where(node)}: a program writes one place for its whole block of {name}"
    return ""


# ---- the edits ------------------------------------------------------------------------------------------


def _is_own(launch: Launch, name: str) -> bool:
    """Is the size written where this launch alone reads it?"""
    given = launch.handed_over(name)
    if launch.constant(name) is None:
        return False
    if not isinstance(given, ast.Name):
        return True
    inside = {id(n) for n in (*ast.walk(launch.call), *launch.grid.nodes())}
    loads = [n for n in ast.walk(launch.scope_of(given.id)) if isinstance(n, ast.Name) and n.id == given.id]
    return all(id(n) in inside for n in loads if isinstance(n.ctx, ast.Load))


def _shrink(launch: Launch, size: _Size, within: bool) -> None:
    """The launch's part of a smaller size."""
    for divisor in launch.sizes_in_grid(size.name):
        if launch.grid.shared and (within or isinstance(divisor, ast.Constant)):
            raise NotApplicable(f"{launch.site.where(divisor)}: other code reads this grid, too")
        if isinstance(divisor, ast.Constant):
            launch.site.replace(divisor, str(size.smaller))
        elif within:
            if not (only_computes(divisor) or isinstance(divisor, (ast.Attribute, ast.Subscript))):
                raise NotApplicable(f"{launch.site.where(divisor)}: {size.name} is more than a number that is computed")
            launch.site.replace(divisor, f"min({launch.site.text(divisor)}, {size.smaller})")
    found = launch.constant(size.name)
    if not within and found is not None:
        launch.site.replace(found, str(size.smaller))


def _cap(kernel: Kernel, sizes: Sequence[_Size]) -> None:
    """The kernel takes no more than this many elements of each size."""
    pad, tl = kernel.indentation, kernel.tl
    lines = []
    for size in sizes:
        piece = kernel.fresh(f"{size.name}_PIECE", f"PIECE_OF_{size.name}")
        for node in body_nodes(kernel.node):
            if isinstance(node, ast.Name) and node.id == size.name and isinstance(node.ctx, ast.Load):
                kernel.replace(node, piece)
        lines.append(
            f"{piece}: {tl}.constexpr = {size.name} if {size.name} < {size.smaller} else {size.smaller}\n{pad}"
        )
    kernel.source.insert(kernel.span(kernel.body[0])[0], "".join(lines))


def _fit_warps(launch: Launch, sizes: Sequence[_Size], wave: int) -> None:
    """No more warps than the smaller block has work for, where their number is written."""
    warps = launch.number("num_warps", DEFAULT_WARPS)
    values = {size.name: size.smaller for size in sizes}
    products = _products(launch.kernel)
    elements = _elements(launch, values, products or launch.shapes)
    fitting = max(1, elements // (_LEAST_OF_PRODUCT**2 if products else wave))
    named = launch.handed_over("num_warps") is not None and launch.constant("num_warps") is None
    if fitting < warps and not named:
        launch.set("num_warps", fitting)
