from __future__ import annotations

from formula_profiles import evidence

from intelliperf.formulas import FORMULAS
from intelliperf.records import (
    AccessKind,
    MemorySpace,
    SourceEvidence,
)


def test_conflicts_are_blamed_on_the_conflicting_line_worst_first() -> None:
    def shared(line: int, phases: float) -> SourceEvidence:
        return evidence(line, AccessKind.LOAD, MemorySpace.SHARED, LDS_PHASES=phases, LDS_PHASES_IDEAL=2000)

    blamed = FORMULAS["bankConflict"].blame([shared(1, 2000), shared(2, 8000), shared(3, 64000), shared(4, 2500)])
    assert [item.line for item in blamed] == [3, 2]


def test_what_many_lines_cause_together_is_the_kernels_and_they_follow_it() -> None:
    loads = [
        evidence(line, AccessKind.LOAD, MemorySpace.GLOBAL, SECTORS=64000 + line, SECTORS_IDEAL=8000, REQUESTS=1000)
        for line in range(10, 42)
    ]
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    blamed = FORMULAS["memoryAccess"].blame([*loads, kernel])
    assert [item.line for item in blamed] == [3, *range(41, 9, -1)]


def test_atomics_are_blamed_and_loads_are_not() -> None:
    atomic = evidence(5, AccessKind.REDUCTION, MemorySpace.GLOBAL, ATOMIC_SERIALIZATION=64000, SECTORS=1000)
    load = evidence(4, AccessKind.LOAD, MemorySpace.GLOBAL, SECTORS=64000, SECTORS_IDEAL=8000, REQUESTS=1000)
    assert [item.line for item in FORMULAS["atomicContention"].blame([load, atomic])] == [5]
    assert [item.line for item in FORMULAS["memoryAccess"].blame([load, atomic])] == [4]


def test_each_new_formula_blames_its_own_kind_of_evidence() -> None:
    code = evidence(6, AccessKind.CODE, MemorySpace.NONE, LANES_LOST=900.0)
    spill = evidence(7, AccessKind.LOAD, MemorySpace.LOCAL, LOCAL_REQUESTS=50.0)
    load = evidence(8, AccessKind.LOAD, MemorySpace.GLOBAL, DRAM_SECTORS_AGAIN=70.0, SECTORS=80.0)
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    lines = [code, spill, load, kernel]
    expected = {"branchDivergence": 6, "registerPressure": 7, "memoryLocality": 8, "occupancy": 3, "launchConfig": 3}
    assert {name: [item.line for item in FORMULAS[name].blame(lines)] for name in expected} == {
        name: [line] for name, line in expected.items()
    }


def test_spills_without_a_known_line_are_the_whole_kernels_and_other_formulas_blame_none() -> None:
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    assert [item.line for item in FORMULAS["registerPressure"].blame([kernel])] == [3]
    assert all(FORMULAS[name].blame([kernel]) == () for name in ("bankConflict", "branchDivergence"))


def test_diagnose_only_orders_lines_by_time() -> None:
    lines = [
        evidence(line, AccessKind.LOAD, MemorySpace.GLOBAL, DEVICE_TIME_NS=time)
        for line, time in ((1, 5.0), (2, 90.0), (3, 0.0))
    ]
    assert [item.line for item in FORMULAS["diagnoseOnly"].blame(lines)] == [2, 1]
