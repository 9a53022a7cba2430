"""The tables that a module carries: its sites and its basic blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SITE_KINDS = (
    "load", "store", "atomic", "reduction", "range_load", "range_store", "barrier", "collective", "call",
)  # fmt: skip

_EVENTS = frozenset(("load", "store", "atomic", "reduction", "barrier", "collective"))  # lanes of a wave meet there


@dataclass
class SiteTable:
    """Numbers sites and blocks in the order in which they are added.

    `places[block]` are the numbers of the debug locations of a block's instructions, in their order.
    """

    sites: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    places: list[tuple[int, ...]] = field(default_factory=list)

    def add_block(self, function: str, mix: dict[str, int], places: tuple[int, ...]) -> int:
        self.blocks.append({"function": function, "mix": mix, "site": None, "location": None})
        self.places.append(places)
        return len(self.blocks) - 1

    def add(self, kind: str, operation: str, function: str, block: int, locations: list[dict[str, Any]],
            size: int = 0, flags: int = 0, type_name: str = "") -> int:  # fmt: skip
        self.sites.append(
            {
                "kind": kind,
                "bytes": size,
                "flags": flags & 0xFFFF,
                "order": flags >> 16,
                "function": function,
                "block": block,
                "operation": operation,
                "type": type_name,
                "locations": locations,
            }
        )
        number = len(self.sites) - 1
        if kind in _EVENTS and self.blocks[block]["site"] is None:
            self.blocks[block]["site"] = number
        return number

    def definitions(self) -> list[str]:
        """The IR of `__simt_sites`, `__simt_block_executions` and their counts."""
        rows = [
            f"%simt.site {{ i16 {SITE_KINDS.index(s['kind'])}, i16 {s['flags']}, i32 {s['bytes']}, i32 {s['order']} }}"
            for s in self.sites
        ] or ["%simt.site zeroinitializer"]
        return [
            "%simt.site = type { i16, i16, i32, i32 }",
            f"@__simt_sites = constant [{len(rows)} x %simt.site] [{', '.join(rows)}]",
            f"@__simt_site_count = constant i32 {len(self.sites)}",
            f"@__simt_block_executions = global [{max(1, len(self.blocks))} x i64] zeroinitializer",
            f"@__simt_block_count = constant i32 {len(self.blocks)}",
        ]
