"""Local variables in a source as it is parsed: which names are theirs, and what may set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

_DECLARATORS = (
    "init_declarator",
    "function_declarator",
    "reference_declarator",
    "pointer_declarator",
    "array_declarator",
    "structured_binding_declarator",
)
_SETTING = ("exchange", "from_chars", "get", "getline", "read", "ref", "swap", "tie")  # by the standard library
_SCOPES = (
    "compound_statement",
    "for_statement",
    "for_range_loop",
    "condition_clause",
    "if_statement",
    "while_statement",
    "switch_statement",
    "case_statement",
)


def is_local(name: Node) -> bool:
    """Does the identifier declare a variable of a function, or name one that is declared ahead of it?"""
    current, parent = name, name.parent
    while parent is not None and parent.type != "function_definition":
        if parent.type in _SCOPES:
            for part in parent.children:
                if part.start_byte <= name.start_byte and name.text in _declared_in(part):
                    return True
            if parent.type == "for_range_loop" and (own := parent.child_by_field_name("declarator")) is not None:
                body = parent.child_by_field_name("body")
                inside = body is not None and body.start_byte <= name.start_byte
                if name.text in {one.text for one in names_of(own)} and (inside or current == own):
                    return True
        current, parent = parent, parent.parent
    return False


def _declared_in(statement: Node) -> set[bytes | None]:
    """Of a declaration, and of one that an `if`, a loop or a condition holds."""
    held = [statement, *(statement.children if statement.type in ("condition_clause", "init_statement") else ())]
    found: set[bytes | None] = set()
    for one in held:
        if one.type == "declaration":
            for declarator in one.children_by_field_name("declarator"):
                found |= {each.text for each in names_of(declarator)}
            if one.child_by_field_name("value") is not None:  # of a condition, `if (int n = left())`
                found |= {child.text for child in one.children if child.type == "identifier"}
    return found


def may_be_set(sources: Iterable[Node], function: Node, name: str) -> bool:
    """Does the function read a variable from a stream, or hand it on by reference?"""
    for node in _walk(function):
        if node.type == "binary_expression" and _named(node.child_by_field_name("operator")) == ">>":
            if _named(node.child_by_field_name("right")) == name:
                return True
        elif node.type == "init_declarator" and _named(node.child_by_field_name("value")) == name:
            declarator = node.child_by_field_name("declarator")
            if declarator is not None and declarator.type == "reference_declarator":
                return True
        elif node.type == "call_expression":
            called = _named(node.child_by_field_name("function")).rpartition("::")[2]
            arguments = node.child_by_field_name("arguments")
            passed = [_named(one) for one in arguments.named_children] if arguments is not None else []
            if name in passed and (called in _SETTING or _by_reference(sources, called, passed.index(name))):
                return True
    return False


def _by_reference(sources: Iterable[Node], called: str, at: int) -> bool:
    """Does a function of that name take the argument as a reference through which it may be written?"""
    for root in sources:
        for node in _walk(root) if called.encode() in (root.text or b"") else ():
            if node.type != "function_declarator" or _named(node.child_by_field_name("declarator")) != called:
                continue
            parameters = node.child_by_field_name("parameters")
            listed = parameters.named_children if parameters is not None else []
            taken = [one.children for one in listed if one.type != "comment"][at : at + 1]
            for parts in taken:
                kept = any(part.type == "type_qualifier" and part.text == b"const" for part in parts)
                if not kept and any("reference_declarator" in part.type for part in parts):
                    return True
    return False


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current.children)


def _named(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape") if node is not None else ""


def names_of(declarator: Node) -> Iterator[Node]:
    """All identifiers that a declarator declares."""
    if declarator.type == "structured_binding_declarator":
        yield from (child for child in declarator.children if child.type == "identifier")
    elif declarator.type in _DECLARATORS:
        inner = declarator.child_by_field_name("declarator")
        inner = inner if inner is not None else next(iter(declarator.named_children), None)
        yield from names_of(inner) if inner is not None else ()
    elif declarator.type == "identifier":
        yield declarator


def declared_names(declarator: Node) -> Iterator[Node]:
    """The names that a declarator declares, without what they are initialised with."""
    if declarator.type in ("init_declarator", "function_declarator", "reference_declarator", "array_declarator"):
        inner = declarator.child_by_field_name("declarator")
        yield from declared_names(inner) if inner is not None else ()
    else:
        yield declarator
