"""What was recorded is held to the counters and to the machine code of the program as the user built it."""

from __future__ import annotations

from intelliperf.records import AccessKind, MemorySpace, Metric, Provenance, Quantity
from intelliperf.rocm.agreement import Held, Kind, hold, kind_of

NONE: frozenset[Kind] = frozenset()


def counted(moves: float = 0.0, atomics: float = 0.0) -> dict[Metric, Quantity]:
    values = {Metric.REQUESTS: moves, Metric.ATOMIC_REQUESTS: atomics}
    return {metric: Quantity(value, Provenance.MEASURED) for metric, value in values.items() if value}


def test_equal_counts_are_left_as_they_are() -> None:
    assert hold({Kind.MOVES: [(1000.0, 0.0), (504.0, 0.0)]}, counted(1500.0), False, NONE) == {Kind.MOVES: Held()}


def test_a_sample_is_scaled_to_the_counter_of_the_whole_kernel() -> None:
    held = hold({Kind.MOVES: [(9209.0, 12202.0)]}, counted(5002.0), True, NONE)[Kind.MOVES]
    assert held.factor == 5002.0 / 9209.0
    assert held.remark == "scaled to 5,002 counted loads and stores (the sample says 9,209 ± 12,202)"


def test_records_of_another_code_than_the_one_that_was_counted_give_no_figures() -> None:
    combined = hold({Kind.ATOMICS: [(79.0, 0.0)]}, counted(atomics=49984.0), False, NONE)[Kind.ATOMICS]
    assert combined.factor is None and "79 atomics were recorded and 49,984 counted" in combined.remark
    others = hold({Kind.MOVES: [(90.0, 50.0)]}, counted(100.0), True, frozenset({Kind.MOVES}))[Kind.MOVES]
    assert others.factor is None


def test_without_a_counter_nothing_is_held_to_it() -> None:
    assert hold({Kind.LDS: [(5.0, 0.0)]}, counted(100.0), False, NONE) == {}


def test_each_access_belongs_to_the_counter_that_counts_it() -> None:
    assert kind_of(AccessKind.REDUCTION, MemorySpace.GLOBAL) is Kind.ATOMICS
    assert kind_of(AccessKind.ATOMIC, MemorySpace.SHARED) is Kind.LDS
    assert kind_of(AccessKind.STORE, MemorySpace.LOCAL) is Kind.MOVES
