"""Bottleneck classes, each a small declarative `Formula`; see `FORMULAS`."""

from __future__ import annotations

from collections.abc import Mapping

from intelliperf.errors import UsageError
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.base import Formula
from intelliperf.formulas.branch_divergence import BranchDivergence
from intelliperf.formulas.diagnose_only import DiagnoseOnly
from intelliperf.formulas.launch_config import LaunchConfig
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.formulas.memory_locality import MemoryLocality
from intelliperf.formulas.occupancy import Occupancy
from intelliperf.formulas.register_pressure import RegisterPressure

__all__ = ["BOTTLENECKS", "FORMULAS", "Formula", "find_formula"]

BOTTLENECKS: tuple[Formula, ...] = (
    AtomicContention(),
    BankConflict(),
    MemoryAccess(),
    MemoryLocality(),
    RegisterPressure(),
    BranchDivergence(),
    Occupancy(),
    LaunchConfig(),
)
FORMULAS: Mapping[str, Formula] = {formula.name: formula for formula in (*BOTTLENECKS, DiagnoseOnly(BOTTLENECKS))}


def find_formula(name: str) -> Formula:
    """The formula of that name, in any case, with or without dashes and underscores. Raises `UsageError`."""
    spelled = name.replace("-", "").replace("_", "").lower()
    for known, formula in FORMULAS.items():
        if known.lower() == spelled:
            return formula
    raise UsageError(f"unknown formula {name!r}; there are {', '.join(FORMULAS)}")
