"""How large the blocks are that a kernel is launched with, at every launch that the sources hold.

By tree-sitter, over all sources that are compiled for the device: nothing else can name a kernel. A use of its name
that is no launch (an address taken, a macro's argument) or a size that is no constant ends the proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.syntax.outline import encoded

_BY_CALL = ("hipLaunchKernelGGL", "hipExtLaunchKernelGGL")
_BLOCK_ARGUMENT = 2  # of these: kernel, grid, block
_ARITHMETIC = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b}
_MAX_DEPTH = 16  # of constants that name constants


def launched_threads(sources: Mapping[str, str], kernel: str) -> tuple[int, ...]:
    """Threads per block at each launch of any kernel with that name, in order. Raises `NotApplicable`."""
    program = _Program(sources)
    found = [program.threads(use) for use in program.launches(kernel)]
    if not found:
        raise NotApplicable(f"no launch of {kernel} is in the sources that are compiled for the device")
    return tuple(found)


class _Use:
    """The block argument of one launch."""

    def __init__(self, path: str, node: Node, function: Node | None) -> None:
        self.path, self.node, self.function = path, node, function

    def __str__(self) -> str:
        return f"{self.path}:{self.node.start_point[0] + 1}"


class _Program:
    def __init__(self, sources: Mapping[str, str]) -> None:
        parser = Parser(Language(tree_sitter_cuda.language()))
        self._roots = {path: parser.parse(encoded(text)).root_node for path, text in sources.items()}

    def launches(self, kernel: str) -> Iterator[_Use]:
        for path, root in self._roots.items():
            for node in _walk(root):
                if node.type == "preproc_arg" and re.search(rf"\b{re.escape(kernel)}\b", _text(node)):
                    raise NotApplicable(f"{path}:{node.start_point[0] + 1}: a macro names {kernel}")
                if node.type != "identifier" or _text(node) != kernel or _declares(node):
                    continue
                yield _Use(path, _block_argument(path, kernel, node), _function_around(node))

    def threads(self, use: _Use) -> int:
        return math.prod(self._extents(use, use.node, 0))

    def _extents(self, use: _Use, node: Node, depth: int) -> tuple[int, ...]:
        if depth > _MAX_DEPTH:
            raise NotApplicable(f"{use}: the block size is defined in a circle")
        if node.type == "parenthesized_expression":
            return self._extents(use, node.named_children[0], depth + 1)
        if node.type == "call_expression" and _text(_field(node, "function")) == "dim3":
            return self._each(use, _field(node, "arguments"), depth)
        if node.type in ("argument_list", "initializer_list"):
            return self._each(use, node, depth)
        if node.type == "number_literal" and (literal := re.fullmatch(r"(\d+)[uUlL]*", _text(node))):
            return (int(literal[1]),)
        if node.type == "binary_expression":
            operation = _ARITHMETIC.get(_text(_field(node, "operator")))
            parts = [self._extents(use, _field(node, side), depth + 1) for side in ("left", "right")]
            if operation is not None and all(len(part) == 1 for part in parts) and parts[1] != (0,):
                return (operation(parts[0][0], parts[1][0]),)
        if node.type in ("identifier", "qualified_identifier"):
            return self._extents(use, self._definition(use, _text(node).rpartition("::")[2]), depth + 1)
        raise NotApplicable(f"{use}: the block size ({_text(node)}) is not a constant")

    def _each(self, use: _Use, arguments: Node, depth: int) -> tuple[int, ...]:
        parts = [self._extents(use, part, depth + 1) for part in arguments.named_children]
        if not parts or any(len(part) != 1 for part in parts):
            raise NotApplicable(f"{use}: the block size ({_text(arguments)}) is not a constant")
        return tuple(part[0] for part in parts)

    def _definition(self, use: _Use, name: str) -> Node:
        """The value of the one variable or macro of that name that the launch can mean and nobody changes."""
        if use.function is not None:
            inside = [value for value, _ in _definitions(use.function, name)]
            if len(inside) == 1 and not _changed(use.function, name):
                return inside[0]
            if inside or _is_parameter(use.function, name):
                raise NotApplicable(f"{use}: the block size ({name}) is not a constant")
        outside = [
            value
            for root in self._roots.values()
            for value, constant in _definitions(root, name)
            if constant and _function_around(value) is None
        ]
        if len(outside) != 1:
            raise NotApplicable(f"{use}: the block size ({name}) is not one constant of the sources")
        return outside[0]


def _definitions(root: Node, name: str) -> Iterator[tuple[Node, bool]]:
    """Values, and whether they are constants by their own declaration."""
    for node in _walk(root):
        if node.type == "init_declarator" and _text(_field(node, "declarator")) == name:
            qualifiers = [child for child in (node.parent or node).children if child.type == "type_qualifier"]
            yield _field(node, "value"), any(_text(word) in ("const", "constexpr") for word in qualifiers)
        elif node.type == "preproc_def" and _text(_field(node, "name")) == name:
            yield _macro_value(node), True


def _macro_value(definition: Node) -> Node:
    """The body of a macro as an expression of its own."""
    text = _text(_field(definition, "value")) if definition.child_by_field_name("value") else ""
    tree = Parser(Language(tree_sitter_cuda.language())).parse(encoded(f"int value = {text.strip()};"))
    values = [_field(node, "value") for node in _walk(tree.root_node) if node.type == "init_declarator"]
    return values[0] if len(values) == 1 else definition


def _changed(function: Node, name: str) -> bool:
    """Assigned, counted, or with its address taken."""
    for node in _walk(function):
        target = None
        if node.type == "assignment_expression":
            target = _field(node, "left")
        elif node.type in ("update_expression", "pointer_expression"):
            target = _field(node, "argument")
        if target is not None and re.match(rf"{re.escape(name)}\b", _text(target)):
            return True
    return False


def _is_parameter(function: Node, name: str) -> bool:
    return any(
        node.type == "parameter_declaration"
        and any(leaf.type == "identifier" and _text(leaf) == name for leaf in _walk(node))
        for node in _walk(function)
    )


def _block_argument(path: str, kernel: str, name: Node) -> Node:
    place = f"{path}:{name.start_point[0] + 1}"
    node = name
    while node.parent is not None and node.parent.type in ("template_function", "qualified_identifier"):
        node = node.parent
    call = node.parent
    if call is not None and call.type == "call_expression" and call.child_by_field_name("function") == node:
        for child in call.children:
            if child.type == "kernel_call_syntax" and len(child.named_children) > 1:
                return child.named_children[1]
    if call is not None and call.type == "argument_list" and call.named_children[0] == node:
        outer = call.parent
        launches = outer is not None and _text(_field(outer, "function")) in _BY_CALL
        if launches and len(call.named_children) > _BLOCK_ARGUMENT:
            return call.named_children[_BLOCK_ARGUMENT]
    raise NotApplicable(f"{place}: {kernel} is used otherwise than in a launch")


def _declares(name: Node) -> bool:
    """Is this the name in a function's own declarator?"""
    node: Node | None = name
    while node is not None and node.parent is not None:
        if node.parent.type == "function_declarator":
            return node.parent.child_by_field_name("declarator") == node
        if node.parent.type not in ("qualified_identifier", "template_function"):
            return False
        node = node.parent
    return False


def _function_around(node: Node) -> Node | None:
    current = node.parent
    while current is not None and current.type not in ("function_definition", "lambda_expression"):
        current = current.parent
    return current


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise NotApplicable(f"line {node.start_point[0] + 1} cannot be read")
    return found


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")
