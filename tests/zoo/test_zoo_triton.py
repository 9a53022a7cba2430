"""Triton programs with changes that good engineers make and others that only look so, each through all gates."""

from __future__ import annotations

import pytest
from exhibits import Change, changes, refused_on_merits
from tritonexhibits import PROGRAMS, TritonExhibit, programs

_SAMPLED = "sums-B5-a_size_that_sixteen_divides_taken_for_granted"  # twenty runs, each of a Python program


def _cases() -> list[object]:
    cases = []
    for program in programs():
        for change in changes(program, PROGRAMS):
            marks = [pytest.mark.zoo, pytest.mark.triton, pytest.mark.xdist_group(program)]
            marks += [pytest.mark.sample] if change.name == _SAMPLED else []
            cases.append(pytest.param(change, id=change.name, marks=marks))
    return cases


@pytest.fixture(scope="session")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TritonExhibit]:
    names = programs()
    return {name: TritonExhibit(name, tmp_path_factory.mktemp(name.partition(".")[0]), PROGRAMS) for name in names}


@pytest.mark.parametrize("change", _cases())
def test_a_change_of_a_triton_kernel_is_judged_by_what_it_does(
    exhibits: dict[str, TritonExhibit], change: Change, record_property: pytest.RecordProperty
) -> None:
    exhibit = exhibits[change.program]
    if not change.honest:
        unseen = exhibit.shows(change)
        assert not unseen, f"not shown to be wrong by {' '.join(change.proof)}: {unseen}"
    verdict = exhibit.verdict(change)
    refused = refused_on_merits(verdict)
    record_property("zoo", f"{'honest' if change.honest else 'wrong'} {'refused' if refused else 'accepted'}")
    assert refused is not change.honest, f"{verdict.outcome.value}: {verdict.detail}"


def test_there_are_enough_changes_of_triton_kernels_and_all_apply() -> None:
    every = [change for program in programs() for change in changes(program, PROGRAMS)]
    assert sum(change.honest for change in every) >= 10
    assert sum(not change.honest for change in every) >= 15
    assert len({change.name for change in every}) == len(every), "two changes of one name"
    for change in every:
        original = (PROGRAMS / change.program).read_text()
        assert change.text(original) != original
