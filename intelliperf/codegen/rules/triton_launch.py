"""Warps, stages and block sizes of a Triton launch, one step at a time: the judge's time decides whether it stays.

Every accepted step makes new sources, for which the rules are asked again: together they climb.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, launched_kernel_at
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import Module, body_nodes
from intelliperf.records import Declaration, Metric, SourceEvidence

_FILLED = 0.9  # of the lanes: fewer warps would have to do more, not the same
_PURE = frozenset({"cdiv", "next_power_of_2", "min", "max"})
_DEFAULT_WARPS = 4  # Triton's own
_DEFAULT_STAGES = 2  # for AMD
_MOST_LANES = 1024  # of a block, on all supported chips
_ELEMENTS_OF_A_LANE = 16  # more of a tensor than this in every lane leaves few registers for others
_LARGER = 8
_MOST_ELEMENTS = 8192
_LARGEST_TILE = 128


@dataclass(frozen=True, eq=False)
class Launch:
    """A place that launches the kernel."""

    kernel: Kernel
    site: Kernel  # the file of the launch, to edit
    call: ast.Call

    def constant(self, name: str) -> ast.Constant | None:
        """The integer that is handed over under this keyword, where it is written; also through one variable."""
        value = next((k.value for k in self.call.keywords if k.arg == name), None)
        if isinstance(value, ast.Name):
            found = [
                n.value
                for n in ast.walk(self.site.function.module.tree)
                if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == value.id for t in n.targets)
            ]
            value = found[0] if len(found) == 1 else None
        return value if isinstance(value, ast.Constant) and type(value.value) is int else None

    def number(self, name: str, otherwise: int) -> int:
        found = self.constant(name)
        return int(found.value) if found is not None and isinstance(found.value, int) else otherwise

    def set(self, name: str, value: int | str) -> None:
        found = self.constant(name)
        if found is not None:
            self.site.replace(found, str(value))
            return
        if any(k.arg == name for k in self.call.keywords):
            raise NotApplicable(f"{self.site.where(self.call)}: {name} is not a literal")
        last = [*self.call.args, *(k.value for k in self.call.keywords)][-1]
        self.site.source.insert(self.site.span(last)[1], f", {name}={value}")

    def bound(self, name: str, otherwise: int, most: str) -> None:
        """No more than `most`, an expression that the program evaluates as it launches, and at least one."""
        found = next((k.value for k in self.call.keywords if k.arg == name), None)
        if found is not None and not _only_computes(found):
            raise NotApplicable(f"{self.site.where(self.call)}: {name} is more than a number that is computed")
        given = str(otherwise) if found is None else self.site.text(found)
        bounded = f"max(1, min({given}, {most}))"
        if found is not None:
            self.site.replace(found, bounded)
        else:
            self.set(name, bounded)

    def elements(self) -> int:
        """Of the kernel's largest tensor, as far as its shape is made of constants of the launch."""
        return max((prod(map(self._size, shape)) for shape in self._shapes()), default=0)

    def computed_elements(self) -> str | None:
        """The same as an expression of what the launch hands over; None where it would do more than compute."""
        products = {tuple(sorted(self._spelled(size) or "" for size in shape)) for shape in self._shapes()}
        if not products or any("" in factors for factors in products):
            return None
        spelled = sorted(" * ".join(f for f in factors if f != "1") or "1" for factors in products)
        return spelled[0] if len(spelled) == 1 else f"max({', '.join(spelled)})"

    def _shapes(self) -> frozenset[tuple[str, ...]]:
        nodes = [n for n in body_nodes(self.kernel.node) if isinstance(n, (ast.BinOp, ast.Call, ast.Name))]
        return frozenset(shape for node in nodes if (shape := shape_of(self.kernel, node)))

    def _spelled(self, size: str) -> str | None:
        if size.isdigit():
            return size
        value = self.handed_over(size)
        return self.site.operand(value) if value is not None and _only_computes(value) else None

    def handed_over(self, name: str) -> ast.expr | None:
        """The argument of this parameter."""
        named = next((k.value for k in self.call.keywords if k.arg == name), None)
        names = [item.arg for item in self.kernel.function.parameters]
        if named is not None or name not in names or any(isinstance(a, ast.Starred) for a in self.call.args):
            return named
        at = names.index(name)
        return self.call.args[at] if at < len(self.call.args) else None

    def _size(self, text: str) -> int:
        if text.isdigit():
            return int(text)
        return self.number(text, 0) if text.isidentifier() else 0


def launch_of(problem: Problem, evidence: SourceEvidence) -> Launch:
    """The only launch. Raises `NotApplicable`."""
    found = launches_of(problem, evidence)
    if len(found) != 1:
        raise NotApplicable(f"{found[0].kernel.function.name} is launched at {len(found)} places that can be told")
    return found[0]


def launches_of(problem: Problem, evidence: SourceEvidence) -> list[Launch]:
    """At least one. Raises `NotApplicable`."""
    kernel = launched_kernel_at(problem, evidence)
    if any("autotune" in ast.unparse(item) for item in kernel.node.decorator_list):
        raise NotApplicable(f"{kernel.source.path}: the kernel tunes its launches itself")
    found = [
        (module, node)
        for module in kernel.program.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and _names(node.func.value, kernel)
    ]
    if not found:
        raise NotApplicable(f"{kernel.function.name} is launched at no places that can be told")
    if any(not call.args and not call.keywords for _, call in found):
        raise NotApplicable(f"{kernel.function.name} is launched without arguments")
    return [Launch(kernel, _site(problem, module, kernel), call) for module, call in found]


def _site(problem: Problem, module: Module, kernel: Kernel) -> Kernel:
    """The launching file, as one to edit. Its functions are of no interest, only its text."""
    stand_in = next(iter(module.functions), kernel.function)
    if stand_in.module is not module:
        stand_in = type(stand_in)(module, stand_in.node, stand_in.qualified)
    return Kernel(stand_in, problem.source(module.path), kernel.program)


def _only_computes(node: ast.expr) -> bool:
    """May it be evaluated once more? Names, integers, and arithmetic of them."""
    if isinstance(node, ast.Call):
        word = ast.unparse(node.func).rpartition(".")[2]
        return word in _PURE and not node.keywords and all(map(_only_computes, node.args))
    if isinstance(node, ast.BinOp):
        return _only_computes(node.left) and _only_computes(node.right)
    return isinstance(node, ast.Name) or isinstance(node, ast.Constant) and type(node.value) is int


def _names(node: ast.expr, kernel: Kernel) -> bool:
    word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return word == kernel.function.name


class TritonWarps:
    """As many warps as have work: a lane without an element repeats another's, one with many spills."""

    name = "triton_warps"

    def rewrite(self, problem: Problem) -> Rewrite:
        return _rewritten(problem, "The launch has as many warps as the tensors ask for", self._edit, launches_of)

    def _edit(self, problem: Problem, launch: Launch) -> str:
        wave = problem.task.device.wave_size
        warps, elements = launch.number("num_warps", _DEFAULT_WARPS), launch.elements()
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
        launch.bound("num_warps", _DEFAULT_WARPS, f"{grouped} // {wave}")
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
            if not divisors(launch, name):
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
            if (value := launch.number(name, 0)) > 0 and divisors(launch, name) and self._sizes(launch, name)
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


def divisors(launch: Launch, name: str) -> list[ast.expr]:
    """Where the grid names the constant: `meta["BLOCK"]`, the same variable, or the same literal in cdiv."""
    given = next((k.value for k in launch.call.keywords if k.arg == name), None)
    found: list[ast.expr] = []
    for node in ast.walk(_grid(launch)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("cdiv") and len(node.args) == 2:
            divisor = node.args[1]
            by_name = isinstance(divisor, ast.Subscript) and isinstance(divisor.slice, ast.Constant)
            if by_name and isinstance(divisor, ast.Subscript) and isinstance(divisor.slice, ast.Constant):
                found += [divisor] if divisor.slice.value == name else []
            elif given is not None and ast.dump(divisor) == ast.dump(given):
                found.append(divisor)
    return found


def _grid(launch: Launch) -> ast.expr:
    assert isinstance(launch.call.func, ast.Subscript)
    grid = launch.call.func.slice
    if isinstance(grid, ast.Name):
        bound = [
            n.value
            for n in ast.walk(launch.site.function.module.tree)
            if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == grid.id for t in n.targets)
        ]
        return bound[0] if len(bound) == 1 else grid
    return grid


def scale(launch: Launch, name: str, larger: int) -> None:
    launch.set(name, larger)
    for divisor in divisors(launch, name):
        if isinstance(divisor, ast.Constant):
            launch.site.replace(divisor, str(larger))


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
