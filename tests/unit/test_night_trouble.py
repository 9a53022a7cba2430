"""A night whose targets, budgets, disks or databases fail; the tasks are played."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scriptednight import SLOW, Place, ScriptedPool, commit, git, steps

from intelliperf.errors import HistoryUnavailable, StorageFull
from intelliperf.history.opening import open_history
from intelliperf.history.records import NightState
from intelliperf.nightly.outcome import Step
from intelliperf.nightly.plan import Limits
from intelliperf.nightly.tasks import STOP, Kind, Task, TaskEnd, TaskState


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_one_failed_target_does_not_end_the_night(place: Place) -> None:
    gone = place.target(name="gone", directory=place.root / "gone")
    no_ref = place.target(name="ref", directory=None, repository=str(place.project), ref="none")
    report = place.night(ScriptedPool(), gone, no_ref, place.target())
    assert {t.name: t.places[0].step for t in report.targets} == {
        "gone": Step.FAILED,
        "ref": Step.FAILED,
        "one": Step.SURVEYED,
    }
    assert report.exit_status == 1


def test_a_vanished_ref_a_missing_directory_and_an_lfs_pointer_are_named(place: Place) -> None:
    git(place, "init", "-q", "-b", "main")
    commit(place, SLOW, "first")
    by_url = {"directory": None, "repository": str(place.project)}
    (place.root / "lfs").mkdir()
    (place.root / "lfs" / "x.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    report = place.night(
        ScriptedPool(),
        place.target(name="ref", **by_url, ref="gone"),
        place.target(name="path", **by_url, path="none"),
        place.target(name="escape", **by_url, path="../.."),
        place.target(name="lfs", directory=place.root / "lfs"),
        place.target(name="fine", **by_url, ref="main"),
        search=False,
    )
    problems = {target.name: " ".join(target.problems) for target in report.targets}
    assert "has no ref 'gone'" in problems["ref"] and "has no directory 'none'" in problems["path"]
    assert "has no directory '../..'" in problems["escape"] and "Git LFS pointer" in problems["lfs"]
    assert problems["fine"] == "" and report.targets[1].commit == git(place, "rev-parse", "HEAD")


def test_a_target_with_submodules_has_their_files_and_a_change_in_one_is_a_change(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv(
        "GIT_CONFIG_GLOBAL", str(place.root / "gitconfig")
    )  # git refuses those of the same disk otherwise
    inner = Place(place.root, "inner")
    git(inner, "init", "-q", "-b", "main")
    commit(inner, "//1000\n", "inner")
    git(place, "init", "-q", "-b", "main")
    commit(place, SLOW, "first")
    git(place, "submodule", "--quiet", "add", str(inner.project), "inner")
    commit(place, SLOW, "with a submodule")
    target = place.target(directory=None, repository=str(place.project), ref="main")
    first = place.night(ScriptedPool(), target, search=False)
    assert steps(first) == [Step.SURVEYED], first.targets[0].problems
    assert (Path(first.targets[0].project) / "inner" / "kernel.hip").read_text() == "//1000\n"
    assert steps(place.night(ScriptedPool(), target, search=False)) == [Step.UNCHANGED]
    later = commit(inner, "//1000\n// later\n", "later")
    subprocess.run(["git", "fetch", "-q"], cwd=place.project / "inner", check=True)
    subprocess.run(["git", "checkout", "-q", later], cwd=place.project / "inner", check=True)
    commit(place, SLOW, "move the submodule")
    assert steps(place.night(ScriptedPool(), target, search=False)) == [Step.SURVEYED]


def test_a_full_disk_ends_the_night_and_is_no_failed_target(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StorageFull("no space left on the disk: free some")

    monkeypatch.setattr("intelliperf.nightly.night.refuse_full_disk", full)
    failed = ScriptedPool(lambda task: TaskEnd(task.id, TaskState.FAILED, "cannot write", 1, 1.0, None))
    history = place.history()
    with pytest.raises(StorageFull, match="free some"):
        place.night(failed, history=history)
    assert [night.state for night in history.nights()] == [NightState.INTERRUPTED] and history.visits(1) == ()
    (directory,) = (path for path in (place.root / "nights").iterdir() if path.is_dir())
    monkeypatch.undo()
    assert place.night(ScriptedPool(), history=history, directory=directory).exit_status == 0


def test_a_dirty_tree_is_told_and_is_another_version(place: Place) -> None:
    git(place, "init", "-q")
    commit(place, SLOW, "first")
    assert not place.night(ScriptedPool(), search=False).targets[0].dirty
    place.write(SLOW + "// by hand\n")
    report = place.night(ScriptedPool(), search=False)
    assert report.targets[0].dirty and steps(report) == [Step.SURVEYED]


def test_a_task_that_fails_is_an_error_of_its_place_alone(place: Place) -> None:
    def fails(task: Task) -> TaskEnd | None:
        wrong = task.place.workload == "large"
        return TaskEnd(task.id, TaskState.LOST, "killed by SIGKILL", None, 1.0, None, 2) if wrong else None

    target = place.target(commands=(("small", ("./app", "1")), ("large", ("./app", "9"))))
    report = place.night(ScriptedPool(fails), target)
    assert {p.place.workload: p.step for p in report.targets[0].places} == {
        "small": Step.SURVEYED,
        "large": Step.FAILED,
    }
    assert report.exit_status == 1
    assert steps(place.night(ScriptedPool(), target)) == [Step.SURVEYED, Step.UNCHANGED], "and is tried again"


def test_a_spent_budget_ends_in_order_and_the_next_night_continues(place: Place) -> None:
    other = Place(place.root, "two")
    targets = (place.target(), other.target())
    report = place.night(ScriptedPool(), *targets, limits=Limits(device_minutes=1 / 60))
    assert report.state is NightState.BUDGET and "device minutes is spent" in report.reason
    assert sorted(steps(report)) == [Step.SKIPPED, Step.SURVEYED]
    assert sorted(steps(place.night(ScriptedPool(), *targets))) == [Step.SURVEYED, Step.UNCHANGED]


def test_a_target_s_own_budget_ends_that_target_alone(place: Place) -> None:
    place.write(SLOW)
    other = Place(place.root, "two")
    other.write(SLOW)
    pool = ScriptedPool()
    report = place.night(pool, place.target(limits=Limits(device_minutes=1 / 60)), other.target())
    assert [task.target for task in pool.done if task.kind is Kind.SEARCH] == ["two"]
    assert report.state is NightState.DONE


def test_parallel_searches_share_the_budget(place: Place) -> None:
    place.write(SLOW)
    pool = ScriptedPool()
    two = Place(place.root, "two")
    two.write(SLOW)
    model = {"model": "m", "provider": "openai"}
    place.night(pool, place.target(**model), two.target(**model), limits=Limits(usd=1.0, tokens=1000))
    budgets = [
        float(task.words[task.words.index("--budget-usd") + 1]) for task in pool.done if task.kind is Kind.SEARCH
    ]
    assert len(budgets) == 2 and sum(budgets) <= 1.0 and min(budgets) > 0


def test_a_night_is_resumed_with_another_database_than_it_began_with(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one was deleted, or a copy of an older day was put in its place."""
    history = place.history()
    with monkeypatch.context() as failing:
        failing.setattr(type(history), "keep_visit", lambda *_: (_ for _ in ()).throw(HistoryUnavailable("gone")))
        with pytest.raises(HistoryUnavailable):
            place.night(ScriptedPool(), history=history)
    (directory,) = (path for path in (place.root / "nights").iterdir() if path.is_dir())
    other = open_history(str(place.root / "other.db"))
    other.begin_night("elsewhere", "1", "/another night")
    report = place.night(ScriptedPool(), history=other, directory=directory)
    assert report.night == 2 and [visit.night for visit in other.visits(2)] == [2]
    assert place.night(ScriptedPool(), history=other, directory=directory).night == 2
    other.close()


def test_a_dead_database_ends_the_night_and_a_resumed_one_keeps_what_was_done(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(SLOW)
    history = place.history()
    keep_patch = type(history).keep_patch
    monkeypatch.setattr(type(history), "keep_patch", lambda *_: (_ for _ in ()).throw(HistoryUnavailable("gone")))
    with pytest.raises(HistoryUnavailable):
        place.night(ScriptedPool(), history=history)
    (directory,) = (path for path in (place.root / "nights").iterdir() if path.is_dir())
    assert (directory / STOP).exists()
    monkeypatch.setattr(type(history), "keep_patch", keep_patch)
    report = place.night(ScriptedPool(), history=history, directory=directory)
    assert report.exit_status == 5 and [night.id for night in history.nights()] == [1]
    assert len(history.visits(1)) == 1 and len(history.patches()) == 1
