from __future__ import annotations

import pytest

from intelliperf.devices.models import record
from intelliperf.profiling.rocprofv3 import Agent, CountedDispatch, Shape
from intelliperf.records import Metric
from intelliperf.rocm.filling import filling

AGENT = Agent(1, "gfx90a", 110, 4, 8, 64, 1)
DEVICE = record("mi250x")


def filled(
    agent: Agent = AGENT, items: int = 110 * 8 * 256, threads: int = 256, **more: int | None
) -> dict[Metric, float]:
    needs: dict[str, int | None] = {"lds_bytes": 0, "scratch_bytes": 0, "vgprs": 32, "agprs": 0, **more}
    return filling([CountedDispatch("k", Shape(items, threads), 1, 1, {}, **needs)], agent, DEVICE)  # type: ignore[arg-type]


def test_a_small_kernel_fills_all_slots() -> None:
    found = filled()
    assert found[Metric.OCCUPANCY_LIMIT_RATIO] == 1.0
    assert found[Metric.ROUND_FILL_RATIO] == found[Metric.UNIT_FILL_RATIO] == found[Metric.LANE_FILL_RATIO] == 1.0
    assert found[Metric.LOCAL_REQUESTS] == 0.0


@pytest.mark.parametrize(
    ("vgprs", "agprs", "waves"), [(64, 0, 32), (65, 0, 28), (128, 0, 16), (128, 128, 8), (256, 256, 4)]
)
def test_registers_of_both_kinds_limit_waves_of_one_file(vgprs: int, agprs: int, waves: int) -> None:
    found = filled(threads=64, vgprs=vgprs, agprs=agprs)
    assert found[Metric.WAVES_BY_REGISTERS] == waves
    assert found[Metric.OCCUPANCY_LIMIT_RATIO] == waves / 32


def test_lds_limits_by_whole_blocks() -> None:
    found = filled(lds_bytes=20000)
    assert found[Metric.WAVES_BY_LDS] == 3 * 4
    assert found[Metric.OCCUPANCY_LIMIT_RATIO] == 12 / 32


def test_a_block_that_leaves_slots_over_wastes_them() -> None:
    found = filled(threads=17 * 64)
    assert found[Metric.WAVES_BY_BLOCKS] == 17


def test_few_blocks_and_odd_sizes_leave_units_rounds_and_lanes_empty() -> None:
    found = filled(items=165 * 48, threads=48)
    assert found[Metric.LANE_FILL_RATIO] == 0.75
    assert found[Metric.UNIT_FILL_RATIO] == 0.75
    assert found[Metric.ROUND_FILL_RATIO] == pytest.approx(165 / (110 * 32))


def test_what_is_not_known_is_left_out() -> None:
    assert Metric.WAVES_BY_REGISTERS not in filled(vgprs=None)
    assert Metric.LOCAL_REQUESTS not in filled(scratch_bytes=64)
    rdna = filled(agent=Agent(1, "gfx1100", 96, 2, 16, 32, 1))
    assert Metric.OCCUPANCY_LIMIT_RATIO not in rdna and Metric.UNIT_FILL_RATIO in rdna
