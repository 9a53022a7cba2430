"""clang's syntax tree as plain nodes: kinds, exact types, referenced declarations, places.

Built from the JSON of `-ast-dump=json`. Two normalizations are made: reads of the coordinates
(`threadIdx.x` and its kin, however the headers spell them) become nodes of kind `Coordinate`,
and the closure class inside a lambda expression, which repeats its body, keeps its own subtree
only under the kind `ClosureDecl`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

COORDINATES = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_SEE_THROUGH = frozenset(
    (
        "ImplicitCastExpr",
        "ParenExpr",
        "ExprWithCleanups",
        "MaterializeTemporaryExpr",
        "CXXBindTemporaryExpr",
        "ConstantExpr",
        "SubstNonTypeTemplateParmExpr",
        "FullExpr",
    )
)


@dataclass(frozen=True)
class TokenPlace:
    """One token. `macro`: it was written by a macro, and the place is that of the macro's use.

    `argument`: the macro only hands on what it was given.
    """

    file: str
    offset: int
    line: int
    column: int
    length: int
    macro: bool
    argument: bool = False


@dataclass(frozen=True)
class Reference:
    """The declaration that an expression names."""

    id: str
    kind: str
    name: str
    type: str


@dataclass(eq=False)
class Node:
    kind: str
    id: str = ""
    name: str = ""
    type: str = ""  # as written
    canonical: str = ""  # without typedefs
    category: str = ""  # lvalue, prvalue, xvalue
    cast: str = ""
    opcode: str = ""
    value: str = ""
    postfix: bool = False
    storage: str = ""
    begin: TokenPlace | None = None
    end: TokenPlace | None = None
    place: TokenPlace | None = None
    reference: Reference | None = None
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    flags: frozenset[str] = frozenset()

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in source order; closure classes are left out."""
        yield self
        for child in self.children:
            if child.kind != "ClosureDecl":
                yield from child.walk()

    def everything(self) -> Iterator[Node]:
        """Like `walk`, with closure classes."""
        yield self
        for child in self.children:
            yield from child.everything()

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def bare(self) -> Node:
        """The expression without implicit casts and parentheses."""
        node = self
        while node.kind in _SEE_THROUGH and node.children:
            node = node.children[0] if node.kind != "SubstNonTypeTemplateParmExpr" else node.children[-1]
        return node

    def user(self) -> Node | None:
        """The nearest ancestor that is not an implicit cast or parenthesis."""
        return next((node for node in self.ancestors() if node.kind not in _SEE_THROUGH), None)

    @property
    def in_macro(self) -> bool:
        return self.begin is None or self.end is None or self.begin.macro or self.end.macro

    @property
    def is_whole_macro(self) -> bool:
        """Does a macro stand for this expression and nothing else, as `hipThreadIdx_x` for `threadIdx.x`?"""

        def written_at(node: Node) -> TokenPlace | None:
            begin, end = node.begin, node.end
            alike = begin is not None and begin == end and begin.macro and not begin.argument
            return begin if alike else None

        place = written_at(self)
        user = self.user()
        return place is not None and (user is None or written_at(user) != place)

    @property
    def start_offset(self) -> int:
        return self.begin.offset if self.begin is not None else -1

    @property
    def end_offset(self) -> int:
        """Exclusive."""
        return self.end.offset + self.end.length if self.end is not None else -1

    @property
    def line(self) -> int:
        return self.begin.line if self.begin is not None else 0


# clang leaves these where they stand behind a pointer or in an array. The C library's own, on 64-bit Linux.
_ALIASES = {
    **{"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long"},
    **{"uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int"},
    **{"uint64_t": "unsigned long", "size_t": "unsigned long", "ptrdiff_t": "long"},
    **{"uint": "unsigned int", "ushort": "unsigned short", "ulong": "unsigned long"},
}
_ALIAS = re.compile(rf"(?<![\w:])(?:(?:::)?std::|::)?({'|'.join(_ALIASES)})\b(?!::)")


def _without_aliases(described: str) -> str:
    return _ALIAS.sub(lambda found: _ALIASES[found[1]], described)


class TreeBuilder:
    """Turns one dumped JSON object into nodes. clang writes a file or line only where it changes."""

    def __init__(self) -> None:
        self._file = ""
        self._line = 0

    def build(self, raw: dict[str, Any]) -> Node:
        """The node of a resolved object."""
        return self._node(raw, None)

    def resolve(self, value: Any) -> None:
        """Writes into each place of a dumped object what clang left out because it did not change."""
        if isinstance(value, list):
            for item in value:
                self.resolve(item)
        elif isinstance(value, dict):
            if "offset" in value and "col" in value:
                self._file = value.setdefault("file", self._file)
                self._line = value.setdefault("line", self._line)
                return
            for item in value.values():
                if isinstance(item, (dict, list)):
                    self.resolve(item)

    def _node(self, raw: dict[str, Any], parent: Node | None) -> Node:
        coordinate = _coordinate(raw)
        described = raw.get("type", {})
        span = raw.get("range", {})
        node = Node(
            kind="Coordinate" if coordinate else raw.get("kind", "Empty"),
            id=raw.get("id", ""),
            name=coordinate or raw.get("name", ""),
            type=described.get("qualType", ""),
            canonical=_without_aliases(described.get("desugaredQualType", described.get("qualType", ""))),
            category=raw.get("valueCategory", ""),
            cast=raw.get("castKind", ""),
            opcode=raw.get("opcode", ""),
            value=str(raw.get("value", "")),
            postfix=bool(raw.get("isPostfix", False)),
            storage=raw.get("storageClass", ""),
            begin=_place(span.get("begin")),
            end=_place(span.get("end")),
            place=_place(raw.get("loc")),
            reference=_reference(raw.get("referencedDecl")),
            parent=parent,
            flags=frozenset(key for key, value in raw.items() if value is True),
        )
        if not coordinate:
            node.children = [self._node(child, node) for child in raw.get("inner", ()) if isinstance(child, dict)]
        if node.kind == "LambdaExpr":
            for child in node.children:
                if child.kind == "CXXRecordDecl":
                    child.kind = "ClosureDecl"
        return node


def _place(raw: dict[str, Any] | None) -> TokenPlace | None:
    if not raw:
        return None
    macro = "expansionLoc" in raw
    at = raw["expansionLoc"] if macro else raw
    if "offset" not in at:
        return None
    argument = bool(at.get("isMacroArgExpansion"))
    return TokenPlace(at["file"], at["offset"], at["line"], at["col"], at.get("tokLen", 0), macro, argument)


def _reference(raw: dict[str, Any] | None) -> Reference | None:
    if not raw:
        return None
    return Reference(
        raw.get("id", ""), raw.get("kind", ""), raw.get("name", ""), raw.get("type", {}).get("qualType", "")
    )


def _coordinate(raw: dict[str, Any]) -> str:
    """ "threadIdx.x" for a read of one, whatever the headers make of it, else ""."""
    kind = raw.get("kind")
    if kind == "MemberExpr":
        base = _skip(raw)
        member = str(raw.get("name", ""))
    elif kind == "PseudoObjectExpr":
        base = _first(raw, lambda node: node.get("kind") == "DeclRefExpr")
        call = _first(raw, lambda node: node.get("kind") == "MemberExpr")
        member = str(call.get("name", "")) if call else ""
    else:
        return ""
    name = base.get("referencedDecl", {}).get("name", "") if base else ""
    if name not in COORDINATES or member[-1:] not in ("x", "y", "z"):
        return ""
    return f"{name}.{member[-1]}"


def _skip(raw: dict[str, Any]) -> dict[str, Any] | None:
    inner = raw.get("inner", ())
    while len(inner) == 1 and inner[0].get("kind") in ("ImplicitCastExpr", "ParenExpr"):
        inner = inner[0].get("inner", ())
    return inner[0] if len(inner) == 1 else None


def _first(raw: dict[str, Any], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    for child in raw.get("inner", ()):
        if wanted(child):
            return dict(child)
        deeper = _first(child, wanted)
        if deeper is not None:
            return deeper
    return None
