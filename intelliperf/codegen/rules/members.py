"""Members of records in memory: which of them share no bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from intelliperf.codegen.rules.addresses import Access

_VECTOR = re.compile(
    r"(?:struct )?(?:HIP_vector_type<[\w ]+, [234]>|(?:u?(?:char|short|int|long|longlong)|float|double)[234](?:_\w+)?)"
)
_SHARED = re.compile(r"\bunion\b|\w\s*:\s*\d+\s*[;,]")  # of members, or of the bits of a word


def member_of(access: Access) -> str | None:
    """The one member of the element that is used; empty for the element as a whole, None for parts of other kinds."""
    whole, place = access.whole.bare(), access.place.bare()
    if whole is place:
        return ""
    if whole.kind != "MemberExpr" or "isArrow" in whole.flags or not whole.children:
        return None
    return whole.name.removeprefix(".") if whole.children[0].bare() is place else None


def other_members(sources: Mapping[str, str], one: Access, other: Access) -> bool:
    """Are they different members of records of one type, which share no bytes whatever elements these are?"""
    names = member_of(one), member_of(other)
    if not all(names) or names[0] == names[1]:
        return False
    records = [access.place.canonical.replace("const ", "") for access in (one, other)]
    if records[0] != records[1]:
        return False
    if _VECTOR.fullmatch(records[0]):
        return all(name in ("x", "y", "z", "w") for name in names)
    return not _may_share(sources.values(), [name for name in names if name])


def _may_share(texts: Iterable[str], names: list[str]) -> bool:
    referring = re.compile(rf"&\s*(?:{'|'.join(map(re.escape, names))})\s*[;,={{]")
    return any(_SHARED.search(text) or referring.search(text) for text in texts)
