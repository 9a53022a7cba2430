"""Where functions and kernel launches are in a source text, by tree-sitter: no compiler, no includes.

It survives macros and code that does not compile, and so answers questions of layout only
(what text to show, where to insert); questions of meaning go to `clang.ClangParser`.
Offsets are bytes of the text's UTF-8 form (surrogateescape), lines count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

_LAUNCH_CALLS = (
    "hipLaunchKernelGGL",
    "hipLaunchKernel",
    "hipExtLaunchKernelGGL",
    "hipLaunchCooperativeKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelEx",
    "cudaLaunchCooperativeKernel",
)
# What may stand around a declaration without being part of it.
_SCOPES = frozenset(
    ("translation_unit", "namespace_definition", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif")
)
_WRAPPERS = ("reference_declarator", "pointer_declarator", "parenthesized_declarator")


@dataclass(frozen=True)
class Region:
    """A stretch of a source text. `end` is exclusive, `last_line` inclusive."""

    name: str
    first_line: int
    last_line: int
    start: int
    end: int
    is_kernel: bool = False
    is_device: bool = False


def encoded(text: str) -> bytes:
    """The bytes that all offsets count in."""
    return text.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=64)
def _root(data: bytes) -> Node:
    return Parser(Language(tree_sitter_cuda.language())).parse(data).root_node


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def _text(data: bytes, node: Node) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")


def _declared_name(data: bytes, function: Node) -> str | None:
    """The name in a function definition's declarator, without its scope and template arguments."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in _WRAPPERS:
            inner = next((child for child in declarator.named_children), None)
        if inner is None:
            break
        declarator = inner
    if declarator is None:
        return None
    while declarator.type in ("qualified_identifier", "template_function"):
        name = declarator.child_by_field_name("name")
        if name is None:
            break
        declarator = name
    return _text(data, declarator)


def _with_template(node: Node) -> Node:
    parent = node.parent
    while parent is not None and parent.type == "template_declaration":
        node, parent = parent, parent.parent
    return node


def _region(data: bytes, function: Node, name: str) -> Region:
    whole = _with_template(function)
    body = function.child_by_field_name("body")
    header = data[whole.start_byte : body.start_byte if body is not None else whole.end_byte]
    return Region(
        name=name,
        first_line=whole.start_point[0] + 1,
        last_line=whole.end_point[0] + 1,
        start=whole.start_byte,
        end=whole.end_byte,
        is_kernel=b"__global__" in header,
        is_device=b"__device__" in header,
    )


def functions(text: str) -> list[Region]:
    """Every function definition with its template header, in order of appearance, methods included."""
    data = encoded(text)
    found = []
    for node in _walk(_root(data)):
        if node.type != "function_definition":
            continue
        name = _declared_name(data, node)
        if name:
            found.append(_region(data, node, name))
    return found


def enclosing_function(text: str, line: int) -> Region | None:
    """The innermost function definition that covers `line`, or None."""
    around = [region for region in functions(text) if region.first_line <= line <= region.last_line]
    return min(around, key=lambda region: region.end - region.start, default=None)


def filter_name(text: str, region: Region) -> str:
    """The name to look a function up by: its own, or that of the outermost class that holds it."""
    node = _root(encoded(text)).descendant_for_byte_range(region.start, region.end)
    name = region.name
    while node is not None:
        if node.type in ("class_specifier", "struct_specifier") and node.start_byte < region.start:
            own = node.child_by_field_name("name")
            if own is not None:
                name = _text(encoded(text), own).split("<")[0].strip()
        node = node.parent
    return name


def _names_kernel(data: bytes, expression: Node, kernel_name: str) -> bool:
    return any(
        node.type in ("identifier", "type_identifier", "field_identifier") and _text(data, node) == kernel_name
        for node in _walk(expression)
    )


def _statement(node: Node) -> Node:
    """The whole statement that a launch belongs to."""
    current = node
    while current.parent is not None and not current.type.endswith("_statement") and current.type != "declaration":
        if current.parent.type in ("compound_statement", "translation_unit"):
            break
        current = current.parent
    return current


def _launched(data: bytes, call: Node, kernel_name: str) -> bool:
    function = call.child_by_field_name("function")
    if function is None:
        return False
    if any(child.type == "kernel_call_syntax" for child in call.children):
        return _names_kernel(data, function, kernel_name)
    if _text(data, function) not in _LAUNCH_CALLS:
        return False
    arguments = call.child_by_field_name("arguments")
    return arguments is not None and _names_kernel(data, arguments, kernel_name)


def launch_sites(text: str, kernel_name: str) -> list[Region]:
    """Statements that launch `kernel_name` (unqualified, without template arguments), by any launch syntax."""
    data = encoded(text)
    sites: list[Region] = []
    for node in _walk(_root(data)):
        if node.type != "call_expression" or not _launched(data, node, kernel_name):
            continue
        whole = _statement(node)
        region = Region(kernel_name, whole.start_point[0] + 1, whole.end_point[0] + 1, whole.start_byte, whole.end_byte)
        if region not in sites:
            sites.append(region)
    return sites


def insertion_point(text: str, offset: int) -> int:
    """Where a new declaration goes before the one that holds byte `offset`, at namespace scope.

    It lies outside classes, templates and `extern "C"`, and above the comment block that
    belongs to the declaration.
    """
    data = encoded(text)
    node = _root(data)
    while True:
        inner = next((child for child in node.children if child.start_byte <= offset < child.end_byte), None)
        if inner is None:
            return offset
        node = inner
        body = node.child_by_field_name("body")
        inside = body is not None and body.start_byte <= offset < body.end_byte
        if node.type == "namespace_definition" and inside and body is not None:
            node = body
        elif node.type not in _SCOPES:
            return _above_comments(data, node)


def namespaces(text: str, offset: int) -> tuple[int, ...]:
    """The namespaces around byte `offset`, outermost first, by where their bodies start."""
    node = _root(encoded(text))
    found: list[int] = []
    while True:
        inner = next((child for child in node.children if child.start_byte < offset < child.end_byte), None)
        if inner is None:
            return tuple(found)
        node = inner
        body = node.child_by_field_name("body")
        if node.type == "namespace_definition" and body is not None and body.start_byte < offset:
            found.append(body.start_byte)


def _above_comments(data: bytes, node: Node) -> int:
    first = node
    while (
        (before := first.prev_sibling) is not None
        and before.type == "comment"
        and first.start_point[0] - before.end_point[0] <= 1
    ):
        if data[data.rfind(b"\n", 0, before.start_byte) + 1 : before.start_byte].strip():
            break  # a trailing comment of the previous declaration
        first = before
    start = data.rfind(b"\n", 0, first.start_byte) + 1
    return start if not data[start : first.start_byte].strip() else first.start_byte


def members(text: str, name: str) -> list[tuple[str, str]] | None:
    """Names and types of the fields of `typedef struct { … } name;`, in order; None where there is none, or others.

    Types are as written, with the bounds of arrays that are numbers.
    """
    data = encoded(text)
    for node in _walk(_root(data)):
        if node.type != "type_definition" or not any(
            child.type == "type_identifier" and _text(data, child) == name
            for child in node.children_by_field_name("declarator")
        ):
            continue
        record = node.child_by_field_name("type")
        body = record.child_by_field_name("body") if record is not None else None
        if record is None or record.type != "struct_specifier" or body is None:
            return None
        found: list[tuple[str, str]] = []
        for field in body.named_children:
            kind = field.child_by_field_name("type")
            if field.type == "comment":
                continue
            if field.type != "field_declaration" or kind is None or not _fields(data, field, _text(data, kind), found):
                return None
        return found
    return None


def _fields(data: bytes, declaration: Node, kind: str, found: list[tuple[str, str]]) -> bool:
    """False where a declarator is more than a name with bounds that are numbers, as for bit fields and pointers."""
    if any(
        child.type in ("bitfield_clause", "type_qualifier", "attribute_specifier") for child in declaration.children
    ):
        return False
    for declarator in declaration.children_by_field_name("declarator"):
        bounds = ""
        inner: Node | None = declarator
        while inner is not None and inner.type == "array_declarator":
            size = inner.child_by_field_name("size")
            if size is None or size.type != "number_literal":
                return False
            bounds, inner = f"[{_text(data, size)}]{bounds}", inner.child_by_field_name("declarator")
        if inner is None or inner.type != "field_identifier":
            return False
        found.append((_text(data, inner), kind + bounds))
    return True
