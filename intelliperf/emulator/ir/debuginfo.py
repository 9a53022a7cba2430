"""Reads the debug metadata of a module: locations with their inlining, types, parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from intelliperf.emulator.ir.text import unescaped

_FIELD = re.compile(r'\b(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|([^,()]+(?:\([^()]*\))?))')
_LOCATION = re.compile(r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?(?=[,)])")
_UNNAMED_IN = re.compile(r"\bat (?:[^:]*/)([^/:]+:\d+:\d+\))")  # "(lambda at /folder/file.cpp:5:16)"
_ENCODINGS = {
    "DW_ATE_float": "float",
    "DW_ATE_signed": "signed",
    "DW_ATE_unsigned": "unsigned",
    "DW_ATE_boolean": "boolean",
    "DW_ATE_signed_char": "char",
    "DW_ATE_unsigned_char": "char",
    "DW_ATE_UTF": "char",
}
_AGGREGATES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_TRANSPARENT = (
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
)
_POINTERS = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_MAX_NESTING = 8
_MOST_MEMBERS = 32  # of an aggregate, whose numbers are told one by one


@dataclass(frozen=True)
class Node:
    """One metadata node with its fields; references are integers."""

    kind: str
    fields: Mapping[str, Any]
    operands: tuple[int | None, ...]  # of a tuple node

    def reference(self, name: str) -> int | None:
        value = self.fields.get(name)
        return value if isinstance(value, int) else None

    def text(self, name: str) -> str:
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """An integer field; LLVM leaves out those that are 0."""
        value = self.text(name)
        return int(value) if value.lstrip("-").isdigit() else 0


_NOTHING = Node("", {}, ())
# Structs round bits that are a union with those of an integer, and what has no encoding of its own.
_SHORT_FLOATS = {"__half": "float", "__hip_bfloat16": "bfloat", "__nv_bfloat16": "bfloat", "hip_bfloat16": "bfloat"}
_SHORT_FLOATS |= {"__bf16": "bfloat"}


class DebugInfo:
    """The metadata of one module, parsed on demand."""

    def __init__(self, metadata: Mapping[int, str]) -> None:
        self._metadata = metadata
        self._nodes: dict[int, Node] = {}
        self._locations: dict[int, list[dict[str, Any]]] = {}
        self._places: dict[int, tuple[str, str]] = {}
        self._files: dict[int, str] = {}
        self._last: int | None = None  # the number of the location that was added last

    def node(self, number: int | None) -> Node:
        if number is None:
            return _NOTHING
        known = self._nodes.get(number)
        if known is None:
            known = _parse(self._metadata.get(number, ""))
            self._nodes[number] = known
        return known

    # -- locations ------------------------------------------------------------------------------

    def locations(self, number: int | None) -> list[dict[str, Any]]:
        """File, line, column and function of a location, innermost first, then its inlining sites."""
        if number is None:
            return []
        known = self._locations.get(number)
        if known is None:
            known = []
            current: int | None = number
            while current is not None:
                line, column, scope, current = self._position(current)
                file, function = self._place(scope)
                known.append({"file": file, "line": line, "column": column, "function": function})
            self._locations[number] = known
        return known

    def add(self, chain: list[dict[str, Any]]) -> int:
        """A location with these frames, under a number that no node of the module has."""
        self._last = (max(self._metadata, default=0) if self._last is None else self._last) + 1
        self._locations[self._last] = chain
        return self._last

    def outermost_line(self, number: int) -> tuple[str, int]:
        """File and line of a location in the function that everything there was inlined into."""
        chain = self.locations(number)
        return (chain[-1]["file"], chain[-1]["line"]) if chain else ("", 0)

    def _position(self, number: int) -> tuple[int, int, int | None, int | None]:
        """Line, column, scope and inlining site of a DILocation."""
        found = _LOCATION.match(self._metadata.get(number, ""))
        if found:
            inlined = int(found[4]) if found[4] else None
            return int(found[1]), int(found[2] or 0), int(found[3]), inlined
        node = self.node(number)
        return node.number("line"), node.number("column"), node.reference("scope"), node.reference("inlinedAt")

    def _place(self, scope: int | None) -> tuple[str, str]:
        """The file of a scope and the name of the function around it."""
        if scope is None:
            return "", ""
        known = self._places.get(scope)
        if known is None:
            file, current = "", scope
            while True:
                node = self.node(current)
                if not file and node.reference("file") is not None:
                    file = self.file(node.reference("file"))
                parent = node.reference("scope")
                if node.kind == "DISubprogram" or parent is None:
                    break
                current = parent
            function = self.node(current)
            known = (file, function.text("name") if function.kind == "DISubprogram" else "")
            self._places[scope] = known
        return known

    def file(self, number: int | None) -> str:
        """The absolute path of a DIFile."""
        if number is None:
            return ""
        known = self._files.get(number)
        if known is None:
            node = self.node(number)
            name = node.text("filename")
            known = str(PurePosixPath(node.text("directory")) / name) if name else ""
            self._files[number] = known
        return known

    # -- functions ------------------------------------------------------------------------------

    def qualified_name(self, number: int | None) -> str:
        """`space::Type::name<arguments>` of a subprogram or type; the folder that a lambda's file is in is left out."""
        node = self.node(number)
        names = [node.text("name")]
        scope = node.reference("scope")
        while scope is not None:
            outer = self.node(scope)
            if outer.kind not in ("DINamespace", "DICompositeType"):
                break
            names.append(outer.text("name") or "(anonymous namespace)")
            scope = outer.reference("scope")
        return _UNNAMED_IN.sub(r"at \1", "::".join(reversed([name for name in names if name])))

    def parameter_types(self, subprogram: int) -> list[int | None]:
        """Type nodes of a function's source-level parameters (`this` included)."""
        routine = self.node(self.node(subprogram).reference("type"))
        return list(self.node(routine.reference("types")).operands[1:])

    def parameter_names(self, subprogram: int) -> dict[int, str]:
        """Names by 0-based position; unnamed parameters are absent."""
        names: dict[int, str] = {}
        retained = self.node(self.node(subprogram).reference("retainedNodes"))
        for operand in retained.operands:
            node = self.node(operand)
            position = node.number("arg")
            if node.kind == "DILocalVariable" and position and node.text("name"):
                names[position - 1] = node.text("name")
        return names

    # -- types ----------------------------------------------------------------------------------

    def resolved(self, number: int | None) -> Node:
        """The type behind typedefs and qualifiers."""
        node = self.node(number)
        while node.kind == "DIDerivedType" and node.text("tag") in _TRANSPARENT:
            node = self.node(node.reference("baseType"))
        return node

    def is_aggregate(self, number: int | None) -> bool:
        node = self.resolved(number)
        return node.kind == "DICompositeType" and node.text("tag") in _AGGREGATES

    def is_empty(self, number: int | None, depth: int = 0) -> bool:
        """An aggregate without any data, bases included: not passed at all."""
        node = self.resolved(number)
        if node.text("tag") == "DW_TAG_array_type" and depth:
            return self.is_empty(node.reference("baseType"), depth)
        if not self.is_aggregate(number) or depth > _MAX_NESTING:
            return False
        for operand in self.node(node.reference("elements")).operands:
            member = self.node(operand)
            if member.kind != "DIDerivedType" or "DIFlagStaticMember" in member.text("flags"):
                continue
            if member.text("tag") not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            if not self.is_empty(member.reference("baseType"), depth + 1):
                return False
        return True

    def begin(self, number: int | None, depth: int = 0) -> int:
        """Bytes before the first that holds data: members of empty types come before it."""
        node = self.resolved(number)
        if not self.is_aggregate(number) or depth > _MAX_NESTING:
            return 0
        offsets = [
            member.number("offset") // 8 + self.begin(member.reference("baseType"), depth + 1)
            for operand in self.node(node.reference("elements")).operands
            if (member := self.node(operand)).text("tag") in ("DW_TAG_member", "DW_TAG_inheritance")
            and "DIFlagStaticMember" not in member.text("flags")
            and not self.is_empty(member.reference("baseType"))
        ]
        return min(offsets, default=0)

    def size(self, number: int | None) -> int:
        """Bytes."""
        node = self.node(number)
        while node.kind == "DIDerivedType" and not node.number("size") and node.text("tag") in _TRANSPARENT:
            node = self.node(node.reference("baseType"))
        return node.number("size") // 8

    def type_name(self, number: int | None, depth: int = 0) -> str:
        """The type as C++ would write it."""
        if number is None or depth > 4 * _MAX_NESTING:
            return "void"
        node = self.node(number)
        tag = node.text("tag")
        base = node.reference("baseType")
        if tag in _POINTERS:
            mark = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&"}.get(tag, "&&")
            pointee = self.node(base)
            if pointee.kind == "DISubroutineType":
                return self._function_pointer_name(pointee, mark, depth)
            inner = self.type_name(base, depth + 1)
            return f"{inner}{mark}" if inner.endswith(("*", "&")) else f"{inner} {mark}"
        if tag in ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type"):
            word = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile"}.get(tag, "__restrict__")
            inner = self.type_name(base, depth + 1)
            return f"{inner} {word}" if inner.endswith(("*", "&")) else f"{word} {inner}"
        if tag == "DW_TAG_array_type":
            return self.type_name(base, depth + 1) + self._extents(node)
        return self.qualified_name(number) or "(unnamed)"

    def _function_pointer_name(self, routine: Node, mark: str, depth: int) -> str:
        types = self.node(routine.reference("types")).operands
        result, *arguments = [self.type_name(operand, depth + 1) for operand in types] or ["void"]
        return f"{result} ({mark})({', '.join(arguments)})"

    def _extents(self, array: Node) -> str:
        counts = [self.node(operand).text("count") for operand in self.node(array.reference("elements")).operands]
        return "".join(f"[{count}]" if count.isdigit() else "[]" for count in counts)

    def is_const(self, number: int | None) -> bool:
        """Whether the outermost type is const-qualified (through typedefs)."""
        node = self.node(number)
        while node.kind == "DIDerivedType" and node.text("tag") in _TRANSPARENT:
            if node.text("tag") == "DW_TAG_const_type":
                return True
            node = self.node(node.reference("baseType"))
        return False

    def is_pointer(self, number: int | None) -> bool:
        return self.resolved(number).text("tag") in _POINTERS

    def is_restrict(self, number: int | None) -> bool:
        node = self.node(number)
        while node.kind == "DIDerivedType" and node.text("tag") in _TRANSPARENT:
            if node.text("tag") == "DW_TAG_restrict_type":
                return True
            node = self.node(node.reference("baseType"))
        return False

    def number(self, kind: int | None, depth: int = 0) -> dict[str, Any] | None:
        """The one kind of number that a type consists of, itself or in arrays and structs; None for a mixture."""
        node = self.resolved(kind)
        if node.text("name") in _SHORT_FLOATS:
            return {"bytes": self.size(kind), "encoding": _SHORT_FLOATS[node.text("name")]}
        if node.kind == "DIBasicType":
            encoding = _ENCODINGS.get(node.text("encoding"), "unknown")
            return {"bytes": self.size(kind), "encoding": encoding}
        if node.text("tag") == "DW_TAG_array_type":
            return self.number(node.reference("baseType"), depth)
        if not self.is_aggregate(kind) or node.text("tag") == "DW_TAG_union_type" or depth > _MAX_NESTING:
            return None
        members = [self.node(operand) for operand in self.node(node.reference("elements")).operands]
        held = [
            self.number(member.reference("baseType"), depth + 1)
            for member in members
            if member.text("tag") in ("DW_TAG_member", "DW_TAG_inheritance")
            and "DIFlagStaticMember" not in member.text("flags")
            and not self.is_empty(member.reference("baseType"))
        ]
        return held[0] if held and all(other == held[0] for other in held) else None

    def members(self, kind: int | None, offset: int = 0, depth: int = 0) -> list[dict[str, Any]]:
        """The numbers that an aggregate consists of, of whatever kinds; none in unions, of long arrays none either."""
        node = self.resolved(kind)
        if node.kind == "DIBasicType" or node.text("name") in _SHORT_FLOATS:
            return [{"offset": offset, **(self.number(kind) or {})}]
        if node.text("tag") == "DW_TAG_array_type":
            each = self.size(node.reference("baseType"))
            count = node.number("size") // 8 // each if each else 0
            places = range(offset, offset + count * each, each) if count <= _MOST_MEMBERS else ()
            return [one for at in places for one in self.members(node.reference("baseType"), at, depth + 1)]
        found: list[dict[str, Any]] = []
        if not self.is_aggregate(kind) or node.text("tag") == "DW_TAG_union_type" or depth > _MAX_NESTING:
            return found
        for operand in self.node(node.reference("elements")).operands:
            member = self.node(operand)
            bitwise = "DIFlagBitField" in member.text("flags") or "DIFlagStaticMember" in member.text("flags")
            if member.text("tag") in ("DW_TAG_member", "DW_TAG_inheritance") and not bitwise:
                found += self.members(member.reference("baseType"), offset + member.number("offset") // 8, depth + 1)
        return found[:_MOST_MEMBERS]

    def element(self, target: int | None) -> dict[str, Any]:
        """What a pointer points to: name, bytes, encoding."""
        node = self.resolved(target)
        if node.kind == "DIBasicType":
            encoding = _ENCODINGS.get(node.text("encoding"), "unknown")
        elif node.kind == "DICompositeType" and node.text("tag") == "DW_TAG_enumeration_type":
            encoding = "signed"
        else:
            encoding = "struct" if self.is_aggregate(target) else "unknown"
        name = re.sub(r"^(?:const |volatile )+", "", self.type_name(target))
        return {"name": name, "bytes": self.size(target), "encoding": encoding}

    def pointer_fields(self, number: int | None, base_offset: int = 0, depth: int = 0) -> list[dict[str, Any]]:
        """Pointers among the members of an aggregate, nested ones with their path as name."""
        node = self.resolved(number)
        if not self.is_aggregate(number) or depth > _MAX_NESTING:
            return []
        fields: list[dict[str, Any]] = []
        for operand in self.node(node.reference("elements")).operands:
            member = self.node(operand)
            if member.text("tag") not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            if "DIFlagStaticMember" in member.text("flags"):
                continue
            kind = member.reference("baseType")
            offset = base_offset + member.number("offset") // 8
            name = member.text("name")
            if self.is_pointer(kind):
                fields.append({**self.describe(kind, name), "offset": offset})
            elif self.is_aggregate(kind):
                for inner in self.pointer_fields(kind, offset, depth + 1):
                    fields.append({**inner, "name": f"{name}.{inner['name']}" if name else inner["name"]})
            else:
                fields.extend(self._array_of_pointers(kind, name, offset))
        return fields

    def _array_of_pointers(self, kind: int | None, name: str, offset: int) -> list[dict[str, Any]]:
        node = self.resolved(kind)
        base = node.reference("baseType")
        if node.text("tag") != "DW_TAG_array_type" or not self.is_pointer(base):
            return []
        return [
            {**self.describe(base, f"{name}[{index}]"), "offset": offset + 8 * index}
            for index in range(node.number("size") // 64)
        ]

    def describe(self, number: int | None, name: str) -> dict[str, Any]:
        """A parameter's or member's entry in the metadata, without its index or offset."""
        pointer = self.is_pointer(number)
        target = self.resolved(number).reference("baseType") if pointer else number
        return {
            "name": name,
            "type": self.type_name(number),
            "size": 8 if pointer else self.size(number),
            "pointer": pointer,
            "const": self.is_const(target),
            "restrict": self.is_restrict(number),
            "element": self.element(target) if pointer else None,
            "number": self.number(target) if pointer or self.resolved(number).kind == "DIBasicType" else None,
            **({"members": self.members(target)} if pointer and self.is_aggregate(target) else {}),
        }


def _parse(text: str) -> Node:
    if text.startswith("!{"):
        parts = text[2:-1].split(", ") if len(text) > 3 else []
        return Node("", {}, tuple(int(part[1:]) if part[1:].isdigit() else None for part in parts))
    kind, _, body = text[1:].partition("(")
    fields: dict[str, Any] = {}
    for found in _FIELD.finditer(body):
        if found[2] is not None:
            fields[found[1]] = int(found[2])
        elif found[3] is not None:
            fields[found[1]] = unescaped(found[3])
        else:
            fields[found[1]] = found[4].strip()
    return Node(kind, fields, ())
