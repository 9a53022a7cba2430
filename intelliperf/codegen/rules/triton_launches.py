"""Places that launch a Triton kernel: what they hand over, their grids, and how either is edited."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from intelliperf.codegen.rules.problem import NotApplicable, Problem
from intelliperf.codegen.rules.triton import Kernel, launched_kernel_at
from intelliperf.codegen.rules.triton_grids import Grid, function_grid
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import Module, body_nodes
from intelliperf.records import SourceEvidence

DEFAULT_WARPS = 4  # Triton's own
_PURE = frozenset({"cdiv", "next_power_of_2", "min", "max"})


@dataclass(frozen=True, eq=False)
class Launch:
    """A place that launches the kernel."""

    kernel: Kernel
    site: Kernel  # the file of the launch, to edit
    call: ast.Call

    def constant(self, name: str) -> ast.Constant | None:
        """The integer that is handed over for this parameter or option, where it is written; also by a variable."""
        value = self.handed_over(name)
        if isinstance(value, ast.Name):
            value = self.assigned(value.id)
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
        if found is not None and not only_computes(found):
            raise NotApplicable(f"{self.site.where(self.call)}: {name} is more than a number that is computed")
        given = str(otherwise) if found is None else self.site.text(found)
        bounded = f"max(1, min({given}, {most}))"
        if found is not None:
            self.site.replace(found, bounded)
        else:
            self.set(name, bounded)

    def elements(self) -> int:
        """Of the kernel's largest tensor, as far as its shape is made of constants of the launch."""
        return max((prod(map(self.size, shape)) for shape in self.shapes), default=0)

    def computed_elements(self) -> str | None:
        """The same as an expression of what the launch hands over; None where it would do more than compute."""
        products = {tuple(sorted(self._spelled(size) or "" for size in shape)) for shape in self.shapes}
        if not products or any("" in factors for factors in products):
            return None
        spelled = sorted(" * ".join(f for f in factors if f != "1") or "1" for factors in products)
        return spelled[0] if len(spelled) == 1 else f"max({', '.join(spelled)})"

    @cached_property
    def shapes(self) -> frozenset[tuple[str, ...]]:
        nodes = [n for n in body_nodes(self.kernel.node) if isinstance(n, (ast.BinOp, ast.Call, ast.Name))]
        return frozenset(shape for node in nodes if (shape := shape_of(self.kernel, node)))

    def _spelled(self, size: str) -> str | None:
        if size.isdigit():
            return size
        value = self.handed_over(size)
        return self.site.operand(value) if value is not None and only_computes(value) else None

    def handed_over(self, name: str) -> ast.expr | None:
        """The argument of this parameter."""
        named = next((k.value for k in self.call.keywords if k.arg == name), None)
        names = [item.arg for item in self.kernel.function.parameters]
        if named is not None or name not in names or any(isinstance(a, ast.Starred) for a in self.call.args):
            return named
        at = names.index(name)
        return self.call.args[at] if at < len(self.call.args) else None

    def size(self, text: str) -> int:
        """Of a dimension; 0 where it cannot be told."""
        if text.isdigit():
            return int(text)
        return self.number(text, 0) if text.isidentifier() else 0

    def usual(self, name: str) -> int:
        """What the launching function hands over if its caller does not say; 0 where that cannot be told."""
        given, scope = self.handed_over(name), self._scopes[0]
        if not isinstance(given, ast.Name) or isinstance(scope, ast.Module):
            return 0
        every = [*scope.args.posonlyargs, *scope.args.args]
        pairs = [*zip(every[::-1], scope.args.defaults[::-1], strict=False)]
        pairs += [(item, d) for item, d in zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True) if d]
        found = next((d for item, d in pairs if item.arg == given.id), None)
        return found.value if isinstance(found, ast.Constant) and type(found.value) is int else 0

    # ---- the grid -----------------------------------------------------------------------------------

    @cached_property
    def grid(self) -> Grid:
        assert isinstance(self.call.func, ast.Subscript)
        written = self.call.func.slice
        bound = self.assigned(written.id) if isinstance(written, ast.Name) else None
        function = self._function(written.id) if isinstance(written, ast.Name) and bound is None else None
        grid = function or Grid.of(written if bound is None else bound)
        grid = self._with_variables(grid)
        shared = isinstance(written, ast.Name) and self._is_read_elsewhere(written.id, ())
        return replace(grid, shared=shared)

    def sizes_in_grid(self, name: str) -> list[ast.expr]:
        """Where the grid divides by the constant: `meta["BLOCK"]`, what the launch hands over, or its literal."""
        given = self.handed_over(name)
        found: list[ast.expr] = []
        for node in self.grid.nodes():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("cdiv") and len(node.args) == 2:
                divided, by = node.args
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                divided, by = node.left, node.right
            else:
                continue
            if self._stands_for(by, name, given):
                same = [n for n in ast.walk(divided) if isinstance(n, ast.expr) and ast.dump(n) == ast.dump(by)]
                literal = isinstance(by, ast.Constant)  # in `cdiv(4096, 4096)` the first one counts elements
                found += [by] if literal else [by, *same]
                if literal and isinstance(node, ast.BinOp):
                    return []  # `(n + 127) // 128`: the other number goes with it
        return found

    def _stands_for(self, node: ast.expr, name: str, given: ast.expr | None) -> bool:
        node = self.grid.local(node)
        if isinstance(node, ast.Subscript) and self.grid.constants:
            named = isinstance(node.value, ast.Name) and node.value.id == self.grid.constants
            return named and isinstance(node.slice, ast.Constant) and node.slice.value == name
        return given is not None and ast.dump(node) == ast.dump(given)

    def _function(self, name: str) -> Grid | None:
        """What a function of this name returns for a grid."""
        stored = list(_stored(self.scope_of(name), name))
        node = stored[0][0] if len(stored) == 1 else None
        return function_grid(node) if isinstance(node, ast.FunctionDef) else None

    def _with_variables(self, grid: Grid) -> Grid:
        """The grid with what variables hold that nothing else reads."""
        parts, seen = list(grid.parts), {grid.constants}
        for part in parts:  # grows on the way
            for node in ast.walk(part):
                if not isinstance(node, ast.Name) or node.id in grid.values or node.id in seen:
                    continue
                seen.add(node.id)
                value = self.assigned(node.id)
                computed = isinstance(value, (ast.BinOp, ast.Call, ast.Tuple))
                if value is not None and computed and not self._is_read_elsewhere(node.id, parts):
                    parts.append(value)
        return replace(grid, parts=tuple(parts))

    def _is_read_elsewhere(self, name: str, parts: Iterable[ast.expr]) -> bool:
        """By anything but these parts and grids of this kernel's launches."""
        scope = self.scope_of(name)
        calls = [n for n in ast.walk(scope) if isinstance(n, ast.Call) and _launches(n, self.kernel)]
        grids = [call.func.slice for call in calls if isinstance(call.func, ast.Subscript)]
        inside = {id(n) for part in (*parts, *grids) for n in ast.walk(part)}
        loads = (n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name)
        return any(id(n) not in inside for n in loads if isinstance(n.ctx, ast.Load))

    # ---- names --------------------------------------------------------------------------------------

    def assigned(self, name: str) -> ast.expr | None:
        """What a variable of the launching function, or else of the file, holds at the launch."""
        scope = self.scope_of(name)
        stored = list(_stored(scope, name))
        before = [pair for pair in stored if pair[0].lineno < self.call.lineno]
        straight = all(statement in scope.body for statement, _ in before)
        looped = any(isinstance(n, (ast.For, ast.While)) and self.call in ast.walk(n) for n in scope.body)
        if len(stored) == 1 or before and straight and not looped:
            return (before or stored)[-1][1]
        return None

    def scope_of(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module:
        """The launching function where it binds the name, else the file."""
        return next((scope for scope in self._scopes if any(True for _ in _stored(scope, name))), self._scopes[-1])

    @cached_property
    def _scopes(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Module]:
        """The innermost function around the call, and the file. A name that lies in between is not followed."""
        tree = self.site.function.module.tree
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and self.call in ast.walk(node)
        ]
        return [*sorted(around, key=lambda node: -node.lineno)[:1], tree]


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
        if isinstance(node, ast.Call) and _launches(node, kernel)
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


def _launches(call: ast.Call, kernel: Kernel) -> bool:
    named = call.func.value if isinstance(call.func, ast.Subscript) else None
    word = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    return word == kernel.function.name


def _stored(
    scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module, name: str
) -> Iterator[tuple[ast.stmt, ast.expr | None]]:
    """Statements of the scope that bind the name, each with the value where it is a plain one."""
    if not isinstance(scope, ast.Module) and name in {
        item.arg for item in ast.walk(scope.args) if isinstance(item, ast.arg)
    }:
        yield scope, None
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.stmt) and name in _bound_by(node):
            yield node, _value(node, name)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {item.asname or item.name for item in node.names}
    own = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return {
        n.id for child in own for n in ast.walk(child) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }


def _value(node: ast.stmt, name: str) -> ast.expr | None:
    if isinstance(node, ast.AnnAssign):
        return node.value
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        return value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return next((one for to, one in pairs if isinstance(to, ast.Name) and to.id == name), None)
    return None


def only_computes(node: ast.expr) -> bool:
    """May it be evaluated once more? Names, integers, and arithmetic of them."""
    if isinstance(node, ast.Call):
        word = ast.unparse(node.func).rpartition(".")[2]
        return word in _PURE and not node.keywords and all(map(only_computes, node.args))
    if isinstance(node, ast.BinOp):
        return only_computes(node.left) and only_computes(node.right)
    return isinstance(node, ast.Name) or isinstance(node, ast.Constant) and type(node.value) is int
