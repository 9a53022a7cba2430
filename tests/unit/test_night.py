"""What a night does with what changed and with the patches that it finds; the tasks are played."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from scriptednight import SLOW, Place, ScriptedPool, refused, steps

from intelliperf.history.records import Choice, Standing
from intelliperf.nightly.outcome import Step
from intelliperf.nightly.tasks import Kind, Task, TaskEnd
from intelliperf.project.reviews import read_reviews


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ---- only what changed ---------------------------------------------------------------------------


def test_an_unchanged_target_runs_nothing_and_is_nothing_new(place: Place) -> None:
    first = place.night(ScriptedPool())
    assert steps(first) == [Step.SURVEYED] and first.exit_status == 0
    pool = ScriptedPool()
    second = place.night(pool)
    assert pool.done == [] and steps(second) == [Step.UNCHANGED] and second.exit_status == 0


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("build", {"build": ("make fast",)}),
        ("command", {"commands": (("small", ("./app", "2")),)}),
        ("command", {"environment": (("A", "1"),)}),
        ("inputs", {"inputs": ("*.data",)}),
    ],
)
def test_what_decides_the_outcome_is_surveyed_again(place: Place, part: str, change: dict[str, object]) -> None:
    (place.root / "x.data").write_text("1")
    place.night(ScriptedPool())
    (place.project / ".gitignore").write_text("*.data\n")
    place.night(ScriptedPool())
    (place.project / "x.data").write_text("1")
    report = place.night(ScriptedPool(), place.target(**change))
    assert steps(report) == [Step.SURVEYED]
    assert part in report.targets[0].places[0].changed


def test_one_place_that_changed_does_not_bring_the_others_along(place: Place) -> None:
    place.night(ScriptedPool())
    pool = ScriptedPool()
    target = place.target(commands=(("small", ("./app", "1")), ("large", ("./app", "9"))))
    report = place.night(pool, target)
    assert [task.place.workload for task in pool.done] == ["large"]
    assert sorted(steps(report)) == [Step.SURVEYED, Step.UNCHANGED]


# ---- patches --------------------------------------------------------------------------------------


def test_a_found_patch_is_judged_at_every_other_place(place: Place) -> None:
    place.write(SLOW)
    pool = ScriptedPool()
    report = place.night(pool, place.target(commands=(("small", ("./app", "1")), ("large", ("./app", "9")))))
    assert pool.kinds() == ["survey", "survey", "search", "judge"]
    assert report.exit_status == 5
    (item,) = report.to_review
    assert len({judgement.place for judgement in item.judgements}) == 2


def test_the_history_knows_every_candidate_of_a_search(place: Place) -> None:
    place.write(SLOW)
    report = place.night(ScriptedPool())
    tried = place.history().candidates(report.patches[0].patch.directory)
    assert [(one.number, one.night, one.outcome) for one in tried] == [
        (1, 1, "DECLINED"),
        (2, 1, "WRONG_OUTPUT"),
        (3, 1, "ACCEPTED"),
    ]


def test_a_patch_that_another_input_refuses_is_not_for_review(place: Place) -> None:
    place.write(SLOW)
    pool = ScriptedPool(lambda task: refused(task) if task.kind is Kind.JUDGE else None)
    report = place.night(pool, place.target(commands=(("small", ("./app", "1")), ("large", ("./app", "9")))))
    assert report.to_review == () and report.exit_status == 3
    assert place.history().patches()[0].standing is Standing.STALE


def test_a_rejected_patch_is_not_proposed_again(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    history = place.history()
    history.decide(1, "ann", Choice.REJECT, "no", seen=0)
    place.write(SLOW + "// another change\n")
    report = place.night(ScriptedPool(), history=history)
    assert report.patches == () and report.exit_status == 0
    assert [patch.standing for patch in history.patches()] == [Standing.REJECTED]


def search_words(pool: ScriptedPool) -> dict[str, str]:
    (task,) = [task for task in pool.done if task.kind is Kind.SEARCH]
    return dict(zip(task.words, task.words[1:], strict=False))


def test_what_a_reviewer_said_reaches_the_next_search(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    history = place.history()
    history.decide(1, "ann", Choice.COMMENT, "hm", seen=0)
    history.decide(1, "ann", Choice.REJECT, "this needs 64 lanes", seen=1)
    place.write(SLOW + "// another change\n")
    pool = ScriptedPool()
    place.night(pool, history=history)
    said = read_reviews(Path(search_words(pool)["--reviews"]))
    assert [(one.said, one.words, one.refuses) for one in said] == [
        ("commented", "hm", False),
        ("rejected", "this needs 64 lanes", True),
    ]
    assert said[1].identity == history.patch(1).identity and said[1].diff == history.patch(1).diff


def test_another_attempt_is_searched_for_once_on_an_unchanged_target(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    history = place.history()
    history.decide(1, "ann", Choice.RETRY, "without shared memory", seen=0)
    pool = ScriptedPool()
    place.night(pool, history=history)
    assert pool.kinds() == ["search"] and "--reviews" in search_words(pool)
    history.decide(1, "bob", Choice.COMMENT, "let us see", seen=1)
    time.sleep(1.1)  # moments are kept in seconds
    place.night(ScriptedPool(), history=history)
    again = ScriptedPool()
    place.night(again, history=history)
    assert again.done == []


def test_an_accepted_patch_is_judged_against_the_new_head_and_not_searched_again(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    history = place.history()
    history.decide(1, "ann", Choice.ACCEPT, "", seen=0)
    place.write("//1000\n// new first lines\n// and more\n// still more\n// slow\n")
    git_less = ScriptedPool()
    report = place.night(git_less, history=history)
    stands = history.patch(1).standing
    assert (stands, git_less.kinds()) in [
        (Standing.ACCEPTED, ["survey", "judge"]),
        (Standing.OPEN, ["survey", "search"]),
    ]
    assert len(history.judgements(1)) == 2 and report.patches[0].patch.id == 1


def test_a_patch_that_the_head_holds_is_merged(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    place.write(SLOW + "// faster\n")
    report = place.night(ScriptedPool(), search=False)
    assert place.history().patch(1).standing is Standing.MERGED and report.patches == ()


def test_a_patch_that_is_no_longer_right_is_stale(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    (place.project / "other.hip").write_text("// changed\n")
    pool = ScriptedPool(lambda task: refused(task) if task.kind is Kind.JUDGE else None)
    report = place.night(pool, search=False)
    assert pool.kinds() == ["survey", "judge"]
    assert place.history().patch(1).standing is report.patches[0].patch.standing is Standing.STALE


def test_a_stale_patch_that_is_right_again_is_for_review_again(place: Place) -> None:
    place.write(SLOW)
    place.night(ScriptedPool())
    (place.project / "other.hip").write_text("// changed\n")
    place.night(ScriptedPool(lambda task: refused(task) if task.kind is Kind.JUDGE else None), search=False)
    (place.project / "other.hip").write_text("// changed back, somewhat\n")
    report = place.night(ScriptedPool())
    assert report.exit_status == 5 and [item.patch.id for item in report.to_review] == [1]
    assert place.history().patch(1).standing is Standing.OPEN


def test_a_finished_search_is_not_repeated_on_an_unchanged_target(place: Place) -> None:
    place.write(SLOW)

    def nothing(task: Task) -> TaskEnd | None:
        return refused(task) if task.kind is Kind.SEARCH else None

    assert place.night(ScriptedPool(nothing)).exit_status == 3
    pool = ScriptedPool(nothing)
    assert place.night(pool).exit_status == 0 and pool.done == []
