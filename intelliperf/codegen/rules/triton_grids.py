"""What the grid of a Triton launch is computed by: a tuple, or a function of the launch's constants, and variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_DEEPEST = 8  # variables that are set from one another


@dataclass(frozen=True)
class Grid:
    parts: tuple[ast.expr, ...]
    constants: str = ""  # what a function calls the launch's constants; "" for any other grid
    values: Mapping[str, ast.expr] = field(default_factory=dict)  # of the function's own variables
    shared: bool = False  # does other code than launches of the kernel read it?

    @classmethod
    def of(cls, written: ast.expr) -> Grid:
        """A lambda, or any other expression."""
        if isinstance(written, ast.Lambda) and len(written.args.args) == 1:
            return cls((written.body,), written.args.args[0].arg)
        return cls((written,))

    def nodes(self) -> Iterator[ast.AST]:
        for part in self.parts:
            yield from ast.walk(part)

    def local(self, node: ast.expr) -> ast.expr:
        """What one of the function's own variables holds; other expressions as they are."""
        for _ in range(_DEEPEST):
            if not isinstance(node, ast.Name) or node.id not in self.values:
                break
            node = self.values[node.id]
        return node


def function_grid(function: ast.FunctionDef) -> Grid | None:
    """A function of the launch's constants that does nothing but compute a grid; None for any other."""
    arguments = function.args
    if len(arguments.args) != 1 or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg:
        return None
    if arguments.kwarg or function.decorator_list:
        return None
    values: dict[str, ast.expr] = {}
    for statement in function.body[:-1]:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        if not isinstance(target, ast.Name) or target.id in values or target.id == arguments.args[0].arg:
            return None
        values[target.id] = statement.value
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    return Grid((last.value, *values.values()), arguments.args[0].arg, values)
