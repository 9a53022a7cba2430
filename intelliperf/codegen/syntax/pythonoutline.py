"""Where functions and launches are in a Python source, in the words of `outline`; and the outline that a file wants."""

from __future__ import annotations

import ast
from functools import lru_cache

from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.outline import Region, encoded
from intelliperf.project import pythonsource
from intelliperf.project.pythonsource import Module, Unparsable


def functions(path: str, text: str) -> list[Region]:
    """Every function definition of the file, with its decorators or template header, in order of appearance."""
    if not path.endswith(pythonsource.SUFFIX):
        return outline.functions(text)
    module = _module(path, text)
    if module is None:
        return []
    jit = {id(function.node) for function in module.functions}
    nodes = [n for n in ast.walk(module.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [_region(text, n, n.name, id(n) in jit) for n in sorted(nodes, key=lambda n: n.lineno)]


def launch_sites(path: str, text: str, kernel: str) -> list[Region]:
    """Launches of the kernel by name: `kernel[grid](…)` in Python."""
    if not path.endswith(pythonsource.SUFFIX):
        return outline.launch_sites(text, kernel)
    module = _module(path, text)
    if module is None:
        return []
    calls = [n for n in ast.walk(module.tree) if isinstance(n, ast.Call)]
    return [_region(text, call, kernel, False) for call in calls if _launches(call, kernel)]


def _launches(call: ast.Call, kernel: str) -> bool:
    if not isinstance(call.func, ast.Subscript):
        return False
    named = call.func.value
    return (named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")) == kernel


@lru_cache(maxsize=32)
def _module(path: str, text: str) -> Module | None:
    try:
        return pythonsource.parse(path, text)
    except Unparsable:
        return None


def _region(text: str, node: ast.expr | ast.FunctionDef | ast.AsyncFunctionDef, name: str, kernel: bool) -> Region:
    """From the first decorator to the last line, whole lines for functions as far as only blanks precede them."""
    starts = [0]
    for line in encoded(text).split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    decorators = [] if isinstance(node, ast.expr) else node.decorator_list
    first, column = min([(node.lineno, node.col_offset), *((d.lineno, d.col_offset - 1) for d in decorators)])
    last = node.end_lineno or node.lineno
    end = starts[last - 1] + (node.end_col_offset or 0)
    return Region(name, first, last, starts[first - 1] + column, end, kernel, kernel)
