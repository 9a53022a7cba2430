"""Names of types that clang leaves behind pointers and in arrays, taken from where it resolves them.

It resolves the name that a type consists of, not one inside another: an element of `real*` is a `double`, the pointer
stays a `real *`. Whoever uses memory through a pointer has an expression of its element's type, which tells.
"""

from __future__ import annotations

import re

from intelliperf.codegen.syntax.tree import Node

_QUALIFIERS = re.compile(r"\b(?:const|volatile) |\b(?:struct|class|typename) ")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")


def resolve_aliases(root: Node) -> None:
    """Write the resolved names into the canonical types of every function below `root`."""
    for function in [node for node in root.walk() if node.kind in ("FunctionDecl", "CXXMethodDecl")]:
        if known := _known(function):
            _replace(function, known)


def _replace(function: Node, known: dict[str, str]) -> None:
    names = "|".join(map(re.escape, known))
    pattern = re.compile(rf"(?<![\w:])({names})\b(?!::)")
    for node in function.everything():
        if node.canonical:
            node.canonical = pattern.sub(lambda found: known[found[1]], node.canonical)


def _known(function: Node) -> dict[str, str]:
    """By name; one that means two types in the function, or is declared in it, is left alone."""
    meanings: dict[str, set[str]] = {}
    own = {node.name for node in function.everything() if node.kind in ("TypedefDecl", "TypeAliasDecl")}
    for node in function.everything():
        written, resolved = (_QUALIFIERS.sub("", text) for text in (node.type, node.canonical))
        if written not in (resolved, "auto") and _NAME.fullmatch(written):
            meanings.setdefault(written, set()).add(resolved)
    return {name: min(found) for name, found in meanings.items() if len(found) == 1 and name not in own}
