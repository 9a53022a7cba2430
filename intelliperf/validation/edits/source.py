"""A source file as a row of items, with the bodies that a candidate may change blanked out.

Two versions of a file agree outside those bodies exactly if their rows are equal: comments and
white space do not count, everything else does. Parsed by tree-sitter; what it cannot parse stays
in the row token by token, and so is frozen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from intelliperf.validation.edits.macros import Macro, defined_name, expanded, macros_of

BODY = "⟨body⟩"
_QUALIFIERS = ("__global__", "__device__", "__host__")
_FREE_IN_HEADER = ("__restrict__", "__restrict")  # promises and hints to the compiler, not the interface
_SCOPES = frozenset(
    ("translation_unit", "namespace_definition", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif")
    + ("preproc_elifdef", "declaration_list")
)
_WRAPPERS = ("template_declaration", "linkage_specification")
_TYPES = ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier")


@dataclass(frozen=True)
class Function:
    """A function definition; `kind` is "kernel", "device" or "host" (also where it is both)."""

    name: str
    kind: str
    node: Node

    @property
    def body(self) -> Node | None:
        return self.node.child_by_field_name("body")


@dataclass(frozen=True)
class Item:
    """A declaration, directive or token between two of them. Equality is by `tokens`."""

    tokens: tuple[str, ...]
    kind: str  # node type, of what a template or linkage specification wraps
    name: str
    line: int
    node: Node
    function: Function | None


class Source:
    """One version of one file. `known`: macros of the project's other files."""

    def __init__(self, text: str, known: Mapping[str, Macro] | None = None) -> None:
        self.data = text.encode("utf-8", "surrogateescape")
        self.root = Parser(Language(tree_sitter_cuda.language())).parse(self.data).root_node
        self.macros = {**(known or {}), **macros_of((text,))}

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def functions(self) -> Iterator[Function]:
        for node in walk(self.root):
            if node.type == "function_definition":
                yield self._function(node)

    def items(self, open_body: Callable[[Function], bool], open_lambdas: bool = False) -> list[Item]:
        """The row. Bodies of functions for which `open_body` is true are blanked."""
        return [self._item(node, open_body, open_lambdas) for node in _parts(self.root)]

    def _item(self, node: Node, open_body: Callable[[Function], bool], open_lambdas: bool) -> Item:
        inner = _unwrapped(node)
        function = self._function(inner) if inner.type == "function_definition" else None
        name = function.name if function else self._declared(inner)
        tokens = tuple(self._tokens(node, open_body, open_lambdas))
        return Item(tokens, inner.type, name, node.start_point[0] + 1, node, function)

    def _declared(self, node: Node) -> str:
        named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        while named is not None and (inner := named.child_by_field_name("declarator")) is not None:
            named = inner
        return self.text(named)

    def _function(self, node: Node) -> Function:
        found = set()
        for word in self._header(node):
            found |= {q for q in _QUALIFIERS if q in expanded(word, self.macros)}
        kind = "host"
        if "__global__" in found:
            kind = "kernel"
        elif "__device__" in found and "__host__" not in found:
            kind = "device"
        return Function(self._function_name(node), kind, node)

    def header(self, function: Function) -> list[str]:
        """The words before the body."""
        return self._header(function.node)

    def _header(self, node: Node) -> list[str]:
        body = node.child_by_field_name("body")
        return [self.text(leaf) for leaf in leaves(node) if body is None or leaf.start_byte < body.start_byte]

    def _function_name(self, node: Node) -> str:
        """The name, also where a macro makes it."""
        name = _last_name(self._declared(node))
        macro = self.macros.get(name)
        if macro is None:
            return name
        calls = [inner for inner in walk(node) if inner.type == "function_declarator"]
        innermost = next((c for c in calls if self.text(c.child_by_field_name("declarator")) == name), None)
        arguments = self.text(innermost.child_by_field_name("parameters")) if innermost is not None else ""
        return defined_name(macro, arguments[1:-1]) or name

    def _tokens(self, node: Node, open_body: Callable[[Function], bool], open_lambdas: bool) -> Iterator[str]:
        if node.type == "comment":
            return
        if node.type == "function_definition":
            function = self._function(node)
            if open_body(function) and function.body is not None:
                for child in node.children:
                    if child == function.body:
                        yield BODY
                    elif child.type != "launch_bounds":
                        yield from (t for t in self._tokens(child, open_body, False) if t not in _FREE_IN_HEADER)
                return
        if open_lambdas and node.type == "lambda_expression" and self._is_device_lambda(node):
            body = node.child_by_field_name("body")
            for child in node.children:
                yield from [BODY] if child == body else self._tokens(child, open_body, open_lambdas)
            return
        if not node.children:
            text = _normal(self.text(node)) if node.type == "preproc_arg" else self.text(node).strip()
            if text:
                yield text
            return
        for child in node.children:
            yield from self._tokens(child, open_body, open_lambdas)

    def _is_device_lambda(self, node: Node) -> bool:
        body = node.child_by_field_name("body")
        return any(
            "__device__" in expanded(self.text(leaf), self.macros)
            for leaf in leaves(node)
            if body is not None and leaf.start_byte < body.start_byte
        )


def walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def leaves(node: Node) -> Iterator[Node]:
    return (n for n in walk(node) if not n.children and n.type != "comment")


def base_name(demangled: str) -> str:
    """`void ns::scale<float, 4>(float*, int)` → `scale`."""
    text = demangled.replace("(anonymous namespace)", "")
    depth, kept = 0, []
    for character in text:
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            if character in "([":
                break
            kept.append(character)
    words = "".join(kept).replace("::", " ").split()
    return words[-1] if words else ""


def without_mangling(text: str) -> str:
    """With the plain names of functions in place of their symbols, for people."""
    return re.sub(r"\b_Z\w+", lambda found: _plain_name(found[0]), text)


def _plain_name(symbol: str) -> str:
    """`_ZN2ns5scaleIfEEvPT_i` → `scale`."""
    rest = re.sub(r"^_ZN?[KL]?", "", symbol)
    name = symbol
    while (length := re.match(r"\d+", rest)) is not None:
        start, end = length.end(), length.end() + int(length[0])
        name, rest = rest[start:end], rest[end:]
    return name


def _parts(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "comment":
            continue
        opened = child.type in _SCOPES or (
            child.type == "linkage_specification" and any(c.type == "declaration_list" for c in child.children)
        )
        if opened and child.children:
            yield from _parts(child)
        else:
            yield child


def _unwrapped(node: Node) -> Node:
    while node.type in _WRAPPERS:
        wanted = ("function_definition", "declaration", "alias_declaration", *_TYPES, *_WRAPPERS)
        inner = next((child for child in node.children if child.type in wanted), None)
        if inner is None:
            break
        node = inner
    return node


def _last_name(declarator: str) -> str:
    return re.split(r"::|[*&\s]", declarator.split("<")[0])[-1]


def _normal(text: str) -> str:
    without = re.sub(r"//.*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return " ".join(without.replace("\\\n", " ").split())
