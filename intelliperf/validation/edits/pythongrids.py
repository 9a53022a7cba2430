"""How a Python program computes the grids of a kernel's launches from what it hands to the kernel.

As `grids`, but arguments are taken by name (`@n`): which of them the kernel has left is known when it is compiled. What
the program holds in a variable that it sets once is looked up there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from intelliperf.project.pythonsource import JitFunction, Module, Program

_MOST_WORDS = 60
_DEEPEST = 8  # variables that are set from one another
_TWO = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.Mod: "srem"}
_CHOICES = {"min": "smin", "max": "smax"}
_ROUNDED_UP = "triton.cdiv"


def grid_formulas(program: Program, kernel: JitFunction) -> tuple[str, ...]:
    """Of each launch whose grid depends on plain numbers among its arguments alone."""
    found: dict[str, None] = {}
    for module in program.modules.values():
        for scope in _scopes(module.tree):
            for call in _calls(scope):
                launch = _Launch(module, scope, kernel, call)
                if launch.is_meant and (formula := launch.formula()):
                    found[formula] = None
    return tuple(found)


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions inside."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child
            yield from _own(child)


def _calls(scope: ast.AST) -> Iterator[ast.Call]:
    return (node for node in _own(scope) if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript))


@dataclass(frozen=True)
class _Launch:
    """`call` is `kernel[grid](…)`."""

    module: Module
    scope: ast.AST
    kernel: JitFunction
    call: ast.Call

    @property
    def is_meant(self) -> bool:
        named = self.call.func.value if isinstance(self.call.func, ast.Subscript) else self.call.func
        word = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
        return word == self.kernel.name and not any(isinstance(one, ast.Starred) for one in self.call.args)

    def formula(self) -> str:
        """Empty where it is made of anything else."""
        assert isinstance(self.call.func, ast.Subscript)
        grid = self._looked_up(self.call.func.slice)
        names: tuple[str, ...] = ()
        if isinstance(grid, ast.Lambda) and len(grid.args.args) == 1:
            names, grid = (grid.args.args[0].arg,), grid.body
        elif isinstance(grid, ast.Name) and (function := self._function(grid.id)) is not None:
            names, grid = function
        extents = list(grid.elts) if isinstance(grid, ast.Tuple) else [grid]
        if not 1 <= len(extents) <= 3:
            return ""
        rows = [list(islice(self._words(one, names, _DEEPEST), _MOST_WORDS + 1)) for one in extents]
        rows += [["#1"]] * (3 - len(rows))
        if any("" in row or len(row) > _MOST_WORDS for row in rows) or "@" not in "".join(map("".join, rows)):
            return ""
        x, y, z = map(" ".join, rows)
        return f"0:{x} {y} #32 shl.64 or.64:{z}"

    def _function(self, name: str) -> tuple[tuple[str, ...], ast.expr] | None:
        """The parameter, and what is returned, of the only function of that name that does nothing but return it."""
        scope = self.scope
        found = _functions(scope, name)
        if not found and not _is_set(scope, name):
            scope = self.module.tree
            found = _functions(scope, name)
        if len(found) != 1 or _is_set(scope, name) or found[0].decorator_list:
            return None
        body, arguments = found[0].body, found[0].args
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        if value is None or len(arguments.args) != 1 or arguments.posonlyargs or arguments.vararg or arguments.kwarg:
            return None
        return (arguments.args[0].arg,), value

    def _handed(self) -> Mapping[str, ast.expr]:
        names = [item.arg for item in self.kernel.parameters]
        by_place = dict(zip(names, self.call.args, strict=False))
        return by_place | {one.arg: one.value for one in self.call.keywords if one.arg is not None}

    def _words(self, node: ast.expr, names: tuple[str, ...], deepest: int) -> Iterator[str]:
        """`names`: what a grid that is a function calls the launch's constants."""
        taken, node = self._taken(node), self._looked_up(node)
        if taken is not None:
            yield f"@{taken}"
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield f"#{node.value}"
        elif deepest == 0:
            yield ""
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            handed = self._handed().get(key) if isinstance(key, str) else None
            size = self._looked_up(handed) if handed is not None else None
            value = size.value if isinstance(size, ast.Constant) else None
            yield f"#{value}" if isinstance(value, int) and not isinstance(value, bool) else ""
        elif isinstance(node, ast.BinOp) and type(node.op) in _TWO:
            yield from self._words(node.left, names, deepest - 1)
            yield from self._words(node.right, names, deepest - 1)
            yield f"{_TWO[type(node.op)]}.64"
        elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
            yield from self._called(node, names, deepest - 1)
        else:
            yield ""

    def _taken(self, node: ast.expr) -> str | None:
        """The argument that is the same expression, as it stands or looked up; a number that is written is nobody's."""
        handed = {name: value for name, value in self._handed().items() if name not in self.kernel.constants}
        for seen in (lambda one: one, self._looked_up):
            here = seen(node)
            if not isinstance(here, ast.Constant):
                for name, value in handed.items():
                    if ast.dump(seen(value)) == ast.dump(here):
                        return name
        return None

    def _called(self, node: ast.Call, names: tuple[str, ...], deepest: int) -> Iterator[str]:
        first, second = node.args
        if self.module.dotted(node.func) == _ROUNDED_UP:
            yield from self._words(first, names, deepest)
            yield from self._words(second, names, deepest)
            yield from ("add.64", "#1", "sub.64")
            yield from self._words(second, names, deepest)
            yield "sdiv.64"
            return
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        yield from self._words(first, names, deepest)
        yield from self._words(second, names, deepest)
        yield f"{_CHOICES[called]}.64" if called in _CHOICES and called not in self.module.bindings else ""

    def _looked_up(self, node: ast.expr) -> ast.expr:
        """What a variable holds that is set once, and by nothing but an assignment."""
        for _ in range(_DEEPEST):
            if not isinstance(node, ast.Name):
                return node
            value = _set_once(self.scope, node.id)
            if value is None and not _is_set(self.scope, node.id):
                value = _set_once(self.module.tree, node.id)
            if value is None:
                return node
            node = value
        return node


def _functions(scope: ast.AST, name: str) -> list[ast.FunctionDef]:
    """Of the scope itself, whatever its `if`s and loops."""
    own = [scope, *_own(scope)]
    return [n for each in own for n in ast.iter_child_nodes(each) if isinstance(n, ast.FunctionDef) and n.name == name]


def _is_set(scope: ast.AST, name: str) -> bool:
    arguments = getattr(scope, "args", None)
    taken = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)} if arguments is not None else set()
    return name in taken or any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in _own(scope)
    )


def _set_once(scope: ast.AST, name: str) -> ast.expr | None:
    """Not where anything else may set it: a loop, a `global` elsewhere, a second assignment."""
    stores = [n for n in _own(scope) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    if len(stores) != 1 or any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in ast.walk(scope)):
        return None
    for node in _own(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            (target,) = node.targets
            if target is stores[0]:
                return node.value
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                if len(target.elts) == len(node.value.elts):
                    return next((value for one, value in pairs if one is stores[0]), None)
    return None
