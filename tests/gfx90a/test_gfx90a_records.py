"""What our compiler plugin records, held to what the software gfx90a counts of the program as it is: equal, per line.

Two instruments that share nothing: instrumented LLVM IR with the product's rules, and an interpreter of machine code.
The other examples are in `test_gfx90a_agreement.py`, which builds them for its own comparison.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from recorded_on_device import MIXING, NO_LINE, SHAPES, SIDES, WIDTHS, Program, Twice, equal, executed

from intelliperf.records import Kernel
from intelliperf.rocm.codeobject import code_objects
from intelliperf.rocm.lines import kernel_code

pytestmark = pytest.mark.gfx90a


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Twice:
    return SHAPES.twice(tmp_path_factory.mktemp("shapes"))


@pytest.mark.slow
@pytest.mark.parametrize("program", [MIXING, SIDES, WIDTHS], ids=lambda program: program.name)
def test_recorded_figures_are_those_of_the_device(program: Program, tmp_path: Path) -> None:
    built = program.twice(tmp_path)
    figures = equal(built)
    assert {place.line for place in figures} - {NO_LINE}
    assert 1 < executed(built.device_counts(built.recording)) / executed(built.device_counts(built.plain)) < 20


@pytest.mark.slow
def test_atomics_divergence_calls_and_flat_addresses_are_told_as_the_device_counts_them(shapes: Twice) -> None:
    figures = equal(shapes)
    kinds = {(place.space, place.kind) for place in figures}
    assert kinds == {(space, kind) for space in ("global", "lds") for kind in ("load", "store", "atomic")}


def test_the_code_that_recorded_has_the_memory_instructions_of_the_program_as_it_is(shapes: Twice) -> None:
    code = code_objects(shapes.plain, "gfx90a", shapes.scratch)
    (module,) = shapes.modules
    for symbol in shapes.kernels:
        items = kernel_code(code, Kernel(symbol, symbol), shapes.scratch).items
        assert Counter(item.text for item in items) == Counter(module.order.get(symbol, ())), symbol


def test_a_small_buffer_samples_work_groups_and_keeps_all_of_their_accesses(shapes: Twice) -> None:
    whole, part = shapes.recorded(), shapes.recorded(buffer_bytes=64 << 10, words=2048)
    seen = [(all_.groups, some.recorded_groups) for all_, some in zip(whole.dispatches, part.dispatches, strict=True)]
    assert any(some < groups for groups, some in seen) and all(some >= 1 for _, some in seen)
    (volume, sample), *_ = [
        (a, b) for a, b in zip(whole.dispatches, part.dispatches, strict=True) if a.block == (8, 4, 3)
    ]
    for every, chosen in zip(volume.figures, sample.figures, strict=True):  # all of its groups do the same
        assert chosen["executions"] * volume.groups == every["executions"] * sample.recorded_groups


def test_accesses_without_room_are_counted_and_not_mistaken_for_none(shapes: Twice) -> None:
    whole, cut = shapes.recorded(), shapes.recorded(buffer_bytes=8000, words=1)
    for all_, some in zip(whole.dispatches, cut.dispatches, strict=True):
        assert all_.complete and some.recorded_groups == all_.recorded_groups
        assert some.wanted_words == all_.wanted_words
        assert some.complete == (all_.wanted_words <= 1000)
        assert min(1000, some.wanted_words) - 66 < some.kept_words <= 1000
    assert not all(one.complete for one in cut.dispatches)


def test_all_waves_share_the_room_however_unequal_they_are(shapes: Twice) -> None:
    wanted = max(one.wanted_words for one in shapes.recorded().dispatches)
    assert all(one.complete for one in shapes.recorded(buffer_bytes=8 * wanted, words=1).dispatches)
    assert not all(one.complete for one in shapes.recorded(buffer_bytes=8 * (wanted - 1), words=1).dispatches)


def test_dispatches_beyond_the_limit_are_told_of(shapes: Twice) -> None:
    fates = [one.fate for one in shapes.recorded(dispatches=2).dispatches]
    assert fates[:2] == ["recorded", "recorded"] and set(fates[2:]) == {"beyond the limit"}
