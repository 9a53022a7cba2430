"""Several ways to alter launches in one run: what was seen of each, and who looks at what."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from intelliperf.interception.messages import Dispatch
from intelliperf.records import Kernel
from intelliperf.validation.edits.gate import StaticVerdict
from intelliperf.validation.edits.hostcode import Needs
from intelliperf.validation.numbersgate import _of_target_alone, _seen_enough
from intelliperf.validation.numberswords import Told, summed, told_of
from intelliperf.validation.othernumbers import ALTERATIONS, TOGETHER
from intelliperf.validation.runs.effort import Effort
from intelliperf.validation.runs.events import Rule
from intelliperf.validation.runs.lockstep import Followed, _Progress
from intelliperf.validation.runs.side import Side
from intelliperf.validation.trial import Trial

ONCE = (1, 1, 1)
DATA, LARGE = ALTERATIONS[1], ALTERATIONS[2]


def launches(way: int, count: int) -> tuple[Dispatch, ...]:
    return tuple(Dispatch(n, n, "k", ONCE, ONCE, 0, True, 0, (), (), way=way) for n in range(count))


def followed(*events: Dispatch, left: bool) -> Followed:
    return Followed({}, {}, events, len(events), left={"candidate on other numbers": len(events)} if left else {})


def test_a_run_that_was_left_early_says_nothing_of_a_way_that_it_hardly_came_to() -> None:
    events = (*launches(2, 60), *launches(7, 4))
    assert _seen_enough(TOGETHER, followed(*events, left=False))
    assert not _seen_enough(TOGETHER, followed(*events, left=True))
    assert _seen_enough(DATA, followed(*events, left=True))


def test_a_run_that_takes_long_is_left_once_every_way_was_seen() -> None:
    sides = [cast(Side, SimpleNamespace(label="x"))]
    rule = Rule(lambda d: d.target, bounded=("x",), effort=Effort(round_seconds=0.0))
    progress = _Progress(syncs=1)
    left = [progress.leave(sides, rule, one) for one in (*launches(2, 2), *launches(7, 2), *launches(2, 1))]
    assert left == [sides, sides, sides, sides, []]
    assert progress.round_seen and progress.left == {"x": 1}


def test_each_way_is_told_by_its_own_launches() -> None:
    run = followed(*launches(2, 3), left=False)
    assert told_of(DATA, run, True).passed
    assert "no launch was altered" in told_of(TOGETHER, run, True).failed[0]


def test_data_are_told_as_they_were_altered_at_these_launches() -> None:
    plain, nan, signs = (replace(one, altered=1) for one in launches(2, 3))
    nan, signs = replace(nan, alteration="some numbers NaN"), replace(signs, alteration="other signs and zeros")
    told = told_of(DATA, followed(plain, nan, signs, left=False), True)
    assert told.passed == ("an eighth of each buffer's numbers moved; some numbers NaN, other signs and zeros",)
    integers = followed(replace(nan, altered=0), signs, left=False)
    assert told_of(DATA, integers, True).passed == ("other signs and zeros",)


def test_what_alters_nothing_that_a_kernel_has_leaves_nothing_open() -> None:
    run = followed(*(replace(one, altered=0) for one in launches(5, 2)), left=False)
    told = told_of(LARGE, run, True)
    assert told == Told(idle=told.idle) and "could be altered" in told.idle[0]


def test_one_reason_is_told_where_another_way_has_altered_launches() -> None:
    none, some = (
        told_of(TOGETHER, followed(left=False), True),
        told_of(DATA, followed(*launches(2, 3), left=False), True),
    )
    assert "more memory is allocated" in summed([none]).failed[0]
    assert summed([none, some]).failed[0].endswith("no launch was altered: nothing that it takes can be")
    nothing = Told(idle=("no launch has anything",))
    assert summed([nothing]).failed == nothing.idle and summed([nothing, some]).failed == ()


def test_several_ways_in_one_run_have_the_effort_of_each() -> None:
    assert Effort().times(4) == Effort(4 * Effort().least_syncs, 4 * Effort().seconds)


@pytest.mark.parametrize(
    ("others_reshaped", "needs", "alone"),
    [(True, Needs.NOTHING, True), (True, Needs.GEOMETRY, False), (False, Needs.NOTHING, False)],
)
def test_launches_that_accepted_candidates_reshaped_are_not_altered_for_another_kernel(
    others_reshaped: bool, needs: Needs, alone: bool
) -> None:
    case = SimpleNamespace(kernel=Kernel("_Z5scalev", "scale"))
    static = StaticVerdict(needs=needs)
    trial = cast(Trial, SimpleNamespace(case=case, static=static, all_geometry=others_reshaped))
    assert _of_target_alone(trial) == (("_Z5scalev",) if alone else None)
