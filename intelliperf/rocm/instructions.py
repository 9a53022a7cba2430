"""What a vector memory instruction of AMD's GPUs does, by the name that the assembler knows it by.

Names of GFX9 (ds_read2_b32, global_load_dwordx2) and of GFX11 and later (ds_load_2addr_b32, global_load_b64).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from intelliperf.records import AccessKind, MemorySpace

_NAME = re.compile(r"^(?P<space>global|flat|scratch|buffer|ds)_(?P<what>\w+)$")
_SPACES = {
    "global": MemorySpace.GLOBAL,
    "buffer": MemorySpace.LOCAL,  # HIP has no other buffers but the scratch memory
    "flat": MemorySpace.MIXED,
    "scratch": MemorySpace.LOCAL,
    "ds": MemorySpace.SHARED,
}
# Between lanes through the crossbar of LDS, or no access at all.
_NO_ACCESS = re.compile(r"permute|swizzle|^nop|^wb|^inv|^gl\d|gws|consume|append|ordered|lds_direct|param_load|bvh")
_DWORDS = re.compile(r"dword(?:x(\d))?(?=_|$)")
_TYPED = re.compile(r"(?:^|_)p?[busif]f?(8|16|32|64|96|128)(?=_|$)")
_NAMED_WIDTHS = (("byte", 1), ("short", 2))
_OFFSET = re.compile(r"\boffset(?P<number>[01]?):(?P<value>-?\d+)")


@dataclass(frozen=True)
class Operation:
    """`width` is bytes per lane and place; `places` 2 where one instruction goes to two places of LDS."""

    name: str
    access: AccessKind
    space: MemorySpace
    width: int
    places: int = 1
    stride: int = 1  # bytes in one unit of the two places' offsets

    @property
    def width_in_all(self) -> int:
        return self.width * self.places


def operation(name: str, returns: bool = False) -> Operation | None:
    """Of an instruction's name; `returns` where an atomic's modifier says so. None where it accesses no memory."""
    found = _NAME.match(name)
    if found is None or _NO_ACCESS.search(found["what"]):
        return None
    what = found["what"]
    access = _access(what, returns)
    width = _width(what, access)
    if access is None or width is None:
        return None
    two = bool(re.search(r"^(?:read|write|wrxchg)2|_2addr", what))
    far = "st64" in what or "stride64" in what
    return Operation(
        name, access, _SPACES[found["space"]], width, 2 if two else 1, width * (64 if far else 1) if two else 1
    )


def _access(what: str, returns: bool) -> AccessKind | None:
    if what.startswith(("load", "read")):
        return AccessKind.LOAD
    if what.startswith(("store_", "write")):
        return AccessKind.STORE
    atomic = what.startswith(
        ("atomic", "add", "sub", "rsub", "inc", "dec", "min", "max", "and", "or", "xor", "mskor", "wrxchg", "cmpst",
         "storexchg", "cmpstore", "wrap", "pk_add", "condxchg")
    )  # fmt: skip
    if not atomic:
        return None
    return AccessKind.ATOMIC if returns or "rtn" in what else AccessKind.REDUCTION


def _width(what: str, access: AccessKind | None) -> int | None:
    if words := _DWORDS.search(what):
        return 4 * int(words[1] or 1)
    if named := next((width for name, width in _NAMED_WIDTHS if name in what), None):
        return named
    if "pk_add" in what:
        return 4
    if typed := _TYPED.search(what):
        return int(typed[1]) // 8
    if access in (AccessKind.ATOMIC, AccessKind.REDUCTION):
        return 8 if what.endswith("_x2") else 4
    return None


def offsets(operands: str, found: Operation) -> tuple[int, ...]:
    """Bytes that the instruction adds to its address, for each of its places."""
    values = {one["number"]: int(one["value"]) for one in _OFFSET.finditer(operands)}
    if found.places == 1:
        return (values.get("", 0),)
    return tuple(values.get(number, 0) * found.stride for number in "01")


def addressed_by(operands: str, found: Operation) -> tuple[str, ...]:
    """The registers that hold the address, without the data's: equal ones mean an equal base until one is written."""
    text = operands.split(";")[0]
    words = [word.strip() for word in _OFFSET.sub("", text).split(",")]
    words = [*words[:-1], *words[-1].split()] if words else []
    if found.space is MemorySpace.SHARED:
        return tuple(words[1:2] if found.access is AccessKind.LOAD or "rtn" in found.name else words[:1])
    data = 0 if found.access in (AccessKind.LOAD, AccessKind.ATOMIC) else 1
    if found.name.startswith("buffer"):
        data = 0
    return tuple(word for place, word in enumerate(words) if place != data)
