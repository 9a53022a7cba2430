"""What a night calls slower, and what it holds against what; the tasks are played."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from scriptednight import Place, ScriptedPool, commit, git, ratio, seen

from intelliperf.history.records import LineCounts, RegressionKind
from intelliperf.nightly.regressions import changed_lines
from intelliperf.nightly.survey import SURVEY
from intelliperf.nightly.tasks import Kind, Task, TaskEnd, TaskState
from intelliperf.project.journal import to_json
from intelliperf.protocols import Timing
from intelliperf.records import Metric, Provenance, Quantity


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_modelled_regression_names_the_commits_in_between(place: Place) -> None:
    git(place, "init", "-q")
    good = commit(place, "//1000\n", "good")
    place.night(ScriptedPool())
    commit(place, "//1100\n", "slow it down")
    bad = commit(place, "//1100\n// note\n", "a note")
    report = place.night(ScriptedPool())
    (regression,) = report.regressions
    assert report.exit_status == 4 and regression.kind is RegressionKind.MODEL
    assert (regression.good_commit, regression.bad_commit) == (good, bad)
    assert [line.partition(" ")[2] for line in regression.commits] == ["a note", "slow it down"]
    assert "1 µs → 1.1 µs" in regression.sentence.replace("1.00", "1").replace("1.10", "1.1")
    commit(place, "//1100\n// another note\n", "still slow")
    assert place.night(ScriptedPool()).regressions == (), "it is told once"


def counted_pool(value: float, error: float | None) -> ScriptedPool:
    """A pool whose surveys count so many sectors, and a time that stays."""

    def survey(task: Task) -> TaskEnd | None:
        if task.kind is not Kind.SURVEY:
            return None
        made = seen(task, "//1000\n", Provenance.MODELLED)
        (profile,) = made.profiles
        counted = {Metric.SECTORS: Quantity(value, Provenance.MEASURED, error)}
        made = dataclasses.replace(made, profiles=(dataclasses.replace(profile, quantities=counted),))
        path = task.directory / "runs" / "1" / SURVEY
        path.parent.mkdir(parents=True)
        path.write_bytes(to_json(made))
        return TaskEnd(task.id, TaskState.DONE, "", 0, 1.0, path)

    return ScriptedPool(survey)


@pytest.mark.parametrize(
    ("after", "error", "expected"), [(8000.0, 20.0, 1), (1100.0, None, 1), (1100.0, 20.0, 0), (1000.0, None, 0)]
)
def test_more_sectors_are_a_regression_beyond_what_sampling_leaves_open(
    place: Place, after: float, error: float | None, expected: int
) -> None:
    place.night(counted_pool(1000.0, error))
    place.write("//1000\n// changed\n")
    report = place.night(counted_pool(after, error))
    assert [r.kind for r in report.regressions] == [RegressionKind.COUNTS] * expected


def test_small_steps_add_up_to_a_regression(place: Place) -> None:
    found = []
    for nanoseconds in (1000, 1008, 1016, 1024):
        place.write(f"//{nanoseconds}\n")
        found.append(len(place.night(ScriptedPool()).regressions))
    assert found == [0, 0, 0, 1]


@pytest.mark.parametrize(("side_by_side", "expected"), [(1 / 1.05, 1), (1.0, 0)])
def test_a_suspected_time_is_settled_by_a_comparison(place: Place, side_by_side: float, expected: int) -> None:
    git(place, "init", "-q")

    def compare(task: Task) -> TaskEnd | None:
        if task.kind is not Kind.COMPARE:
            return None
        path = task.directory / "timing.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(to_json(Timing((ratio(side_by_side),))))
        return TaskEnd(task.id, TaskState.DONE, "", 0, 1.0, path)

    history = place.history()
    for number in range(11):
        commit(place, f"//{1000 + 3 * (-1) ** number + number % 3}\n// {number}\n", f"night {number}")
        place.night(ScriptedPool(provenance=Provenance.MEASURED), history=history)
    found = 0
    for number in range(3):
        commit(place, f"//{1052 + number}\n// later {number}\n", "slower")
        pool = ScriptedPool(compare, Provenance.MEASURED)
        report = place.night(pool, history=history)
        found += len(report.regressions)
        if pool.kinds().count("compare"):
            assert report.exit_status == (4 if expected else 0)
            break
    assert found == expected and "compare" in pool.kinds()


def counts(text: str, access: str, **values: float) -> LineCounts:
    counters = {Metric[name.upper()]: Quantity(value, Provenance.MEASURED) for name, value in values.items()}
    return LineCounts("_Z1k", "k.cu", 3, 1, text, access, "global", access, counters)


def test_lines_whose_counts_rose_come_before_those_that_the_model_alone_finds_slower() -> None:
    before = [
        counts("a[i] = b[i];", "load", sectors=100, device_time_ns=1000),
        counts("a[i] = b[i];", "store", sectors=100, device_time_ns=10),
    ]
    after = [
        counts("a[i] = b[i];", "load", sectors=100, device_time_ns=90000),
        counts("a[i] = b[i];", "store", sectors=104, device_time_ns=20),
    ]
    told = [(line["access"], line["metric"], line["before"]) for line in changed_lines(before, after, "_Z1k")]
    assert told == [("store", "sectors_32b", 100), ("load", "device_time_ns", 1000)]


def test_a_line_is_known_again_whatever_its_samples_wait_for() -> None:
    """The operation of a line on hardware names the most frequent wait, which is another one every night."""
    line = counts("a[i] = b[i];", "load", sectors=100)
    before = dataclasses.replace(line, operation="LDG.E (53 % of 120 samples wait for long scoreboard)")
    after = dataclasses.replace(line, operation="LDG.E (51 % of 118 samples wait for lg throttle)")
    assert changed_lines([before], [after], "_Z1k") == ()
