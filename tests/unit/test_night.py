"""What a night does with its targets, its history and its budgets; the tasks are played."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from scriptednight import Place, ScriptedPool, ratio, refused, seen

from intelliperf.errors import HistoryUnavailable, StorageFull
from intelliperf.history.records import Choice, NightState, RegressionKind, Standing
from intelliperf.nightly.outcome import NightReport, Step
from intelliperf.nightly.outputs import files
from intelliperf.nightly.plan import Limits
from intelliperf.nightly.survey import SURVEY
from intelliperf.nightly.tasks import STOP, Kind, State, Task, TaskEnd
from intelliperf.project.codec import encode
from intelliperf.project.journal import Journal, to_json
from intelliperf.project.reviews import read_reviews
from intelliperf.protocols import Timing
from intelliperf.records import Metric, Provenance, Quantity

SLOW = "//1000\n// slow\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def steps(report: NightReport) -> list[Step]:
    return [outcome.step for target in report.targets for outcome in target.places]


def git(place: Place, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *words], cwd=place.project, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(place: Place, text: str, subject: str) -> str:
    place.write(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", subject)
    return git(place, "rev-parse", "HEAD")


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
    place.night(pool, search=False)
    assert pool.kinds() == ["survey", "judge"]
    assert place.history().patch(1).standing is Standing.STALE


def test_a_finished_search_is_not_repeated_on_an_unchanged_target(place: Place) -> None:
    place.write(SLOW)

    def nothing(task: Task) -> TaskEnd | None:
        return refused(task) if task.kind is Kind.SEARCH else None

    assert place.night(ScriptedPool(nothing)).exit_status == 3
    pool = ScriptedPool(nothing)
    assert place.night(pool).exit_status == 0 and pool.done == []


# ---- regressions ----------------------------------------------------------------------------------


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
        return TaskEnd(task.id, State.DONE, "", 0, 1.0, path)

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
        return TaskEnd(task.id, State.DONE, "", 0, 1.0, path)

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


# ---- what goes wrong ------------------------------------------------------------------------------


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
    failed = ScriptedPool(lambda task: TaskEnd(task.id, State.FAILED, "cannot write", 1, 1.0, None))
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
        return TaskEnd(task.id, State.LOST, "killed by SIGKILL", None, 1.0, None, 2) if wrong else None

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


# ---- what comes out -------------------------------------------------------------------------------


@pytest.fixture
def hostile(place: Place) -> NightReport:
    """A night with everything, in which texts are unfriendly."""
    place.write(SLOW)
    place.night(ScriptedPool(), search=False)
    place.write("//1500\n// slow\n")
    report = place.night(ScriptedPool(), place.target(), place.target(name="gone", directory=place.root / "<gone>"))
    item = report.patches[0]
    diff = "--- a\n+++ b\n+<script>alert(1)</script> \x1b[31m\x00 ``` \udcff\n" + "+x\n" * 1_500_000
    patch = dataclasses.replace(item.patch, diff=diff, kernel="k<int>|`*`")
    patches = (dataclasses.replace(item, patch=patch),)
    return dataclasses.replace(report, patches=patches)


def test_outputs_are_escaped_bounded_and_valid(hostile: NightReport, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "out", "night") as journal:
        written = files.write(hostile, journal)
    texts = {path.name: path.read_text() for path in written.directory.iterdir() if path.suffix in (".html", ".md")}
    for text in texts.values():
        assert "\x1b" not in text and "\x00" not in text and len(text) < 500_000
    assert "<script>" not in texts["night.html"]
    before, fenced, after = texts["summary.md"].partition("````diff\n")  # longer than the patch's own
    assert "<script>" not in before + after.partition("\n````\n")[2] and "<script>" in fenced + after
    suites = ElementTree.parse(written.directory / "junit.xml").getroot()
    assert suites.get("failures") == "1" and int(suites.get("errors") or 0) >= 1
    night = json.loads((written.directory / "night.json").read_text())
    jsonschema.validate(night, json.loads(files.SCHEMA_PATH.read_text()))


def test_sarif_names_a_rule_and_a_place_for_each_result(hostile: NightReport, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "out", "night") as journal:
        directory = files.write(hostile, journal).directory
    log = json.loads((directory / "night.sarif").read_text())
    (run,) = log["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert log["version"] == "2.1.0" and {result["ruleId"] for result in run["results"]} == {"regression"} <= rules
    for result in run["results"]:
        for location in result["locations"]:
            base = location["physicalLocation"]["artifactLocation"].get("uriBaseId")
            assert base is None or base in run["originalUriBaseIds"]
    assert not run["invocations"][0]["executionSuccessful"]


def test_the_published_schema_is_that_of_the_records() -> None:
    """After a change of the records: write `intelliperf.nightly.outputs.files.schema()` to SCHEMA_PATH."""
    assert json.loads(files.SCHEMA_PATH.read_text()) == files.schema()


def test_two_equal_nights_give_equal_reports(tmp_path: Path) -> None:
    shown = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        place = Place(tmp_path / name)
        place.write(SLOW)
        report = encode(place.night(ScriptedPool()))
        shown.append([report["patches"][0]["patch"]["identity"], report["targets"][0]["commit"]])
    assert shown[0] == shown[1]
