"""Defects in words, as JSON and as SARIF."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from intelliperf.emulator.defects import each_once, nothing_ran, other_output, unfinished
from intelliperf.emulator.schedules import IN_ORDER, Schedule, seeded
from intelliperf.emulator.sourcelines import Project
from intelliperf.emulator.tracefiles import Fault
from intelliperf.emulator.watching import Watched, watch
from intelliperf.errors import ApplicationFailed
from intelliperf.processes.process import run
from intelliperf.records import Application, Defect, DefectLevel, Geometry, SourcePoint
from intelliperf.report.defects import defect_lines, defects_json, summary_line
from intelliperf.report.sarif import sarif

READ = SourcePoint("src/sum all.hip", 22, 9, "sum += parts[b];", "reads")
WRITE = SourcePoint("src/sum all.hip", 15, 5, "parts[blockIdx.x] = s[0];", "writes")
RACE = Defect(
    rule="missing-release",
    level=DefectLevel.ERROR,
    what="race between blocks: no release fence between the store and the flag that announces it",
    remedy="put __threadfence() between the two",
    kernel="total",
    point=READ,
    other=WRITE,
    thread="block (15, 0, 0), thread 0",
    other_thread="block (0, 0, 0), thread 0",
    memory="byte 0 of an allocation of 64 bytes, which held 0x46ff0000",
    launch=4,
    geometry=Geometry((16, 1, 1), (256, 1, 1)),
    schedule="seed 3",
    count=15,
)
OUTPUT = Defect("order-dependence", DefectLevel.WARNING, "the result depends on the order", "", "the program")


def test_both_lines_the_launch_and_the_schedule_are_in_the_text() -> None:
    text = "\n".join(defect_lines((RACE,)))
    parts = (
        "src/sum all.hip:22: sum += parts[b];",
        "against src/sum all.hip:15",
        "block (0, 0, 0), thread 0",
        "launch 4 of 16×1×1 blocks of 256×1×1 threads",
        "15 times",
        "seed 3",
        "remedy: put __threadfence()",
    )
    for part in parts:
        assert part in text
    assert summary_line((RACE, OUTPUT, OUTPUT)) == "1 error, 2 warnings"
    assert summary_line(()) == "nothing found"


def test_what_a_defect_does_not_know_is_null_in_json() -> None:
    found = json.loads(json.dumps(defects_json((RACE, OUTPUT), ("in order",), ("sizes",))))
    race, output = found["defects"]
    assert (race["point"]["line"], race["other"]["line"], race["grid"]) == (22, 15, [16, 1, 1])
    assert (output["point"], output["launch"], output["grid"]) == (None, None, None)
    assert found["not_checked"] == ["sizes"]


def test_sarif_has_a_rule_per_kind_and_the_other_line_as_a_related_location() -> None:
    (run,) = sarif((RACE, OUTPUT, RACE), "./app 1", complete=True)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["missing-release", "order-dependence"]
    race, output, _ = run["results"]
    assert (race["ruleId"], rules[race["ruleIndex"]], race["level"]) == ("missing-release",) * 2 + ("error",)
    place = race["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/sum%20all.hip", "uriBaseId": "%SRCROOT%"}
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (22, 9)
    assert race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 15
    assert "locations" not in output


def test_of_races_of_the_same_two_lines_the_widest_is_told() -> None:
    wave = Fault("race", 0, "total", 0, 1, 2, "wave", "shared", 384, None, None)
    told = [
        (replace(wave, scope=scope), replace(RACE, remedy=scope, count=count))
        for scope, count in (("wave", 384), ("block", 9), ("wave", 2))
    ]
    (defect,) = each_once(told)
    assert (defect.remedy, defect.count) == ("block", 384)
    elsewhere = replace(RACE, point=replace(READ, line=23), remedy="wave")
    assert [one.remedy for one in each_once([*told, (wave, elsewhere)])] == ["block", "block"]


def test_what_all_instances_of_a_template_do_wrong_on_one_line_is_told_once() -> None:
    told = []
    for kernel, scopes in (("sum<float>", ("wave", "block")), ("sum<at<int>, 2>", ("block",)), ("other", ("block",))):
        fault = Fault("race", 0, kernel, 0, 1, 2, "block", "shared", 3, None, None)
        written = replace(RACE, kernel=kernel, point=WRITE, other=READ, count=3)
        told += [(replace(fault, scope=scope), replace(written, what=scope)) for scope in scopes]
        told.append((fault, replace(written, point=WRITE, other=WRITE, what="block")))
        told.append((fault, replace(written, point=READ, other=WRITE, what="block")))
    pair, store, *others = each_once(told)
    assert (pair.kernel, pair.also, pair.pairs, pair.count) == ("sum<float>", ("sum<at<int>, 2>",), 2, 12)
    assert (pair.what, store.other, store.also) == ("block", WRITE, ("sum<at<int>, 2>",))
    assert [(one.kernel, one.also) for one in others] == [("other", ()), ("other", ())]
    assert "    also in sum<at<int>, 2>" in defect_lines((pair,))


def test_a_program_that_fails_before_its_first_kernel_is_told_with_its_status_and_words(tmp_path: Path) -> None:
    fails = run([sys.executable, "-c", "raise ValueError('Pointer argument 0')"], tmp_path, 10.0, tmp_path, "fails")
    (defect,) = nothing_ran((Watched(IN_ORDER, (), fails),), Project(tmp_path))
    assert "exit status 1; last output: ValueError: Pointer argument 0" in defect.what
    assert defect.remedy.startswith("see why the program fails")
    (quiet,) = nothing_ran(
        (Watched(IN_ORDER, (), run(["true"], tmp_path, 10.0, tmp_path, "ended")),), Project(tmp_path)
    )
    assert quiet.what == "no kernel ran, so that nothing was checked"


def test_a_run_that_timed_out_is_an_error_and_not_silence(tmp_path: Path) -> None:
    ended = Watched(IN_ORDER, (), run(["true"], tmp_path, 10.0, tmp_path, "ended"))
    hung = Watched(seeded(1), (), run(["sleep", "9"], tmp_path, 0.1, tmp_path, "hung"))
    (defect,) = unfinished((ended, hung))
    assert defect.level is DefectLevel.ERROR and "timed out" in defect.what and defect.schedule == "seed 1"
    assert "in order: mend the other errors" in defect.remedy
    assert "--run-timeout" in unfinished((hung,))[0].remedy
    assert not other_output((ended, ended, hung))


def test_output_that_differs_again_under_the_same_order_does_not_depend_on_the_order(tmp_path: Path) -> None:
    def says(schedule: Schedule, text: str, name: str) -> Watched:
        return Watched(schedule, (), run(["printf", text], tmp_path, 10.0, tmp_path, name))

    first, again = (says(IN_ORDER, "0.000: started\nsum 12\n", name) for name in ("first", "again"))
    other = says(seeded(1), "0.009: started\nsum 9\n", "other")
    timed = says(seeded(1), "0.010: started\nsum 9\n", "timed")
    (defect,) = other_output((first, again, other), repeated=lambda run: timed)
    assert "line 2 of the output is 'sum 9'" in defect.what
    chance = says(seeded(1), "0.010: started\nsum 7\n", "chance")
    assert not other_output((first, again, other), repeated=lambda run: chance)


def test_a_program_that_fails_before_it_uses_the_gpu_is_told_with_its_own_words(tmp_path: Path) -> None:
    application = Application((sys.executable, "-c", "import nothing_there"), tmp_path, tmp_path)
    with pytest.raises(ApplicationFailed, match="exit status 1.*No module named 'nothing_there'"):
        watch(application, IN_ORDER, tmp_path / "records", 10.0)
