"""Names of local variables in a source as it is parsed, which hide functions of the same name."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

_DECLARATORS = (
    "init_declarator",
    "function_declarator",
    "reference_declarator",
    "pointer_declarator",
    "array_declarator",
    "structured_binding_declarator",
)
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
