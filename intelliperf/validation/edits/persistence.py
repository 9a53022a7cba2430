"""What outlives a launch: variables in which a kernel could keep an answer for the next one.

Decided on the declaration's own words. `const int*` is a pointer that changes, `sizeof(const int)` makes
nothing constant, and a constant of class type may have members that are not.
"""

from __future__ import annotations

from tree_sitter import Node

from intelliperf.validation.edits.source import Item, Source, leaves, walk

_PLAIN = ("unsigned", "signed", "int", "long", "short", "char", "float", "double", "bool")
_WORDS = frozenset(("__device__", "static", *_PLAIN))
_FIXED_WIDTH = frozenset(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)) | {"size_t"}
_KEPT = ("static", "thread_local", "__thread", "_Thread_local")


def refusal(old: Source, new: Source) -> str:
    """No variable of a function's body may keep its value, unless the original has as many of them."""
    counts = []
    for source in (old, new):
        bodies = (f.body for f in source.functions() if f.kind != "host" and f.body is not None)
        counts.append(
            sum(node.type == "declaration" and keeps_values(source, node) for body in bodies for node in walk(body))
        )
    return "a static variable in device code" if counts[1] > counts[0] else ""


def keeps_values(source: Source, node: Node) -> bool:
    """Is it a declaration of a variable that is neither a constant nor a block's LDS, and lives for ever?"""
    words = _specifiers(source, node)
    lasting = any(word in words for word in _KEPT) or "__device__" in words
    return lasting and "__shared__" not in words and not is_prototype(node) and not is_constant(source, node)


def is_constant(source: Source, node: Node) -> bool:
    """Does the declared thing itself stay as it is? Of pointers and references only a `constexpr` is known to."""
    words = _specifiers(source, node)
    if "constexpr" in words:
        return True
    indirect = any(inner.type in ("pointer_declarator", "reference_declarator") for inner in walk(node))
    return "const" in words and not indirect


def is_prototype(node: Node) -> bool:
    """`float f(float);`, but not `float f[(2)];`."""
    declared = _declaration(node).child_by_field_name("declarator")
    while declared is not None and declared.type in ("pointer_declarator", "reference_declarator"):
        declared = declared.child_by_field_name("declarator") or next(iter(declared.named_children), None)
    return declared is not None and declared.type == "function_declarator"


def starts_as_zeros(source: Source, node: Node) -> bool:
    """A `__device__` variable, or an array, of numbers, without a first value: a counter of blocks, say."""
    node = _declaration(node)
    words = {source.text(leaf) for leaf in leaves(node) if leaf.type not in ("identifier", "number_literal")}
    kinds = {inner.type for inner in walk(node)}
    types = set(_specifiers(source, node)) - _FIXED_WIDTH
    plain = types <= _WORDS and not kinds & {"init_declarator", "pointer_declarator", "reference_declarator"}
    return plain and "__device__" in words and "call_expression" not in kinds and node.type == "declaration"


def linked_by_plain_name(item: Item) -> bool:
    """`extern "C"`: it would be what every other part of the program and its libraries calls by that name.

    Not so a device function in the midst of others that are all in such a block.
    """
    if item.node.type == "linkage_specification":
        return True
    among_others = item.function is not None and item.function.kind == "device"
    return not among_others and any(node.type == "linkage_specification" for node in _parents(item.node))


def _parents(node: Node) -> list[Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _declaration(node: Node) -> Node:
    """What a template wraps."""
    while node.type == "template_declaration":
        inner = next((child for child in node.named_children if child.type.endswith("declaration")), None)
        if inner is None:
            break
        node = inner
    return node


def _specifiers(source: Source, node: Node) -> list[str]:
    """The words in front of the declared names."""
    found: list[str] = []
    for child in _declaration(node).children:
        declarator = child.type.endswith("declarator") or child.type in (
            "identifier",
            "field_identifier",
            ",",
            ";",
            "=",
        )
        if not declarator:
            found += [source.text(leaf) for leaf in leaves(child)]
    return found
