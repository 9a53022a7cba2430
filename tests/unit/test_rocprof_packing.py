from __future__ import annotations

import re

import pytest
from rocprofdata import DATA, known_counters

from intelliperf.errors import ApplicationFailed, UsageError
from intelliperf.profiling.rocprofv3 import SLOTS, CountedDispatch, Shape, base_name, block_of, pack
from intelliperf.profiling.rocprofv3.blocks import is_level
from intelliperf.profiling.rocprofv3.matching import merge, named_accumulators
from intelliperf.profiling.rocprofv3.packing import halves
from intelliperf.rocm import counters


def cost(chosen: tuple[str, ...]) -> dict[str, int]:
    used: dict[str, int] = {}
    for base in {base_name(counter) for counter in chosen}:
        used[block_of(base)] = used.get(block_of(base), 0) + 1
    return used


@pytest.mark.parametrize("architecture", SLOTS)
def test_every_counter_is_in_one_pass_and_no_pass_exceeds_its_blocks(architecture: str) -> None:
    wanted = counters.needed(architecture)
    passes = pack(wanted, architecture)
    assert sorted(name for one in passes for name in one) == sorted(wanted)
    limits = SLOTS[architecture]
    assert all(count <= limits[block] for one in passes for block, count in cost(one).items())
    fullest = max(-(-count // limits[block]) for block, count in cost(wanted).items())
    assert len(passes) == fullest, "as few passes as the fullest block allows"


def recorded_passes() -> list[tuple[str, ...]]:
    texts = [path.read_text() for path in sorted((DATA / "perfmon_MI200").glob("*.txt"))]
    return [tuple(found[1].split()) for text in texts if (found := re.search(r"^pmc:(.*)$", text, re.MULTILINE))]


def test_each_recorded_pass_of_a_real_run_fits_our_slots() -> None:
    passes = recorded_passes()
    assert len(passes) == 19
    for recorded in passes:
        named = tuple(name for name in recorded if block_of(name) in SLOTS["gfx90a"])
        assert all(count <= SLOTS["gfx90a"][block] for block, count in cost(named).items())
        assert len(pack(named, "gfx90a")) == 1


def test_all_counters_of_the_real_run_need_no_more_passes_than_it_took() -> None:
    named = [name for one in recorded_passes() for name in one if not is_level(name) and "ACCUM" not in name]
    assert len(pack(list(dict.fromkeys(named)), "gfx90a")) <= 19


def test_sums_and_instances_of_one_counter_cost_one_slot() -> None:
    names = ("TCC_HIT[0]", "TCC_HIT[1]", "TCC_HIT_sum", "TCC_MISS_sum", "TCC_REQ_sum", "TCC_CYCLE_sum")
    assert pack(names, "gfx90a") == (names,)
    assert len(pack((*names, "TCC_READ_sum"), "gfx90a")) == 2


def test_a_level_counter_keeps_its_accumulator_right_behind_it_one_pair_per_pass() -> None:
    wanted = ["SQ_INSTS_LDS", "SQ_INST_LEVEL_LDS", "SQ_ACCUM_PREV_HIRES", "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES"]
    passes = pack(wanted, "gfx90a")
    assert passes == (
        ("SQ_INSTS_LDS", "SQ_INST_LEVEL_LDS", "SQ_ACCUM_PREV_HIRES"),
        ("SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES"),
    )
    assert halves(passes[0]) == (("SQ_INSTS_LDS",), ("SQ_INST_LEVEL_LDS", "SQ_ACCUM_PREV_HIRES"))
    assert len(halves(passes[1])) == 1, "a pair cannot be cut"


def test_an_accumulator_with_nothing_to_accumulate_is_refused() -> None:
    with pytest.raises(UsageError, match="accumulates the level counter before it"):
        pack(["SQ_WAVES", "SQ_ACCUM_PREV_HIRES"], "gfx90a")


def test_unknown_blocks_and_architectures_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="TCC_HIT_sum: no block TCC on gfx1100"):
        pack(["TCC_HIT_sum"], "gfx1100")
    with pytest.raises(UsageError, match="no counters are known for gfx1010; known are"):
        pack(["SQ_WAVES"], "gfx1010")


def test_blocks_are_told_by_name_as_the_vendors_definitions_have_them() -> None:
    for architecture, blocks in known_counters().items():
        for block, names in blocks.items():
            if block in ("derived", "TCA") or architecture not in SLOTS:
                continue
            assert {block_of(name) for name in names} == {block}, architecture


def counted(number: int, symbol: str = "k", items: int = 64, **values: float) -> CountedDispatch:
    return CountedDispatch(symbol, Shape(items, 64), number, 1, values)


def test_passes_are_put_together_by_kernel_geometry_and_place() -> None:
    first = [counted(1, a=1.0), counted(2, "j", a=2.0), counted(3, a=3.0), counted(4, items=128, a=4.0)]
    second = [counted(11, items=128, b=40.0), counted(12, b=10.0), counted(13, "j", b=20.0), counted(14, b=30.0)]
    merged = merge([first, second])
    assert [one.values for one in merged] == [
        {"a": 1.0, "b": 10.0},
        {"a": 2.0, "b": 20.0},
        {"a": 3.0, "b": 30.0},
        {"a": 4.0, "b": 40.0},
    ]


def test_other_geometry_in_another_pass_is_an_error() -> None:
    with pytest.raises(ApplicationFailed, match="over 64 work-items in groups of 64 is only in the first run"):
        merge([[counted(1, a=1.0)], [counted(1, items=128, b=1.0)]])


def test_accumulators_of_several_passes_keep_apart() -> None:
    chosen = ("SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES")
    (named,) = named_accumulators([counted(1, SQ_LEVEL_WAVES=1.0, SQ_ACCUM_PREV_HIRES=7.0)], chosen)
    assert named.values["SQ_ACCUM_PREV_HIRES(SQ_LEVEL_WAVES)"] == 7.0
    assert "SQ_ACCUM_PREV_HIRES" not in named.values
