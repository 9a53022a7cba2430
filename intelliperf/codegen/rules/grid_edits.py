"""How the grid of a launch is written anew: with more blocks in each dimension, or with no more than a number."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from intelliperf.codegen.rules.blocks import (
    DIM3,
    Launch,
    definitions,
    field_of,
    is_changed,
    text_of,
    walk,
)
from intelliperf.codegen.rules.local_names import declared_names
from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.syntax.source import Source

_CHANGING = (
    "assignment_expression",
    "storage_class_specifier",
    "update_expression",
    "new_expression",
    "delete_expression",
    "lambda_expression",
)
_CHOOSING = ("return_statement", "if_statement", "compound_statement")
_DEEPEST = 4  # functions that call one another
_PLAIN = frozenset(("dim3", "min", "max", "std::min", "std::max", "ceil", "std::ceil", "static_cast<int>"))


def scaled_grid(source: Source, launch: Launch, *factors: int) -> None:
    """Write the launch with as many times more blocks in each dimension, the first one first.

    Raises `NotApplicable`.
    """
    grid = launch.grid
    text = text_of(grid)
    if grid.type == "initializer_list" or _makes_dim3(grid):
        given = (grid if grid.type == "initializer_list" else field_of(grid, "arguments")).named_children
        if any(factor != 1 for factor in factors[len(given) :]):
            raise NotApplicable(f"{launch}: the grid ({text}) does not say how many blocks each dimension has")
        for extent, factor in zip(given, factors, strict=False):
            source.replace(extent.start_byte, extent.end_byte, _times(extent, factor))
        return
    if grid.type == "identifier" and _is_dim3(launch, text):
        source.replace(grid.start_byte, grid.end_byte, _each_axis(text, factors))
        return
    if grid.type == "call_expression" and (function := _returns_dim3(grid)):
        if not _only_computes(grid, function):
            raise NotApplicable(f"{launch}: the grid ({text}) is a dim3 that a function returns which does more")
        source.replace(grid.start_byte, grid.end_byte, _each_axis(text, factors))
        return
    if any(factor != 1 for factor in factors[1:]):
        raise NotApplicable(f"{launch}: the grid ({text}) has one dimension, and the blocks have more")
    source.replace(grid.start_byte, grid.end_byte, _times(grid, factors[0]))


def capped_grid(source: Source, launch: Launch, most: int) -> None:
    """Write the launch with at most so many blocks, of a grid of one dimension. Raises `NotApplicable`."""
    grid = launch.grid
    if grid.type == "identifier" and _is_dim3(launch, text_of(grid)):
        name = text_of(grid)
        extents = f"{name}.x < {most} ? {name}.x : {most}, {name}.y, {name}.z"
        source.replace(grid.start_byte, grid.end_byte, f"dim3({extents})")
        return
    if _makes_dim3(grid):
        grid, *others = field_of(grid, "arguments").named_children
        if any(text_of(other) != "1" for other in others):
            raise NotApplicable(f"{launch}: the grid ({text_of(launch.grid)}) has more than one dimension")
    elif grid.type == "call_expression" and _returns_dim3(grid):
        raise NotApplicable(f"{launch}: the grid ({text_of(grid)}) is not written as a number")
    text = text_of(grid) if grid.type == "identifier" else f"({text_of(grid)})"
    source.replace(grid.start_byte, grid.end_byte, f"({text} < {most} ? {text} : {most})")


def single_extent(launch: Launch, extents: Node) -> Node | None:
    """The one extent that is not 1 of a grid or a block; None where it cannot be read.

    Of `dim3(n)`, `dim3(n, 1, 1)` and a variable that is declared so and keeps it; of a number the number itself.
    """
    node = extents
    if node.type == "identifier" and _is_dim3(launch, text_of(node)):
        function = launch.function
        values = [value for value, _ in definitions(function, text_of(node))] if function is not None else []
        if function is None or len(values) != 1 or is_changed(function, text_of(node)):
            return None
        (node,) = values
    if _makes_dim3(node):
        node = field_of(node, "arguments")
    if node.type in ("argument_list", "parameter_list", "initializer_list"):
        given = node.named_children
        return given[0] if given and all(text_of(other) == "1" for other in given[1:]) else None
    return node


def _makes_dim3(grid: Node) -> bool:
    function = grid.child_by_field_name("function")
    return grid.type == "call_expression" and function is not None and text_of(function) == "dim3"


def _each_axis(text: str, factors: Sequence[int]) -> str:
    each = itertools.zip_longest("xyz", factors, fillvalue=1)
    return f"dim3({', '.join(f'{text}.{axis}' + (f' * {factor}' if factor != 1 else '') for axis, factor in each)})"


def _returns_dim3(call: Node) -> Node | None:
    """The function, if the file says so. Of one from elsewhere the compiler tells: a dim3 cannot be multiplied."""
    found = [
        node
        for node in _functions_called(call)
        if node.child_by_field_name("type") is not None and DIM3.fullmatch(text_of(field_of(node, "type"))) is not None
    ]
    return found[0] if found else None


def _functions_called(call: Node) -> list[Node]:
    """Those of the file with the name that is called."""
    root = call
    while root.parent is not None:
        root = root.parent
    name = text_of(field_of(call, "function")).rpartition("::")[2]
    definitions_ = (node for node in walk(root) if node.type == "function_definition")
    return [node for node in definitions_ if name in map(text_of, _function_names(node))]


def _only_computes(call: Node, function: Node, deepest: int = _DEEPEST) -> bool:
    """May it be called again? It declares, chooses and returns, changes nothing, and calls nothing but the like."""
    if any(node.type == "reference_declarator" for node in walk(field_of(function, "declarator"))):
        return False
    for node in (*walk(field_of(call, "arguments")), *walk(field_of(function, "body"))):
        if node.type in _CHANGING or node.type.endswith("_statement") and node.type not in _CHOOSING:
            return False
        if node.type != "call_expression" or text_of(field_of(node, "function")) in _PLAIN:
            continue
        inner = _functions_called(node)
        if len(inner) != 1 or deepest == 0 or not _only_computes(node, inner[0], deepest - 1):
            return False
    return True


def _function_names(definition: Node) -> Iterator[Node]:
    for node in walk(field_of(definition, "declarator")):
        if node.type == "function_declarator":
            yield field_of(node, "declarator")


def _times(node: Node, factor: int) -> str:
    if factor == 1:
        return text_of(node)
    plain = node.type in ("identifier", "number_literal", "parenthesized_expression", "field_expression")
    return f"{text_of(node)} * {factor}" if plain else f"({text_of(node)}) * {factor}"


def _is_dim3(launch: Launch, name: str) -> bool:
    """Raises `NotApplicable` where the launching function does not declare it."""
    kinds = {
        text_of(field_of(node, "type"))
        for node in (walk(launch.function) if launch.function is not None else ())
        if node.type in ("declaration", "parameter_declaration") and node.child_by_field_name("type") is not None
        for part in node.children
        if any(leaf.type == "identifier" and text_of(leaf) == name for leaf in declared_names(part))
    }
    if len(kinds) != 1:
        raise NotApplicable(f"{launch}: what the grid ({name}) is declared as is not known")
    kind = re.sub(r"\bconst\b", "", kinds.pop()).strip()
    if kind == "auto":
        values = [value for value, _ in definitions(launch.function, name)] if launch.function is not None else []
        return any(value.type == "call_expression" and (_makes_dim3(value) or _returns_dim3(value)) for value in values)
    return DIM3.fullmatch(kind) is not None
