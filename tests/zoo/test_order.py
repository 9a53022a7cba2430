"""Programs that order their accesses wrongly, each with what must be said of it, and others that must pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from inprocess import WITHOUT_FACTS, build_here

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.schedules import IN_ORDER, seeded
from intelliperf.emulator.watching import Watched, watch
from intelliperf.records import Application

_ROOT = Path(__file__).parent / "order"
_PROGRAMS = sorted(path for kind in ("racy", "honest") for path in (_ROOT / kind).iterdir())
_CHEAP = {  # of each kind of order one that breaks it and one that keeps it
    "last_block_without_fence.hip",
    "last_block.hip",
    "volatile_counter.hip",
    "hip_release_of_workgroup_scope.hip",
    "producer_consumer_waves.hip",
    "ptx_fence_of_cta.cu",
    "lock_with_fences.cu",
    "decoupled_lookback.cu",
    "stream_that_does_not_wait.hip",
    "roots_shortened_in_place.hip",
}


def _case(path: Path) -> object:
    return pytest.param(path, id=path.name, marks=() if path.name in _CHEAP else pytest.mark.zoo)


def _watched(source: Path, directory: Path) -> tuple[Watched, Watched]:
    compiler = "hipcc" if source.suffix == ".hip" else "nvcc"
    environment = dict(EmulatorBackend(directory / "device").build_environment())
    words = ("-O2", "-g", str(source), "-o", "app")
    build_here(compiler, *words, directory=directory, environment={**environment, **WITHOUT_FACTS})
    application = Application((str(directory / "app"),), _ROOT, _ROOT)
    first, second = (watch(application, order, directory / order.name, 60) for order in (IN_ORDER, seeded(3)))
    return first, second


@pytest.mark.parametrize("source", [_case(path) for path in _PROGRAMS])
def test_what_a_program_does_wrong_is_named_and_a_right_one_is_left_alone(source: Path, tmp_path: Path) -> None:
    expected = source.read_text().partition("\n")[0].removeprefix("// expect: ").split()
    in_order, by_chance = _watched(source, tmp_path)
    found = [(fault.kind, fault.scope, fault.cause) for _, fault in in_order.faults]
    if expected != ["nothing"]:
        assert any(set(expected) <= set(map(str, fault)) for fault in found), found
        return
    assert in_order.completed.ok, in_order.completed.tail()
    assert found == []
    assert [(fault.kind, fault.scope, fault.cause) for _, fault in by_chance.faults] == []
    assert by_chance.text == in_order.text
