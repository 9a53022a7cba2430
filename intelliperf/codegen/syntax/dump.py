"""A whole unit's dump, and the declarations in it that a name asks for, as clang's own filter would choose them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_UNNAMED = {"NamespaceDecl": "(anonymous namespace)"}
_SCOPES = frozenset(
    ("NamespaceDecl", "CXXRecordDecl", "ClassTemplateSpecializationDecl", "ClassTemplatePartialSpecializationDecl")
)


class Dump:
    """`raw` is the decoded dump of a translation unit."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw
        self._scopes: dict[str, str] = {}  # id of a scope → its qualified name with "::"
        self._learn(raw, "")

    def matching(self, name: str) -> Iterator[dict[str, Any]]:
        """The outermost declarations whose qualified name contains `name`."""
        yield from self._matching(self._raw, name, "")

    def _learn(self, raw: dict[str, Any], scope: str) -> None:
        for child in raw.get("inner", ()):
            kind = child.get("kind", "")
            if kind in _SCOPES:
                inner = f"{scope}{child.get('name') or _UNNAMED.get(kind, '')}::"
                self._scopes[child["id"]] = inner
                self._learn(child, inner)
            elif kind == "ClassTemplateDecl" or kind == "LinkageSpecDecl":
                self._learn(child, scope)

    def _matching(self, raw: dict[str, Any], name: str, scope: str) -> Iterator[dict[str, Any]]:
        closure = raw.get("kind") == "LambdaExpr"
        for child in raw.get("inner", ()):
            kind = child.get("kind", "")
            if closure and kind == "CXXRecordDecl":  # repeats the lambda's body
                continue
            around = self._scopes.get(child.get("parentDeclContextId", ""), scope)
            own = child.get("name") or _UNNAMED.get(kind, "")
            if kind.endswith("Decl") and own and name in f"{around}{own}":
                yield child
            else:
                yield from self._matching(child, name, self._scopes.get(child.get("id", ""), around))
