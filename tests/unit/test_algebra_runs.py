"""The runs in which the gate of algebraic equality has both versions carry shadows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from intelliperf.records import Interception, Shadow
from intelliperf.validation.algebragate import AlgebraGate


@pytest.mark.parametrize("altered", [Interception(other_numbers=(1, 2)), Interception()])
def test_an_altered_launch_that_never_ends_is_left_out_with_shadows_as_well(altered: Interception) -> None:
    """Positions far outside of a box that are brought back by one width after the other are never there."""
    trial = SimpleNamespace(
        case=SimpleNamespace(reference=None), application=None, own_grids=(Interception(), Interception())
    )
    gate = AlgebraGate(cast(Any, SimpleNamespace(common=lambda _: Interception())))
    base, candidate = gate._runs(cast(Any, trial), Shadow(5, False, False), altered)
    limits = base.interception.other_seconds, candidate.interception.other_seconds
    if altered == Interception():
        assert limits == (None, None)
    else:
        assert limits[0] is not None and limits[1] is not None and limits[0] < limits[1]
