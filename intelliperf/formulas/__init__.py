"""Bottleneck classes, each a small declarative `Formula`; see `FORMULAS`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from intelliperf.errors import UsageError
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.base import Formula
from intelliperf.formulas.branch_divergence import BranchDivergence
from intelliperf.formulas.constant_access import ConstantAccess
from intelliperf.formulas.device_idle import DeviceIdle
from intelliperf.formulas.every import DiagnoseOnly, Every
from intelliperf.formulas.launch_config import LaunchConfig
from intelliperf.formulas.launch_overhead import LaunchOverhead
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.formulas.memory_locality import MemoryLocality
from intelliperf.formulas.occupancy import Occupancy
from intelliperf.formulas.process import ProcessFormula
from intelliperf.formulas.register_pressure import RegisterPressure
from intelliperf.formulas.transfers import Transfers

__all__ = ["BOTTLENECKS", "FORMULAS", "OF_THE_PROCESS", "Formula", "find_formula"]

BOTTLENECKS: tuple[Formula, ...] = (
    AtomicContention(),
    BankConflict(),
    MemoryAccess(),
    MemoryLocality(),
    ConstantAccess(),
    RegisterPressure(),
    BranchDivergence(),
    Occupancy(),
    LaunchConfig(),
)
OF_THE_PROCESS: tuple[ProcessFormula, ...] = (Transfers(), LaunchOverhead(), DeviceIdle())
_ALL = (*BOTTLENECKS, *OF_THE_PROCESS)
_TOGETHER = (Every(_ALL), DiagnoseOnly(_ALL))
FORMULAS: Mapping[str, Formula] = {formula.name: formula for formula in (*_ALL, *_TOGETHER)}


def find_formula(name: str) -> Formula:
    """The formula of that name, in any case, with or without dashes and underscores. Raises `UsageError`."""
    spelled = name.replace("-", "").replace("_", "").lower()
    for known, formula in FORMULAS.items():
        if known.lower() == spelled:
            return formula
    near = get_close_matches(spelled, [known.lower() for known in FORMULAS], 1)
    meant = next((f"; did you mean {known}?" for known in FORMULAS if known.lower() in near), "")
    raise UsageError(f"unknown formula {name!r}{meant or '; choose one of: ' + ', '.join(FORMULAS)}")
