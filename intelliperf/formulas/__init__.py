"""Bottleneck classes, each a small declarative `Formula`; see `FORMULAS`."""

from __future__ import annotations

from collections.abc import Mapping

from intelliperf.errors import UsageError
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.base import Formula
from intelliperf.formulas.diagnose_only import DiagnoseOnly
from intelliperf.formulas.memory_access import MemoryAccess

__all__ = ["BOTTLENECKS", "FORMULAS", "Formula", "find_formula"]

BOTTLENECKS: tuple[Formula, ...] = (AtomicContention(), BankConflict(), MemoryAccess())
FORMULAS: Mapping[str, Formula] = {formula.name: formula for formula in (*BOTTLENECKS, DiagnoseOnly(BOTTLENECKS))}


def find_formula(name: str) -> Formula:
    """The formula of that name, in any case, with or without dashes and underscores. Raises `UsageError`."""
    spelled = name.replace("-", "").replace("_", "").lower()
    for known, formula in FORMULAS.items():
        if known.lower() == spelled:
            return formula
    raise UsageError(f"unknown formula {name!r}; there are {', '.join(FORMULAS)}")
