"""Programs with changes that good engineers make and others that only look so, each through all gates.

`make zoo` judges all of them and prints two figures: how many wrong ones were accepted, how many honest ones refused.
A sample of them stands for the rest in CI. `known.txt` lists those that are judged wrongly today; they count in the
figures, and a test fails for one that is judged rightly until it is taken off the list.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from exhibits import Change, Exhibit, changes, programs, refused_on_merits

_SAMPLED_HONEST, _SAMPLED_WRONG = 1, 2  # per program
_KNOWN = frozenset((Path(__file__).parent / "known.txt").read_text().split())


def _cases() -> list[object]:
    cases = []
    for number, program in enumerate(programs()):
        every = list(changes(program))
        sampled = set()
        for honest, wanted in ((True, _SAMPLED_HONEST), (False, _SAMPLED_WRONG)):
            kind = [change for change in every if change.honest is honest and change.name not in _KNOWN]
            sampled |= {kind[(number + at * 3) % len(kind)].name for at in range(wanted)}
        for change in every:
            marks = [pytest.mark.zoo, pytest.mark.xdist_group(program)]
            marks += [pytest.mark.sample] if change.name in sampled else []
            cases.append(pytest.param(change, id=change.name, marks=marks))
    return cases


@pytest.fixture(scope="session")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exhibit]:
    return {program: Exhibit(program, tmp_path_factory.mktemp(program.partition(".")[0])) for program in programs()}


@pytest.mark.parametrize("change", _cases())
def test_a_change_is_judged_by_what_it_does(
    exhibits: dict[str, Exhibit], change: Change, record_property: pytest.RecordProperty
) -> None:
    exhibit = exhibits[change.program]
    if not change.honest:
        unseen = exhibit.shows(change)
        assert not unseen, f"not shown to be wrong by {' '.join(change.proof)}: {unseen}"
    verdict = exhibit.verdict(change)
    refused = refused_on_merits(verdict)
    record_property("zoo", f"{'honest' if change.honest else 'wrong'} {'refused' if refused else 'accepted'}")
    right = refused is not change.honest
    assert right is not (change.name in _KNOWN), f"{verdict.outcome.value}: {verdict.detail}"


def test_the_zoo_is_large_enough_and_has_wrong_changes_of_every_chapter() -> None:
    every = [change for program in programs() for change in changes(program)]
    assert len(programs()) >= 16
    assert sum(change.honest for change in every) >= 60
    assert sum(not change.honest for change in every) >= 150
    assert {change.kind[0] for change in every if not change.honest} == set("ABCDEFH")
    assert len({change.name for change in every}) == len(every), "two changes of one name"
    assert {change.name for change in every} >= _KNOWN
    assert all(change.proof for change in every if not change.honest)


def test_every_change_applies_to_its_program(tmp_path: Path) -> None:
    for program in programs():
        original = Exhibit(program, tmp_path).original
        assert all(change.text(original) != original for change in changes(program))
